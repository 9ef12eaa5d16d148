"""A new conversation that begins by itself: when, what is said of it, and what becomes of the old one."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from gateway.store import sessions
from tests.bot import ANNA, BEN, Bot, running_bot
from tests.doors import Place, world
from tests.fakes.model import ModelServer, is_review
from tests.fakes.telegram import FakeTelegram

IDLE = "reset: idle, idle_minutes: 60"
DAILY = "reset: daily, daily_at: '04:00', timezone: Europe/Oslo"
OSLO = ZoneInfo("Europe/Oslo")
SILENCE = "A new conversation begins here: nothing was said in the last one for 1 h."
MORNING = "A new conversation begins here, as each day at 04:00."
ANSWER = "Hello from the fake model."


def at(text: str) -> datetime:
    """A time on a clock in Oslo."""
    return datetime.fromisoformat(text).replace(tzinfo=OSLO)


@dataclass
class SetClock:
    """The machine's clock: wherever a test puts it."""

    at: datetime

    def now(self) -> datetime:
        return self.at.astimezone(UTC)


@asynccontextmanager
async def bot_at(path: Path, begins: str, **sections: str) -> AsyncIterator[Bot]:
    """A bot whose clock stands at this hour in Oslo."""
    with FakeTelegram() as telegram, ModelServer() as server:
        bot = Bot(path, telegram, server, SetClock(at(begins)))
        bot.configure(**sections)
        await bot.start()
        try:
            yield bot
        finally:
            await bot.stop()


def says_at(bot: Bot, when: str, text: str, person: int = ANNA, **fields: Any) -> None:
    """A person says something at this hour by Telegram's clock, and so it is by ours."""
    assert isinstance(bot.clock, SetClock)
    bot.clock.at = at(when)
    bot.telegram.says(person, text, date=int(at(when).timestamp()), **fields)


async def said_at(bot: Bot, when: str, text: str, person: int = ANNA, **fields: Any) -> None:
    says_at(bot, when, text, person, **fields)
    await bot.settles()


def rows(bot: Bot, sql: str) -> list[Any]:
    with bot.core.db.read() as rd:
        return [tuple(row) for row in rd.rows(sql)]


def talks(bot: Bot) -> list[list[str]]:
    """What people said, session by session, in the order in which these were opened."""
    found: dict[str, list[str]] = {}
    for session, text in rows(bot, "SELECT session, text FROM messages WHERE role = 'user' ORDER BY id"):
        found.setdefault(session, []).append(text)
    return list(found.values())


def announced(bot: Bot, chat: int = ANNA) -> list[str]:
    return [text for text in bot.sees(chat) if "conversation" in text and "/resume" in text]


# -- after a silence ---------------------------------------------------------------------------------------


async def test_after_a_silence_a_new_conversation_begins_and_says_so_first(tmp_path: Path) -> None:
    """Context that is gone without a word looks like a bot that has lost its mind (PI-123)."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session=IDLE) as bot:
        await said_at(bot, "2026-11-30 09:00", "I am in Bergen")
        await said_at(bot, "2026-11-30 09:59", "still here")
        await said_at(bot, "2026-11-30 11:00", "where am I?")

        former = rows(bot, "SELECT id FROM sessions WHERE end_reason = 'idle'")[0][0]
        assert talks(bot) == [["I am in Bergen", "still here"], ["where am I?"]]
        assert len(bot.server.last.messages) == 2
        assert bot.sees()[-2:] == [
            f"{SILENCE} What I remember stays. To go on with the last one: /resume {former}",
            ANSWER,
        ]


async def test_what_is_asked_again_is_asked_where_it_was_said(tmp_path: Path) -> None:
    """However late: "and there?" has no sense in a conversation of its own."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session=IDLE) as bot:
        await said_at(bot, "2026-11-30 09:00", "I am in Bergen")
        await said_at(bot, "2026-11-30 09:10", "What is there to see?")
        await said_at(bot, "2026-11-30 12:00", "/retry")
        await said_at(bot, "2026-11-30 12:30", "Thank you")
        await said_at(bot, "2026-11-30 14:00", "Hello")

        kept = [each for each in talks(bot) if each != [""]]
        assert kept == [["I am in Bergen", "What is there to see?", "Thank you"], ["Hello"]]
        assert len(announced(bot)) == 1


async def test_it_is_said_in_the_language_of_the_chat(tmp_path: Path) -> None:
    """Like everything else."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session=IDLE, display="language: ja") as bot:
        await said_at(bot, "2026-11-30 09:00", "ベルゲンにいます", language="ja")
        await said_at(bot, "2026-11-30 11:00", "どこ？", language="ja")

        assert re.fullmatch(
            "前の会話から1時間以上発言がなかったため、ここから新しい会話になります。"
            r"覚えたことはそのままです。前の会話を続けるには：/resume \S+",
            bot.sees()[-2],
        )


@pytest.mark.parametrize("restarted", [False, True])
async def test_what_is_left_of_the_old_conversation_is_reviewed_once(tmp_path: Path, restarted: bool) -> None:
    """Three turns, below the interval: what was said in them is not lost with them (PI-121, PI-122)."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session=IDLE, memory="idle_review_minutes: 0") as bot:
        for minute, text in enumerate(("I moved to Bergen", "it rains", "a lot")):
            await said_at(bot, f"2026-11-30 09:0{minute}", text)
        if restarted:
            await bot.restart()
        bot.server.calls(
            "memory", when=is_review, action="add", content="Lives in Bergen", evidence="I moved to Bergen"
        )

        await said_at(bot, "2026-11-30 12:00", "hello again")
        await bot.run_jobs()
        await said_at(bot, "2026-11-30 12:01", "and again")
        await bot.run_jobs()

        assert rows(bot, "SELECT first_turn, turn, status, cause FROM reviews") == [(1, 3, "done", "end")]
        assert bot.memory_file() == "Lives in Bergen\n"
        assert len(announced(bot)) == 1


async def test_a_tail_is_reviewed_though_nobody_ever_comes_back(tmp_path: Path) -> None:
    """The next message ends the conversation; what is worth keeping of it need not wait for that."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session=IDLE, memory="idle_review_minutes: 0") as bot:
        await said_at(bot, "2026-11-30 09:00", "I moved to Bergen")
        bot.gateway.housekeeping.tidy()
        assert rows(bot, "SELECT turn FROM reviews") == []

        assert isinstance(bot.clock, SetClock)
        bot.clock.at += timedelta(minutes=61)
        bot.gateway.housekeeping.tidy()
        assert rows(bot, "SELECT first_turn, turn, cause FROM reviews") == [(1, 1, "end")]
        assert announced(bot) == []

        await said_at(bot, "2026-11-30 11:00", "hello again")

        assert rows(bot, "SELECT first_turn, turn, cause FROM reviews") == [(1, 1, "end")]
        assert len(announced(bot)) == 1


async def test_only_what_people_say_keeps_a_conversation_alive(tmp_path: Path) -> None:
    """A command is about the bot, a notice is its own: neither goes on with what was talked about."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session=IDLE) as bot:
        await said_at(bot, "2026-11-30 09:00", "hello")
        await said_at(bot, "2026-11-30 09:55", "/status")
        await bot.run_jobs()
        await said_at(bot, "2026-11-30 10:01", "hello again")

        assert talks(bot) == [["hello"], ["hello again"]]


async def test_nothing_is_reset_where_nobody_asked_for_it(tmp_path: Path) -> None:
    """The default; a crash and a model that fails change nothing about it (PI-115, PI-123, PI-124)."""
    async with bot_at(tmp_path, "2026-01-01 09:00") as bot:
        await said_at(bot, "2026-01-01 09:00", "hello")
        for _ in range(3):
            bot.server.fails(500)
        await said_at(bot, "2026-01-01 09:01", "are you there?")
        await bot.restart()
        await said_at(bot, "2026-11-30 09:00", "hello again")

        assert talks(bot) == [["hello", "are you there?", "hello again"]]
        assert announced(bot) == []


async def test_a_turn_cut_off_by_a_crash_goes_on_within_the_limit(tmp_path: Path) -> None:
    """Killed in the middle, nine hours later, twelve allowed: the same conversation (PI-125)."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session="reset: idle, idle_minutes: 720") as bot:
        await said_at(bot, "2026-11-30 09:00", "hello")
        gate = bot.server.holds("never said")
        says_at(bot, "2026-11-30 09:01", "the long question")
        await gate.reached()
        bot.gateway.drain_seconds = 0.0
        await bot.stop()
        gate.open()
        assert isinstance(bot.clock, SetClock)
        bot.clock.at = at("2026-11-30 18:00")
        await bot.start()
        await said_at(bot, "2026-11-30 18:01", "well?")

        assert talks(bot) == [["hello", "the long question", "well?"]]
        assert announced(bot) == []


async def test_a_turn_that_failed_after_a_crash_does_not_keep_its_conversation_for_ever(tmp_path: Path) -> None:
    """The recovery failed, the limit is passed: a new one, and the old is closed (PI-113)."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session=IDLE) as bot:
        gate = bot.server.holds("never said")
        says_at(bot, "2026-11-30 09:00", "the long question")
        await gate.reached()
        bot.gateway.drain_seconds = 0.0
        await bot.stop()
        gate.open()
        bot.server.fails(400)
        await bot.start()
        await bot.settles()
        await said_at(bot, "2026-11-30 12:00", "hello")

        assert talks(bot) == [["the long question"], ["hello"]]
        assert rows(bot, "SELECT end_reason FROM sessions ORDER BY opened_at") == [("idle",), (None,)]


# -- every day ---------------------------------------------------------------------------------------------


async def test_every_day_a_conversation_begins_at_its_hour(tmp_path: Path) -> None:
    """Midnight does not count, four in the morning does, once."""
    async with bot_at(tmp_path, "2026-11-30 22:00", session=DAILY) as bot:
        for when in ("11-30 22:00", "12-01 00:30", "12-01 03:59", "12-01 04:00", "12-01 04:01", "12-02 03:00"):
            await said_at(bot, f"2026-{when}", when[6:])

        assert talks(bot) == [["22:00", "00:30", "03:59"], ["04:00", "04:01", "03:00"]]
        assert [text.partition(" What")[0] for text in announced(bot)] == [MORNING]


@pytest.mark.parametrize(
    ("daily_at", "said", "talked"),
    [
        ("02:30", ["03-29 01:59", "03-29 03:00", "03-29 03:31", "03-30 02:29"], [1, 3]),
        ("02:30", ["10-25 02:29", "10-25 02:30", "10-25 03:10", "10-26 02:29"], [1, 3]),
    ],
)
async def test_both_changes_of_the_clock_begin_one_conversation(
    tmp_path: Path, daily_at: str, said: list[str], talked: list[int]
) -> None:
    """The hour is left out in March and comes twice in October."""
    session = f"reset: daily, daily_at: '{daily_at}', timezone: Europe/Oslo"
    async with bot_at(tmp_path, f"2026-{said[0]}", session=session) as bot:
        for when in said:
            await said_at(bot, f"2026-{when}", when)

        assert [len(each) for each in talks(bot)] == talked
        assert len(announced(bot)) == 1


async def test_what_waited_counts_by_its_own_hour(tmp_path: Path) -> None:
    """Said before and after the hour while we were away, answered long after it."""
    async with bot_at(tmp_path, "2026-11-30 22:00", session=DAILY) as bot:
        await said_at(bot, "2026-11-30 22:00", "good night")
        await bot.stop()
        says_at(bot, "2026-12-01 03:58", "I cannot sleep")
        says_at(bot, "2026-12-01 04:02", "good morning")
        assert isinstance(bot.clock, SetClock)
        bot.clock.at = at("2026-12-01 09:00")
        await bot.start()
        await bot.settles()

        assert talks(bot) == [["good night", "I cannot sleep"], ["good morning"]]
        assert len(announced(bot)) == 1


async def test_a_running_turn_is_never_cut_off(tmp_path: Path) -> None:
    """Its answer comes, in its own conversation; then the new one begins."""
    async with bot_at(tmp_path, "2026-12-01 03:00", session=DAILY) as bot:
        await said_at(bot, "2026-12-01 03:00", "hello")
        gate = bot.server.holds("the long answer")
        says_at(bot, "2026-12-01 03:59", "the long question")
        await gate.reached()
        says_at(bot, "2026-12-01 04:01", "good morning")
        await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed)
        assert announced(bot) == []
        gate.open()
        await bot.settles()

        assert talks(bot) == [["hello", "the long question"], ["good morning"]]
        assert [text.partition(" What")[0] for text in bot.sees()[-3:]] == ["the long answer", MORNING, ANSWER]


async def test_who_interrupts_gets_one_answer_to_both_whatever_the_hour(tmp_path: Path) -> None:
    """A new conversation would know nothing of the question that was cut off."""
    async with bot_at(tmp_path, "2026-12-01 03:00", session=f"{DAILY}, busy: interrupt") as bot:
        await said_at(bot, "2026-12-01 03:00", "hello")
        gate = bot.server.holds("too early")
        says_at(bot, "2026-12-01 03:59", "the long question")
        await gate.reached()
        await said_at(bot, "2026-12-01 04:01", "I mean, quickly")
        gate.open()
        await bot.settles()

        assert talks(bot) == [["hello", "the long question", "I mean, quickly"]]
        assert "too early" not in bot.sees()


async def test_who_stopped_a_turn_at_night_begins_anew_in_the_morning(tmp_path: Path) -> None:
    """`/stop` is not an interruption that waits for an answer."""
    async with bot_at(tmp_path, "2026-12-01 03:00", session=f"{DAILY}, busy: interrupt") as bot:
        gate = bot.server.holds("too early")
        says_at(bot, "2026-12-01 03:00", "the long question")
        await gate.reached()
        await said_at(bot, "2026-12-01 03:01", "/stop")
        gate.open()
        await said_at(bot, "2026-12-01 09:00", "good morning")

        assert talks(bot) == [["the long question"], ["good morning"]]


# -- clocks that jump --------------------------------------------------------------------------------------


async def test_a_machine_whose_clock_jumps_resets_nothing(tmp_path: Path) -> None:
    """What counts is when something was said, and that the platform knows: ours may be years off."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session="reset: both, idle_minutes: 60") as bot:
        assert isinstance(bot.clock, SetClock)
        for minute, off in enumerate((0, 400, -400, 3, -9000, 0)):
            bot.clock.at = at("2026-11-30 09:00") + timedelta(days=off)
            bot.telegram.says(ANNA, str(minute), date=int(at(f"2026-11-30 09:0{minute}").timestamp()))
            await bot.settles()
            if minute == 3:
                await bot.restart()
        assert len(talks(bot)) == 1

        await said_at(bot, "2026-11-30 10:30", "later")

        assert [len(each) for each in talks(bot)] == [6, 1]
        assert len(announced(bot)) == 1


async def test_messages_that_overtake_each_other_reset_nothing(tmp_path: Path) -> None:
    """An old one that comes late neither begins a conversation nor makes the next one do so."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session="reset: both, idle_minutes: 60") as bot:
        for when in ("11-30 09:00", "11-30 09:30"):
            await said_at(bot, f"2026-{when}", when)
        bot.telegram.says(ANNA, "late", date=int(at("2026-11-29 01:00").timestamp()))
        await bot.settles()
        for when in ("11-30 09:31", "11-30 10:15"):
            await said_at(bot, f"2026-{when}", when)

        assert len(talks(bot)) == 1


async def test_a_clock_that_was_wrong_when_something_was_said_is_not_believed_for_ever(tmp_path: Path) -> None:
    """The terminal has no clock but ours: a jump costs one new conversation, and then all is as before."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session=IDLE) as bot:
        for when in ("2026-11-30 09:00", "2027-11-30 09:00", "2027-11-30 09:01", "2026-11-30 09:02"):
            await said_at(bot, when, when)
        assert [len(each) for each in talks(bot)] == [1, 3]

        await said_at(bot, "2026-11-30 09:30", "right again")
        await said_at(bot, "2026-11-30 11:30", "later")

        assert [len(each) for each in talks(bot)] == [1, 4, 1]


# -- what goes on ------------------------------------------------------------------------------------------


async def test_a_conversation_that_was_taken_up_again_goes_on(tmp_path: Path) -> None:
    """Whoever asks for last week's conversation does not want it ended by the next word."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session=IDLE) as bot:
        await said_at(bot, "2026-11-30 09:00", "hello")
        await said_at(bot, "2026-12-07 09:00", "/new")
        with bot.core.db.write() as tx:
            id = rows(bot, "SELECT id FROM sessions")[0][0]
            assert sessions.reopen(tx, id, sessions.get(tx, id).chat)
        await said_at(bot, "2026-12-07 09:01", "where were we?")
        await said_at(bot, "2026-12-07 09:59", "ah, there")
        assert talks(bot) == [["hello", "where were we?", "ah, there"]]

        await said_at(bot, "2026-12-07 11:00", "good bye")

        assert [len(each) for each in talks(bot)] == [3, 1]


async def test_status_says_when_a_conversation_ends_and_what_it_does_not_know_yet(tmp_path: Path) -> None:
    """Its age, the age of its memory, and what waits for the next one."""
    async with bot_at(tmp_path, "2026-11-30 09:00", session="reset: both, timezone: Europe/Oslo") as bot:
        await said_at(bot, "2026-11-30 09:00", "hello")
        await said_at(bot, "2026-11-30 09:05", "/status")
        assert "newer than" not in bot.sees()[-1]
        await said_at(bot, "2026-11-30 09:30", "/remember Lives in Bergen")
        await said_at(bot, "2026-11-30 09:31", "/remember Has a cat")
        await said_at(bot, "2026-11-30 10:00", "/status")

        lines = bot.sees()[-1].split("\n")
        assert lines[0].endswith("one message, begun 1 h ago, memory as of 1 h ago")
        assert lines[1].startswith("2 changes of memory are newer than this conversation")
        assert lines[1].endswith("/memory refresh")
        assert lines[2] == "A new conversation begins after 24 h of silence, and each day at 04:00 (Europe/Oslo)"

        await said_at(bot, "2026-11-30 10:01", "/memory undo")
        await said_at(bot, "2026-11-30 10:02", "/status")
        assert "One change of memory is newer" in bot.sees()[-1]
        await said_at(bot, "2026-11-30 10:03", "/memory refresh")
        await said_at(bot, "2026-11-30 10:04", "/memory undo")
        await said_at(bot, "2026-11-30 10:05", "/status")
        assert "One change of memory is newer" in bot.sees()[-1]


async def test_a_hand_edit_that_the_prompt_was_made_of_is_not_newer_than_it(tmp_path: Path) -> None:
    """It enters the ledger after the prompt was frozen."""
    async with running_bot(tmp_path) as bot:
        path = bot.home.space_dir("owner") / "MEMORY.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        await bot.says("/memory")
        path.write_text("Lives in Bergen\n", "utf-8")
        await bot.says("hello")
        await bot.says("/status")
        assert "newer than" not in bot.sees()[-1]

        path.write_text("Lives in Bergen\n§\nHas a cat\n", "utf-8")
        bot.gateway.housekeeping.tidy()
        await bot.says("/status")

        assert "One change of memory is newer" in bot.sees()[-1]


# -- on both platforms -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["telegram", "discord"])
async def test_both_platforms_say_that_a_new_conversation_begins(tmp_path: Path, name: str) -> None:
    """And both tell us when something was said."""
    with world(tmp_path, name) as here:
        here.configure(more=f"session: {{{IDLE}}}")
        async with here.running():
            await here.hears(ANNA, "hello")
            with here.core.db.write() as tx:
                tx.execute("UPDATE sessions SET said_at = '2020-01-01T00:00:00.000000+00:00'")
            await here.hears(ANNA, "hello again")

            shown = here.network.sees(ANNA, Place.PRIVATE)
            assert [text.partition(" What")[0] for text in shown[-2:]] == [SILENCE, ANSWER]


@pytest.mark.parametrize("name", ["telegram", "discord"])
async def test_in_a_group_each_member_may_have_a_conversation(tmp_path: Path, name: str) -> None:
    """`per_person`: none of them is in another's transcript; the memory is still the group's."""
    with world(tmp_path, name) as here:
        here.configure(more="session: {groups: per_person}")
        async with here.running():
            for person, text in ((ANNA, "I am Anna"), (BEN, "I am Ben"), (ANNA, "who am I?")):
                await here.hears(person, text, Place.GROUP)

            last = [str(message["content"]) for message in here.model.last.messages]
            assert any("I am Anna" in text for text in last)
            assert not any("I am Ben" in text for text in last)
            with here.core.db.read() as rd:
                members = [row["member"] for row in rd.rows("SELECT member FROM sessions ORDER BY opened_at")]
            assert members == [f"{name}:{ANNA}", f"{name}:{BEN}"]


# -- groups ------------------------------------------------------------------------------------------------

GROUP = -100200
OPEN = f"owners: ['telegram:{ANNA}'], allowed: ['telegram:{BEN}'], groups: {{allowed: ['telegram:{GROUP}']}}"
EACH = "groups: per_person"


async def tells(bot: Bot, text: str, person: int = ANNA, **fields: Any) -> None:
    """Somebody addresses the bot in the group; a command needs no address."""
    called = text if text.startswith("/") else f"@{bot.telegram.username} {text}"
    bot.telegram.says(person, called, chat=GROUP, **fields)
    await bot.settles()


def open_members(bot: Bot) -> list[str]:
    found = rows(bot, "SELECT member FROM sessions WHERE ended_at IS NULL ORDER BY member")
    return [row[0] for row in found]


async def test_a_groups_messages_stay_in_order_whosever_conversation_they_belong_to(tmp_path: Path) -> None:
    """One after the other, as people read them."""
    async with running_bot(tmp_path, access=OPEN, session=EACH) as bot:
        gate = bot.server.holds("to Anna")
        bot.telegram.says(ANNA, f"@{bot.telegram.username} first", chat=GROUP)
        await gate.reached()
        bot.server.answers("to Ben")
        bot.telegram.says(BEN, f"@{bot.telegram.username} second", chat=GROUP)
        await bot.telegram.wait_for(lambda: not bot.telegram.unconfirmed)
        assert len(bot.server.chats) == 1
        gate.open()
        await bot.settles()

        assert [text for text in bot.sees(GROUP) if text.startswith("to ")] == ["to Anna", "to Ben"]


async def test_new_ends_only_ones_own_conversation_in_a_group(tmp_path: Path) -> None:
    """The owner begins anew; Ben is in the middle of something, and his answer comes."""
    async with running_bot(tmp_path, access=OPEN, session=EACH) as bot:
        await tells(bot, "I am Anna")
        gate = bot.server.holds("to Ben")
        bot.telegram.says(BEN, f"@{bot.telegram.username} the long question", chat=GROUP)
        await gate.reached()
        bot.telegram.says(ANNA, "/new", chat=GROUP)
        await bot.telegram.wait_for(lambda: any(text.startswith("✓ A new") for text in bot.sees(GROUP)))
        gate.open()
        await bot.settles()

        assert "to Ben" in bot.sees(GROUP)
        assert open_members(bot) == [f"telegram:{BEN}"]


async def test_a_members_conversation_is_reset_for_that_member_alone(tmp_path: Path) -> None:
    """Said in answer to whoever wrote; only the owner can take up the last one."""
    async with running_bot(tmp_path, access=OPEN, session=f"{EACH}, {IDLE}") as bot:
        await tells(bot, "I am Anna")
        await tells(bot, "I am Ben", BEN)
        with bot.core.db.write() as tx:
            tx.execute(
                "UPDATE sessions SET said_at = '2020-01-01T00:00:00.000000+00:00' WHERE member = ?",
                (f"telegram:{BEN}",),
            )
        await tells(bot, "still here")
        await tells(bot, "hello again", BEN)

        (said,) = announced(bot, GROUP)
        assert said.startswith(f"{SILENCE} What I remember stays. The owner can go on with the last one: /resume ")
        assert [len(each) for each in talks(bot)] == [2, 1, 1]
        assert rows(bot, "SELECT member FROM sessions WHERE end_reason = 'idle'") == [(f"telegram:{BEN}",)]


async def test_topics_and_members_have_a_conversation_each(tmp_path: Path) -> None:
    """Two topics, two members: four."""
    async with running_bot(tmp_path, access=OPEN, session=EACH) as bot:
        for thread in (7, 9):
            for person in (ANNA, BEN):
                await tells(bot, f"{person} in {thread}", person, thread=thread)

        assert [len(each) for each in talks(bot)] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("before", "after", "kept", "said"),
    [
        ("shared", "per_person", [f"telegram:{ANNA}"], "From now on everybody in this group has a conversation"),
        ("per_person", "shared", [""], "From now on this group has one conversation with me, for all."),
    ],
)
async def test_a_changed_setting_ends_the_conversations_of_the_other_kind(
    tmp_path: Path, before: str, after: str, kept: list[str], said: str
) -> None:
    """Reviewed to their ends, and said: none stays open where nobody can reach it."""
    async with running_bot(tmp_path, access=OPEN, session=f"groups: {before}") as bot:
        await tells(bot, "I am Anna")
        await tells(bot, "I am Ben", BEN)
        await bot.stop()
        bot.configure(access=OPEN, session=f"groups: {after}")
        await bot.start()
        await tells(bot, "hello")
        await tells(bot, "hello again")

        assert open_members(bot) == kept
        assert len([text for text in bot.sees(GROUP) if text.startswith(said)]) == 1
        reviewed = sum(last - first + 1 for first, last in rows(bot, "SELECT first_turn, turn FROM reviews"))
        assert reviewed == 2


async def test_refresh_reaches_every_members_conversation(tmp_path: Path) -> None:
    """The memory is the group's: what the owner lets in is in force for all."""
    async with running_bot(tmp_path, access=OPEN, session=EACH) as bot:
        await tells(bot, "I am Anna")
        await tells(bot, "I am Ben", BEN)
        await tells(bot, "/remember We meet on Mondays")
        await tells(bot, "/status", BEN)
        assert "One change of memory is newer" in bot.sees(GROUP)[-1]
        await tells(bot, "/memory refresh")

        await tells(bot, "when do we meet?", BEN)

        assert "We meet on Mondays" in str(bot.server.last.messages[0]["content"])


async def test_what_a_member_says_in_their_own_conversation_is_still_not_the_owners(tmp_path: Path) -> None:
    """A conversation of one's own is no space of one's own: the owner decides (7.2)."""
    async with running_bot(tmp_path, access=OPEN, session=EACH) as bot:
        bot.server.calls("memory", action="add", content="Ben has the key", evidence="I have the key")
        await tells(bot, "I have the key", BEN)

        assert bot.memory_file(space="telegram-group-100200") == ""
        assert [write.status.value for write in bot.ledger()] == ["staged"]


async def test_in_private_per_person_changes_nothing(tmp_path: Path) -> None:
    """There is one person anyway."""
    async with running_bot(tmp_path, session=EACH) as bot:
        await bot.says("hello")
        await bot.says("hello again")
        await bot.says("/status")

        assert open_members(bot) == [""]
        assert "2 messages" in bot.sees()[-1]
