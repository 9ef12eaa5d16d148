"""Looking for words in every byte of a home, on real files and a real database."""

import base64
import bz2
import gzip
import json
import lzma
import subprocess
import sys
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from gateway.chat import Chat
from gateway.home import Home
from gateway.memory import replaced, verifying
from gateway.memory.passages import Passage
from gateway.memory.verifying import Rightful, needles, parts
from gateway.memory.verifying.parts import Part
from gateway.records import Role
from gateway.store import messages, spaces
from gateway.store.db import Database
from tests.store.given import StillClock

ENGLISH = "Quillfeather bakery"
JAPANESE = "架空の猫ミソ丸"
CHAT = Chat("telegram", "1")

FORMS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "in capitals": lambda text: text.upper().encode(),
    "with wide letters": lambda text: "".join(
        chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text
    ).encode(),
    "decomposed": lambda text: unicodedata.normalize("NFD", text).encode(),
    "utf-16": lambda text: f"x{text}y "[1:-2].encode("utf-16-le"),
    "utf-16, big end first": lambda text: text.encode("utf-16-be"),
    "in JSON": lambda text: json.dumps({"a": text}).encode(),
    "in JSON in JSON": lambda text: json.dumps({"a": json.dumps({"b": text})}).encode(),
    "in an address": lambda text: b"https://example.org/?q=" + quote(text).encode(),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64, one byte later": lambda text: base64.b64encode(b"-" + text.encode()),
    "base64, two bytes later": lambda text: base64.urlsafe_b64encode(b"--" + text.encode() + b"-"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "two gzip members": lambda text: gzip.compress(b"first ") + gzip.compress(text.encode()),
    "bzip2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "zlib in the middle of a file": lambda text: b"job\0" + zlib.compress(f"{text}. ".encode() * 9) + b"end",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("words", [ENGLISH, JAPANESE])
def test_words_are_found_in_whatever_form_they_lie_there(home: Home, db: Database, words: str, form: str) -> None:
    """Who is told that a fact is gone must not find it with a better tool than ours."""
    left = FORMS[form](words)
    (home.run / "left-over").write_bytes(b"before \n" + left + b"\n after" if form in _PLAIN else left)

    found = verifying.verify(home, db, [Passage.of(words)])

    assert {hit.path for hit in found.hits} == {"run/left-over"}


_PLAIN = {"plain", "in capitals", "with wide letters", "decomposed"}


def test_words_in_a_zip_are_found(home: Home, db: Database) -> None:
    """An export may have been packed."""
    with zipfile.ZipFile(home.exports / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.md", f"- {ENGLISH}\n" * 30)

    found = verifying.verify(home, db, [Passage.of(ENGLISH)])

    assert {(hit.path, hit.encoding) for hit in found.hits} == {("exports/all.zip", "zip text")}


@pytest.mark.parametrize("why", ["no space's folder", "closed to us"])
def test_what_a_file_held_before_is_found_where_nobody_overwrites_it(
    home: Home, db: Database, clock: StillClock, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """A name is no excuse: every forget of these words would wait for somebody who never comes."""
    folder = home.path / "spaces" / "telegram-5"
    folder.mkdir(parents=True)
    (folder / ".MEMORY.md.1-0123abcd.old").write_text(f"Owns the {ENGLISH}\n")
    if why == "closed to us":
        monkeypatch.setattr(replaced, "overwrite", lambda *_: False)
        with db.write() as tx:
            spaces.ensure_space(tx, "telegram-5", "person", "telegram:5", clock.now())

    found = verifying.verify(home, db, [Passage.of(ENGLISH)])

    assert [hit.path for hit in found.hits] == ["spaces/telegram-5/.MEMORY.md.1-0123abcd.old"]


def test_what_is_overwritten_in_a_moment_is_waited_for(
    home: Home, db: Database, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody holds the space's lock just now; a receipt that names such a file would frighten for nothing."""
    with db.write() as tx:
        spaces.ensure_space(tx, "owner", "owner", "", clock.now())
    (home.space_dir("owner") / ".MEMORY.md.1-0123abcd.old").write_text(f"Owns the {ENGLISH}\n")
    real, tries = replaced.overwrite, list[str]()

    def busy_at_first(home: Home, space: str, wait_seconds: float) -> bool:
        tries.append(space)
        return len(tries) > 2 and real(home, space, wait_seconds)

    monkeypatch.setattr(replaced, "overwrite", busy_at_first)

    assert verifying.verify(home, db, [Passage.of(ENGLISH)]).is_clean
    assert len(tries) == 3


def test_other_words_are_not_found(home: Home, db: Database) -> None:
    """A check that always finds something is worth nothing."""
    (home.run / "a").write_text(f"Quillfeathers bakeryman\n{JAPANESE[:-1]}\nQuill feather bakery")

    found = verifying.verify(home, db, [Passage.of(ENGLISH), Passage.of(JAPANESE)])

    assert found.is_clean
    assert (found.hits, found.accounted, found.left) == ((), (), ())


def test_words_inside_longer_ones_are_counted_apart(home: Home, db: Database) -> None:
    """`Ann` was forgotten; `Hannover` holds it and is not about her."""
    (home.run / "a").write_text("Hannover, Annette")

    found = verifying.verify(home, db, [Passage.of("Ann")])

    assert found.is_clean
    assert found.inside_longer_words == 2


def test_the_persons_own_files_are_left_and_said(home: Home, db: Database) -> None:
    """SOUL.md is theirs: we say that it holds the words, and touch nothing."""
    home.soul.write_text(f"You love the {ENGLISH}.")

    found = verifying.verify(home, db, [Passage.of(ENGLISH)])

    assert found.is_clean
    assert [hit.path for hit in found.left] == ["SOUL.md"]


def test_the_homes_of_profiles_are_not_this_home(home: Home, db: Database) -> None:
    """They lie in its folder, and forget for themselves; what a profile keeps is no residue of ours (PI-050)."""
    other = home.path / "profiles" / "work" / "memories"
    other.mkdir(parents=True)
    (other / "MEMORY.md").write_text(f"Buys bread at {ENGLISH}\n")

    found = verifying.verify(home, db, [Passage.of(ENGLISH)])

    assert found.is_clean
    assert (found.accounted, found.left) == ((), ())


def test_a_memory_file_that_is_a_link_is_read(home: Home, db: Database, tmp_path: Path) -> None:
    """What it points at goes into every prompt. Other links lead to what is not ours."""
    elsewhere = tmp_path / "dotfiles"
    elsewhere.mkdir()
    for name in ("MEMORY.md", "notes.md"):
        (elsewhere / name).write_text(f"Buys bread at {ENGLISH}\n", "utf-8")
        link = home.path / "memories" / name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(elsewhere / name)

    found = verifying.verify(home, db, [Passage.of(ENGLISH)])

    assert [hit.path for hit in found.hits] == ["memories/MEMORY.md"]


def test_rows_of_others_account_for_their_words_and_own_rows_do_not(
    home: Home, db: Database, clock: StillClock
) -> None:
    """A forget belongs to one space; what another person said about the same bakery stays."""
    with db.write() as tx:
        mine = spaces.ensure_space(tx, "owner", "owner", "", clock.now())
        theirs = spaces.ensure_space(tx, "telegram-2", "person", "telegram:2", clock.now())
        for space in (mine, theirs):
            messages.keep(tx, _said(space.id, f"I was at {ENGLISH}. {'More. ' * 2000}", clock))
    own = next(iter(_ids(db, mine.id)))

    found = verifying.verify(home, db, [Passage.of(ENGLISH)], Rightful(space=mine.id))
    left_out = verifying.verify(home, db, [Passage.of(ENGLISH)], Rightful(space=mine.id, rows=[("messages", own)]))

    assert {(hit.place.table, hit.place.rowid) for hit in found.hits if hit.place} == {("messages", own)}
    assert {hit.place.rowid for hit in found.accounted if hit.place} == set(_ids(db, theirs.id))
    assert left_out.is_clean


def test_what_no_row_accounts_for_is_residue_and_writing_the_file_anew_takes_it_away(
    home: Home, db: Database, clock: StillClock
) -> None:
    """SQLite leaves copies of moved rows in gaps of its pages."""
    with db.write() as tx:
        tx.execute("CREATE TABLE probe (words TEXT)")
        tx.execute("CREATE INDEX by_words ON probe (words)")
        for number in range(2000):
            words = ENGLISH if number % 3 == 0 else "another place"
            tx.execute("INSERT INTO probe VALUES (?)", (f"{number} {words} {'x' * (number * 13 % 9000)}",))
    with db.write() as tx:
        tx.execute("DELETE FROM probe WHERE words LIKE ?", (f"%{ENGLISH}%",))

    before = verifying.verify(home, db, [Passage.of(ENGLISH)])
    db.rewrite()
    after = verifying.verify(home, db, [Passage.of(ENGLISH)])

    assert before.residue
    assert after.is_clean


def test_words_in_redis_are_found(home: Home, db: Database) -> None:
    """Whatever it is kept as: job data are compressed."""
    held = [("rq:job:1", b"data\n" + zlib.compress(f"review of {ENGLISH}".encode() * 5)), ("rq:job:2", b"review-1")]

    found = verifying.verify(home, db, [Passage.of(ENGLISH)], redis=held)

    assert {hit.path for hit in found.hits} == {"redis:rq:job:1"}


def test_a_large_file_is_read_by_two_processes_and_words_across_their_border_are_found_once(
    home: Home, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million messages are a gigabyte; the second core is not left idle. Each byte is somebody's."""
    monkeypatch.setattr(parts, "SMALL", 4_000)
    size, words = 9_000, ENGLISH.encode()
    for shift in (0, 1, len(words) // 2, len(words)):
        place = size // 2 - shift
        left_over = b"x" * (place - 1) + b" " + words + b" "
        (home.run / "left-over").write_bytes(left_over + b"y" * (size - len(left_over)))

        found = verifying.verify(home, db, [Passage.of(ENGLISH)])

        assert [(hit.path, hit.offset) for hit in found.hits] == [("run/left-over", place)]


def test_base64_of_one_word_in_two_cases_is_looked_for_once() -> None:
    """Each needle costs a third of a second in a gigabyte; what both spellings end in is enough to find either."""
    looked_for = [one.data for one in needles.needles([ENGLISH]) if one.encoding == "base64"]

    assert len(looked_for) == 6
    for before in (b"", b"-", b"--"):
        for words in (ENGLISH, ENGLISH.lower(), ENGLISH.upper()):
            packed = base64.b64encode(before + words.encode())
            assert any(needle in packed for needle in looked_for)


def test_every_byte_is_somebodys_and_nobody_reads_what_another_reads() -> None:
    """Not having looked is not having found nothing; small homes are not worth a second process."""
    files = [("a", 3), ("state.db", 1_000_000_001), ("b", 0), ("backup", 100 << 20)]

    shares = parts.shared_out(files)
    read = [(one.path, one.first, one.end) for share in shares for one in share]

    assert len(shares) == 2
    assert sorted(read, key=str) == sorted(
        [
            ("a", 0, None),
            ("b", 0, None),
            ("state.db", 0, 500_000_000),
            ("state.db", 500_000_000, None),
            ("backup", 0, 50 << 20),
            ("backup", 50 << 20, None),
        ],
        key=str,
    )
    assert parts.shared_out(files[:1]) == [[Part("a")]]


def test_a_file_that_cannot_be_read_is_said(home: Home, db: Database) -> None:
    """Not having looked is not having found nothing."""
    asked = {"parts": [(str(home.run), 0, None)], "passages": [ENGLISH], "spellings": []}

    ended = subprocess.run(
        [sys.executable, "-m", "gateway.memory.verifying"],
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
    )

    assert json.loads(ended.stdout) == [{"path": str(home.run), "trouble": "Is a directory"}]


def _ids(db: Database, space: int) -> list[int]:
    with db.read() as rd:
        rows = rd.rows("SELECT id FROM messages WHERE id >> 32 = ?", (space,))
    return [row["id"] for row in rows]


def _said(space: int, text: str, clock: StillClock) -> messages.NewMessage:
    return messages.NewMessage(
        space=space, chat=CHAT, person="telegram:1", role=Role.USER, text=text, at=clock.now()
    )
