"""Deleting the rows of a space that is forgotten whole. Its transcripts go by `erasing`; the space itself stays."""

from gateway.store.transaction import Reader, Transaction


def drop_writes(tx: Transaction, space: int) -> int:
    """Delete the whole ledger of a space."""
    return tx.execute("DELETE FROM writes WHERE space = ?", (space,)).rowcount


def drop_known_files(tx: Transaction, space: int) -> None:
    """What was known of the memory files of a space."""
    tx.execute("DELETE FROM known_files WHERE space = ?", (space,))


def count_outgoing(rd: Reader, space: int) -> int:
    row = rd.row("SELECT count(*) AS rows FROM outbox WHERE space = ? AND kind NOT GLOB 'forg*'", (space,))
    return 0 if row is None else int(row["rows"])


def drop_outgoing(tx: Transaction, space: int) -> int:
    """What was and is to be said of a space, but for receipts."""
    tx.execute("UPDATE outbox SET edits = NULL WHERE space = ? AND kind NOT GLOB 'forg*'", (space,))
    return tx.execute("DELETE FROM outbox WHERE space = ? AND kind NOT GLOB 'forg*'", (space,)).rowcount


def count_of_people(rd: Reader, space: int, *, keep_accounts: bool) -> int:
    """How many accounts, chats and settings belong to a space."""
    return sum(
        int(row["rows"])
        for table in _tables_of_people(keep_accounts)
        for row in rd.rows(f"SELECT count(*) AS rows FROM {table} WHERE space = ?", (space,))
    )


def drop_people(tx: Transaction, space: int, *, keep_accounts: bool) -> int:
    """Take out the settings of a space, who uses it and where; its usage keeps the numbers alone."""
    tx.execute("UPDATE usage SET session = '', job = '' WHERE space = ?", (space,))
    return sum(
        tx.execute(f"DELETE FROM {table} WHERE space = ?", (space,)).rowcount
        for table in _tables_of_people(keep_accounts)
    )


def _tables_of_people(keep_accounts: bool) -> tuple[str, ...]:
    return ("choices", "choice_changes") if keep_accounts else ("choices", "choice_changes", "chats", "people")
