"""Everything said is said once, in order, and its words are gone when it has arrived."""

from collections.abc import Callable
from datetime import datetime

import pytest

from gateway.chat import Chat
from gateway.errors import NotFound
from gateway.records import Chunk, Outgoing
from gateway.store import cardrows, outbox, reviews, writes
from gateway.store.db import Database, Transaction
from tests.store import given
from tests.store.given import CHAT, NINE

OTHER = Chat("telegram", "5")
SESSION = "20261130_090007_57bbf6"


def _put(tx: Transaction, dedupe: str, **fields: object) -> int:
    id = outbox.put(tx, given.to_say(tx, dedupe, **fields))
    assert id is not None
    return id


def _waiting(tx: Transaction, *platforms: str, minutes: int = 0) -> list[int]:
    return [row.id for row in outbox.waiting(tx, platforms or ("telegram",), given.after(minutes=minutes))]


def test_a_thing_to_say_comes_back_as_it_was_put(db: Database) -> None:
    """The gateway renders it from this and nothing else."""
    with db.write() as tx:
        card = _put(tx, "write-17-card", kind="card", write=17)
        fields = {"message": 412, "write": 17, "review": (SESSION, 10), "edits": card, "values": {"redrawn": 1}}
        id = _put(tx, "write-17-applied", kind="card_update", reply_to="77", **fields)
        row = outbox.get(tx, id)
        space = given.space(tx)

        assert row == Outgoing(
            id=id,
            dedupe="write-17-applied",
            kind="card_update",
            chat=CHAT,
            space=space,
            token=row.token,
            message=412,
            write=17,
            review=(SESSION, 10),
            edits=card,
            values={"redrawn": 1},
            reply_to="77",
            via="",
            status="waiting",
            attempts=0,
            due_at=NINE,
            created_at=NINE,
        )
        assert outbox.by_dedupe(tx, "write-17-applied") == outbox.find(tx, id) == row
        assert outbox.get(tx, card).review is None
        assert (outbox.find(tx, 99), outbox.find(tx, 1 << 70), outbox.by_dedupe(tx, "x")) == (None, None, None)
        with pytest.raises(NotFound):
            outbox.get(tx, 99)


def test_tokens_are_unguessable_and_fit_a_button(db: Database) -> None:
    """Telegram gives a button 64 bytes; a colon separates its parts."""
    with db.write() as tx:
        tokens = {outbox.get(tx, _put(tx, f"notice-{number}")).token for number in range(50)}

    assert len(tokens) == 50
    assert all(len(token) == 12 and ":" not in token for token in tokens)


def test_a_thing_is_put_once(db: Database, other: Database) -> None:
    """A gateway and a worker that both see that a write was applied."""
    with db.write() as tx:
        given.space(tx)

    def put(database: Database) -> int | None:
        with database.write() as tx:
            return outbox.put(tx, given.to_say(tx, "write-17-applied"))

    ids = given.at_once(lambda: put(db), lambda: put(other), lambda: put(db))

    assert sorted(id is None for id in ids) == [False, True, True]


def test_each_chat_gets_its_oldest_first(db: Database) -> None:
    """A notice comes after the reply it belongs to; chats do not wait for each other; threads are apart."""
    with db.write() as tx:
        first = _put(tx, "one")
        second = _put(tx, "two")
        thread = _put(tx, "three", chat=Chat("telegram", "123", "9"))
        elsewhere = _put(tx, "four", chat=OTHER)
        discord = _put(tx, "five", chat=Chat("discord", "9"))

        assert _waiting(tx) == [first, thread, elsewhere]
        assert _waiting(tx, "telegram", "discord") == [first, thread, elsewhere, discord]
        assert outbox.delivered(tx, first, NINE)
        assert _waiting(tx) == [second, thread, elsewhere]


def test_one_that_is_postponed_holds_up_its_chat_and_no_other(db: Database) -> None:
    """What comes after must not overtake."""
    with db.write() as tx:
        first = _put(tx, "one")
        _put(tx, "two")
        elsewhere = _put(tx, "three", chat=OTHER)
        outbox.postpone(tx, first, NINE, given.after(minutes=5))

        assert _waiting(tx) == [elsewhere]
        assert _waiting(tx, minutes=5) == [first, elsewhere]
        assert outbox.get(tx, first).attempts == 1


def test_nothing_is_told_of_a_write_before_it_is_known_how_it_ended(db: Database) -> None:
    """ "Memory updated" must not be said of a file that was not; and the chat goes on meanwhile."""
    with db.write() as tx:
        mine = writes.born(tx, given.proposal(tx, "one", message=412))[0].id
        theirs = writes.born(tx, given.proposal(tx, "two", session=SESSION, review_turn=10))[0].id
        of_write = _put(tx, "one", write=mine)
        of_message = _put(tx, "two", message=412)
        of_review = _put(tx, "three", review=(SESSION, 10))
        other_review = _put(tx, "four", review=(SESSION, 20), chat=OTHER)
        assert _waiting(tx) == [of_write, other_review]
        for id in (mine, theirs):
            hashes = {"base_hash": "", "before_hash": "", "after_hash": ""}
            writes.approve(tx, id, by="x", at=NINE, through=None, before="", after="", places=(), **hashes)

        assert _waiting(tx) == [other_review]
        later = _put(tx, "five")
        assert _waiting(tx) == [other_review, later]
        writes.applied(tx, theirs, NINE)
        assert _waiting(tx) == [of_review, other_review]
        writes.failed(tx, mine, "reason.changed", {}, NINE)
        assert _waiting(tx) == [of_write, other_review]
        outbox.delivered(tx, of_write, NINE)
        assert _waiting(tx) == [of_message, other_review]


def test_words_go_as_their_messages_arrive(db: Database) -> None:
    """After a crash the rest is sent, and only the rest; in the end no word is left."""
    with db.write() as tx:
        id = _put(tx, "one")
        assert outbox.chunks(tx, id) == []
        outbox.keep_chunks(tx, id, ["Hello", "world"])
        outbox.keep_chunks(tx, id, ["Another", "rendering", "entirely"])
        outbox.chunk_delivered(tx, id, 0, "tg-1", NINE)

        assert outbox.chunks(tx, id) == [Chunk(id, 0, "", "tg-1", True), Chunk(id, 1, "world", "", False)]
        outbox.chunk_delivered(tx, id, 1, "tg-2", NINE)
        assert (outbox.delivered(tx, id, NINE), outbox.delivered(tx, id, NINE)) == (True, False)
        assert [chunk.text for chunk in outbox.chunks(tx, id)] == ["", ""]
        assert outbox.get(tx, id).status == "delivered"


@pytest.mark.parametrize(("end", "status"), [(outbox.drop, "dropped"), (outbox.gone, "gone")])
def test_what_is_never_said_keeps_no_words_either(
    db: Database, end: Callable[[Transaction, int, datetime], bool], status: str
) -> None:
    """A blocked bot must not be an archive."""
    with db.write() as tx:
        id = _put(tx, "one")
        outbox.keep_chunks(tx, id, ["Hello"])
        end(tx, id, NINE)

        assert (outbox.get(tx, id).status, outbox.chunks(tx, id)[0].text) == (status, "")
        assert not outbox.postpone(tx, id, NINE, NINE)


def test_cards_are_found_by_their_write(db: Database) -> None:
    """To be changed when somebody decides elsewhere."""
    with db.write() as tx:
        sent = _put(tx, "write-17-card", kind="card", write=17)
        waiting = _put(tx, "write-17-card-again", kind="card", write=17)
        _put(tx, "write-17-approved", kind="card_update", write=17, edits=sent)

        assert [card.id for card in cardrows.cards_of(tx, 17)] == [sent, waiting]


def test_a_redrawn_card_counts_as_seen_when_its_redrawing_arrived(db: Database) -> None:
    """ "Approve all" covers only what its person has seen."""
    with db.write() as tx:
        write, _ = writes.born(tx, given.proposal(tx))
        assert cardrows.shows_as_it_is(tx, write)
        writes.redraw(tx, write.id, "reason.changed", {}, "new", before="Lives in Oslo")
        write = writes.get(tx, write.id)
        assert cardrows.shows_as_it_is(tx, write)

        card = _put(tx, "card", kind="card", write=write.id, values={"redrawn": 0})
        outbox.delivered(tx, card, NINE)
        update = _put(tx, "update", kind="card_update", write=write.id, edits=card, values={"redrawn": 1})
        assert not cardrows.shows_as_it_is(tx, write)
        outbox.delivered(tx, update, NINE)
        assert cardrows.shows_as_it_is(tx, write)


def test_what_waits_for_a_chat_that_is_gone_is_said_in_the_next(db: Database) -> None:
    """The review of a one-shot run ends long after its terminal."""
    here = Chat("terminal", "3")
    with db.write() as tx:
        first = _put(tx, "one", chat=Chat("terminal", "1"))
        _put(tx, "two", chat=Chat("terminal", "2"))
        said = _put(tx, "three", chat=Chat("terminal", "1"))
        outbox.delivered(tx, said, NINE)
        assert outbox.waiting_chat_ids(tx, "terminal") == ["1", "2"]

        assert outbox.adopt(tx, "terminal", ["1"], here) == 1
        assert outbox.get(tx, first).chat == here
        assert outbox.waiting_chat_ids(tx, "terminal") == ["2", "3"]


def test_the_outbox_itself_holds_no_words(db: Database) -> None:
    """Kinds, ids and numbers: a review's row refers to its writes."""
    with db.write() as tx:
        given.session(tx, turns=10)
        reviews.make_due(tx, SESSION, 1, 10, 1, "interval", NINE)
        row = outbox.get(tx, _put(tx, f"review-{SESSION}-10", review=(SESSION, 10), values={"added": 1}))

    assert (row.review, row.values) == ((SESSION, 10), {"added": 1})
