"""What was forgotten, how it comes back, and what only sounds alike: our own sentences, and how many are held.

`forgotten_en.txt`, `forgotten_ja.txt`: `! passage | entry` is a fact that was forgotten; below it `=` proposes it
again with the passage's words, `~` in other words, `?` vaguely (without most of its names and numbers), and `-` is
another fact that shares words with it. The facts are in two halves by the first byte of the SHA-256 of the passage:
the words and numbers of `rareparts` were chosen while looking at the even half only.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from gateway.memory import tombstones
from gateway.memory.passages import Passage
from gateway.store import tombstones as kept
from gateway.store.db import Database
from tests.store.given import NINE

LANGUAGES = ("en", "ja")
KINDS = {"=": "verbatim", "~": "in other words", "?": "vaguely", "-": "innocent"}


@dataclass(frozen=True)
class Forgotten:
    """A fact that was forgotten, and what is proposed afterwards: (kind, text)."""

    language: str
    passage: str
    entry: str
    proposed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def untuned(self) -> bool:
        return sha256(self.passage.encode()).digest()[0] % 2 == 1


def facts() -> list[Forgotten]:
    return [fact for language in LANGUAGES for fact in _read(language)]


def _read(language: str) -> Iterator[Forgotten]:
    found: list[Forgotten] = []
    for line in (Path(__file__).parent / f"forgotten_{language}.txt").read_text(encoding="utf-8").splitlines():
        sign, text = line[0], line[2:]
        if sign == "!":
            passage, entry = text.split(" | ")
            found.append(Forgotten(language, passage, entry))
        else:
            found[-1].proposed.append((KINDS[sign], text))
    return iter(found)


def held(db: Database, language: str, *, untuned: bool) -> dict[str, tuple[list[str], list[str]]]:
    """Kind -> what was held and what was not, of one half, with all marks of this half in one space."""
    half = [fact for fact in facts() if fact.language == language and fact.untuned == untuned]
    with db.write() as tx:
        space = int(
            tx.rows(
                "INSERT INTO spaces (name, kind, whose, created_at) VALUES (?, 'person', '', '') RETURNING id",
                (f"{language}-{untuned}",),
            )[0]["id"]
        )
        key = kept.key(tx)
        for fact in half:
            forget = tx.rows(
                "INSERT INTO forgets (space, by, status, requested_at) VALUES (?, '', 'done', '') RETURNING id",
                (space,),
            )[0]["id"]
            kept.add(tx, space, forget, tombstones.marks(Passage.of(fact.passage), fact.entry, key), NINE)
    found: dict[str, tuple[list[str], list[str]]] = {kind: ([], []) for kind in KINDS.values()}
    with db.read() as rd:
        for fact in half:
            for kind, text in fact.proposed:
                found[kind][tombstones.held_by(rd, space, text, key) is None].append(text)
    return found


def table(db: Database) -> str:
    """The published rates of the half that nobody looked at."""
    lines = [
        "| language | verbatim held | in other words held | vaguely held | innocents held |",
        "|---|---|---|---|---|",
    ]
    for language in LANGUAGES:
        rates = held(db, language, untuned=True)
        cells = (f"{len(yes)} of {len(yes) + len(no)}" for yes, no in rates.values())
        lines.append(f"| {language} | {' | '.join(cells)} |")
    return "\n".join(lines)
