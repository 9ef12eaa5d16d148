"""The rows of the ledger about skills that have changed a file."""

from gateway.records import Write
from gateway.store.transaction import Reader
from gateway.store.writerows import SELECT, write_of


def carried_out(rd: Reader, space: int, target: str = "") -> list[Write]:
    """What was written or taken back in the skills of a space, or (`target`) in one of them."""
    rows = rd.rows(
        f"""
        {SELECT}
         WHERE status IN ('applied', 'undone') AND writes.space = :space AND writes.kind = 'skill'
           AND (:target = '' OR target = :target)
        """,
        {"space": space, "target": target},
    )
    return [write_of(row) for row in rows]
