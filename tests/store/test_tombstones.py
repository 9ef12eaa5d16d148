"""What was forgotten is held when it is proposed again, in its space, until a person says to keep it."""

import pytest

from gateway.memory import tombstones as checking
from gateway.memory.passages import Passage
from gateway.memory.tombstones import Held
from gateway.store import tombstones
from gateway.store.db import Database
from tests.store.given import NINE, after, space
from tests.unit.memory.test_passages import FOUND

ENTRY = "Anna Lindqvist has knee surgery on 12 March at Haukeland"
PASSAGE = "surgery on 12 March"


def forget(db: Database, passage: str = PASSAGE, entry: str = ENTRY, name: str = "owner", days: int = 0) -> int:
    with db.write() as tx:
        here = space(tx, name)
        row = tx.row(
            "INSERT INTO forgets (space, by, status, requested_at) VALUES (?, '', 'done', '') RETURNING id", (here,)
        )
        assert row is not None
        marks = checking.marks(Passage.of(passage), entry, tombstones.key(tx))
        tombstones.add(tx, here, row["id"], marks, after(days=days))
        return int(row["id"])


def held(db: Database, text: str, name: str = "owner") -> Held | None:
    with db.write() as tx:
        here = space(tx, name)
    with db.read() as rd:
        return checking.held_by(rd, here, text, tombstones.known_key(rd))


def test_nothing_is_held_where_nothing_was_forgotten(db: Database) -> None:
    """A new home has no key and no marks."""
    assert held(db, ENTRY) is None


def test_the_words_are_held_whatever_surrounds_them(db: Database) -> None:
    """Verbatim is a promise: none comes back silently."""
    id = forget(db)

    found = held(db, "By the way, there is SURGERY — on\n12 March. And he likes tea.")

    assert found is not None
    assert (found.forget, found.at, found.verbatim) == (id, NINE, True)


@pytest.mark.parametrize(("passage", "text", "hit"), FOUND)
def test_every_spelling_is_held(db: Database, passage: str, text: str, hit: str) -> None:
    """What a forget would find, a check finds."""
    forget(db, passage, "")

    assert held(db, text) is not None
    assert held(db, f"x {text} {text} y") is not None


def test_other_words_are_held(db: Database) -> None:
    """A review says it its own way."""
    forget(db)

    found = held(db, "Haukeland will operate Anna Lindqvist's knee in March")

    assert found is not None
    assert not found.verbatim


@pytest.mark.parametrize("text", ["Anna Lindqvist likes tea", "Works at Haukeland", "Dentist on 12 March", "", "?"])
def test_other_facts_are_not_held(db: Database, text: str) -> None:
    """The person asked to forget one thing about Anna, not Anna."""
    forget(db)

    assert held(db, text) is None


def test_another_space_knows_nothing_of_it(db: Database) -> None:
    """A forget and its tombstones belong to one space (promise 5)."""
    forget(db)

    assert held(db, ENTRY, "telegram-5") is None


def test_a_yes_lifts_what_was_asked_about_and_nothing_else(db: Database) -> None:
    """`remember` asks once: what was lifted is not asked about again, other tombstones stay."""
    forget(db)
    forget(db, "salary is 74,500", "Salary is 74,500 euros at Brightwater")

    found = held(db, ENTRY)
    assert found is not None
    with db.write() as tx:
        tombstones.lift(tx, space(tx), found.ids)

    assert held(db, ENTRY) is None
    assert held(db, "surgery on 12 March") is None
    assert held(db, "the salary is 74,500") is not None


def test_the_last_of_several_forgets_is_named(db: Database) -> None:
    """ "You asked me to forget something like this on 12 March": the day the person remembers."""
    forget(db)
    last = forget(db, days=3)

    found = held(db, ENTRY)

    assert found is not None
    assert (found.forget, found.at) == (last, after(days=3))


def test_the_same_marks_again_change_nothing(db: Database) -> None:
    """A forget that goes on after a kill leaves its tombstones once more."""
    id = forget(db)
    with db.read() as rd:
        before = tombstones.every(rd, 1)

    with db.write() as tx:
        marks = checking.marks(Passage.of(PASSAGE), ENTRY, tombstones.key(tx))
        tombstones.add(tx, space(tx), id, marks, after(days=9))

    with db.read() as rd:
        assert tombstones.every(rd, 1) == before


def test_rows_that_went_are_known_by_their_ids(db: Database) -> None:
    """A restored copy loses them again, also where the marks of the words were left out."""
    id = forget(db)
    with db.write() as tx:
        tombstones.add(tx, space(tx), id, [tombstones.row("messages", 412), tombstones.row("writes", 7)], NINE)
        tombstones.lift(tx, space(tx), [one.id for one in tombstones.every(tx, space(tx))])

    with db.read() as rd:
        assert tombstones.rows(rd, 1) == {"messages:412", "writes:7"}


def test_an_entry_is_known_by_its_mark(db: Database) -> None:
    """Restoring an older copy compares its entries with these."""
    forget(db)

    with db.read() as rd:
        key = tombstones.known_key(rd)
        assert key is not None
        mark = checking.entry("anna  lindqvist has KNEE surgery on 12 march, at Haukeland", key)
        assert mark is not None
        assert [one.mark for one in tombstones.with_marks(rd, 1, [mark.mark])] == [mark]


def test_marks_end_with_their_forget(db: Database) -> None:
    """Erasing everything of a space takes its forgets away, and a filter alone holds nothing."""
    id = forget(db)
    with db.write() as tx:
        tx.execute("DELETE FROM forgets WHERE id = ?", (id,))

    assert held(db, ENTRY) is None
    with db.write() as tx:
        tombstones.drop(tx, space(tx))
    with db.read() as rd:
        assert tombstones.filter_of(rd, 1) is None


def test_marks_come_with_their_key(db: Database, other: Database) -> None:
    """A restore takes the marks of the present home; those of another key could never be found."""
    forget(db)

    with db.write() as tx:
        tombstones.take_key(tx, bytes(32))
    assert held(db, ENTRY) is None

    forget(db)
    assert held(other, ENTRY) is not None


def test_no_words_are_in_the_tables(db: Database) -> None:
    """Neither as text nor in the bytes of the filter."""
    forget(db)

    with db.read() as rd:
        for table in ("tombstones", "tombstone_starts", "tombstone_filters", "tombstone_keys"):
            stored = repr([tuple(row) for row in rd.rows(f"SELECT * FROM {table}")]).casefold()
            assert not any(word in stored for word in ("anna", "surgery", "haukeland", "march"))


def test_a_common_word_does_not_hide_a_rare_one(db: Database) -> None:
    """Of a name that many forgotten facts have only some are read; a rarer part still leads to the right one."""
    for number in range(40):
        forget(db, f"Anna Lindqvist item {number}x", f"Anna Lindqvist item {number}x brass trumpet {number + 1000}")

    assert held(db, "The trumpet of Anna Lindqvist, of brass, is 1037") is not None
    assert held(db, "Anna Lindqvist sold an item") is None
