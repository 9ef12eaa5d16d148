"""What a write pays for 10,000 forgotten facts: the check whether it says one of them again (issue 7)."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from random import Random
from statistics import median

from gateway.errors import Refused
from gateway.home import Home
from gateway.memory import tombstones
from gateway.memory.passages import Passage
from gateway.store import people
from gateway.store import tombstones as kept
from gateway.store.db import Database
from gateway.store.transaction import Reader
from tests.bench.rig import Figure, in_ms, percentile, scratch
from tests.store.given import StillClock

FORGOTTEN = 10_000
CHECK_SECONDS = 0.0002
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def tombstone_checks() -> list[Figure]:
    """Innocent writes, and writes that bring something back, in CPU time."""
    with scratch() as folder, Database.open(Home(folder / "home"), StillClock()) as db:
        space, key = _filled(db)
        free: list[float] = []
        held: list[float] = []
        with db.read() as rd:
            for text in islice(_notes(2), 1_000):
                found = tombstones.held_by(rd, space, text, key)
                (free if found is None else held).append(_seconds(rd, space, text, key))
            for text in islice(_notes(1), 500):
                assert tombstones.held_by(rd, space, f"Note: {text}", key) is not None
                held.append(_seconds(rd, space, f"Note: {text}", key))
    p50, p95, again = median(free), percentile(free, 95), median(held)
    goal = f"≤ {in_ms(CHECK_SECONDS)}"
    return [
        Figure("tombstone check, 10,000 forgotten facts, p50", in_ms(p50), "–", goal, p50 <= CHECK_SECONDS),
        Figure("tombstone check, 10,000 forgotten facts, p95", in_ms(p95), "–", goal, p95 <= CHECK_SECONDS),
        Figure("the same of a write that is held, p50", in_ms(again), "–", "–", None),
    ]


def _seconds(rd: Reader, space: int, text: str, key: bytes) -> float:
    """The best of five: what others do on the machine does not count."""
    best = 1.0
    for _ in range(5):
        began = time.thread_time()
        tombstones.held_by(rd, space, text, key)
        best = min(best, time.thread_time() - began)
    return best


def _filled(db: Database) -> tuple[int, bytes]:
    chance = Random(3)
    with db.write() as tx:
        space = people.ensure_space(tx, "owner", "owner", "owner", NOW).id
        row = tx.row(
            "INSERT INTO forgets (space, by, status, requested_at) VALUES (?, '', 'done', '') RETURNING id",
            (space,),
        )
        assert row is not None
        key = kept.key(tx)
        marks: list[kept.Mark] = []
        for note in islice(_notes(1), FORGOTTEN):
            marks += tombstones.marks(_passage(note, chance), note, key)
        kept.add(tx, space, row["id"], marks, NOW)
    return space, key


def _passage(note: str, chance: Random) -> Passage:
    """A piece of the note, of any length from a few words up to all of it."""
    words = note.split(" ") if " " in note else list(note)
    joint = " " if " " in note else ""
    size = chance.randint(min(4, len(words)), len(words))
    first = chance.randint(0, len(words) - size)
    try:
        return Passage.of(joint.join(words[first : first + size]))
    except Refused:
        return Passage.of(note)


# -- notes without end ---------------------------------------------------------------------------------------

_SYLLABLES = (
    "ka",
    "mo",
    "ren",
    "ti",
    "sol",
    "bra",
    "du",
    "lin",
    "per",
    "os",
    "gau",
    "nem",
    "vi",
    "tor",
    "ex",
    "wa",
)
_SMALL = ("the", "of", "is", "in", "and", "has", "for", "with", "at", "every")
_KANJI = (
    "春夏秋冬東西南北山川田中村井上木林森石金水火花鳥風雨雪空海島橋町駅店車電話本紙机窓門庭道走読書飲買売遊父母友"
)
_KATAKANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモラリルレロン"
_BETWEEN = ("の", "は", "が", "を", "に", "で", "と", "も", "から", "している")


def _notes(seed: int) -> Iterator[str]:
    """Half English-like, half Japanese, common and rare words as languages have them, many with a number."""
    chance = Random(seed)
    while True:
        number = f"{chance.randint(1, 99_999)}" if chance.random() < 0.5 else ""
        if chance.random() < 0.5:
            words = [_word(chance) if chance.random() < 0.6 else chance.choice(_SMALL) for _ in range(14)]
            yield " ".join([*words[: chance.randint(5, 14)], *filter(None, (number,))])
        else:
            yield "".join(_japanese(chance) for _ in range(chance.randint(4, 10))) + number


def _word(chance: Random) -> str:
    rank = int(4_000 * chance.random() ** 2)
    word = "".join(_SYLLABLES[(rank * 7 >> shift) & 15] for shift in (0, 4, 8))
    return word.capitalize() if rank % 5 == 0 else word


def _japanese(chance: Random) -> str:
    letters = _KANJI if chance.random() < 0.7 else _KATAKANA
    return "".join(chance.choices(letters, k=chance.randint(1, 4))) + chance.choice(_BETWEEN)
