"""What chat commands chose, per space."""

from gateway.records import Choice
from gateway.store import choices
from gateway.store.db import Database
from tests.store import given
from tests.store.given import NINE


def test_the_last_choice_of_a_space_holds(db: Database, other: Database) -> None:
    """`/memory approval on` works at once, in every process, and only in its space."""
    with db.write() as tx:
        mine, theirs = given.space(tx), given.space(tx, "telegram-5")
        for value in ("true", "false"):
            choices.set(tx, Choice(mine, "memory.write_approval", value, "telegram:123", NINE))

    with other.read() as rd:
        assert choices.get(rd, mine, "memory.write_approval") == "false"
        assert choices.get(rd, theirs, "memory.write_approval") is None
        chosen = [Choice(mine, "memory.write_approval", "false", "telegram:123", NINE)]
        assert choices.all(rd, mine) == choices.all(rd, None) == chosen
