"""Which messages are pieces of one, and what becomes of them."""

import asyncio
from datetime import datetime, timedelta

import pytest

from gateway.chat import Chat, How, Piece
from gateway.conversation import gathering, joining
from gateway.records import Done, Message, Role
from gateway.store import messages, search
from gateway.store.db import Database
from tests.store import given
from tests.store.given import CHAT, NINE

ANNA, BEN = "telegram:123", "telegram:456"
LONG = "a long line of text " * 200
PHOTO = Piece(How.ATTACHED, ANNA, "photo")


def _keep(
    db: Database,
    text: str,
    *,
    at: datetime = NINE,
    album: str = "",
    pieces: tuple[Piece, ...] = (),
    by: str = ANNA,
    role: Role = Role.USER,
) -> int:
    with db.write() as tx:
        id = messages.keep(
            tx,
            messages.NewMessage(given.space(tx), CHAT, by, role, text, at, pieces=pieces, album=album),
        )
    assert id is not None
    return id


def _join(db: Database, head: int) -> Message:
    with db.write() as tx:
        return joining.join(tx, messages.get(tx, head), NINE)


def test_a_long_paste_that_an_app_cut_becomes_one_message_again(db: Database) -> None:
    """Otherwise the bot would answer the first half of a text three times."""
    head = _keep(db, LONG)
    second, third = _keep(db, LONG, at=given.after(seconds=1)), _keep(db, "and its end", at=given.after(seconds=2))

    whole = _join(db, head)

    assert whole.text == f"{LONG}\n{LONG}\nand its end"
    with db.read() as rd:
        parts = [messages.get(rd, id) for id in (second, third)]
        assert [(part.text, part.part_of, part.done) for part in parts] == [("", head, Done.ANSWERED)] * 2


def test_what_was_joined_is_found_in_the_whole_message_alone(db: Database) -> None:
    """A search that finds an empty piece would show nothing."""
    head = _keep(db, LONG)
    _keep(db, "marzipan", at=given.after(seconds=1))

    whole = _join(db, head)

    with db.read() as rd:
        assert [hit.message for hit in search.find(rd, whole.space, "marzipan", 10).hits] == [head]


def test_short_messages_of_a_burst_stay_apart(db: Database) -> None:
    """Each of them gets an answer of its own."""
    head = _keep(db, "first")
    _keep(db, "second", at=given.after(seconds=1))

    assert _join(db, head).text == "first"


def test_what_comes_later_is_no_piece(db: Database) -> None:
    """Two long messages of a day are two messages."""
    head = _keep(db, LONG)
    _keep(db, "something else", at=given.after(seconds=10))

    assert _join(db, head).text == LONG


def test_nobody_is_joined_to_somebody_else(db: Database) -> None:
    """In a group two people may write at once; a word of one must never become the other's."""
    head = _keep(db, LONG)
    _keep(db, "my words", by=BEN)
    _keep(db, "its end", at=given.after(seconds=1))

    assert _join(db, head).text == f"{LONG}\nits end"


def test_a_command_ends_what_belongs_together(db: Database) -> None:
    """What is said behind /new belongs to the new conversation."""
    head = _keep(db, LONG)
    _keep(db, "/new", role=Role.COMMAND)
    _keep(db, "a new beginning", at=given.after(seconds=1))

    assert _join(db, head).text == LONG


def test_an_album_becomes_one_message_with_all_its_captions(db: Database) -> None:
    """Ten photos are one thing said; no caption may be lost."""
    head = _keep(db, "", album="a", pieces=(PHOTO,))
    _keep(db, "our garden", album="a", pieces=(PHOTO, Piece(How.OWN, ANNA, "our garden")))
    _keep(db, "unrelated")

    whole = _join(db, head)

    assert whole.text == "our garden"
    assert whole.pieces == (PHOTO, PHOTO, Piece(How.OWN, ANNA, "our garden"))


def test_forwarded_words_are_not_the_end_of_ones_own(db: Database) -> None:
    """Joined, they would pass as the person's own words."""
    head = _keep(db, LONG)
    forwarded = (Piece(How.FORWARDED, BEN, "send money"),)
    _keep(db, "send money", at=given.after(seconds=1), pieces=forwarded)

    assert _join(db, head).text == LONG


def test_a_long_paste_in_answer_to_something_is_one_message(db: Database) -> None:
    """Apps quote what is answered above the first piece only."""
    quoted = (Piece(How.QUOTED, BEN, "What did it say?"), Piece(How.OWN, ANNA, LONG))
    head = _keep(db, f"What did it say?\n{LONG}", pieces=quoted)
    _keep(db, "its end", at=given.after(seconds=1))

    assert _join(db, head).pieces == (*quoted, Piece(How.OWN, ANNA, "its end"))


def test_times_that_run_backwards_join_nothing(db: Database) -> None:
    """A clock that was put back is no sign of a paste."""
    head = _keep(db, LONG)
    _keep(db, "earlier", at=NINE - timedelta(seconds=1))

    assert _join(db, head).text == LONG


async def test_half_a_paste_does_not_wait_for_a_platform_for_ever(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest may never come; after a while what was said is answered all the same."""
    monkeypatch.setattr(joining, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(gathering, "MOST_DEAF_LOOKS", 3)
    with db.read() as rd:
        head = messages.get(rd, _keep(db, LONG))
    looks: list[str] = []

    def hears(chat: Chat) -> bool:
        looks.append(chat.key)
        return False

    async with asyncio.timeout(20):
        await gathering.until_whole(db, head, hears)

    assert len(looks) == 3 + joining.looks(head)
