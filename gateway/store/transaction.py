"""What store functions are handed: something to read with, or something to write with.

Both are one connection inside one transaction, made by `db.Database.read` and `.write` alone. A function
that writes takes a Transaction first, so that its caller can put several things into one commit.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Parameters = Mapping[str, object] | Sequence[object]


@dataclass(frozen=True, slots=True)
class Reader:
    """A consistent view: everything read through one Reader is of one moment."""

    connection: sqlite3.Connection

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Run one statement. Rows come as `sqlite3.Row` and never leave `store/`."""
        return self.connection.execute(sql, parameters)

    def rows(self, sql: str, parameters: Parameters = ()) -> list[sqlite3.Row]:
        """All rows of one statement."""
        return self.execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Parameters = ()) -> sqlite3.Row | None:
        """The first row, with the statement run to its end (a RETURNING must not be left half way)."""
        return next(iter(self.rows(sql, parameters)), None)


@dataclass(frozen=True, slots=True)
class Transaction(Reader):
    """The one write transaction there is at this moment, in any process. Ends with its `with` block."""

    def changed(self, sql: str, parameters: Parameters = ()) -> bool:
        """Run an UPDATE or INSERT that names the state it leaves. True: this call was the one that did it."""
        return self.execute(sql, parameters).rowcount > 0
