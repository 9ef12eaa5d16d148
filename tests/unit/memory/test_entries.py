"""Files keep every byte that a change does not mean."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.memory import entries, entrytext
from gateway.memory.entries import AlreadyThere, Applied, Invalid, Matches, NoMatch, TooBig
from gateway.records import Action, Operation

pieces = st.lists(
    st.sampled_from(
        [
            b"\n",
            b"\r\n",
            b"\r",
            b"\xc2\xa7",
            b" ",
            b"\t",
            b"\xef\xbb\xbf",
            b"\xff",
            b"\x82\xa0",
            b"Oslo",
            b"\n\xc2\xa7\n",
            b"\r\n\xc2\xa7 \r\n",
            b"\xe2\x80\xa8",
            "§5 applies".encode(),
            "ベルゲン".encode(),
        ]
    )
)
files = st.one_of(st.binary(max_size=200), pieces.map(b"".join))
contents = st.text(min_size=1, max_size=40)


def add(content: str) -> Operation:
    return Operation(Action.ADD, content)


def remove(old_text: str) -> Operation:
    return Operation(Action.REMOVE, old_text=old_text)


def swap(old_text: str, content: str) -> Operation:
    return Operation(Action.REPLACE, content, old_text)


def after(text: str | bytes, *operations: Operation, limit: int | None = None) -> bytes:
    change = entries.apply(operations, entries.parse(text), limit)
    assert isinstance(change, Applied), change
    return entries.render(change.doc)


# -- whatever the bytes --------------------------------------------------------------------------------


@given(files)
def test_a_file_that_is_only_read_is_written_back_byte_for_byte(data: bytes) -> None:
    """A person's file may hold anything: BOM, CRLF, bad bytes, lost newlines. None of it is ours to change."""
    assert entries.render(entries.parse(data)) == data


@given(files, contents)
def test_an_added_entry_comes_after_all_that_was_there_untouched(data: bytes, content: str) -> None:
    """Adding must not rewrite, normalise or cut anything above it."""
    doc = entries.parse(data)
    change = entries.apply((add(content),), doc, None)
    if isinstance(change, AlreadyThere | Invalid):
        return
    assert isinstance(change, Applied)
    written = entries.render(change.doc)
    assert written.startswith(data)
    again = entries.parse(written)
    assert again.texts == (*doc.texts, entries.clean(content))
    assert again == change.doc


@given(files, st.data())
def test_a_removed_entry_takes_only_itself(data: bytes, draw: st.DataObject) -> None:
    """The others keep their bytes, their blanks and their order."""
    doc = entries.parse(data)
    if not doc.texts:
        return
    place = draw.draw(st.integers(0, len(doc.texts) - 1))
    place = doc.texts.index(doc.texts[place])
    change = entries.apply((remove(doc.texts[place]),), doc, None)
    assert isinstance(change, Applied)
    again = entries.parse(entries.render(change.doc))
    assert again.texts == doc.texts[:place] + doc.texts[place + 1 :]
    raw = [part for part in doc.parts[::2] if part.strip(entrytext.BLANKS)]
    left = [part for part in again.parts[::2] if part.strip(entrytext.BLANKS)]
    del raw[place]
    assert [part.strip(entrytext.BLANKS) for part in left] == [part.strip(entrytext.BLANKS) for part in raw]


@given(files, contents, st.data())
def test_a_replaced_entry_changes_only_itself(data: bytes, content: str, draw: st.DataObject) -> None:
    """All bytes before and after the entry stay, but for the newline that ends the file."""
    doc = entries.parse(data)
    if not doc.texts:
        return
    old = draw.draw(st.sampled_from(doc.texts))
    change = entries.apply((swap(old, content),), doc, None)
    if not isinstance(change, Applied) or entries.clean(content) in doc.texts:
        return
    place = next(n for n, part in enumerate(doc.parts) if n % 2 == 0 and entrytext.shown(part) == old)
    was = "".join(doc.parts[:place]), "".join(doc.parts[place + 1 :])
    now = "".join(change.doc.parts[:place]), "".join(change.doc.parts[place + 1 :])
    assert now[0] == was[0]
    assert now[1] in (was[1], was[1] + change.doc.parts[-1][-1:], was[1] + "\r\n")
    assert entries.parse(entries.render(change.doc)).texts == change.doc.texts


@given(st.lists(contents, max_size=6))
def test_undo_data_can_be_taken_apart_again(texts: list[str]) -> None:
    """Joined texts must come back as the same texts, or an undo would restore something else."""
    clean = tuple(text for text in map(entries.clean, texts) if text and "§" not in text)
    assert entries.split_texts(entries.JOINT.join(clean)) == clean


def test_the_naughty_strings_are_kept_whole() -> None:
    """Each of them is an entry like any other."""
    path = Path(__file__).parents[2] / "cases" / "naughty-strings.json"
    doc = entries.EMPTY
    for text in json.loads(path.read_text(encoding="utf-8")):
        change = entries.apply((add(text),), doc, None)
        if isinstance(change, Applied):
            doc = change.doc
    assert entries.parse(entries.render(doc)).texts == doc.texts
    assert len(doc.texts) > 400


# -- reading what people write -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("\n\n", ()),
        ("Contract clause §5 applies\n", ("Contract clause §5 applies",)),
        ("a\n§\nb\n", ("a", "b")),
        ("a\n\n § \t\n\nb", ("a", "b")),
        ("\ufeffa\r\n§\r\nb\r\n", ("a", "b")),
        ("a\nsecond line\n§\nb", ("a\nsecond line", "b")),
        ("§\n§\na\n§\n", ("a",)),
        ("a §\n§ b", ("a §\n§ b",)),
        ("§§\nb", ("§§\nb",)),
    ],
)
def test_entries_are_separated_by_a_line_with_only_the_sign(text: str, expected: tuple[str, ...]) -> None:
    """A sign inside a sentence is ordinary text (PI-002); blanks around a separator lock nobody out (PI-027)."""
    assert entries.parse(text).texts == expected


def test_a_bad_byte_is_counted_shown_and_kept() -> None:
    """One byte of another encoding must not take memory down (PI-004), nor be lost when others are written."""
    doc = entries.parse(b"caf\xe9\n\xc2\xa7\nb\n")
    assert doc.texts == ("caf\ufffd", "b")
    assert doc.bad_bytes == 1
    assert after(b"caf\xe9\n\xc2\xa7\nb\n", swap("b", "c")) == b"caf\xe9\n\xc2\xa7\nc\n"


def test_taking_away_bad_bytes_is_reported() -> None:
    """The ledger keeps text only, so the file must be set aside first."""
    change = entries.apply((remove("caf"),), entries.parse(b"caf\xe9\n"), None)
    assert isinstance(change, Applied)
    assert change.unreadable


# -- changing ------------------------------------------------------------------------------------------


def test_a_first_entry_makes_a_file_that_ends_with_one_newline() -> None:
    """What a person opens in an editor is a plain text file."""
    assert after("", add("  Lives in Bergen \n")) == b"Lives in Bergen\n"


def test_a_crlf_file_gets_crlf_lines() -> None:
    """Notepad's files stay Notepad's files, also inside an entry."""
    assert after("a\r\n", add("b\nc")) == "a\r\n§\r\nb\r\nc\r\n".encode()


def test_removing_the_last_entry_leaves_an_empty_file() -> None:
    """An empty store is an empty file, not one with leftovers."""
    assert after("\ufeff\n§\na\n§\n", remove("a")) == b""


def test_a_bom_stays_when_the_first_entry_goes() -> None:
    """The editor that wrote it will look for it."""
    assert after("\ufeffa\n§\nb\n", remove("a")) == "\ufeffb\n".encode()


def test_replacing_near_the_limit_leaves_the_others_alone() -> None:
    """28 entries became 5 elsewhere (PI-006)."""
    texts = [f"記憶その{number} ①②③ {'x' * 40}" for number in range(28)]
    file = entries.JOINT.join(texts) + "\n"
    written = after(file, swap("その3 ", "記憶その3 換えた"), limit=len(file)).decode()
    assert written == file.replace(texts[3], "記憶その3 換えた")


@pytest.mark.parametrize("content", ["a\n§\nb", "§", "a\r\n § \r\nb", "a\n§"])
def test_content_with_a_separator_line_is_refused(content: str) -> None:
    """It would be split into two entries on the next read, one of them nobody's words."""
    assert entries.apply((add(content),), entries.EMPTY, None) == Invalid("reason.separator")


@pytest.mark.parametrize(
    ("there", "new"),
    [("use key ABC", "use key abc"), ("H₂O", "H2O"), ("ＡＢＣ", "ABC"), ("a b", "a  b")],
)
def test_texts_that_differ_in_case_or_width_are_two_facts(there: str, new: str) -> None:
    """Aggressive de-duplication loses facts (PI-022)."""
    assert after(there + "\n", add(new)) == f"{there}\n§\n{new}\n".encode()


def test_an_exact_duplicate_changes_nothing() -> None:
    """Elsewhere adding the same entry deleted it (PI-023)."""
    assert entries.apply((add(" a\n"),), entries.parse("a\n"), 1) == AlreadyThere()


def test_replacing_by_a_text_that_is_there_leaves_one_copy() -> None:
    """The old text goes, the new one is not there twice."""
    assert after("a\n§\nb\n§\nc\n", swap("b", "c")) == "a\n§\nc\n".encode()


# -- which entry is meant ------------------------------------------------------------------------------


def test_a_whole_entry_wins_over_one_that_contains_it() -> None:
    """Otherwise "run" could never be removed beside "running shoes" (PI-011)."""
    assert after("running shoes size 27\n§\nrun\n", remove("run")) == b"running shoes size 27\n"


def test_several_entries_that_match_are_listed_whole() -> None:
    """The model chooses between them; a guess would change the wrong one."""
    doc = entries.parse("Oslo office\n§\nOslo flat\n")
    assert entries.apply((remove("Oslo"),), doc, None) == Matches("Oslo", ("Oslo office", "Oslo flat"))


def test_of_identical_entries_the_first_is_meant() -> None:
    """There is nothing to choose between."""
    assert after("a\n§\nb\n§\na\n", remove("a")) == "b\n§\na\n".encode()


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ("Prefers “short” answers — always", 'Prefers "short" answers - always'),
        ("Anna’s birthday: 3 May", "Anna's birthday:\n3  May"),
        ("か\u3099っこう", "がっこう"),
        ("Room １２", "Room 12"),
    ],
)
def test_typography_does_not_hide_an_entry(there: str, said: str) -> None:
    """A model's plain copy of an entry must find it (PI-013)."""
    assert after(there + "\n§\nother\n", remove(said)) == b"other\n"


def test_a_loose_match_that_is_not_unique_is_none() -> None:
    """“A” and "A" are two entries; a plain quote in neither's spelling means neither."""
    doc = entries.parse("say “A”\n§\nsay «A»\n")
    assert isinstance(entries.apply((remove('say "A"'),), doc, None), Matches)


@pytest.mark.parametrize("old_text", ["Stavanger", "oslo"])
def test_no_match_is_said_with_the_text(old_text: str) -> None:
    """Case counts: Oslo and oslo may be different facts."""
    assert entries.apply((remove(old_text),), entries.parse("Oslo\n"), None) == NoMatch(old_text)


def test_an_empty_old_text_matches_nothing() -> None:
    """An empty string is part of every entry (PI-009)."""
    assert entries.apply((remove(" "),), entries.parse("a\n"), None) == Invalid("reason.old_text_missing")


# -- budget --------------------------------------------------------------------------------------------


def test_the_budget_counts_code_points_joined_by_separators() -> None:
    """The same number everywhere, whatever the file puts between entries."""
    assert entries.chars(entries.parse("ベルゲン\r\n\r\n§\r\n👩‍👩‍👧\r\n")) == 4 + 3 + 5


def test_exactly_full_is_allowed_and_one_more_is_not() -> None:
    """An entry's own length is given without the separator it brings."""
    assert after("aaaa\n", add("bbb"), limit=10) == "aaaa\n§\nbbb\n".encode()
    change = entries.apply((add("bbbb"),), entries.parse("aaaa\n"), 10)
    assert change == TooBig(chars=4, after=11, limit=10, adding=4, kind=Action.ADD)


def test_a_file_over_its_budget_may_shrink() -> None:
    """Otherwise nobody could ever tidy it."""
    assert after("aaaaaaaa\n", swap("a", "aaaaaaa"), limit=3) == b"aaaaaaa\n"
    change = entries.apply((swap("a", "bbbbbbbb"),), entries.parse("aaaaaaaa\n"), 3)
    assert isinstance(change, TooBig)


def test_a_batch_makes_room_before_it_fills_it() -> None:
    """The final state counts, in whatever order (PI-047)."""
    operations = (add("bbbbbbbb"), remove("aaaaaaaa"))
    assert after("aaaaaaaa\n", *operations, limit=8) == b"bbbbbbbb\n"


def test_a_batch_with_one_impossible_operation_does_nothing() -> None:
    """All or nothing: half a reorganisation is worse than none."""
    assert entries.apply((add("b"), remove("zzz")), entries.parse("a\n"), 99) == NoMatch("zzz")


# -- lost separators -----------------------------------------------------------------------------------


def test_lines_appended_without_a_separator_survive_a_replace() -> None:
    """Elsewhere 8 KB of appended text became part of one entry and died with it (PI-028)."""
    doc = entries.parse("Oslo office\nnotes a script appended\nmore\n")
    glued = entries.glued(doc, ours={"Oslo office"}, known={"Oslo office"})
    change = entries.apply((swap("Oslo office", "Bergen office"),), doc, None, glued=glued)
    assert isinstance(change, Applied)
    assert entries.render(change.doc) == "Bergen office\n§\nnotes a script appended\nmore\n".encode()
    assert change.before == ("Oslo office",)


def test_an_entry_of_several_lines_that_we_wrote_is_one_entry() -> None:
    """It may begin like an older one without being glued to it."""
    doc = entries.parse("Oslo office\nopen 9-17\n")
    assert entries.glued(doc, ours={"Oslo office\nopen 9-17"}, known={"Oslo office"}) == {}
