"""Reading queries: what becomes of every kind of text, and that no text becomes more than a text."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings, strategies

from gateway.store.search_fold import VERSION, document, fold, frequent
from gateway.store.search_query import MOST_TERMS, day, parse, split

TOKYO = ZoneInfo("Asia/Tokyo")
_LIKELY = strategies.lists(
    strategies.sampled_from(
        [
            "AND",
            "OR",
            "NOT",
            "NEAR",
            "(",
            ")",
            '"',
            "*",
            "^",
            ":",
            "-",
            "+",
            "{",
            "}",
            "a",
            "be",
            "text",
            "花見",
            "花",
            "🎉",
        ]
    ),
    max_size=24,
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("ferry", '"ferry"'),
        ("ferry Oslo", '("ferry" AND "oslo")'),
        ("ferry AND Oslo", '("ferry" AND "oslo")'),
        ("ferry ferry FERRY", '"ferry"'),
        ("ferry OR boat trip", '("ferry" OR ("boat" AND "trip"))'),
        ("(ferry OR boat) trip", '(("ferry" OR "boat") AND "trip")'),
        ("ferry trip NOT Oslo", '(("ferry" AND "trip") NOT ("oslo"))'),
        ("ferry NOT Oslo NOT Bergen", '(("ferry") NOT ("oslo" OR "bergen"))'),
        ('"the ferry" deploy*', '("the ferry" AND "deploy" *)'),
        ("red-shelf", '"red shelf"'),
        ("title:ferry", '"title ferry"'),
        ("cfg_old", '"cfg old" *'),
        ("花", '"~花"'),
        ("花見", '"花見"'),
        ("花見を", '"花見 見を"'),
        ("バー", '"ばー"'),
        ("C++", '"~c++"'),
        ("NOT ferry", '"ferry"'),
        ("ferry NOT", '"ferry"'),
        ("x OR OR y", '("x" OR "y")'),
        ("NEAR(a b)", '("near a" AND "b")'),
        ("text : a", '("text" AND "a")'),
        (":)", ""),
        ("", ""),
    ],
)
def test_queries_as_expressions(text: str, match: str) -> None:
    """What SQLite is asked."""
    assert parse(text).match == match


@settings(max_examples=5000, deadline=None)
@given(text=strategies.one_of(_LIKELY, strategies.text()))
def test_nothing_but_quoted_tokens_is_asked(text: str) -> None:
    """Whatever is typed: SQLite takes it, and there is no syntax in it that is not ours."""
    query = parse(text)

    with closing(_index()) as db:
        for each in (query, split(query)):
            if each is not None and each.match:
                db.execute("SELECT rowid FROM words WHERE words MATCH ?", (each.match,)).fetchall()
                left = re.sub(r'"[^"]*"( \*)?', "", each.match)
                assert re.fullmatch(r"(?:[() ]|AND|OR|NOT)*", left)
    assert len(query.terms) <= MOST_TERMS


@settings(max_examples=1000, deadline=None)
@given(text=strategies.text())
def test_what_has_letters_is_looked_for(text: str) -> None:
    """A query that silently looks for nothing hides what is there."""
    looked_for = parse(text[:100]).terms

    assert looked_for or not any(character.isalnum() for character in fold(text[:100]))


@settings(max_examples=1000, deadline=None)
@given(text=strategies.text())
def test_documents_hold_only_what_sqlite_splits_at_blanks(text: str) -> None:
    """Taking out a message must hand over exactly the tokens that went in, whatever SQLite makes of them."""
    one = document(text, "~u")

    with closing(_index()) as db:
        db.execute("INSERT INTO words (rowid, text) VALUES (1, ?)", (one,))
        db.execute("INSERT INTO words (words, rowid, text) VALUES ('delete', 1, ?)", (one,))
        assert [row[0] for row in db.execute("SELECT term FROM terms")] == []


@pytest.mark.parametrize(
    "texts",
    [
        ("データベース", "ﾃﾞｰﾀﾍﾞｰｽ", "でーたべーす"),
        ("café", "cafe\u0301", "CAFÉ", "cafe"),
        ("Straße", "STRASSE", "strasse"),
        ("ＦＯＯ", "foo"),
        ("İstanbul", "istanbul", "ıstanbul"),
        ("Smørbrød", "smorbrod"),
        ("한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
        ("👍", "👍🏽", "👍\ufe0f"),
        ("soft\u00adhyphen", "softhyphen"),
        ("Ψυχῆς", "ψυχης"),
    ],
)
def test_spellings_of_the_same_are_the_same(texts: tuple[str, ...]) -> None:
    """Width, case, accents, kana and colours of emoji make no difference."""
    assert len({fold(text) for text in texts}) == 1
    assert len({parse(text).match for text in texts}) == 1


def test_sounds_that_differ_stay_apart() -> None:
    """ハ, バ and パ are no accents of each other."""
    assert len({fold(text) for text in ("ハ", "バ", "パ")}) == 3


@pytest.mark.parametrize(
    ("query", "text", "wanted"),
    [
        ("dog NOT (ab* NOT cat)", "dog abc cat", True),
        ("dog NOT (ab* NOT cat)", "dog abc", False),
        ("(ab* NOT cat) bird", "bird abc cat", False),
        ("(ab* NOT cat) bird", "bird abc", True),
        ("(dog NOT cat) OR ab*", "dog cat", False),
        ("(dog NOT cat) OR ab*", "dog cat abc", True),
    ],
)
def test_what_the_index_cannot_exclude_is_looked_at(query: str, text: str, wanted: bool) -> None:
    """Else a NOT in brackets hides what is there, or shows what is not wanted."""
    node = parse(query).node

    assert node is not None
    assert node.holds(fold(text)) is wanted


def test_a_long_text_is_cut_between_words() -> None:
    """Half a word stands in no message: a pasted address of a thousand characters would not find its own."""
    address = "https://example.org/" + "/".join(f"part{number:03d}" for number in range(100))
    [term] = parse(address).terms

    assert len(term.text) <= 500
    assert term.holds(fold(address))
    assert parse("x" * 700).terms[0].holds(fold("x" * 700))


def test_a_day_begins_where_the_person_lives() -> None:
    """ "Since the first" means the first there."""
    assert day("2026-11-01", TOKYO) == datetime(2026, 10, 31, 15, tzinfo=UTC)
    assert day("2026-11-01T12:00", TOKYO) == datetime(2026, 11, 1, 3, tzinfo=UTC)
    assert day("2026-11-01T12:00:00+00:00", TOKYO) == datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-02-30", "0000-01-01", "99999-01-01", "１"])
def test_what_is_no_day_is_none(text: str) -> None:
    """Rather than an error."""
    assert day(text, TOKYO) is None


def test_text_without_blanks_can_be_cut() -> None:
    """Where it is found nowhere as it stands; what people put apart themselves is not."""
    cut = split(parse("GitLab同期設定"))

    assert cut is not None
    assert [term.folded for term in cut.terms] == ["gitlab", "同期", "期設", "設定"]
    assert [split(parse(text)) for text in ("花見", "deploy", "a-b", "花 見 会", "100%完了", "")] == [None] * 6


def test_what_a_session_is_about() -> None:
    """In a tenth of its messages, three at least; in nearly every third: about little else."""
    documents = [document("ferry to Oslo"), document("ferry"), document("ferry")] + [document("rain")] * 2
    documents += [document(str(number)) for number in range(5)]

    assert frequent(documents) == ["ferry", "ferry~2"]
    assert VERSION == 1


def _index() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(
        """
        CREATE VIRTUAL TABLE words
         USING fts5 (text, content = '', columnsize = 0, tokenize = "ascii tokenchars '~+#'");
        CREATE VIRTUAL TABLE terms USING fts5vocab (words, row);
        """
    )
    return db
