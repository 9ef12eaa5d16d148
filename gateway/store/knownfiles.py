"""What we last read or wrote of each memory file: how a hand edit is noticed. Offered by `writes`."""

from datetime import datetime

from gateway.records import KnownFile, Target
from gateway.store.encoding import clean, time_text
from gateway.store.transaction import Reader, Transaction


def known_file(rd: Reader, space: int, target: Target) -> KnownFile | None:
    """What we last read or wrote of a memory file."""
    row = rd.row(
        "SELECT sha256, text FROM known_files WHERE space = :space AND target = :target",
        {"space": space, "target": target},
    )
    return None if row is None else KnownFile(row["sha256"], row["text"])


def set_known_file(tx: Transaction, space: int, target: Target, sha256: str, text: str, at: datetime) -> None:
    """Note what a memory file holds now, so that a later hand edit is noticed."""
    tx.execute(
        """
        INSERT INTO known_files (space, target, sha256, text, at) VALUES (:space, :target, :sha256, :text, :at)
            ON CONFLICT (space, target) DO UPDATE SET sha256 = :sha256, text = :text, at = :at
        """,
        {"space": space, "target": target, "sha256": sha256, "text": clean(text), "at": time_text(at)},
    )
