"""The index: what is in it, how it comes about, how words leave it, and which old sessions it brings back."""

import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from gateway import failpoints
from gateway.chat import Chat
from gateway.home import Home
from gateway.records import Found, Role
from gateway.store import (
    messages,
    migrating,
    search,
    search_fold,
    search_index,
    search_matches,
    search_query,
    search_rank,
    search_upkeep,
    sessions,
)
from gateway.store.db import Database, Reader, Transaction
from gateway.store.search_matches import Limits, Lookup
from tests.store import given
from tests.store.given import NINE, StillClock
from tests.store.test_search import SESSION, found, keep_each_apart


def words_in_the_index(rd: Reader) -> set[str]:
    """Every token that somebody could find."""
    rd.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.tokens USING fts5vocab (main, message_words, row)")
    rd.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.themes USING fts5vocab (main, session_words, row)")
    return {row["term"] for row in rd.rows("SELECT term FROM tokens UNION SELECT term FROM themes")}


def bytes_of(home: Home) -> bytes:
    return b"".join(path.read_bytes() for path in home.path.glob("state.db*"))


# -- taking out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "We live in Straße 5, ＢＥＲＧＥＮ",
        "昨日は新宿で花見をした🎉",
        "C++ and C# ~a ~u",
        "x" * 100,
        "",
        "Hi\0there",
    ],
)
def test_what_is_taken_out_of_the_index_leaves_no_ghost(db: Database, text: str) -> None:
    """A contentless index believes what it is told."""
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        id = given.keep(tx, text, session=SESSION, turn=1)
        before = words_in_the_index(tx)
        search_index.unindex(tx, id)
        search_index.unindex(tx, id)

        assert before
        assert words_in_the_index(tx) == set()


def test_a_changed_message_is_found_by_its_new_words_alone(db: Database) -> None:
    """People edit what they have said while it waits."""
    with db.write() as tx:
        given.space(tx)
        id = given.keep(tx, "the ferry to Oslo")
        messages.reword(tx, messages.get(tx, id), "the train to Bergen", ())

        assert (found(tx, "ferry"), found(tx, "train")) == ([], [id])
        assert "oslo" not in words_in_the_index(tx)


def test_what_waited_and_is_answered_incognito_leaves_no_ghost(db: Database) -> None:
    """It was findable while it waited; afterwards it must be nobody's."""
    with db.write() as tx:
        given.space(tx)
        id = given.keep(tx, "the ferry to Oslo")
        given.session(tx)
        tx.execute("UPDATE sessions SET incognito = 1")
        messages.begin(tx, id, SESSION, 1, 1, "", None)

        assert (words_in_the_index(tx), search_index.count_unindexed(tx)) == (set(), 0)
        assert messages.get(tx, id).session == SESSION


def test_a_session_is_taken_out_with_what_it_is_about(db: Database) -> None:
    """Deleted rows leave no trace in indexes."""
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        for turn in range(1, 6):
            given.keep(tx, f"marzipan {turn}", session=SESSION, turn=turn)
        search_index.digest(tx, SESSION)
        assert "marzipan" in tx.rows("SELECT words FROM searched_sessions")[0]["words"]

        search_index.unindex_session(tx, SESSION)
        tx.execute("DELETE FROM messages")
        tx.execute("DELETE FROM sessions")

        assert words_in_the_index(tx) == set()
        assert tx.rows("SELECT * FROM searched_sessions") == tx.rows("SELECT * FROM message_places") == []


def test_taking_one_message_out_forgets_what_its_session_is_about(db: Database) -> None:
    """Its words may be the ones that are to go; the session is looked at again."""
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        ids = [given.keep(tx, "marzipan", session=SESSION, turn=turn) for turn in range(1, 6)]
        search_index.digest(tx, SESSION)
        search_index.unindex(tx, ids[0])

        assert tx.rows("SELECT words, stale FROM searched_sessions")[0][:] == ("", 1)


def test_words_that_were_taken_out_leave_the_file(home: Home, db: Database) -> None:
    """FTS5 only notes that a row is gone: its words stay until they are merged away."""
    chance = random.Random(1)
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        secret = [given.keep(tx, f"qzxcanary{n}q 秘密{n}", session=SESSION, turn=n) for n in range(1, 60)]
        for number in range(300):
            given.keep(tx, f"ordinary words {chance.random()}", session=SESSION, turn=100 + number)
        search_index.digest(tx, SESSION)
    with db.write() as tx:
        for id in secret:
            search_index.unindex(tx, id)
            tx.execute("DELETE FROM messages WHERE id = ?", (id,))
        search_upkeep.ask_for_sweep(tx)
    db.checkpoint()
    assert b"qzxcanary" in bytes_of(home)

    search_upkeep.keep(db, NINE)

    assert b"canary" not in bytes_of(home)
    with db.read() as rd:
        assert rd.row("SELECT 1 FROM search_state WHERE asked > swept") is None
        assert len(found(rd, "ordinary")) > 0


def test_who_writes_meanwhile_is_let_in_between_the_slices(home: Home, db: Database, other: Database) -> None:
    """A chat goes on while an index is merged; what it says is there afterwards, and the words are gone."""
    with db.write() as tx:
        given.space(tx)
        given.session(tx)
        secret = given.keep(tx, "qzxcanaryq", session=SESSION, turn=1)
        for number in range(400):
            given.keep(tx, f"ordinary {number} {number * 7919 % 10007}", session=SESSION, turn=10 + number)
    with db.write() as tx:
        search_index.unindex(tx, secret)
        tx.execute("DELETE FROM messages WHERE id = ?", (secret,))
        search_upkeep.ask_for_sweep(tx)
    done = threading.Event()
    said: list[int] = []

    def talk() -> None:
        while not done.is_set() or not said:
            with other.write() as tx:
                said.append(given.keep(tx, f"meanwhile {len(said)}", session=SESSION, turn=1000 + len(said)))

    with ThreadPoolExecutor(1) as pool:
        talking = pool.submit(talk)
        search_upkeep.merge(db, search_upkeep.Pace(0.0, 1))
        done.set()
        talking.result(30)
    clean = db.checkpoint()

    assert clean
    assert b"canary" not in bytes_of(home)
    with db.read() as rd:
        kept = rd.rows("SELECT id FROM messages WHERE text LIKE 'meanwhile%' ORDER BY id")
        assert [row["id"] for row in kept] == said != []
        assert rd.rows("PRAGMA integrity_check")[0][0] == "ok"


def test_an_edit_waits_for_the_next_sweep_of_housekeeping(home: Home, db: Database) -> None:
    """People edit often, and a sweep rewrites the whole index. Whoever must have it clean sees that it is not."""
    with db.write() as tx:
        given.space(tx)
        id = given.keep(tx, "qzxcanaryq")
    search_upkeep.sweep(db)
    assert not search_upkeep.is_due(db)
    with db.write() as tx:
        messages.reword(tx, messages.get(tx, id), "nothing", ())

    search_upkeep.keep(db, NINE)
    db.checkpoint()
    assert search_upkeep.is_due(db)
    assert b"canary" in bytes_of(home)

    with db.write() as tx:
        search_upkeep.ask_for_sweep(tx)
    search_upkeep.keep(db, NINE)
    assert not search_upkeep.is_due(db)
    assert b"canary" not in bytes_of(home)


def test_whoever_ends_a_sweep_leaves_the_request_of_another_standing(
    home: Home, db: Database, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More was taken out while it emptied the WAL; whoever began to merge that was killed."""
    with db.write() as tx:
        given.space(tx)
        secret = [given.keep(tx, f"qzxcanary{number}q") for number in range(40)]
    with db.write() as tx:
        for number in range(400):
            given.keep(tx, f"ordinary {number} {number * 7919 % 10007}")
        search_upkeep.ask_for_sweep(tx)
    empty = db.checkpoint

    class Killed(BaseException):
        pass

    def killed(point: str) -> None:
        raise Killed(point)

    def checkpoint() -> bool:
        clean = empty()
        with other.write() as tx:
            for id in secret:
                search_index.unindex(tx, id)
                tx.execute("DELETE FROM messages WHERE id = ?", (id,))
            search_upkeep.ask_for_sweep(tx)
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(failpoints, "reach", killed)
            search_upkeep.merge(other, search_upkeep.Pace(0.0, 1))
        return clean

    with monkeypatch.context() as patched:
        patched.setattr(db, "checkpoint", checkpoint)
        search_upkeep.sweep(db)
    assert search_upkeep.is_due(db)

    search_upkeep.keep(db, NINE)
    assert b"canary" not in bytes_of(home)


def test_what_is_taken_out_while_a_merge_goes_on_is_for_the_next(
    home: Home, db: Database, other: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The merge may have been past it already."""
    with db.write() as tx:
        given.space(tx)
        ids = [given.keep(tx, f"ordinary {number}") for number in range(50)]
        search_upkeep.ask_for_sweep(tx)
    taken: list[int] = []

    def take(point: str) -> None:
        if not taken:
            taken.append(ids[0])
            with other.write() as tx:
                messages.reword(tx, messages.get(tx, ids[0]), "nothing", ())

    with monkeypatch.context() as patched:
        patched.setattr(failpoints, "reach", take)
        assert search_upkeep.sweep(db)

    assert taken
    assert search_upkeep.is_due(db)


# -- coming about --------------------------------------------------------------------------------------------


def at_version_5(home: Home, clock: StillClock, texts: Sequence[str]) -> list[int]:
    """A home as the version before left it: with an index of trigrams."""
    with Database.open(home, clock) as db:
        with db.write() as tx:
            given.space(tx)
            ids = keep_each_apart(tx, *texts)
        with db.write() as tx:
            for table in ("message_words", "session_words", "message_places", "message_days", "searched_sessions"):
                tx.execute(f"DROP TABLE {table}")
            tx.execute("DROP TABLE unindexed")
            tx.execute("DROP TABLE search_state")
            tx.execute("CREATE VIRTUAL TABLE message_words USING fts5 (text, content = '', tokenize = 'trigram')")
            tx.execute("INSERT INTO message_words (rowid, text) VALUES (1, 'old words')")
            number = next(step.number for step in migrating.steps() if "message_places" in step.sql)
            tx.execute(f"PRAGMA user_version = {number - 1}")
    return ids


def since_version_5() -> list[migrating.Step]:
    """The steps up to the index, and what changes it; what the others make is in such a home already."""
    number = next(step.number for step in migrating.steps() if "message_places" in step.sql)
    return [
        step if step.number <= number or "search_state" in step.sql else replace(step, sql="")
        for step in migrating.steps()
    ]


def test_an_older_home_is_indexed_anew_while_it_opens(home: Home, clock: StillClock) -> None:
    """Nobody should have to do anything after an upgrade."""
    ids = at_version_5(home, clock, ["花見 in Bergen", "the ferry"])

    with Database.open(home, clock, steps=since_version_5()) as db, db.read() as rd:
        assert (found(rd, "花"), found(rd, "ferry")) == ([ids[0]], [ids[1]])
        assert (search_index.count_unindexed(rd), search_index.is_degraded(rd)) == (0, False)


def test_a_large_home_is_indexed_beside_its_work(
    home: Home, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start waits for a little of it; the rest is found by reading, and comes in slices, also after a kill."""
    monkeypatch.setattr(search_index, "AT_THE_START", 2)
    monkeypatch.setattr(search_upkeep, "SLICE", 2)
    monkeypatch.setattr(search_upkeep, "SLICES_AT_ONCE", 1)
    ids = at_version_5(home, clock, [f"ferry {number}" for number in range(7)])

    with Database.open(home, clock, steps=since_version_5()) as db:
        with db.read() as rd:
            assert search_index.count_unindexed(rd) == 5
            assert found(rd, "ferry") == ids
            assert search.find(rd, 1, "ferry", 9).unindexed == 5
            assert found(rd, "ferry NOT 6") == ids[:6]
        search_upkeep.keep(db, NINE)
    with Database.open(home, clock) as db:
        with db.write() as tx:
            assert search_index.count_unindexed(tx) == 3
            messages.reword(tx, messages.get(tx, ids[6]), "a train", ())
            new = given.keep(tx, "the newest ferry")
            search_index.unindex(tx, ids[5])
        search_upkeep.keep(db, NINE)
        search_upkeep.keep(db, NINE)
        with db.read() as rd:
            assert search_index.count_unindexed(rd) == 0
            assert found(rd, "ferry") == [*ids[:6], new]
            assert found(rd, "train") == [ids[6]]


def test_another_way_of_folding_indexes_anew(
    home: Home, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`unindex` must hand over what `index` did."""
    with Database.open(home, clock) as db, db.write() as tx:
        given.space(tx)
        id = given.keep(tx, "Bergen")
    monkeypatch.setattr(search_fold, "VERSION", 99)
    monkeypatch.setattr(search_fold, "fold", lambda text: text.lower().replace("b", "v"))

    with Database.open(home, clock) as db, db.write() as tx:
        assert "vergen" in words_in_the_index(tx)
        search_index.unindex(tx, id)
        assert words_in_the_index(tx) == set()


def test_without_fts5_messages_are_kept_and_found(
    home: Home, clock: StillClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An SQLite that cannot index must not cost anybody the bot, and one that can catches up by itself."""
    with monkeypatch.context() as patched:
        patched.setattr(search_index, "has_fts5", lambda connection: False)
        patched.setattr(migrating, "has_fts5", lambda connection: False)
        with Database.open(home, clock) as db, db.write() as tx:
            given.space(tx)
            id = given.keep(tx, "I moved to Bergen")
            search_index.unindex(tx, id)
            assert (search_index.is_degraded(tx), found(tx, "bergen")) == (True, [id])
            assert found(tx, "bergen NOT moved") == []
            search_upkeep.ask_for_sweep(tx)
        with Database.open(home, clock) as db:
            search_upkeep.keep(db, NINE)

    with Database.open(home, clock) as db, db.write() as tx:
        assert (search_index.is_degraded(tx), found(tx, "bergen")) == (False, [id])
        assert "bergen" in words_in_the_index(tx)


def test_commands_and_taps_are_in_no_index(db: Database) -> None:
    """A command is nobody's memory."""
    with db.write() as tx:
        given.space(tx)
        given.keep(tx, "/remember Bergen", role=Role.COMMAND)

        assert words_in_the_index(tx) == set()


# -- more than can be read -----------------------------------------------------------------------------------


@pytest.fixture
def many(db: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Transaction]:
    """Many messages that say `deploy` in passing, over 60 sessions; an old one is about nothing else."""
    monkeypatch.setattr(search_matches, "COUNTED", 500)
    with db.write() as tx:
        given.space(tx)
        for session in range(60):
            id = f"20260101_{session:06}_abcdef"
            given.session(tx, id, chat=Chat("telegram", f"1{session}"))
            about = session == 3
            for turn in range(100):
                word = "deploy" if turn % 5 == 0 else "eat"
                text = (
                    "deploy the deploy script" if about else f"and then there was something to {word}, {turn} more"
                )
                at = given.after(days=session - 400, minutes=turn)
                given.keep(tx, text, session=id, turn=turn + 1, at=at)
            sessions.end(tx, id, "new", NINE)
    search_upkeep.keep(db, NINE)
    with db.write() as tx:
        yield tx


def test_an_old_session_that_is_about_a_common_word_is_found(many: Transaction) -> None:
    """Newest first would never show it."""
    result = search.find(many, 1, "deploy", 10)

    assert "20260101_000003_abcdef" in [session.id for session in result.sessions]
    assert (result.matches, result.more, result.ranked) == (59 * 20 + 100, False, 500)


def test_a_rare_alternative_does_not_drown(many: Transaction) -> None:
    """`quokka OR deploy` is a question about quokkas, too."""
    old = given.keep(many, "a quokka", session="20260101_000001_abcdef", turn=200, at=given.after(days=-390))

    for query in ("quokka OR deploy", "deploy OR quokka"):
        assert old in [hit.message for hit in search.find(many, 1, query, 5).hits]


def test_signs_are_looked_for_among_the_newest(many: Transaction, monkeypatch: pytest.MonkeyPatch) -> None:
    """And it is said."""
    monkeypatch.setattr(search_matches, "SCANNED", 100)

    assert search.find(many, 1, ",", 5).sessions
    assert search.find(many, 1, ":)", 5) == Found((), newest_only=100)


def test_statements_read_no_whole_table(many: Transaction) -> None:
    """A search in a space of ten messages must not cost what a million of somebody else's do."""
    asked: list[str] = []
    many.connection.set_trace_callback(asked.append)
    for query in ("deploy", "deploy script", '"deploy the"', "deploy OR script", "depl*", "deploy NOT script"):
        search.find(many, 1, query, 5, search.Limits(after=given.after(days=-500), role=Role.USER))
        search.find(many, 1, query, 5)
    many.connection.set_trace_callback(None)
    plans = [
        row["detail"]
        for sql in asked
        if sql.lstrip()[:4] in ("SELE", "WITH")
        for row in many.rows(f"EXPLAIN QUERY PLAN {sql}")
    ]

    allowed = ("VIRTUAL", "json_each", "found", "SCAN search_state", "(subquery", "CONSTANT", "SCAN unindexed")
    assert [step for step in plans if step.startswith("SCAN ") and not any(word in step for word in allowed)] == []


def test_a_phrase_that_is_rare_among_common_words_is_ranked_among_fewer(
    many: Transaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All places of a stop word are compared up to the next match; that fewer were looked at is said."""
    monkeypatch.setattr(search_matches, "READ_OF_SPARSE", 20)
    monkeypatch.setattr(search_matches, "COMMON", 1_000)

    def of(sparse: int) -> Found:
        monkeypatch.setattr(search_matches, "SPARSE", sparse)
        return search.find(many, 1, '"to deploy"', 5)

    assert (of(95).ranked, of(95).more) == (20, True)
    assert of(96).ranked == search_matches.READ
    assert of(95).sessions[0].id == of(96).sessions[0].id == "20260101_000059_abcdef"


@pytest.mark.parametrize("query", ['"abc-def"', "abc-def", '"the abc-def"', "eat abc-def"])
def test_of_a_phrase_with_a_rare_word_no_match_is_cut_off(
    many: Transaction, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """The oldest is the only one that is written as it was asked; that is seen when all are read."""
    monkeypatch.setattr(search_matches, "READ_OF_SPARSE", 20)
    monkeypatch.setattr(search_matches, "SPARSE", 10)
    monkeypatch.setattr(search_matches, "COMMON", 1_000)
    given.session(many, SESSION)
    meant = given.keep(many, "eat the abc-def", session=SESSION, turn=1)
    for turn in range(30):
        given.keep(many, "as we eat the abc def", session="20260101_000059_abcdef", turn=200 + turn)

    found = search.find(many, 1, query, 5)

    assert (found.matches, found.more, found.ranked) == (31, False, 0)
    assert meant in [hit.message for hit in found.hits]


def test_what_must_be_looked_at_is_looked_at_whole(many: Transaction, monkeypatch: pytest.MonkeyPatch) -> None:
    """`xy*` is too short for the index: of all that have the phrase, one may have the beginning."""
    monkeypatch.setattr(search_matches, "READ_OF_SPARSE", 20)
    monkeypatch.setattr(search_matches, "SPARSE", 10)
    monkeypatch.setattr(search_matches, "COMMON", 100)
    given.session(many, SESSION)
    meant = given.keep(many, "to deploy the xylophone", session=SESSION, turn=1)
    for turn in range(30):
        given.keep(many, "to deploy the x", session="20260101_000059_abcdef", turn=200 + turn)

    assert [hit.message for hit in search.find(many, 1, '"to deploy the" xy*', 5).hits] == [meant]


def test_as_many_matches_as_are_looked_at_are_all(many: Transaction, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "More than 30" of 30 sends people looking for what is not there."""
    monkeypatch.setattr(search_matches, "COUNTED_OF_SEVERAL", 30)
    given.session(many, SESSION)
    for turn in range(30):
        given.keep(many, "zebras like clover", session=SESSION, turn=turn + 1)

    found = search.find(many, 1, "zebras clover", 5)
    assert (found.matches, found.more) == (30, False)

    given.keep(many, "zebras like clover", session=SESSION, turn=31)
    assert search.find(many, 1, "zebras clover", 5).more


def test_a_phrase_with_few_matches_is_found_whole(many: Transaction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they lie years apart: nothing that is in the index is missed."""
    monkeypatch.setattr(search_matches, "SPARSE", 10)
    ids = [
        given.keep(many, "then to the zoo", session=f"20260101_{session:06}_abcdef", turn=200)
        for session in (2, 30, 55)
    ]
    lookup = Lookup(many, 1, search_query.parse('"to the zoo"'), search.ANYWHERE)

    assert (sorted(lookup.matches().ids), lookup.matches().complete) == (ids, True)


def test_where_there_must_be_more_than_is_counted_nothing_is_counted(
    many: Transaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The 500 newest of 1,280 lie over 2,500 of 6,000 messages: 1,200 in all, it seems."""
    counted: list[str] = []
    many.connection.set_trace_callback(
        lambda sql: counted.append(sql) if "count(*) AS count FROM (" in sql else None
    )
    monkeypatch.setattr(search_matches, "COUNT_AT_MOST", 1_100)
    result = search.find(many, 1, "deploy", 5)
    assert (counted, result.more, result.ranked) == ([], True, 500)
    assert 500 <= result.matches < 59 * 20 + 100

    monkeypatch.setattr(search_matches, "COUNT_AT_MOST", 1_300)
    result = search.find(many, 1, "deploy", 5)
    many.connection.set_trace_callback(None)
    assert (len(counted), result.more, result.matches) == (1, False, 59 * 20 + 100)


def test_a_role_makes_a_match_dearer(many: Transaction, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one more token that every match must have."""
    monkeypatch.setattr(search_matches, "COUNTED_OF_SEVERAL", 350)

    assert search.find(many, 1, "deploy", 5, Limits(role=Role.USER)).ranked == 350
    assert search.find(many, 1, "deploy", 5).ranked == 500


@pytest.mark.parametrize("narrow", [0, 4_000])
def test_of_sessions_about_a_word_those_that_are_not_read_anyway_are_looked_into(
    many: Transaction, monkeypatch: pytest.MonkeyPatch, narrow: int
) -> None:
    """The newest have been found already, and each look costs as much as twenty messages; both are about it."""
    monkeypatch.setattr(search_matches, "NARROW", narrow)
    new = "20260102_000000_abcdef"
    given.session(many, new, chat=Chat("telegram", "99"))
    for turn in range(10):
        given.keep(many, "deploy the deploy script", session=new, turn=turn + 1)
    search_index.digest(many, new)
    asked: list[str] = []
    many.connection.set_trace_callback(asked.append)
    matches = Lookup(many, 1, search_query.parse("deploy"), search.ANYWHERE).matches()
    many.connection.set_trace_callback(None)

    old = [row["id"] for row in many.rows("SELECT id FROM messages WHERE session = '20260101_000003_abcdef'")]
    about = many.rows("SELECT number FROM searched_sessions WHERE session IN (?, '20260101_000003_abcdef')", (new,))
    assert matches.mostly == {row["number"] for row in about}
    assert set(old) & set(matches.ids) == set(sorted(old)[-2:])
    assert sum("FROM message_words" in sql for sql in asked) == 2


def test_a_place_is_found_where_some_words_are_missing_and_some_spelled_otherwise() -> None:
    """Of a text without blanks that is cut in parts, half must be there: the snippet shows what is."""
    terms = search_query.parse("会議 でーた budget OR x").terms

    assert search_rank.first_place("先週のデータとBudgetを見る", terms) == (3, 6)
    assert search_rank.first_place("先週のBudgetを見る", terms) == (3, 9)
    assert search_rank.first_place("nothing", terms) == (0, 0)
