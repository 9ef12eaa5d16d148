"""Cutting text for a platform: every piece fits, nothing is lost, nothing visible is torn."""

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.platforms import telegram_markup, text

LIMIT = 40


def fits(piece: str) -> bool:
    """As strict a platform as Telegram, with a smaller screen."""
    return text.utf16_length(piece) <= LIMIT


def cut(words: str) -> tuple[str, ...]:
    return text.split(words, fits, 10 * LIMIT)


def without_space(words: str) -> str:
    return re.sub(r"\s", "", words)


PLAIN = st.text(
    st.one_of(
        st.sampled_from(" \n\n.。、éの🏔👍🏽\u200d\u0301🇳🇴🇯🇵한각"),
        st.characters(codec="utf-8", exclude_characters="*_~|`[]()<>\\#-+=!:/\x00"),
    ),
    max_size=400,
)


@settings(deadline=None)
@given(PLAIN)
@example("🏔" * 200)
@example("a" * 500)
@example("e\u0301" * 100)
@example(" " * 200 + "x")
@example("👨‍👩‍👧‍👦" * 30)
def test_pieces_of_plain_text_fit_and_lose_nothing(words: str) -> None:
    """A reply must arrive whole, however long it is and whatever it is made of."""
    pieces = cut(words)

    assert without_space("".join(pieces)) == without_space(text.clean(words))
    one_character = [piece for piece in pieces if not fits(piece)]
    assert not any(text.is_border(piece, place) for piece in one_character for place in range(1, len(piece)))


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["🏔", "👍🏽", "e\u0301", "👨‍👩‍👧‍👦", "🇳🇴", "각", "क्षि", "a", " ", "\n"]), max_size=80)
)
def test_no_piece_begins_inside_a_visible_character(clusters: list[str]) -> None:
    """Half a flag is another flag, half a family another family."""
    pieces = cut("".join(clusters))

    assert without_space("".join(pieces)) == without_space("".join(clusters))
    starts = {cluster[0] for cluster in clusters} | {""}
    assert all(piece.strip()[:1] in starts for piece in pieces)
    assert all(piece.count("🇳") == piece.count("🇴") for piece in pieces)


@pytest.mark.parametrize(
    "cluster",
    ["e\u0301", "👍🏽", "👨‍👩‍👧‍👦", "🇳🇴", "1\ufe0f\u20e3", "각", "\u1100\u1161\u11a8", "क्षि", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "\r\n"],
    ids=lambda cluster: unicodedata.name(cluster[0], "control"),
)
def test_a_visible_character_has_no_border_inside(cluster: str) -> None:
    """The rules are written from the standard; these are the kinds that people send."""
    assert not any(text.is_border(cluster, position) for position in range(1, len(cluster)))
    assert text.is_border(cluster + cluster, len(cluster))


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        ("First paragraph, short.\n\nSecond paragraph.", ("First paragraph, short.", "Second paragraph.")),
        (
            "A first line without an end\nand the second line",
            ("A first line without an end", "and the second line"),
        ),
        ("One sentence, and it ends here. Another one.", ("One sentence, and it ends here.", "Another one.")),
        ("words without any sign at all between them ok", ("words without any sign at all between", "them ok")),
        ("これは長い文章です。" * 5, ("これは長い文章です。" * 4, "これは長い文章です。")),
    ],
    ids=["paragraph", "line", "sentence", "word", "japanese"],
)
def test_the_best_border_is_taken(words: str, pieces: tuple[str, ...]) -> None:
    """A cut between paragraphs is not noticed; one inside a word is."""
    assert cut(words) == pieces


def test_a_code_block_is_closed_and_opened_again() -> None:
    """Otherwise the second half of a program is shown as prose, without its indentation."""
    pieces = cut("See:\n```python\ndef answer():\n    return 42\n\nprint(answer())\n```\nDone.")

    assert pieces == (
        "See:\n```python\ndef answer():\n```",
        "```python\n    return 42\n\n```",
        "```python\nprint(answer())\n```\nDone.",
    )


@settings(deadline=None)
@given(
    st.lists(st.text("ab (){}:.🏔", max_size=50), max_size=12),
    st.sampled_from(["```", "~~~~"]),
    st.sampled_from(["", "py"]),
)
def test_every_piece_of_a_code_block_is_one(lines: list[str], marks: str, language: str) -> None:
    """Each piece is rendered alone, so each must have as many fences as it needs."""
    code = "\n".join(lines)
    pieces = cut(f"{marks}{language}\n{code}\n{marks}")

    for piece in pieces:
        assert [line.strip() for line in piece.split("\n") if line.startswith(marks)] == [marks + language, marks]
    inside = "".join(line for piece in pieces for line in piece.split("\n") if not line.startswith(marks))
    assert without_space(inside) == without_space(code)


def test_bold_words_are_not_torn() -> None:
    """A cut inside `**…**` would show the stars."""
    assert cut("Some words to begin with, **and then bold ones** here") == (
        "Some words to begin with,",
        "**and then bold ones** here",
    )


def test_bold_text_longer_than_a_message_stays_bold() -> None:
    """Closed at the end of a piece and opened again in the next."""
    pieces = cut("**" + "word " * 20 + "end**")

    assert len(pieces) > 1
    assert all(re.fullmatch(r"\*\*\S.*\S\*\*", piece) for piece in pieces)


def test_a_link_is_not_torn() -> None:
    """Half a link leads nowhere."""
    assert cut("You will find more about it there: [the page](http://e.org)") == (
        "You will find more about it there:",
        "[the page](http://e.org)",
    )


@pytest.mark.parametrize("mark", ["**", "`", "__", "~~", "||"])
def test_a_mark_that_is_never_closed_and_a_link_behind_the_first_piece_are_cut(mark: str) -> None:
    """The reader looks on for the end of the mark, and finds a link far behind the cut."""
    words = f"{mark}{'x' * 2 * LIMIT} http://e.org"
    pieces = cut(words)

    assert all(fits(piece) for piece in pieces)
    assert without_space("".join(pieces)) == without_space(words)


def test_blank_text_is_one_piece() -> None:
    """Whoever sends something has something to send."""
    assert cut("") == ("",)
    assert cut(" \n ") == (" \n ",)


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [("plain é 🏔", "plain é 🏔"), ("a \ud83d b", "a � b"), ("\ud83c\udfd4", "🏔"), ("\udfd4\ud83c", "��")],
)
def test_lone_surrogates_are_replaced(given_text: str, expected: str) -> None:
    """JSON may carry half a character; no database and no socket takes it."""
    assert text.clean(given_text) == expected


def test_length_is_counted_as_telegram_counts() -> None:
    """Signs beyond the first 65,536 count twice."""
    assert text.utf16_length("aé🏔") == 4


# -- as Telegram shows it ----------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(st.text(st.sampled_from("*_~|`[]()<>\\#-+=!:/\n\n &$ab1.🏔é\u202e\x00"), max_size=300))
def test_any_markdown_becomes_something_that_telegram_takes(markdown: str) -> None:
    """A model writes whatever it likes; none of it may be refused."""
    rendered = telegram_markup.render(markdown)

    check_taken(rendered)


WORDS = st.lists(
    st.sampled_from(["**bold**", "`code`", "_it_", "[a](http://e.org/x)", "plain", "x\n", "\n\n", "# h\n", "> q\n"])
)


@settings(deadline=None, max_examples=15)
@given(WORDS, st.integers(1, 400))
def test_pieces_of_long_markdown_fit_and_keep_every_word(words: list[str], times: int) -> None:
    """Measured after rendering, because headings, bullets and links change the length."""
    markdown = " ".join(words * times)[:30_000]
    pieces = telegram_markup.chunks(markdown)

    seen = [telegram_markup.render(piece) for piece in pieces]
    for rendered in seen:
        check_taken(rendered)
    letters = re.findall(r"[a-z]", "".join(one.text for one in seen))
    assert letters == re.findall(r"[a-z]", telegram_markup.render(markdown).text)


@pytest.mark.parametrize(
    "markdown",
    [
        "!" * 4096 + "." * 4096,
        " ".join(f"[word{n}](http://example.org/{n})" for n in range(500)),
        "\n".join(f"> line {n}" for n in range(1250)),
        "x" * 3990 + " **" + "bold " * 40 + "end** y",
        "🏔" * 5000,
        "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | 全角 |" for n in range(900)),
    ],
    ids=["signs", "links", "quotes", "bold-at-the-cut", "emoji", "table"],
)
def test_long_answers_of_every_kind_fit(markdown: str) -> None:
    """Each of these once was an answer that somebody never got."""
    pieces = telegram_markup.chunks(markdown)

    assert len(pieces) > 1
    for piece in pieces:
        check_taken(telegram_markup.render(piece))
        assert "**" not in telegram_markup.render(piece).text


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("List<String> and <b>", "List<String> and <b>"),
        ("<div>\nwords\n</div>", "<div>\nwords\n</div>"),
        ("[name]: http://e.org", "[name]: http://e.org"),
        ("```\n<tag>\n```", "<tag>"),
        ("a `<i>` b", "a <i> b"),
        ("C:\\\\Users\\\\n", "C:\\Users\\n"),
        ("``a ` b``", "a ` b"),
        ("above\n\n---\n\nbelow", "above\n\n————————\n\nbelow"),
        ("# Title", "Title"),
        ("- [ ] to do\n- [x] done", "☐ to do\n☑ done"),
        ("it costs $5 and $6", "it costs $5 and $6"),
        ("abc\u202edef\x00", "abcdef"),
        ("", "…"),
        ("\u200b\u2060", "…"),
        ("\u2800\n\u2800", "…"),
        ("***", "————————"),
    ],
)
def test_what_is_written_is_shown(markdown: str, shown: str) -> None:
    """No word vanishes because it looks like markup."""
    assert telegram_markup.render(markdown).text == shown


def test_formats_that_telegram_refuses_are_left_out() -> None:
    """Nothing may be around code, no quote inside a quote, and no link to nowhere."""
    rendered = telegram_markup.render("**a `b` c** [x](/rel)\n\n> q\n> > r")

    assert [(one.type, one.offset, one.length) for one in rendered.entities] == [
        ("bold", 0, 2),
        ("code", 2, 1),
        ("bold", 3, 2),
        ("blockquote", 9, 3),
    ]


def check_taken(rendered: telegram_markup.Rendered) -> None:
    """What the Bot API checks; the fake server has the same rules."""
    from tests.fakes import telegram_rules

    entities = [{"type": one.type, "offset": one.offset, "length": one.length} for one in rendered.entities]
    telegram_rules.check_text(rendered.text, entities)
