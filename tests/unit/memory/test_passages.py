"""What a passage is found in, whatever its spelling, and what stays of a text without it."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gateway.errors import Refused
from gateway.memory import folding, passages
from gateway.memory.passages import MARK, Passage

NAUGHTY = json.loads((Path(__file__).parents[2] / "cases" / "naughty-strings.json").read_text(encoding="utf-8"))


def found(passage: str, text: str) -> list[str]:
    return [text[start:end] for start, end in passages.spans(text, (Passage.of(passage),))]


def without(passage: str, text: str) -> str:
    return passages.cut(text, (Passage.of(passage),))


# -- what is found -------------------------------------------------------------------------------------------

FOUND = [
    ("Anna Lee", "I met ANNA\n  lee, again", "ANNA\n  lee"),
    ("Anna Lee", "**Anna** _Lee_ called", "Anna** _Lee"),
    ("anna", "Anna's tuba", "Anna"),
    ("foo-bar", "the Foo Bar!", "Foo Bar"),
    ("foo_bar", "call foo_bar()", "foo_bar"),
    ("C++", "I know C++ well", "C++"),
    ("c#", "(C#)", "C#"),
    ("C++", "I know Ｃ＋＋ well", "Ｃ＋＋"),
    ("+47 123 45 678", "call (+47) 123-45-678 now", "+47) 123-45-678"),
    ("+47 123 45 678", "call +47 123 45 678 now", "+47 123 45 678"),
    ("#deploy now", "in #deploy: now", "#deploy: now"),
    ("100%", "it is 100% sure", "100%"),
    ("anna.lee@example.org", "<Anna.Lee@Example.org>", "Anna.Lee@Example.org"),
    ("https://example.org/a?b=1", "see https://example.org/a?b=1.", "https://example.org/a?b=1"),
    ("Müller", "Frau MU\u0308LLER!", "MU\u0308LLER"),
    ("Muller", "Frau Müller", "Müller"),
    ("Søren", "SOREN", "SOREN"),
    ("Ægir", "aegir", "aegir"),
    ("Aegir", "Ægir", "Ægir"),
    ("Straße", "in der STRASSE", "STRASSE"),
    ("ΣΑΣ", "σας", "σας"),
    ("Bergen", "in Ber\u00adgen\u200b now", "Ber\u00adgen"),
    ("bergen", "Ｂｅｒｇｅｎ", "Ｂｅｒｇｅｎ"),
    ("don't", "I don’t", "don’t"),
    ("שלום עולם", "אמר שָׁלוֹם עוֹלָם.", "שָׁלוֹם עוֹלָם"),
    ("محمد", "قال مُحَمَّد.", "مُحَمَّد"),
    ("हिन्दी", "मैं हिन्दी बोलता", "हिन्दी"),
    ("田中さんのemail", "昨日、田中さんの\nEmailが来た", "田中さんの\nEmail"),
    ("email", "田中さんのemailが", "email"),
    ("田中", "「田 中」さん", "田 中"),
    ("東京大阪", "東京\n大阪", "東京\n大阪"),
    ("東京、大阪", "東京大阪", "東京大阪"),
    ("ジョン・スミス", "ジョン スミスさん", "ジョン スミス"),
    ("カナダ", "ｶﾅﾀﾞへ行く", "ｶﾅﾀﾞ"),
    ("ｶﾅﾀﾞ", "かなだへ行く", "かなだ"),
    ("がっこう", "か\u3099っこうへ", "か\u3099っこう"),
    ("猫", "猫が好き", "猫"),
    ("会社", "㍿ひかえ", "㍿"),
    ("한국", "한국어를", "한국"),
    ("한국", unicodedata.normalize("NFD", "한국어를"), unicodedata.normalize("NFD", "한국")),
    ("서울 시", "서울시에", "서울시"),
    ("สวัสดี", "คำว่าสวัสดีครับ", "สวัสดี"),
    ("👍", "ok 👍🏽 ok", "👍🏽"),
    ("❤", "❤️!", "❤️"),
    ("👨‍👩‍👧", "us: 👨‍👩‍👧!", "👨‍👩‍👧"),
    ("🇯🇵", "go 🇯🇵🇺🇸", "🇯🇵"),
    ("birthday 🎂", "birthday: 🎂🎂", "birthday: 🎂"),
]


@pytest.mark.parametrize(("passage", "text", "hit"), FOUND)
def test_a_passage_is_found_in_every_spelling(passage: str, text: str, hit: str) -> None:
    """Whoever says "forget Müller" means MULLER, too; and the offsets are those of the text as it is."""
    assert found(passage, text) == [hit]
    assert without(passage, text) == text.replace(hit, MARK, 1)
    assert passages.holds(text, (Passage.of(passage),))


NOT_FOUND = [
    ("Ann", "Hannover, Anna"),
    ("Bergen", "Bergens Tidende"),
    ("C++", "C, C+ and C++11"),
    ("vitamin C", "vitamin C++"),
    ("foo bar", "foobar"),
    ("foobar", "foo bar"),
    ("か", "が"),
    ("하", "한"),
    ("हिन्द", "हिन्दी"),
    ("東京大阪", "東京。大阪"),
    ("👩", "👨‍👩‍👧"),
    ("🇵🇺", "🇯🇵🇺🇸"),
    ("🇯", "🇯🇵"),
    ("forgotten", "was (forgotten) by all"),
    ("Anna Lee", "Anna (forgotten) Lee"),
]


@pytest.mark.parametrize(("passage", "text"), NOT_FOUND)
def test_other_words_are_left_alone(passage: str, text: str) -> None:
    """A forget that cuts into words nobody meant destroys what the person wants kept."""
    assert found(passage, text) == []
    assert without(passage, text) is text


@pytest.mark.parametrize("text", ["", "  \n", "!?…", "a", "ß"[:0], "7", "\u200b", "🏽", MARK, f"{MARK} ({MARK})"])
def test_what_would_be_found_everywhere_or_nowhere_is_refused(text: str) -> None:
    """Forgetting the letter a would take every transcript apart."""
    with pytest.raises(Refused) as refused:
        Passage.of(text)

    assert refused.value.key == "forget.too_short"


def test_several_passages_are_cut_at_once() -> None:
    """The parts of a fact (`also`) may overlap and touch."""
    parts = tuple(map(Passage.of, ("Anna Lee", "Lee Park", "猫", "犬")))

    assert passages.spans("Anna Lee Park 猫犬 Anna", parts) == ((0, 13), (14, 16))
    assert passages.cut("Anna Lee Park 猫犬 Anna", parts) == "(forgotten) (forgotten) Anna"


def test_hits_inside_longer_words_are_counted_apart() -> None:
    """They are not covered, and whoever reads the receipt is told how many there are."""
    assert passages.inside("Ann and Hannover, ANNA; ann-marie", (Passage.of("ann"),)) == 2
    assert passages.inside("猫と子猫", (Passage.of("猫"),)) == 0


def test_an_excerpt_is_one_short_line_around_the_hit() -> None:
    """A plan on a phone shows where the words stand, and no torn characters."""
    text = "👨‍👩‍👧" * 60 + "\nAnna\nLee " + "é" * 200
    ((start, end),) = passages.spans(text, (Passage.of("Anna Lee"),))

    line = passages.excerpt(text, (start, end))

    assert len(line) <= 80
    assert "Anna Lee" in line and line.startswith("…👨‍👩‍👧") and line.endswith("é…")
    assert passages.excerpt("Anna Lee", (0, 8)) == "Anna Lee"


# -- promises ------------------------------------------------------------------------------------------------

ODD = st.sampled_from(
    [
        *"aAnéßøæþﬁ㍿½Ⅷ10()-_ \n",
        *(
            "e\u0301",
            "\u0301",
            "\u200b",
            "\u200d",
            "\u00ad",
            "\ufe0f",
            "\u0640",
            "\uffff",
            "\ud83d",
            "\u20e3",
            "\0",
        ),
        *("\r\n", "+", "#", "c++", MARK),
        *("か", "が", "カ", "ｶ", "ﾞ", "\u3099", "・", "ー", "田", "中", "。"),
        *("한", "ᄒ", "ᅡ", "ᆫ", "ㅏ", "ﾡ", "ก", "ั", "क", "्", "ि", "ش", "ُ", "👩", "🏽", "🇯", "🇵", "❤"),
    ]
)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(ODD, max_size=16).map("".join),
    st.sampled_from([text for text in NAUGHTY if text]),
)


def parts_of(text: str, at: int, length: int) -> tuple[Passage, ...]:
    """A passage that stands in the text, if that may be one."""
    try:
        return (Passage.of(text[at : at + length]),)
    except Refused:
        return ()


@settings(max_examples=400, deadline=None)
@given(TEXTS)
@example("\U0001f1e6\u0e31\U0001f1e6\U0001f1e6")
@example("\U0001f1e6\u200d\u200d\U0001f1e6\U0001f1e6\U0001f1e6")
def test_folding_with_offsets_is_folding(text: str) -> None:
    """If the two ever differed, a hit would be seen and not cut, or the wrong words would be cut."""
    mapped = folding.mapped(text)

    assert mapped.folded == folding.fold(text)
    assert len(mapped.starts) == len(mapped.ends) == len(mapped.folded)
    assert all(0 <= start < end <= len(text) for start, end in zip(mapped.starts, mapped.ends, strict=True))
    assert list(mapped.starts) == sorted(mapped.starts)


@settings(max_examples=600, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4).map("".join), st.integers(0, 40), st.integers(1, 20), TEXTS)
@example("(forgottenA) forgotten)", 1, 9, "a)")
def test_after_a_cut_nothing_is_left_and_nothing_else_is_gone(text: str, at: int, length: int, other: str) -> None:
    """The promise of a forget, for one text: cutting again changes nothing, the rest is byte for byte the same."""
    both = (*parts_of(text, at, length), *parts_of(other, 0, len(other)))

    new = passages.cut(text, both)

    assert not passages.holds(new, both)
    assert passages.cut(new, both) == new
    assert passages.holds(text, both) == bool(passages.spans(text, both)) == (new != text)
    place = 0
    for start, end in passages.spans(text, both):
        assert new.find(text[place:start]) >= 0
        place = end


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(["ok ", "「", "\n", "x👍 "]), st.sampled_from([" ok", "」", "\n", " 👍"]))
def test_whatever_may_be_a_passage_is_found_as_it_was_given(text: str, before: str, after: str) -> None:
    """Somebody copies words out of a chat and wants them gone."""
    assume(MARK not in text and "\uffff" not in text)
    for passage in parts_of(text, 0, len(text)):
        assert passages.holds(before + text + after, (passage,))
        assert passages.holds((before + text + after).upper(), (passage,)) or text.upper().lower() != text.lower()
        assert passages.holds(unicodedata.normalize("NFD", before + text + after), (passage,))


@settings(max_examples=300, deadline=None)
@given(st.lists(ODD, min_size=1, max_size=14).map("".join), st.integers(0, 12), st.integers(1, 6))
def test_no_character_is_torn(text: str, at: int, length: int) -> None:
    """Half a family of emoji or a lone accent is a broken message."""
    both = parts_of(text, at, length)
    borders = set(folding.borders(text))

    for start, end in passages.spans(text, both):
        assert start in borders
        assert end in borders or text[end] in folding.STAYING


@pytest.mark.parametrize("text", [text for text in NAUGHTY if text])
def test_a_text_without_the_passage_stays_as_it_is(text: str) -> None:
    """Not even its normal form changes: other people's words are not ours to tidy."""
    assert passages.cut(text, (Passage.of("tuba 4711 チューバ"),)) == text


# -- JSON ----------------------------------------------------------------------------------------------------


def test_json_is_cut_inside_its_strings_and_stays_json() -> None:
    """Arguments of a tool call go back to the model: escapes, numbers and JSON in strings hold words, too."""
    text = (
        r'{"a": "my Anna\nLee is",  "n": 12345678, "t": "caf\u00e9 ANNA lee", '
        r'"raw": "{\"x\": \"Anna\\nLee\"}", "z": [1, 2.50]}'
    )

    new = passages.json_cut(text, (Passage.of("anna lee"), Passage.of("12345678")))

    assert new == (
        r'{"a": "my (forgotten) is",  "n": "(forgotten)", "t": "caf\u00e9 (forgotten)", '
        r'"raw": "{\"x\": \"(forgotten)\"}", "z": [1, 2.50]}'
    )
    assert passages.json_cut(new, (Passage.of("tuba"),)) == new


def test_json_keeps_how_its_characters_are_written() -> None:
    """Escaped stays escaped and plain stays plain, as whoever wrote it chose."""
    passage = (Passage.of("猫"),)

    assert passages.json_cut('["猫と犬", "犬"]', passage) == '["(forgotten)と犬", "犬"]'
    assert passages.json_cut(r'["\u732b\u3068\u72ac"]', passage) == r'["(forgotten)\u3068\u72ac"]'
    assert json.loads(passages.json_cut(r'["\ud83d猫"]', passage)) == ["\ud83d(forgotten)"]


@pytest.mark.parametrize(
    ("text", "new"),
    [
        (r'{"a": "Anna\nLee', '{"a": "(forgotten)'),
        (r'{"a": "Anna\nLee"', '{"a": "(forgotten)"'),
        ("Anna Lee said: {", "(forgotten) said: {"),
        ("", ""),
        ('"Anna Lee"', '"(forgotten)"'),
    ],
)
def test_what_is_no_json_is_cut_all_the_same(text: str, new: str) -> None:
    """Models send broken arguments; the words in them are words."""
    assert passages.json_cut(text, (Passage.of("anna lee"),)) == new


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
        max_leaves=6,
    ),
    TEXTS,
    st.booleans(),
)
def test_json_stays_json_and_holds_nothing(value: object, words: str, escaped: bool) -> None:
    """Whatever is in it: it can be read afterwards, and no string of it holds the passage."""
    text, passage = json.dumps(value, ensure_ascii=escaped), parts_of(words, 0, len(words))

    new = json.loads(passages.json_cut(text, passage))

    assert not any(passages.holds(string, passage) for string in strings(new))
    if not any(passages.holds(string, passage) for string in strings(value)):
        assert new == value


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [found for pair in value.items() for one in pair for found in strings(one)]
    if isinstance(value, list):
        return [found for one in value for found in strings(one)]
    return (
        [] if value is None or isinstance(value, bool) else [value if isinstance(value, str) else json.dumps(value)]
    )
