"""Finding words again: every script, every punctuation, no surprise."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings, strategies
from hypothesis import given as examples

from gateway.chat import Chat, How, Piece
from gateway.errors import NotFound
from gateway.records import Hit, Role, ToolCall
from gateway.store import search, search_fold, search_query, sessions
from gateway.store.db import Database, Reader, Transaction
from gateway.store.search import Context, Limits
from gateway.store.search_matches import Lookup
from tests.store import given

CASES = Path(__file__).parents[1] / "cases"
SESSION = "20261130_090007_57bbf6"
OLD = "20260101_090000_aaaaaa"


def found(rd: Reader, query: str, space: int = 1, limits: Limits = search.ANYWHERE) -> list[int]:
    """The messages that are found, oldest first."""
    return sorted(hit.message for hit in search.find(rd, space, query, 1000, limits).hits)


def keep_each_apart(tx: Transaction, *texts: str) -> list[int]:
    """Messages in sessions of their own: of one session only the best are shown."""
    ids = []
    for number, text in enumerate(texts):
        session = f"20261130_0900{number:02}_abcdef"
        given.session(tx, session, chat=Chat("telegram", f"1{number}"))
        ids.append(given.keep(tx, text, session=session, turn=1, at=given.after(minutes=number)))
    return ids


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("use push-now here", "push-now"),
        ("use push-now here", '"push-now here"'),
        ("use push-now here", "here push-now"),
        ("a red-shelf in it", "alpha OR red-shelf OR beta"),
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
        ("she wrote C++ and C#", "c#"),
        ("C++のコードを書く", "C++の"),
        (":) happy", ":)"),
        ("a*b NEAR(x y) AND OR NOT", "NEAR(x y)"),
        ("a*b NEAR(x y) AND OR NOT", "a*b"),
        ("a*b NEAR(x y) AND OR NOT", "NOT"),
        ("a*b NEAR(x y) AND OR NOT", "AND OR"),
        ("redeployment is due", "redep*"),
        ("redeployment is due", "re*"),
        ("昨日は新宿で花見をした", "花見"),
        ("昨日は新宿で花見をした", "花"),
        ("昨日は新宿で花見をした", "た"),
        ("昨日は新宿で花見をした", "新宿で花見"),
        ("昨日は新宿で花見をした", "花見 新宿"),
        ("설악산에서 단풍을 봤다", "단풍"),
        ("설악산에서 단풍을 봤다", "악"),
        ("我们明天去北京开会", "北京开会"),
        ("我们明天去北京开会", "京"),
        ("設定をbarsrvサーバへ移行", "barsrv"),
        ("設定をbarsrvサーバへ移行", "barsrv サーバ"),
        ("設定をbarsrvサーバへ移行", "定をbarsrvサ"),
        ("変更した設定でGitLabを同期", "GitLab同期設定変更"),
        ("経費申請は金曜まで", "経費申請期限"),
        ("ＦＯＯ－ＢＡＲ", "foo-bar"),
        ("ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
        ("データベース", "でーたべーす"),
        ("cafe\u0301 in Bergen", "caf\u00e9"),
        ("café in Bergen", "cafe"),
        ("Smørbrød i İstanbul", "smorbrod istanbul"),
        ("Straße", "STRASSE"),
        ("𠮷野家で", "𠮷野家"),
        ("𠮷野家で", "𠮷"),
        ("done 🎉 at last", "🎉"),
        ("good 👍🏽", "👍"),
        ("สวัสดีครับ", "ดี"),
        ("नमस्ते दुनिया", "दुनिया"),
        ('he said "yes"', "yes"),
        ("he said “yes please”", "“yes please”"),
        ("「はい」と言った", "「はい」"),
    ],
)
def test_words_are_found_as_they_are_written(db: Database, text: str, query: str) -> None:
    """Other bots take punctuation for syntax, or cut CJK text where nobody would."""
    with db.write() as tx:
        given.space(tx)
        given.keep(tx, "something else altogether")
        id = given.keep(tx, text)

        assert found(tx, query) == [id]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("100点完了", "100%完了"),
        ("aXb", "a_b"),
        ("50 percent", "5%"),
        ("push the button now", '"push now"'),
        ("only Bergen", "Bergen Oslo"),
        ("Bergen and Oslo", "Bergen NOT Oslo"),
        ("redeployed", "deploy"),
        ("C and more", "C++"),
        ("新宿。で花見", "新宿で花見 x"),
    ],
)
def test_what_does_not_hold_the_words_is_not_found(db: Database, text: str, query: str) -> None:
    """% and _ are characters; every word must be there; a phrase is a phrase."""
    with db.write() as tx:
        given.space(tx)
        given.keep(tx, text)

        assert found(tx, query) == []


@pytest.mark.parametrize(
    ("query", "which"),
    [
        ("ferry", [0, 1, 2]),
        ("ferry Oslo", [0]),
        ("Oslo OR Bergen", [0, 1]),
        ("ferry NOT Oslo", [1, 2]),
        ("ferry AND NOT (Oslo OR Bergen)", [2]),
        ("(Oslo OR Bergen) ferry", [0, 1]),
        ('"the ferry" OR フェリー', [0, 1, 3]),
        ("ふぇりー", [3]),
        ("ferr*", [0, 1, 2]),
        ("fe* NOT Oslo", [1, 2]),
        ("ferry OR", [0, 1, 2]),
        ("OR ferry", [0, 1, 2]),
        ("((ferry", [0, 1, 2]),
        ("ferry)) :", [0, 1, 2]),
        ("ferry - Oslo", [0]),
    ],
)
def test_the_syntax_is_the_one_people_know(db: Database, query: str, which: list[int]) -> None:
    """AND by default, OR, NOT, phrases, prefixes, brackets; what lacks something is passed over."""
    with db.write() as tx:
        given.space(tx)
        ids = keep_each_apart(tx, "the ferry to Oslo", "the ferry to Bergen", "no ferry", "フェリーで行く")

        assert found(tx, query) == [ids[place] for place in which]


@pytest.mark.parametrize("query", ["", " ", '""', '" "', "\0", "\n\t", "''"])
def test_a_query_without_words_finds_nothing(db: Database, query: str) -> None:
    """Rather than everything."""
    with db.write() as tx:
        given.space(tx)
        given.keep(tx, 'something with " in it')

        assert found(tx, query) == []


def test_hits_come_by_session_with_what_is_around_them(db: Database) -> None:
    """A hit is shown in a chat: it must be short, show why it was found, and what it was about."""
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        sessions.rename(tx, SESSION, "Moving")
        text = "first line\nsecond " + "x" * 200 + " and then we moved to BERGEN, by boat " + "y" * 200
        said = [
            given.keep(tx, each, session=SESSION, turn=turn, role=role, at=given.after(minutes=turn))
            for turn, each, role in (
                (1, "one", Role.USER),
                (1, "two", Role.ASSISTANT),
                (2, "three", Role.USER),
                (2, text, Role.ASSISTANT),
                (3, "five", Role.USER),
                (3, "Bergen", Role.ASSISTANT),
            )
        ]

        [session] = search.find(tx, 1, "moved bergen", 10).sessions

    assert (session.id, session.title, session.matches) == (SESSION, "Moving", 1)
    [hit] = session.hits
    start = text.index("BERGEN")
    moved = text.index("moved")
    assert hit == Hit(SESSION, said[3], "assistant", given.after(minutes=2), hit.snippet, (moved, moved + 5))
    assert hit.snippet == f"… {'x' * 47} and then we {text[moved : start + 6]}, by boat {'y' * 40} …"
    assert [one.text for one in session.around] == ["two", "three", text, "five", "Bergen"]


def test_a_hit_in_kana_of_another_width_shows_its_place(db: Database) -> None:
    """A snippet that begins at the start of a long text explains nothing."""
    with db.write() as tx:
        given.space(tx)
        given.keep(tx, "あ" * 300 + "新しいﾃﾞｰﾀﾍﾞｰｽを作る" + "い" * 300)

        [hit] = search.find(tx, 1, "データベース", 10).hits

    assert "新しいﾃﾞｰﾀﾍﾞｰｽを作る" in hit.snippet


def test_a_limit_counts_sessions(db: Database) -> None:
    """Of equals the newest come first."""
    with db.write() as tx:
        given.space(tx)
        ids = keep_each_apart(tx, *[f"Bergen {number}" for number in range(5)])

        assert [hit.message for hit in search.find(tx, 1, "Bergen", 2).hits] == [ids[4], ids[3]]
        assert search.find(tx, 1, "Bergen", 0).sessions == ()


def test_a_search_sees_only_its_space(db: Database) -> None:
    """Other bots let B search A's talks."""
    with db.write() as tx:
        mine, theirs = given.space(tx), given.space(tx, "telegram-5")
        own = given.keep(tx, "my secret in Bergen")
        id = given.keep(tx, "their secret in Bergen", space=theirs)

        for query in ("secret", "in", '"in Bergen"', "se*", "secret OR nothing", "my OR their"):
            assert found(tx, query, theirs) == [id]
            assert found(tx, query, mine) == [own]
        assert found(tx, "secret", mine + 10) == []
        with pytest.raises(NotFound):
            search.around(tx, mine, "", id, 5)


def test_earlier_searches_are_not_found(db: Database) -> None:
    """The tool's results repeat the words, and would soon be all there is."""
    with db.write() as tx:
        given.space(tx)
        id = given.keep(tx, "we moved to Bergen")
        given.keep(tx, '{"snippet": "we moved to Bergen"}', role=Role.TOOL, tool_name="session_search")
        call = ToolCall("1", "session_search", '{"query": "moved to Bergen"}')
        given.keep(tx, "", role=Role.ASSISTANT, tool_calls=(call,))

        assert found(tx, "moved") == [id]
        assert found(tx, ":)") == []


@pytest.mark.parametrize("query", ["花見", "marzipan", "memory", "12.5", "深い"])
def test_what_tools_were_asked_is_found(db: Database, query: str) -> None:
    """In any script, also where the model escaped it."""
    arguments = json.dumps({"content": "花見 with marzipan", "deep": [{"x": ["深い", 12.5]}]})
    assert "\\u" in arguments
    with db.write() as tx:
        given.space(tx)
        id = given.keep(tx, "", role=Role.ASSISTANT, tool_calls=(ToolCall("1", "memory", arguments),))

        assert found(tx, query) == [id]


def test_tool_results_captions_and_broken_arguments_are_found(db: Database) -> None:
    """Whatever was in the conversation."""
    with db.write() as tx:
        given.space(tx)
        result = given.keep(tx, '{"weather": "雨のち晴れ"}', role=Role.TOOL, tool_name="weather")
        photo = (Piece(How.ATTACHED, "telegram:123", "photo"),)
        caption = given.keep(tx, "my new bicycle", pieces=photo)
        broken = given.keep(tx, "", role=Role.ASSISTANT, tool_calls=(ToolCall("1", "x", '{"a": "tangerine'),))
        half = given.keep(tx, "", role=Role.ASSISTANT, tool_calls=(ToolCall("1", "x", '{"a": "\\ud83d plum"}'),))

        assert [found(tx, query) for query in ("晴れ", "bicycle", "tangerine", "plum")] == [
            [result],
            [caption],
            [broken],
            [half],
        ]


def test_days_and_roles_narrow_it_down(db: Database) -> None:
    """ "What did we decide last week?" """
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        ids = [
            given.keep(tx, "ferry", at=given.after(days=day), role=role, session=SESSION, turn=day + 1)
            for day, role in ((0, Role.USER), (1, Role.ASSISTANT), (2, Role.USER))
        ]
        late = given.keep(tx, "ferry", at=given.after(days=-40), session=SESSION, turn=9)

        def within(**limits: object) -> list[int]:
            return found(tx, "ferry", limits=Limits(**limits))  # type: ignore[arg-type]  # test data by name

        assert within(after=given.after(days=1)) == ids[1:]
        assert within(before=given.after(days=1)) == [ids[0], late]
        assert within(after=given.after(hours=1), before=given.after(days=2)) == [ids[1]]
        assert within(role=Role.ASSISTANT) == [ids[1]]
        assert within(after=given.after(days=100)) == []


def test_what_the_model_has_before_it_is_left_out(db: Database) -> None:
    """It need not be told what it sees; what was compacted of the same session is found."""
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        given.session(tx, OLD, chat=Chat("telegram", "9"))
        other = given.keep(tx, "ferry", session=OLD, turn=1)
        ids = [given.keep(tx, "ferry", session=SESSION, turn=turn) for turn in (1, 2)]

        assert found(tx, "ferry", limits=Limits(but=Context(SESSION))) == [other]
        assert found(tx, "ferry", limits=Limits(but=Context(SESSION, ids[1]))) == [other, ids[0]]


def test_a_message_that_waited_is_found_in_the_session_it_joined(db: Database) -> None:
    """It is indexed when it comes, before anybody knows its session."""
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        id = given.keep(tx, "ferry")
        given.messages.begin(tx, id, SESSION, 1, 1, "", None)

        assert found(tx, "ferry", limits=Limits(but=Context(SESSION))) == []
        assert [session.id for session in search.find(tx, 1, "ferry", 5).sessions] == [SESSION]


def test_a_place_in_a_conversation_can_be_looked_around(db: Database) -> None:
    """Scroll: the model reads on from a hit."""
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        ids = [given.keep(tx, f"{turn}", session=SESSION, turn=turn) for turn in range(1, 10)]

        assert [one.text for one in search.around(tx, 1, SESSION, ids[4], 2)] == ["3", "4", "5", "6", "7"]
        assert [one.text for one in search.around(tx, 1, SESSION, ids[0], 1)] == ["1", "2"]
        for session, id in (("nope", ids[0]), (SESSION, 5), (SESSION, 1 << 80), (SESSION, -1)):
            with pytest.raises(NotFound):
                search.around(tx, 1, session, id, 2)


def test_naughty_strings_find_themselves_or_nothing(db: Database) -> None:
    """The list of texts that break other people's programs."""
    strings: list[str] = json.loads((CASES / "naughty-strings.json").read_text(encoding="utf-8"))
    with db.write() as tx:
        given.space(tx)
        for text in strings:
            id = given.keep(tx, text)
            phrase = text.partition('"')[0].strip()
            assert id in all_of(tx, f'"{phrase}"') or not search_fold.fold(phrase).strip() or len(phrase) > 400, (
                text
            )
            search.find(tx, 1, text, 10)
            search.find(tx, 1, f"({text} OR {text}* NOT {text[::-1]}", 10)


def all_of(rd: Reader, query: str) -> list[int]:
    """Every message that the index finds, without a look at which are best."""
    lookup = Lookup(rd, 1, search_query.parse(query), search.ANYWHERE)
    return list(lookup.matches().ids if lookup.query.match else lookup.scanned())


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@examples(query=strategies.text())
def test_no_query_raises(db: Database, query: str) -> None:
    """People and models type anything."""
    with db.read() as rd:
        search.find(rd, 1, query, 10)
        search.find(rd, 1, f'bergen "{query}', 10)


_SCRIPTS = strategies.text("abz XYZ09_-:*()\"'+#~花見でデータｶﾞ한국어éß👍🏽。、\u3000\n", max_size=40)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@examples(text=strategies.one_of(_SCRIPTS, strategies.text()), data=strategies.data())
def test_any_part_of_a_text_finds_it(db: Database, text: str, data: strategies.DataObject) -> None:
    """As a phrase, from the beginning of a word to the end of one, whatever it is made of."""
    text = text.replace('"', "").replace("\0", "")
    words = text.split()
    start = data.draw(strategies.integers(0, max(0, len(words) - 1)))
    part = " ".join(words[start : start + data.draw(strategies.integers(1, 4))])
    with db.write() as tx:
        given.space(tx)
        id = given.keep(tx, text)

        is_word = any(character.isalnum() for character in search_fold.fold(part))
        assert id in all_of(tx, f'"{part}"') or not is_word, (text, part)
        given.search_index.unindex(tx, id)
        tx.execute("DELETE FROM messages WHERE id = ?", (id,))


@pytest.mark.parametrize("text", ["_0ß🏽", "x_½ß", "_⑴é", "_aﬁ👍🏽"])
def test_what_folding_joins_or_splits_finds_itself(db: Database, text: str) -> None:
    """Also where no index helps, since it is too short to be looked up as a beginning."""
    with db.write() as tx:
        given.space(tx)
        id = given.keep(tx, text)
        assert id in all_of(tx, f'"{text}"')


_KANJI = strategies.text("花見会議予算でをのーアｱ", min_size=1, max_size=12)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@examples(text=_KANJI, data=strategies.data())
def test_any_run_of_japanese_finds_its_text(db: Database, text: str, data: strategies.DataObject) -> None:
    """Nobody knows where the words end."""
    start = data.draw(strategies.integers(0, len(text) - 1))
    part = text[start : start + data.draw(strategies.integers(1, 6))]
    with db.write() as tx:
        given.space(tx)
        id = given.keep(tx, text)

        assert id in found(tx, f'"{part}"')
        given.search_index.unindex(tx, id)
        tx.execute("DELETE FROM messages WHERE id = ?", (id,))
