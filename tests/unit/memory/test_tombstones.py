"""What a mark is, and that a text which holds a passage always has the words that the mark was made of."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.memory import folding, passages, rareparts, tombstones
from gateway.memory.passages import Passage
from gateway.store.tombstones import Kind
from tests.unit.memory.test_passages import ODD, TEXTS, parts_of

KEY = bytes(range(32))
FACT = "Anna Lindqvist has knee surgery on 12 March. Likes tea."


def test_a_mark_holds_no_words() -> None:
    """Whoever reads the table learns nothing but how long the passage was."""
    found = tombstones.marks(Passage.of("surgery on 12 March"), FACT, KEY)

    text = repr(found).casefold()
    assert not any(word in text for word in ("anna", "surgery", "march", "knee"))
    assert [mark.kind for mark in found[:2]] == [Kind.PASSAGE, Kind.ENTRY]
    assert found[0].size == 4
    assert {mark.kind for mark in found[2:]} == {Kind.PART}


def test_the_key_makes_the_marks() -> None:
    """With another key not one of them is the same: nobody can make a table for all homes."""
    ours = tombstones.marks(Passage.of("surgery on 12 March"), FACT, KEY)
    theirs = tombstones.marks(Passage.of("surgery on 12 March"), FACT, KEY[::-1])

    assert not {mark.mark for mark in ours} & {mark.mark for mark in theirs}
    assert not {mark.start for mark in ours} & {mark.start for mark in theirs}
    assert not {mark.fact for mark in ours} & {mark.fact for mark in theirs}


def test_the_sentence_with_the_passage_is_a_fact_of_its_own() -> None:
    """An entry may say several things; a rewording of the one that was forgotten says nothing of the others."""
    found = tombstones.marks(Passage.of("surgery on 12 March"), FACT, KEY)

    facts = [{mark.fact for mark in found if mark.kind is kind} for kind in (Kind.ENTRY, Kind.PART)]
    assert len(facts[1]) == 2
    assert facts[0] < facts[1]


@settings(max_examples=600, deadline=None)
@given(
    st.lists(st.one_of(ODD, TEXTS), min_size=1, max_size=10).map("".join), st.integers(0, 30), st.integers(1, 12)
)
def test_what_holds_a_passage_has_its_words_in_a_row(text: str, at: int, length: int) -> None:
    """What makes "verbatim: none comes back silently" true for every text and not just for those we thought of."""
    for passage in parts_of(text, at, length):
        if passages.holds(text, (passage,)):
            words, size = folding.words(folding.fold(text)), len(passage.tokens)
            assert any(tuple(words[place : place + size]) == passage.tokens for place in range(len(words)))


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_any_text_has_parts(text: str) -> None:
    """Proposals come from models: whatever they hold, a check ends, and says the same each time."""
    found = rareparts.parts(text)

    assert all(weight > 0 for weight in found.values())
    assert rareparts.parts(text) == found


def test_parts_are_the_same_in_other_words() -> None:
    """Dates, amounts and telephone numbers are written in many ways; words are bent."""
    same = [
        ("12 March", "March 12th"),
        ("12 March", "12/3"),
        ("3月12日", "三月12日"),
        ("18,000", "18 000"),
        ("0176 5550 812", "+49 176 5550812"),
        ("operated", "operation"),
        ("visits", "visiting"),
        ("年収", "給料"),
    ]

    for one, other in same:
        assert rareparts.parts(one).keys() == rareparts.parts(other).keys(), (one, other)


def test_near_are_texts_with_the_same_rare_parts() -> None:
    """The person sees them unticked: the same name and number in other words may be the same fact."""
    passage = Passage.of("Anna Lindqvist has surgery on 12 March")
    common = {"anna", "3", "march", "12"}

    def rare(word: str) -> bool:
        return word not in common

    assert passages.near("Lindqvist will be operated on in spring", passage, rare) == 1.0
    assert passages.near("Anna likes tea in March", passage, rare) is None
    assert passages.near("As said, Anna Lindqvist has surgery on 12 March", passage, rare) is None
    assert passages.near("Lindqvist", passage, lambda word: False) is None
