"""The card of a plan: always one message, whatever was found; and what may be answered to it."""

from datetime import UTC, datetime

import pytest

from gateway.chat import Chat
from gateway.conversation import forgetcard
from gateway.conversation.forgetcard import Choice, Draft, InChats
from gateway.memory.forgetplan import Left, Near, Plan
from gateway.memory.layers.layer import Item, LayerPlan, Scope
from gateway.platforms import discord_markup, telegram_markup
from gateway.records import Outgoing, Space

AT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


def row(platform: str = "telegram", **values: object) -> Outgoing:
    return Outgoing(
        id=7,
        dedupe="command-1",
        kind="forget_plan",
        chat=Chat(platform, "1"),
        space=1,
        token="abcdefghijkl",
        message=1,
        write=None,
        review=None,
        edits=None,
        values={"forget": 1, **values},
        reply_to="",
        via="",
        status="waiting",
        attempts=0,
        due_at=AT,
        created_at=AT,
    )


def plan(excerpt: str, hits: int = 200) -> Plan:
    """As much as a plan can hold."""
    layers = [
        LayerPlan(name, hits, tuple(Item(f"{name}:{number}", excerpt) for number in range(hits)))
        for name in (*forgetcard.WITH_HITS, "prompts", "outbox", "providers", "requests")
    ]
    return Plan(
        space=Space(1, "owner", "owner"),
        scope=Scope(("x",)),
        layers=tuple(layers),
        left=tuple(Left(name, 12) for name in ("SOUL.md", "AGENTS.md", "config.yaml", ".env")),
        near=tuple(Near(f"entries:user:{number}", excerpt, excerpt, 1.0) for number in range(20)),
        backups=12,
        elsewhere=345,
    )


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("excerpt", ["w" * 80, "*" * 80, "🦉" * 80, "蜂" * 80, "https://a.example/" * 4])
def test_a_card_is_always_one_message(language: str, excerpt: str) -> None:
    """A part of it that is not the last could not be changed: the words would stay in the chat."""
    for page in (0, 5, 9):
        draft = Draft(plan(excerpt), in_chats=InChats(99, 99), page=page, changed=True)
        text = forgetcard.card(draft, row(), language).text

        assert len(discord_markup.chunks(text)) == 1
        assert len(telegram_markup.chunks(text)) == 1


def test_pages_show_every_hit_that_has_a_number() -> None:
    """Six at a time fit on a phone."""
    seen = []
    for page in range(10):
        draft = Draft(plan("bees", 9), page=page)
        lines = forgetcard.card(draft, row(), "en").text.splitlines()
        seen += [int(line.split()[1]) for line in lines if line.startswith("☑")]
    assert seen == list(range(1, 61))


def test_a_terminal_shows_all_and_asks_yes_or_no() -> None:
    """There one scrolls, and what is left out is `hikae forget`'s."""
    card = forgetcard.card(Draft(plan("bees", 9)), row("terminal"), "en")
    assert card.text.count("☑") == 60
    assert [[button.label for button in line] for line in card.buttons] == [["Forget", "Cancel"]]


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("2 3", Choice((2, 3), ())),
        ("２、３", Choice((2, 3), ())),
        ("4-6", Choice((4, 5, 6), ())),
        ("1 a, C", Choice((1,), ("a", "c"))),
        ("2 2", Choice((2,), ())),
        ("9-3", None),
        ("the second one", None),
        ("", None),
        ("😀", None),
    ],
)
def test_what_may_be_answered(text: str, choice: Choice | None) -> None:
    """Numbers and letters as people type them; anything else is no choice."""
    assert forgetcard.choice(text) == choice
