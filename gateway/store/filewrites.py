"""The writes of one file or skill: where what it says came from, and what is on its way there."""

from gateway.records import NewWrite, Write
from gateway.store.encoding import clean, operations_text
from gateway.store.transaction import Reader
from gateway.store.writerows import some


def sources(rd: Reader, space: int, target: str) -> list[Write]:
    """The applied writes of a file or skill, newest first: where what it says came from."""
    return some(
        rd,
        "WHERE status = 'applied' AND writes.space = :space AND target = :target ORDER BY writes.id DESC",
        space=space,
        target=target,
    )


def put_in(rd: Reader, space: int, target: str) -> list[tuple[str, str, str]]:
    """(origin, decided_by, after) of the applied writes of a file, newest first: the little of `sources`."""
    rows = rd.rows(
        """
        SELECT origin, decided_by, after FROM writes
         WHERE status = 'applied' AND space = :space AND target = :target AND after <> ''
         ORDER BY id DESC
        """,
        {"space": space, "target": target},
    )
    return [(row["origin"], row["decided_by"], row["after"]) for row in rows]


def naming(rd: Reader, space: int, target: str, text: str) -> list[Write]:
    """The applied writes of a file that put in or took away entries with this text in them, newest first."""
    return some(
        rd,
        """
        WHERE status = 'applied' AND writes.space = :space AND target = :target
          AND (instr(writes.after, :text) OR instr(writes.before, :text))
        ORDER BY applied_at DESC, writes.id DESC
        """,
        space=space,
        target=target,
        text=clean(text),
    )


def live_for(rd: Reader, space: int, target: str, old_text: str = "") -> list[Write]:
    """Staged or approved writes of a file, oldest first; with `old_text`, those that name this text."""
    found = some(
        rd,
        """
        WHERE status IN ('staged', 'approved') AND writes.space = :space AND target = :target
        ORDER BY +writes.id  -- without the sign SQLite would walk through all that the space ever had
        """,
        space=space,
        target=target,
    )
    return [
        write
        for write in found
        if not old_text or old_text in (operation.old_text for operation in write.operations)
    ]


def waiting_twin(rd: Reader, new: NewWrite) -> Write | None:
    """The same proposal, waiting already. Compared as text: of thousands that wait not one need be read."""
    found = some(
        rd,
        """
        WHERE status = 'staged' AND writes.space = :space AND target = :target AND operations = :operations
        ORDER BY +writes.id LIMIT 1
        """,
        space=new.space,
        target=new.target,
        operations=operations_text(new.operations),
    )
    return next(iter(found), None)
