"""What a space's person is told of the rows about accounts and chats (`memory.exporting`)."""

from gateway.store.transaction import Reader


def accounts(rd: Reader, space: int) -> list[dict[str, object]]:
    """The accounts that use a space."""
    rows = rd.rows("SELECT platform, id, role, since FROM people WHERE space = ? ORDER BY platform, id", (space,))
    return [dict(row) for row in rows]


def chats(rd: Reader, space: int) -> list[dict[str, object]]:
    """The chats that use a space."""
    rows = rd.rows(
        "SELECT platform, id, private, person, language, last_at FROM chats WHERE space = ? ORDER BY platform, id",
        (space,),
    )
    return [{**dict(row), "private": bool(row["private"])} for row in rows]
