"""What a tool was asked and said, in words for people: hits and plans show no JSON."""

import json
from datetime import UTC, datetime

import pytest

from gateway.chat import Chat
from gateway.conversation import toolwords
from gateway.records import Message, Role, ToolCall
from gateway.store.search_index import words_of_message

AT = datetime(2026, 11, 30, 9, tzinfo=UTC)


def said(role: Role, text: str = "", *calls: ToolCall) -> Message:
    return Message(
        id=1,
        space=0,
        chat=Chat("telegram", "123"),
        person="",
        role=role,
        text=text,
        pieces=(),
        at=AT,
        tool_calls=calls,
    )


def memory(**arguments: object) -> Message:
    return said(Role.ASSISTANT, "", ToolCall("c1", "memory", json.dumps(arguments)))


@pytest.mark.parametrize(
    ("message", "language", "shown"),
    [
        (
            memory(action="add", target="user", content="Dog is called Rufus", evidence="my dog is Rufus"),
            "en",
            'proposed: add to USER "Dog is called Rufus"',
        ),
        (
            memory(action="add", target="user", content="犬の名前はルーファス"),
            "ja",
            "提案：USER に追加「犬の名前はルーファス」",
        ),
        (
            memory(action="replace", target="memory", old_text="Oslo", content="Lives in Bergen"),
            "en",
            'proposed: replace in MEMORY "Oslo" → "Lives in Bergen"',
        ),
        (memory(action="remove", target="memory", old_text="Oslo"), "en", 'proposed: remove from MEMORY "Oslo"'),
        (
            said(Role.ASSISTANT, "", ToolCall("c", "skill", '{"action": "view", "name": "tea"}')),
            "en",
            "used skill: view tea",
        ),
        (said(Role.ASSISTANT, "", ToolCall("c", "memory", "no JSON")), "en", "used memory: no JSON"),
        (said(Role.TOOL, '{"success": true, "id": 17, "message": "Entry added."}'), "en", "Entry added."),
        (said(Role.TOOL, "plain"), "en", "plain"),
        (said(Role.USER, "My dog is Rufus"), "en", "My dog is Rufus"),
    ],
)
def test_a_hit_is_shown_in_words(message: Message, language: str, shown: str) -> None:
    """`memory action add target user content …` is what a machine says."""
    assert toolwords.snippet(message, (0, 0), language) == shown


def test_the_words_that_were_found_are_in_what_is_shown() -> None:
    """The index has other text at that place: shown from its beginning, a long entry would hide why it is a hit."""
    message = memory(action="add", target="memory", content="x " * 200 + "walrus" + " y" * 200)
    at = words_of_message(message).index("walrus")

    shown = toolwords.snippet(message, (at, at + 6), "en")

    assert "walrus" in shown
    assert shown.startswith("… ") and shown.endswith(" …") and len(shown) < 150
