"""Nothing that matches is missed, and what was meant comes first: three languages, labelled by reading it all."""

import random
from collections.abc import Iterator

import pytest

from gateway.chat import Chat
from gateway.records import Role
from gateway.store import search, search_fold, search_matches, search_query, search_upkeep, sessions
from gateway.store.db import Database, Reader
from gateway.store.search_matches import Lookup
from tests.store import given
from tests.store.given import NINE

TOPICS = 24
OF_A_SESSION = 10
LANGUAGES = {
    "en": (
        "ferry harbour ticket kitchen budget server garden piano window letter museum bicycle river summer doctor "
        "carpet market bridge winter teacher pepper camera engine forest",
        "{0} and the {1} were late again; {2}, they said, is fine",
        " and the ",
    ),
    "ja": (
        "会議 予算 設計 花見 料理 旅行 天気 写真 電話 研究 東京都 植木鉢 データベース サーバー カメラ 自転車 "
        "美術館 先生 市場 冬休み 郵便局 台所 音楽会 映画館",
        "{0}と{1}の話をしました。{2}については明日、確認します",
        "と",
    ),
    "ko": (
        "회의 예산 설계 단풍 요리 여행 날씨 사진 전화 연구 서울역 화분 데이터베이스 서버 카메라 자전거 "
        "미술관 선생님 시장 방학 우체국 부엌 음악회 영화관",
        "{0}과 {1} 이야기를 했습니다. {2}은 내일 확인합니다",
        "과 ",
    ),
}


@pytest.fixture
def talks(db: Database) -> Iterator[Reader]:
    """A session for each pair of topics in each language, and as many in which one of both is said in passing."""
    chance = random.Random(6)
    with db.write() as tx:
        given.space(tx)
        number = 0
        for words, sentence, _ in LANGUAGES.values():
            nouns = words.split()
            for topic in range(TOPICS):
                number += 1
                id = f"20260101_{number:06}_abcdef"
                given.session(tx, id, chat=Chat("telegram", f"1{number}"))
                sessions.rename(tx, id, str(number))
                for turn in range(OF_A_SESSION):
                    others = chance.sample(nouns, 3)
                    if turn in (2, 5, 8):
                        others[:2] = nouns[topic], nouns[(topic + 1) % TOPICS]
                    at = given.after(days=number - 200, minutes=turn)
                    given.keep(tx, sentence.format(*others), session=id, turn=turn, at=at, role=Role.USER)
                sessions.end(tx, id, "new", NINE)
    search_upkeep.keep(db, NINE)
    with db.read() as rd:
        yield rd


def labelled() -> list[tuple[str, str]]:
    """240 queries and the title of the session that each means: two words, a phrase, another spelling."""
    found = []
    number = 0
    for words, _, joint in LANGUAGES.values():
        nouns = words.split()
        for topic in range(TOPICS):
            number += 1
            one, other = nouns[topic], nouns[(topic + 1) % TOPICS]
            found += [(f"{one} {other}", str(number)), (f"{other} {one}".upper(), str(number))]
            found += [(f"{wide(one)} {other}", str(number)), (f'"{one}{joint}{other}"', str(number))]
    return found


def wide(text: str) -> str:
    """In letters of full width, which phones write by mistake."""
    return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text)


def test_what_was_meant_is_among_the_first_ten(talks: Reader) -> None:
    """For 95 of a hundred queries at least."""
    queries = labelled()
    missed = [
        (query, title)
        for query, title in queries
        if title not in [session.title for session in search.find(talks, 1, query, 10).sessions]
    ]

    assert len(queries) >= 200
    assert len(missed) <= len(queries) * 0.05, missed


def test_no_message_that_matches_is_missed(talks: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part of every script, compared with reading all there is."""
    for name in ("READ", "COUNTED", "COUNTED_OF_SEVERAL"):
        monkeypatch.setattr(search_matches, name, 1 << 30)
    chance = random.Random(7)
    rows = {row["id"]: search_fold.fold(row["text"]) for row in talks.rows("SELECT id, text FROM messages")}
    for _ in range(400):
        folded = chance.choice(list(rows.values()))
        if folded.isascii() or ("니" in folded and chance.random() < 0.5):
            words = folded.split()
            start = chance.randrange(len(words))
            part = " ".join(words[start : start + chance.randint(1, 3)]).strip(",;.")
        else:
            start = chance.randrange(len(folded) - 1)
            part = folded[start : start + chance.randint(1, 8)].strip(" 。、.,")
        query = search_query.parse(f'"{part}"')
        wanted = {id for id, text in rows.items() if has(text, part)}
        if query.match:
            assert wanted <= set(Lookup(talks, 1, query, search.ANYWHERE).matches().ids), part


def test_ten_thousand_careless_queries_find_what_they_are_about(
    talks: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words of a message with all that thumbs and models put between them: no error, no false "nothing"."""
    for name in ("READ", "COUNTED", "COUNTED_OF_SEVERAL"):
        monkeypatch.setattr(search_matches, name, 1 << 30)
    chance = random.Random(8)
    rows = [(row["id"], row["text"]) for row in talks.rows("SELECT id, text FROM messages")]
    for _ in range(10_000):
        id, text = chance.choice(rows)
        words = [careless(word, chance) for word in chance.choices(text.split(), k=chance.randint(1, 3))]
        query = chance.choice((" ", "  ", " AND ", " - ", "\u3000")).join(words) + chance.choice(
            ("", "", " OR", ")", ' "', " :")
        )
        lookup = Lookup(talks, 1, search_query.parse(query), search.ANYWHERE)

        assert id in (lookup.matches().ids if lookup.query.match else lookup.scanned()), query


def careless(word: str, chance: random.Random) -> str:
    """The same word as people write it."""
    word = chance.choice(
        (word, word.lower() if word in ("and", "or", "not") else word.upper(), wide(word), word.title())
    )
    return chance.choice(
        ("{}", '"{}"', "({})", "{}:", "-{}", "'{}'", "[{}]", "#{}", "*{}*", "{},", "{}?!", "🎉 OR {}")
    ).format(word)


def has(text: str, part: str) -> bool:
    """Latin words begin and end where words do."""
    return f" {part} " in f" {text.translate(str.maketrans(',;.', '   '))} " if part.isascii() else part in text


@pytest.mark.parametrize(
    "spellings",
    [
        ("データベース", "ﾃﾞｰﾀﾍﾞｰｽ", "でーたべーす"),
        ("museum", "MUSEUM", "ｍｕｓｅｕｍ", "mu\u00adseum", "muséum"),
        ("サーバー カメラ", "さーばー かめら", "ｻｰﾊﾞｰ　ｶﾒﾗ"),
    ],
)
def test_other_spellings_give_the_same_hits(talks: Reader, spellings: tuple[str, ...]) -> None:
    """In the same order."""
    answers = [search.find(talks, 1, spelling, 10) for spelling in spellings]

    assert answers[0].sessions
    assert all([hit.message for hit in each.hits] == [hit.message for hit in answers[0].hits] for each in answers)


def test_each_language_is_ranked_alike(talks: Reader) -> None:
    """The same talk in another script has the same place."""
    places = [
        next(session.title for session in search.find(talks, 1, query, 3).sessions)
        for query in ("ferry harbour", "会議 予算", "회의 예산")
    ]

    assert places == ["1", str(1 + TOPICS), str(1 + 2 * TOPICS)]
