"""The time line of what was learnt, from rows and texts alone."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from gateway.memory import entries, journey
from gateway.memory.entries import Entry
from gateway.memory.journey import EntryId, Node, SkillId
from gateway.records import Action, Evidence, Operation, Origin, Status, Target, Write
from gateway.skills.catalog import Skill
from tests.store.given import NINE

ADDED = Write(
    id=1,
    space=1,
    space_name="owner",
    kind="memory",
    about="memory",
    operations=(Operation(Action.ADD, "Lives in Bergen"),),
    origin=Origin.REVIEW,
    evidence=Evidence(None, "", ""),
    flags=(),
    status=Status.APPLIED,
    reason="",
    reason_values={},
    message=None,
    session="20261130_090007_57bbf6",
    review_turn=1,
    base_hash="",
    before_hash="",
    after_hash="",
    before="",
    after="Lives in Bergen",
    created_at=NINE,
    expires_at=None,
    decided_by="",
    decided_at=NINE + timedelta(hours=1),
    decided_in=None,
    applied_at=NINE + timedelta(hours=1),
)
MOVED = replace(
    ADDED,
    id=2,
    operations=(Operation(Action.REPLACE, "Lives in Oslo", "Bergen"),),
    before="Lives in Bergen",
    after="Lives in Oslo",
    decided_at=NINE + timedelta(hours=2),
    applied_at=NINE + timedelta(hours=2),
)


def node(id: str, at: datetime | None, *sessions: str) -> Node:
    return Node(id, journey.MEMORY, id, at, Origin.PERSON, None, sessions)


def test_the_line_goes_from_the_oldest_to_the_newest() -> None:
    """What nobody can date stands before everything else."""
    found = journey.along([node("b", NINE + timedelta(days=1)), node("a", NINE), node("?", None)])

    assert [each.id for each in found.nodes] == ["?", "a", "b"]


def test_an_edge_leads_to_what_came_next_in_the_same_session() -> None:
    """Many in one session are a chain, not each with each."""
    hours = [NINE + timedelta(hours=hour) for hour in range(4)]
    found = journey.along(
        [
            node("a", hours[0], "s1"),
            node("b", hours[1], "s1", "s2"),
            node("c", hours[2], "s2", "s1"),
            node("d", NINE),
        ]
    )

    assert found.edges == (("a", "b"), ("b", "c"))


def test_an_entry_is_dated_by_the_write_that_made_it_say_so() -> None:
    """And knows the one before it, in which it said something else."""
    doc = entries.parse("Lives in Oslo\n§\nHas a cat\n")
    lines = journey.lineages(doc, [MOVED, ADDED])

    assert lines == {Entry("Lives in Oslo"): (MOVED, ADDED), Entry("Has a cat"): ()}
    made = journey.entry_node(Target.MEMORY, Entry("Lives in Oslo"), lines[Entry("Lives in Oslo")], ("s",))
    assert (made.id, made.at, made.origin, made.write) == (
        f"memory:memory:{entries.fingerprint('Lives in Oslo')}", MOVED.decided_at, Origin.REVIEW, 2,
    )  # fmt: skip


def test_an_import_is_dated_by_what_it_brings() -> None:
    """It was learnt long before it was brought here."""
    assert journey.learnt_at(replace(ADDED, origin=Origin.IMPORT)) == NINE


def test_a_skill_begins_when_it_was_created_last() -> None:
    """One that was deleted before was another skill."""
    created = replace(ADDED, id=7, kind="skill", about="skill:printer", operations=(Operation(Action.CREATE, "x"),))
    patched = replace(created, id=8, operations=(Operation(Action.PATCH, "y", "x"),))
    deleted = replace(created, id=6, operations=(Operation(Action.DELETE),))
    skill = Skill("printer", "How to restart it.", readable=True)

    made = journey.since_created([patched, created, deleted])
    found = journey.skill_node(skill, made, None, ())

    assert made == (patched, created)
    assert (found.id, found.label, found.at, found.write) == ("skill:printer", "printer", created.decided_at, 8)
    by_hand = journey.skill_node(skill, (), NINE, ())
    assert (by_hand.at, by_hand.origin, by_hand.write) == (NINE, Origin.HAND_EDIT, None)


@pytest.mark.parametrize(
    ("id", "wanted"),
    [
        ("memory:user:3fa2c1d0", EntryId(Target.USER, "3fa2c1d0")),
        (" MEMORY:memory:3FA2C1D0 ", EntryId(Target.MEMORY, "3fa2c1d0")),
        ("user:3fa2c1d0", EntryId(Target.USER, "3fa2c1d0")),
        ("3fa2c1d0", EntryId(None, "3fa2c1d0")),
        ("skill:printer", SkillId("printer")),
        ("memory:soul:3fa2c1d0", None),
        ("memory:user:3fa2c1", None),
        ("memory:user:3fa2c1d0 ", EntryId(Target.USER, "3fa2c1d0")),
        ("17", None),
        ("", None),
    ],
)
def test_an_id_names_an_entry_a_skill_or_nothing(id: str, wanted: EntryId | SkillId | None) -> None:
    """Eight digits may be typed on a phone; anything else is no id."""
    assert journey.parse(id) == wanted


def test_a_fingerprint_names_what_says_exactly_this() -> None:
    """The same text in both files is two things; twice in one file it is one."""
    docs = {Target.MEMORY: entries.parse("Has a cat\n§\nHas a cat\n"), Target.USER: entries.parse("Has a cat\n")}
    mark = entries.fingerprint("Has a cat")

    assert len(journey.named(EntryId(None, mark), docs)) == 2
    assert journey.named(EntryId(Target.MEMORY, mark), docs) == ((Target.MEMORY, Entry("Has a cat")),)
    assert journey.named(EntryId(Target.MEMORY, entries.fingerprint("Has a dog")), docs) == ()
