"""Finding words again: every script, every punctuation, no surprise."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings, strategies
from hypothesis import given as examples

from gateway.records import Hit, Role
from gateway.store import search
from gateway.store.db import Database
from tests.store import given

CASES = Path(__file__).parents[1] / "cases"
SESSION = "20261130_090007_57bbf6"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("use push-now here", "push-now"),
        ("use push-now here", '"push-now here"'),
        ("use push-now here", "here push-now"),
        ("NOTE: call Ada", "NOTE: call"),
        ("level:high", "level:high"),
        ("see D:\\work\\a", "D:\\work\\a"),
        ("cfg_old2", "cfg_old"),
        ("ticket ABC-358", "abc-358"),
        ("#123 in a/b.py", "#123"),
        ("#123 in a/b.py", "a/b.py"),
        ("don't do 50%", "don't"),
        ("don't do 50%", "50%"),
        ("mail a@b.c", "a@b.c"),
        ("she wrote C++ and C#", "C++"),
        ("she wrote C++ and C#", "C#"),
        (":) happy", ":)"),
        ("a*b NEAR(x y) AND OR NOT", "NEAR(x y)"),
        ("a*b NEAR(x y) AND OR NOT", "a*b"),
        ("昨日は新宿で花見をした", "花見"),
        ("昨日は新宿で花見をした", "花"),
        ("昨日は新宿で花見をした", "新宿で花見"),
        ("설악산에서 단풍을 봤다", "단풍"),
        ("設定をbarsrvサーバへ移行", "barsrv"),
        ("設定をbarsrvサーバへ移行", "barsrv サーバ"),
        ("ＦＯＯ－ＢＡＲ", "foo-bar"),
        ("ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
        ("cafe\u0301 in Bergen", "caf\u00e9"),
        ("Straße", "STRASSE"),
        ("𠮷野家で", "𠮷野家"),
        ("done 🎉 at last", "🎉"),
        ('he said "yes"', "yes"),
    ],
)
def test_words_are_found_as_they_are_written(db: Database, text: str, query: str) -> None:
    """Other bots take punctuation for syntax, or cut CJK text where nobody would."""
    with db.write() as tx:
        space = given.space(tx)
        given.keep(tx, "something else altogether")
        id = given.keep(tx, text)

        assert [hit.message for hit in search.find(tx, space, query, 10)] == [id]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("100点完了", "100%完了"),
        ("aXb", "a_b"),
        ("50 percent", "5%"),
        ("push the button now", '"push now"'),
        ("only Bergen", "Bergen Oslo"),
    ],
)
def test_what_does_not_hold_the_words_is_not_found(db: Database, text: str, query: str) -> None:
    """% and _ are characters; every word must be there; a phrase is a phrase."""
    with db.write() as tx:
        space = given.space(tx)
        given.keep(tx, text)

        assert search.find(tx, space, query, 10) == []


@pytest.mark.parametrize("query", ["", " ", '"', '""', '" "', "\0", "\n\t"])
def test_a_query_without_words_finds_nothing(db: Database, query: str) -> None:
    """Rather than everything."""
    with db.write() as tx:
        space = given.space(tx)
        given.keep(tx, 'something with " in it')

        assert search.find(tx, space, query, 10) == []


def test_the_newest_hits_come_first_with_what_is_around_them(db: Database) -> None:
    """A hit is shown in a chat: it must be short and show why it was found."""
    with db.write() as tx:
        space = given.space(tx)
        given.session(tx)
        old = given.keep(tx, "Bergen is rainy")
        text = "first line\nsecond " + "x" * 200 + " and then we moved to BERGEN, by boat " + "y" * 200
        new = given.keep(tx, text, session=SESSION, turn=1, role=Role.ASSISTANT, at=given.after(hours=1))

        hits = search.find(tx, space, "bergen", 10)

    assert hits == [
        Hit(SESSION, new, "assistant", given.after(hours=1), hits[0].snippet),
        Hit("", old, "user", given.NINE, "Bergen is rainy"),
    ]
    assert hits[0].snippet == f"… {'x' * 38} and then we moved to BERGEN, by boat {'y' * 50} …"


def test_a_limit_is_a_limit_and_a_question_need_not_find_itself(db: Database) -> None:
    """The message that asks for Bergen holds Bergen."""
    with db.write() as tx:
        space = given.space(tx)
        ids = [given.keep(tx, f"Bergen {number}") for number in range(5)]

        assert [hit.message for hit in search.find(tx, space, "Bergen", 2)] == [ids[4], ids[3]]
        assert [hit.message for hit in search.find(tx, space, "Bergen", 2, before=ids[4])] == [ids[3], ids[2]]
        assert search.find(tx, space, "Bergen", 0) == []


def test_a_search_sees_only_its_space(db: Database) -> None:
    """Other bots let B search A's talks."""
    with db.write() as tx:
        mine, theirs = given.space(tx), given.space(tx, "telegram-5")
        given.keep(tx, "my secret in Bergen")
        id = given.keep(tx, "their secret in Bergen", space=theirs)

        for query in ("secret", "in", '"in Bergen"'):
            assert [hit.message for hit in search.find(tx, theirs, query, 10)] == [id]
        assert search.find(tx, mine + 10, "secret", 10) == []


def test_earlier_searches_are_not_found(db: Database) -> None:
    """The tool's results repeat the words, and would soon be all there is."""
    with db.write() as tx:
        space = given.space(tx)
        id = given.keep(tx, "we moved to Bergen")
        given.keep(tx, '{"snippet": "we moved to Bergen"}', role=Role.TOOL, tool_name="session_search")

        assert [hit.message for hit in search.find(tx, space, "moved", 10)] == [id]


def test_what_is_taken_out_of_the_index_leaves_no_ghost(db: Database) -> None:
    """A contentless index believes what it is told."""
    with db.write() as tx:
        id = given.keep(tx, "We live in Straße 5, ＢＥＲＧＥＮ")
        search.unindex(tx, id, "We live in Straße 5, ＢＥＲＧＥＮ")

        rows = [tx.rows("SELECT rowid FROM message_words WHERE message_words MATCH ?", (f'"{word}"',)) for word in
                ("strasse", "bergen", "live")]  # fmt: skip
        assert rows == [[], [], []]


def test_naughty_strings_find_themselves_or_nothing(db: Database) -> None:
    """The list of texts that break other people's programs."""
    strings: list[str] = json.loads((CASES / "naughty-strings.json").read_text(encoding="utf-8"))
    with db.write() as tx:
        space = given.space(tx)
        for text in strings:
            id = given.keep(tx, text)
            phrase = text.partition('"')[0].strip()[:40].strip()
            found = [hit.message for hit in search.find(tx, space, f'"{phrase}"', 1000)]
            assert id in found or not phrase, text
            search.find(tx, space, text, 10)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@examples(query=strategies.text())
def test_no_query_raises(db: Database, query: str) -> None:
    """People and models type anything."""
    with db.read() as rd:
        search.find(rd, 1, query, 10)
        search.find(rd, 1, f'bergen "{query}', 10)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@examples(text=strategies.text(), data=strategies.data())
def test_any_part_of_a_text_finds_it(db: Database, text: str, data: strategies.DataObject) -> None:
    """As a phrase, whatever it is made of."""
    start = data.draw(strategies.integers(0, max(0, len(text) - 1)))
    part = text[start : start + data.draw(strategies.integers(1, 20))].replace("\0", "").strip()
    with db.write() as tx:
        space = given.space(tx)
        id = given.keep(tx, text.replace("\0", ""))
        found = [hit.message for hit in search.find(tx, space, f'"{part}"', 1000)]

        assert id in found or not part or '"' in part or _is_case_of_short_text(part)


def _is_case_of_short_text(part: str) -> bool:
    """LIKE, for what is shorter than three characters, folds only ASCII: then the text itself must match."""
    return len(search.fold(part)) < 3 and search.fold(part) != part.lower()
