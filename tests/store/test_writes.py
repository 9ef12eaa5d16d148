"""The ledger: each write happens once and moves one way, whoever is first."""

from dataclasses import replace

import pytest

from gateway.errors import NotFound
from gateway.records import Action, Evidence, KnownFile, Operation, Origin, Status, Target, Write
from gateway.store import filewrites, undoing, writes
from gateway.store.db import Database, Transaction
from tests.store import given
from tests.store.given import NINE


def _approve(tx: Transaction, id: int, by: str = "telegram:123") -> bool:
    return writes.approve(
        tx,
        id,
        by=by,
        at=NINE,
        through=412,
        base_hash="b",
        before_hash="x",
        after_hash="y",
        before="Lives in Oslo",
        after="Lives in Bergen",
    )


def test_a_proposal_comes_back_as_it_was_made(db: Database) -> None:
    """What a card shows and what an approval does are this row."""
    operations = (Operation(Action.REPLACE, "Lives in Bergen", "Oslo"), Operation(Action.REMOVE, "", "Trondheim"))
    with db.write() as tx:
        space = given.space(tx)
        proposal = given.proposal(
            tx,
            operations=operations,
            evidence=Evidence(412, "telegram:123", "jeg bor i Bergen nå"),
            flags=("flag.near",),
            reason="reason.over",
            reason_values={"over": 43},
            session="s",
            review_turn=10,
            base_hash="b",
            expires_at=given.after(days=30),
        )
        write, new = writes.born(tx, proposal)

    assert new
    assert write == Write(
        id=1,
        space=space,
        space_name="owner",
        kind="memory",
        about=Target.USER,
        operations=operations,
        origin=Origin.REVIEW,
        evidence=Evidence(412, "telegram:123", "jeg bor i Bergen nå"),
        flags=("flag.near",),
        status=Status.STAGED,
        reason="reason.over",
        reason_values={"over": 43},
        message=None,
        session="s",
        review_turn=10,
        base_hash="b",
        before_hash="",
        after_hash="",
        before="",
        after="",
        created_at=NINE,
        expires_at=given.after(days=30),
        decided_by="",
        decided_at=None,
        decided_in=None,
    )
    assert write.action is Action.BATCH


def test_a_proposal_is_born_once(db: Database, other: Database) -> None:
    """A turn that goes on after a kill, a job that runs twice."""
    with db.write() as tx:
        given.space(tx)

    def propose(database: Database) -> tuple[int, bool]:
        with database.write() as tx:
            write, new = writes.born(tx, given.proposal(tx, dedupe="turn-412-1-0"))
            return write.id, new

    born = given.at_once(lambda: propose(db), lambda: propose(other), lambda: propose(db))

    assert {id for id, _ in born} == {1}
    assert sorted(new for _, new in born) == [False, False, True]
    with db.read() as rd:
        assert writes.by_dedupe(rd, "turn-412-1-0") == writes.get(rd, 1)
        assert writes.by_dedupe(rd, "turn-412-1-1") is None


def test_two_approvers_are_one_approval(db: Database, other: Database) -> None:
    """Two accounts of the owner tap at the same instant: one decision, one notice."""
    with db.write() as tx:
        id = writes.born(tx, given.proposal(tx))[0].id

    def tap(database: Database, by: str) -> bool:
        with database.write() as tx:
            return _approve(tx, id, by)

    won = given.at_once(lambda: tap(db, "telegram:123"), lambda: tap(other, "discord:9"))

    with db.read() as rd:
        write = writes.get(rd, id)
    assert sorted(won) == [False, True]
    assert (write.status, write.decided_by) == (Status.APPROVED, "telegram:123" if won[0] else "discord:9")
    assert (write.decided_at, write.decided_in, write.before, write.after) == (
        NINE,
        412,
        "Lives in Oslo",
        "Lives in Bergen",
    )
    assert (write.base_hash, write.before_hash, write.after_hash) == ("b", "x", "y")


def test_approving_and_rejecting_at_once_is_one_decision(db: Database, other: Database) -> None:
    """And expiry is a third hand that may move."""
    with db.write() as tx:
        id = writes.born(tx, given.proposal(tx, expires_at=NINE))[0].id

    def approve() -> bool:
        with db.write() as tx:
            return _approve(tx, id)

    def reject() -> bool:
        with other.write() as tx:
            return writes.reject(tx, id, by="telegram:123", at=NINE, through=413)

    def expire() -> bool:
        with other.write() as tx:
            return writes.expire(tx, NINE) == [id]

    assert sorted(given.at_once(approve, reject, expire)) == [False, False, True]


def test_a_write_is_applied_once_and_ends(db: Database, other: Database) -> None:
    """A worker and a gateway that both finish what a crash left."""
    with db.write() as tx:
        id = writes.born(tx, given.proposal(tx))[0].id
        assert not writes.applied(tx, id, NINE)
        _approve(tx, id)
        assert [write.id for write in writes.unfinished(tx)] == [id]

    def apply(database: Database) -> bool:
        with database.write() as tx:
            return writes.applied(tx, id, NINE)

    assert sorted(given.at_once(lambda: apply(db), lambda: apply(other))) == [False, True]
    with db.write() as tx:
        assert writes.unfinished(tx) == []
        assert not writes.failed(tx, id, "reason.changed", {}, NINE)
        assert not writes.reject(tx, id, by="telegram:123", at=NINE, through=None)
        assert undoing.begin(tx, id, by="telegram:123", at=NINE)
        assert not undoing.begin(tx, id, by="x", at=NINE)
        undone = writes.get(tx, id)
    assert (undone.status, undone.undone_by, undone.undone_at) == (Status.UNDONE, "telegram:123", NINE)


def test_a_write_fails_from_where_it_may(db: Database) -> None:
    """Approved and the file changed since; or staged and its entry is gone."""
    with db.write() as tx:
        approved = writes.born(tx, given.proposal(tx, "one"))[0].id
        staged = writes.born(tx, given.proposal(tx, "two"))[0].id
        _approve(tx, approved)
        later = given.after(minutes=1)

        assert writes.failed(tx, approved, "reason.changed", {}, later)
        assert not writes.failed(tx, staged, "reason.gone", {}, later)
        assert writes.failed(
            tx, staged, "reason.gone", {"n": 1}, later, (Status.STAGED,), by="telegram:5", through=9
        )
        first, second = writes.get(tx, approved), writes.get(tx, staged)

    assert (first.status, first.reason, first.decided_by, first.decided_at) == (
        Status.FAILED, "reason.changed", "telegram:123", NINE,
    )  # fmt: skip
    assert (second.reason_values, second.decided_by, second.decided_at, second.decided_in) == (
        {"n": 1}, "telegram:5", later, 9,
    )  # fmt: skip


def test_what_is_born_decided_was_decided_then(db: Database) -> None:
    """Approved by policy, refused by the scan, or found in the file as a hand edit."""
    with db.write() as tx:
        kinds = (Status.APPROVED, Status.REFUSED, Status.APPLIED)
        born = [writes.born(tx, given.proposal(tx, status, status=status))[0] for status in kinds]

    assert [(write.status, write.decided_at) for write in born] == [(status, NINE) for status in kinds]


def test_expiry_takes_what_is_due_and_nothing_else(db: Database) -> None:
    """`pending_ttl_days: 0` means never."""
    with db.write() as tx:
        due = writes.born(tx, given.proposal(tx, "one", expires_at=given.after(days=30)))[0].id
        writes.born(tx, given.proposal(tx, "two", expires_at=given.after(days=31)))
        writes.born(tx, given.proposal(tx, "three"))

        assert writes.expire(tx, given.after(days=30)) == [due]
        assert writes.expire(tx, given.after(days=30)) == []
        assert len(writes.staged(tx, None)) == 2


def test_an_edit_keeps_it_staged_and_what_was_proposed(db: Database) -> None:
    """Who edited, and what the model said first, can be seen later."""
    with db.write() as tx:
        write, _ = writes.born(tx, given.proposal(tx, reason="reason.over"))
        better = (Operation(Action.ADD, "Moved to Bergen in 2026"),)
        assert writes.edit(tx, write.id, better, ("flag.near",), "telegram:123", NINE)
        assert writes.edit(tx, write.id, better, (), "telegram:5", NINE)
        original = tx.rows("SELECT original FROM writes")[0][0]
        edited = writes.get(tx, write.id)
        _approve(tx, write.id)
        late = writes.edit(tx, write.id, better, (), "telegram:5", NINE)

    assert edited == replace(
        write,
        operations=better,
        edited_by="telegram:5",
        edited_at=NINE,
        original=write.operations,
        reason="",
        redrawn=2,
    )
    assert original == '[{"action":"add","content":"Lives in Bergen","old_text":""}]'
    assert late is False


def test_a_redraw_is_counted_and_leaves_it_staged(db: Database) -> None:
    """ "Approve all" must not cover what its person has not seen."""
    with db.write() as tx:
        write, _ = writes.born(tx, given.proposal(tx))
        assert writes.redraw(tx, write.id, "reason.changed_under_it", {"over": 43}, "new", before="Lives in Oslo")

        assert writes.get(tx, write.id) == replace(
            write,
            reason="reason.changed_under_it",
            reason_values={"over": 43},
            base_hash="new",
            before="Lives in Oslo",
            redrawn=1,
        )


def test_lists_show_what_their_reader_asks_for(db: Database) -> None:
    """Pending oldest first, the log newest first, a space never another's."""
    with db.write() as tx:
        theirs = given.space(tx, "telegram-5")
        ids = [
            writes.born(tx, given.proposal(tx, "one", message=412))[0].id,
            writes.born(tx, given.proposal(tx, "two", space=theirs, session="s", review_turn=10))[0].id,
            writes.born(tx, given.proposal(tx, "three", message=412))[0].id,
        ]
        mine = writes.get(tx, ids[0]).space

        assert _ids(writes.staged(tx, None)) == ids
        assert _ids(writes.staged(tx, mine)) == [ids[0], ids[2]]
        assert _ids(writes.log(tx, None, 2)) == [ids[2], ids[1]]
        assert _ids(writes.log(tx, theirs, 10)) == [ids[1]]
        assert _ids(writes.of_message(tx, 412)) == [ids[0], ids[2]]
        assert _ids(writes.of_review(tx, "s", 10)) == [ids[1]]
        with pytest.raises(NotFound, match="no write 99"):
            writes.get(tx, 99)


def test_what_is_live_for_an_entry_is_found_by_the_text_it_names(db: Database) -> None:
    """Reworded proposals of one change piled up in other bots."""
    change = (Operation(Action.REPLACE, "Lives in Bergen", "Oslo"),)
    with db.write() as tx:
        replacing = writes.born(tx, given.proposal(tx, "one", operations=change))[0]
        adding = writes.born(tx, given.proposal(tx, "two"))[0]
        gone = writes.born(tx, given.proposal(tx, "three", operations=change))[0]
        writes.reject(tx, gone.id, by="x", at=NINE, through=None)

        assert _ids(filewrites.live_for(tx, adding.space, Target.USER)) == [replacing.id, adding.id]
        assert _ids(filewrites.live_for(tx, adding.space, Target.USER, "Oslo")) == [replacing.id]
        assert filewrites.live_for(tx, adding.space, Target.MEMORY) == []


def test_the_sources_of_a_file_are_what_was_applied_to_it(db: Database) -> None:
    """`memory why`."""
    with db.write() as tx:
        first = writes.born(tx, given.proposal(tx, "one", status=Status.APPLIED))[0]
        second = writes.born(tx, given.proposal(tx, "two", status=Status.APPLIED))[0]
        writes.born(tx, given.proposal(tx, "three"))

        assert _ids(filewrites.sources(tx, first.space, Target.USER)) == [second.id, first.id]


def test_what_is_known_of_a_file_is_what_was_noted_last(db: Database) -> None:
    """A hand edit is a difference from this."""
    with db.write() as tx:
        space = given.space(tx)
        assert writes.known_file(tx, space, Target.USER) is None
        writes.set_known_file(tx, space, Target.USER, "1", "Lives in Oslo\n", NINE)
        writes.set_known_file(tx, space, Target.USER, "2", "Lives in Bergen\n", NINE)

        assert writes.known_file(tx, space, Target.USER) == KnownFile("2", "Lives in Bergen\n")


def test_other_scripts_are_stored_as_they_are(db: Database) -> None:
    """A forget looks for the words themselves, not for \\u escapes of them."""
    with db.write() as tx:
        writes.born(tx, given.proposal(tx, "ベルゲンに住んでいる"))

        assert "ベルゲンに住んでいる" in tx.rows("SELECT operations FROM writes")[0][0]


def _ids(found: list[Write]) -> list[int]:
    return [write.id for write in found]
