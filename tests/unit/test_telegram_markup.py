"""Whatever a model writes becomes messages that Telegram takes and that together say all of it."""

import html
import json
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.platforms import telegram_markup, text
from gateway.platforms.telegram_markup import Rendered
from tests.fakes import telegram_rules

NAUGHTY: list[str] = json.loads((Path(telegram_rules.__file__).parent / "naughty-strings.json").read_text("utf-8"))
"""Strings that have broken somebody's program (tests/fakes/naughty-strings.LICENSE)."""
BLOCKS = (
    "\n# Heading {}\n",
    "\n> quoted {}\n",
    "\n> > quoted twice {}\n",
    "\n- item {}\n  - inner {}\n    - innermost {}\n",
    "\n```py\ndef f{}():\n    return {}\n```\n",
    "\n\n",
    "\n",
)
INLINE = (
    "**bold {}** ",
    "*slanted {}* ",
    "***both {}*** ",
    "**bold *and slanted {}* again** ",
    "`code {}` ",
    "[link {}](https://example.org/{}) ",
    "**[bold link {}](https://example.org/b{})** ",
    "~~gone {}~~ ",
    "||secret {}|| ",
    "plain {} words. ",
    "5 > {} - 4 # 3 + 2 ",
    "これは文章です。「{}」、と。",
    "**太字{}**の言葉 ",
    "مرحبا بالعالم {} ",
    "שלום עולם {} ",
    "👨‍👩‍👧‍👦🇳🇴👍🏽{} ",
    "e\u0301क्षि각{} ",
)
FAMILIES = (
    "👨‍👩‍👧‍👦",
    "👩🏾‍🚀",
    "🇳🇴",
    "👍🏽",
    "1\ufe0f\u20e3",
    "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "e\u0301",
    "क्षि",
    "\u1100\u1161\u11a8",
    "漢",
    "a",
)


def seen(markdown: str) -> list[Rendered]:
    """What Telegram is given for this, message by message; each is one that it takes."""
    shown = [telegram_markup.render(piece) for piece in telegram_markup.chunks(markdown)]
    for one in shown:
        formats = [{"type": each.type, "offset": each.offset, "length": each.length} for each in one.entities]
        telegram_rules.check_text(one.text, formats)
    return shown


def words(shown: list[Rendered]) -> str:
    """Letters and numbers; signs may be Markdown, and white space is what a cut may cost."""
    return "".join(re.findall(r"[^\W_]", html.unescape("".join(one.text for one in shown))))


def links(shown: list[Rendered]) -> list[str]:
    return [one.url for each in shown for one in each.entities if one.url]


def marked(one: Rendered, kind: str) -> list[str]:
    """The texts under a format."""
    units = one.text.encode("utf-16-le")
    return [units[2 * e.offset : 2 * e.end].decode("utf-16-le") for e in one.entities if e.type == kind]


def code_lines(shown: list[Rendered]) -> list[str]:
    """Every line of code; a cut between two lines costs the break, which the next message makes up for."""
    return [
        line.rstrip() for one in shown for block in marked(one, "pre") for line in block.split("\n") if line.strip()
    ]


@cache
def whole(markdown: str) -> Rendered:
    """The same as one message, were there no bounds."""
    plain, found = telegram_markup._read(markdown)
    return Rendered(plain, telegram_markup._acceptable(found))


@pytest.mark.parametrize("part", range(8))
def test_every_naughty_string_arrives(part: int) -> None:
    """Alone, and again and again until it fills messages: every one is taken, no letter is lost."""
    for naughty in NAUGHTY[part::8]:
        assert words(seen(naughty)) == words([whole(naughty)])
        often = " ".join([naughty] * (5000 // (len(naughty) + 1) + 2))
        assert words(seen(often)) == words([whole(often)])


@pytest.mark.parametrize("joined_by", ["\n\n", "\n", " "])
def test_all_naughty_strings_in_one_answer_arrive(joined_by: str) -> None:
    """Each changes how the next is read; all of them still come.

    Which of their stray backticks are pairs depends on the cuts, and in code `&#106;` is no j: both count as one.
    """
    answer = joined_by.join(NAUGHTY)
    assert words(seen(answer)) == words([whole(answer)])


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(BLOCKS + INLINE), min_size=1, max_size=40), st.integers(1, 30))
def test_formatted_answers_keep_their_words_links_and_code(atoms: list[str], times: int) -> None:
    """Nested Markdown, Japanese, Arabic, Hebrew and families: in pieces they say what they say as a whole."""
    atoms = (atoms * times)[:500]
    markdown = "".join(atom.replace("{}", str(number)) for number, atom in enumerate(atoms))
    shown, at_once = seen(markdown), whole(markdown)

    assert words(shown) == words([at_once])
    assert links(shown) == links([at_once])
    assert code_lines(shown) == code_lines([at_once])


PLAIN = st.text(
    st.one_of(
        st.sampled_from(" \n.。、é🏔👍🏽\u200d\u0301🇳🇴한각ا"),
        st.characters(codec="utf-8", exclude_characters="*_~|`[]()<>\\#-+=!:&$/@", exclude_categories=["Cc", "Cf"]),
    ),
    min_size=1,
    max_size=200,
)


@settings(deadline=None, max_examples=40)
@given(PLAIN, st.integers(1, 60))
def test_joined_pieces_of_plain_text_equal_the_source(once: str, times: int) -> None:
    """Each piece is a stretch of the source, in order, and only white space lies between them."""
    source = once * times
    at = 0
    for piece in telegram_markup.chunks(source):
        found = source.find(piece, at)
        assert found >= 0 and not source[at:found].strip()
        at = found + len(piece)
    assert not source[at:].strip()


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from(FAMILIES), min_size=30, max_size=60), st.integers(20, 90))
def test_what_people_see_as_one_character_stays_whole(clusters: list[str], times: int) -> None:
    """Half a family is another family. Without any white space the cut must still not be inside one."""
    shown = "".join(one.text for one in seen("".join(clusters * times)))
    pieces = telegram_markup.chunks("".join(clusters * times))

    assert shown == "".join(clusters * times)
    starts = {cluster[0] for cluster in clusters}
    assert all(piece[0] in starts for piece in pieces)
    assert all(piece.count("🇳") == piece.count("🇴") for piece in pieces)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.text("ab(){}:.=🏔漢", min_size=1, max_size=90)), min_size=1, max_size=60
    ),
    st.integers(1, 20),
    st.sampled_from(["```", "```python", "~~~~"]),
)
def test_the_indentation_of_code_is_kept(lines: list[tuple[int, str]], times: int, fence: str) -> None:
    """A Python program without it is another program, or none."""
    code = [" " * deep + line for deep, line in lines * times]
    closing = re.match(r"[`~]+", fence)
    assert closing is not None
    markdown = "Here:\n\n" + "\n".join([fence, *code, closing[0]]) + "\n\nThat is all."

    assert code_lines(seen(markdown)) == code


@pytest.mark.parametrize(
    "unit",
    ["e" + "\u0301" * 9000, "👩\u200d" * 3000, "\u1100" * 5000],
    ids=["accents", "joined", "syllable"],
)
def test_a_character_that_is_longer_than_a_message_is_cut(unit: str) -> None:
    """Somebody makes one to break the bot; torn it arrives, whole it would be refused for ever."""
    assert "".join(one.text for one in seen(unit)) == unit


@pytest.mark.parametrize(
    "markdown",
    [
        ("word " * 818 + "5 > 3 and ") * 3,
        ("word " * 818 + "a - b + c ") * 3,
        ("word " * 818 + "the # sign ") * 3,
        ("word " * 818 + "in 1984. Then ") * 3,
        ("word " * 818 + "and --- so ") * 3,
        ("word " * 818 + "and ~~~ so ") * 3,
        ("wörter" + " " * 4090 + "weiter ") * 3,
        "漢" * 4090 + " # 漢> 漢- 漢 " * 500,
    ],
    ids=["quote", "item", "heading", "number", "rule", "fence", "blanks", "signs"],
)
def test_a_sign_in_the_middle_of_a_line_means_nothing_at_the_beginning_of_a_message(markdown: str) -> None:
    """Cut before it, a "greater than" would become a quote and vanish."""
    for shift in range(0, 40, 3):
        shown = seen("x" * shift + " " + markdown)
        plain = "".join("".join(one.text for one in shown).split())
        assert plain == "".join(f"{'x' * shift}{markdown}".split())
        assert not [one for each in shown for one in each.entities]


def test_an_escaped_sign_is_not_cut_from_its_backslash() -> None:
    """People's words are escaped in notices: a cut between would set the sign free."""
    escaped = "\\*" * 6000
    assert "".join(one.text for one in seen(escaped)) == "*" * 6000


def test_a_deep_list_goes_on_as_a_list() -> None:
    """Four blanks at the beginning of a message would make code of it."""
    markdown = "\n".join("  " * (number % 4) + f"- item {number} with words" for number in range(600))
    shown = seen(markdown)

    assert len(shown) > 1
    assert all("- item" not in one.text and not marked(one, "pre") for one in shown)


def test_a_long_numbered_list_keeps_its_numbers() -> None:
    """The second message goes on where the first one ended."""
    markdown = "\n".join(f"{number}. thing" for number in range(1, 900))
    shown = seen(markdown)

    assert len(shown) > 1
    assert "".join("".join(one.text for one in shown).split()) == "".join(markdown.split())


def test_code_after_a_blank_line_keeps_its_indentation() -> None:
    """Four blanks are how old Markdown marks code; a cut before them must leave them."""
    lines = ["def f():", *(f"    line = {number}" for number in range(60))]
    markdown = "word " * 700 + "\n\n" + "\n".join("    " + line for line in lines)

    assert code_lines(seen(markdown)) == lines


def test_a_hundred_formats_fill_a_message() -> None:
    """Telegram passes over the ones after the hundredth without a word."""
    shown = seen("**a** " * 450)

    assert sum(len(one.entities) for one in shown) == 450
    assert max(len(one.entities) for one in shown) <= telegram_markup.MOST_ENTITIES
    assert text.utf16_length("".join(one.text for one in shown)) >= 450
