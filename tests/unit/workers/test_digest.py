"""What a review by another model reads: what stays as it was, what is shortened, what is left out."""

from collections.abc import Iterator
from datetime import UTC, datetime

from gateway.chat import Chat, How, Piece
from gateway.ports import RequestMessage
from gateway.records import Message, Role, ToolCall
from workers import digest

AT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
CALL = ToolCall("call_1", "memory", '{"action": "add"}')


def row(turn: int, role: Role, text: str, **fields: object) -> Message:
    values = {"id": 10 * turn, "person": "", "pieces": (), "at": AT, **fields}
    return Message(space=1, chat=Chat("telegram", "5"), role=role, text=text, turn=turn, **values)  # type: ignore[arg-type]


def turn(number: int, said: str = "", answer: str = "I see.", **fields: object) -> Iterator[Message]:
    said = said or f"message {number}"
    sent = f"[2026-11-30 09:{number:02} Mon] {said}"
    yield row(number, Role.USER, said, as_sent=sent, **{"person": "telegram:1", **fields})
    yield row(number, Role.ASSISTANT, answer, id=10 * number + 1)


def turns(count: int, **fields: str) -> list[Message]:
    return [one for number in range(1, count + 1) for one in turn(number, **fields)]


def test_the_reviewed_turns_and_two_before_are_as_they_were() -> None:
    """ "Yes, that one" means nothing alone."""
    asked = digest.request("prompt", "[]", digest.digest(turns(9), 8))

    assert (asked.system, asked.tools) == ("prompt", "[]")
    assert asked.messages[2:] == tuple(
        RequestMessage(role, text)
        for number in (6, 7, 8, 9)
        for role, text in (("user", f"[2026-11-30 09:{number:02} Mon] message {number}"), ("assistant", "I see."))
    )


def test_older_turns_are_one_message_with_their_times() -> None:
    """Enough to know what it was about, in the order in which it was said."""
    asked = digest.request("prompt", "", digest.digest(turns(5), 5))

    assert asked.messages[:2] == (
        RequestMessage(
            "user",
            "Earlier in this conversation, shortened; words of others are left out:\n"
            "- [2026-11-30 09:01 Mon] message 1\n"
            "  You answered: I see.\n"
            "- [2026-11-30 09:02 Mon] message 2\n"
            "  You answered: I see.",
        ),
        RequestMessage("assistant", digest.READ),
    )


def test_a_short_conversation_is_the_whole_conversation() -> None:
    """Nothing is said of what is not there."""
    cut = digest.digest(turns(3), 2)

    assert (cut.earlier, list(cut.recent)) == ("", turns(3))


def test_the_words_of_others_are_left_out_of_what_is_shortened() -> None:
    """On a line of their own they would look like the person's, and become memory."""
    pieces = (Piece(How.OWN, "telegram:1", "look at this"), Piece(How.FORWARDED, "Mallory", "I am a dentist"))
    rows = [*turn(1, "look at this\nI am a dentist", pieces=pieces), *turn(2, "hi all", person="telegram:9")]

    earlier = digest.digest([*rows, *turns(9)[4:]], 5, whose=["telegram:1"]).earlier

    assert "look at this" in earlier
    assert "dentist" not in earlier
    assert "hi all" not in earlier
    assert "(words of others)" in earlier


def test_long_messages_are_cut_and_very_old_ones_counted() -> None:
    """The digest of any conversation has about the same size."""
    cut = digest.digest(turns(300, said="wor\nds " * 1_000, answer="x" * 9_000), 299)

    assert "- [2026-11-30 09:" in cut.earlier
    assert len(cut.earlier) < digest.MOST_EARLIER_CHARS + 200
    assert " earlier turns are left out.)" in cut.earlier
    assert max(map(len, cut.earlier.splitlines())) < 300


def test_a_review_of_very_much_keeps_the_newest_as_they_were() -> None:
    """/refine looks at a whole conversation; the other model's window may be small."""
    cut = digest.digest(turns(40, said="y" * 5_000), 1)

    kept = sorted({one.turn for one in cut.recent})
    assert kept == list(range(kept[0], 41))
    assert 1 < len(kept) < 10
    assert "yyy" in cut.earlier


def test_the_newest_turn_stays_whole_however_long_it_is() -> None:
    """It is what the review is about."""
    cut = digest.digest(turns(2, said="z" * 100_000), 2)

    assert [one.turn for one in cut.recent] == [2, 2]


def test_a_round_of_calls_is_never_cut_in_two() -> None:
    """A result without its call is refused by every API; nor does a command in between matter."""
    rows = [
        *turns(3),
        row(4, Role.USER, "note it", as_sent="note it"),
        row(4, Role.ASSISTANT, "", tool_calls=(CALL,)),
        row(0, Role.COMMAND, "/memory"),
        row(4, Role.TOOL, "{}", tool_call_id="call_1", tool_name="memory"),
    ]

    asked = digest.request("prompt", "", digest.digest(rows, 4))

    assert [message.role for message in asked.messages[-3:]] == ["user", "assistant", "tool"]
    assert all("/memory" not in message.content for message in asked.messages)
