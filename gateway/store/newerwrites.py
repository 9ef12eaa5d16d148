"""What became of a space's memory after a prompt was frozen: what a session does not know of yet."""

from datetime import datetime

from gateway.records import Origin, Session, Write
from gateway.store.encoding import time_text
from gateway.store.transaction import Reader
from gateway.store.writerows import SELECT, write_of


def count(rd: Reader, session: Session) -> int:
    """How many changes of memory wait for the next session."""
    return sum(not _is_in_prompt(write, session) for write in _since(rd, session.space, session.frozen_at))


def _since(rd: Reader, space: int, at: datetime) -> list[Write]:
    """Written, or taken back, after then. What was written and taken back since changed nothing."""
    rows = rd.rows(
        f"""
        {SELECT}
         WHERE writes.space = :space AND writes.kind = 'memory'
           AND (status = 'applied' AND applied_at > :at
                OR status = 'undone' AND undone_at > :at AND applied_at <= :at)
        """,
        {"space": space, "at": time_text(at)},
    )
    return [write_of(row) for row in rows]


def _is_in_prompt(write: Write, session: Session) -> bool:
    """A hand edit is noticed after the prompt was made of it."""
    prompt = session.system_prompt
    return write.origin is Origin.HAND_EDIT and all(
        op.content in prompt if op.content else op.old_text not in prompt for op in write.operations
    )
