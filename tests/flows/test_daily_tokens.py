"""A bound for background work: it stops where everybody can see it, and goes on the next day without a loss."""

import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gateway import cli
from gateway.jobs import TidyJob
from gateway.records import Review, Target
from gateway.store import duejobs, holding, outbox, reviews, textfile, tidies
from tests.bot import Bot
from tests.fakes.model import ModelServer, is_review
from tests.fakes.telegram import FakeTelegram
from tests.workbench import WallClock, Workbench, open_bench
from workers import runtime

COST = {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000}
BOUND = "auxiliary: {background_review: {daily_tokens: %d}}"
OSLO = ZoneInfo("Europe/Oslo")


# -- workers -----------------------------------------------------------------------------------------------


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    with ModelServer() as model:
        bench = open_bench(tmp_path, model)
        bench.configure(bench.home.config.read_text() + BOUND % 1000)
        yield bench
        bench.close()


def run(bench: Workbench, review: Review) -> None:
    bench.model.answers("Nothing.", usage=COST, when=is_review)
    with bench.db.read() as rd:
        now = reviews.get(rd, review.session, review.turn)
    runtime.run(bench.home, duejobs.job_of(now))


def test_reviews_wait_when_the_days_tokens_are_used_up(bench: Workbench, caplog: pytest.LogCaptureFixture) -> None:
    """Due, not failed, not tried, and not asked of the model: the second one waits for tomorrow."""
    first, second, third = (bench.due(f"message {number}") for number in range(3))
    run(bench, first)

    run(bench, second)
    run(bench, second)

    waiting = bench.review(second)
    assert (bench.review(first).status, len(bench.model.reviews)) == ("done", 1)
    assert (waiting.status, waiting.attempts, waiting.reason) == ("due", 0, holding.REASON)
    assert waiting.retry_at is not None
    assert timedelta(0) < waiting.retry_at - WallClock().now() <= timedelta(days=1)
    assert bench.review(third).retry_at == waiting.retry_at
    assert "daily_tokens.used_up" in caplog.text


def test_one_review_runs_each_day_however_small_the_bound(bench: Workbench) -> None:
    """A bound below what one costs slows reviews down; it does not end them."""
    bench.configure(bench.home.config.read_text().replace(BOUND % 1000, BOUND % 1))
    first, second = bench.due("one"), bench.due("two")

    run(bench, first)
    run(bench, second)

    assert [bench.review(each).status for each in (first, second)] == ["done", "due"]


@pytest.mark.parametrize("bound", [0, 5000])
def test_a_bound_that_was_raised_lets_them_go_at_once(bench: Workbench, bound: int) -> None:
    """The owner who changes it does not want to wait until midnight."""
    first, second = bench.due("one"), bench.due("two")
    run(bench, first)
    run(bench, second)
    bench.configure(bench.home.config.read_text().replace(BOUND % 1000, BOUND % bound))

    run(bench, second)

    assert bench.review(second).status == "done"


def test_what_was_held_by_a_clock_that_was_wrong_is_let_go(bench: Workbench) -> None:
    """Held until a midnight of next year."""
    review = bench.due("one")
    with bench.db.write() as tx:
        holding.hold(tx, WallClock().now() + timedelta(days=400))

    run(bench, review)

    assert bench.review(review).status == "done"


def test_what_the_owner_tries_again_is_done_whatever_it_costs(bench: Workbench) -> None:
    """`hikae reviews retry` is somebody who asks."""
    first, second = bench.due("one"), bench.due("two")
    run(bench, first)
    with bench.db.write() as tx:
        tx.execute("UPDATE reviews SET status = 'failed' WHERE session = ?", (second.session,))
        assert reviews.retry(tx, second.session, second.turn, WallClock().now())

    run(bench, second)

    assert bench.review(second).status == "done"


def test_a_tidy_that_nobody_asked_for_waits_and_one_that_was_asked_for_does_not(bench: Workbench) -> None:
    """`/memory tidy` makes a waiting one due at once, and answers."""
    review = bench.due("one")
    run(bench, review)
    textfile.replace(bench.home.memory_file("owner", Target.MEMORY), b"one\n\xc2\xa7\ntwo\n")
    now = WallClock().now()
    with bench.db.write() as tx:
        assert tidies.make_due(tx, "full", review.space, Target.MEMORY, "full", None, "x", now)

    runtime.run(bench.home, TidyJob("full", 0))
    with bench.db.write() as tx:
        held = tidies.find(tx, "full")
        tidies.make_due(tx, "asked", review.space, Target.MEMORY, "asked", None, "x", now)
    bench.model.answers("Nothing to do.")
    runtime.run(bench.home, TidyJob("full", 0))

    with bench.db.read() as rd:
        tidied = tidies.find(rd, "full")
    assert held is not None
    assert (held.status, held.attempts, held.reason) == ("due", 0, holding.REASON)
    assert tidied is not None
    assert tidied.attempts == 1


def test_status_doctor_and_the_list_say_what_waits_and_until_when(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reviews that stand still on purpose look like reviews that are broken."""
    first, second = bench.due("one"), bench.due("two")
    run(bench, first)
    run(bench, second)

    def hikae(*arguments: str) -> str:
        capsys.readouterr()
        cli.main(["--home", str(bench.home.path), *arguments])
        return capsys.readouterr().out

    assert "the day's tokens are used up; some wait until 20" in hikae("status")
    assert "1,000 of 1,000 used today for background work" in hikae("status")
    assert "waits until 20" in hikae("reviews", "list")
    assert "1,000 of 1,000 tokens for background work are used; reviews wait until 20" in hikae("doctor")
    assert "Background work today: 1,000 of 1,000 used up; reviews wait for tomorrow" in hikae("usage")
    told = json.loads(hikae("status", "--json"))["daily_tokens"]
    assert (told["used"], told["bound"]) == (1000, 1000)
    assert told["waits_until"] > WallClock().now().isoformat()


# -- in the chat -------------------------------------------------------------------------------------------


class Calendar:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 30, 20, 0, tzinfo=OSLO)

    def now(self) -> datetime:
        return self.at.astimezone(UTC)


@pytest.fixture
async def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    """Every answer makes a review due; one uses up the day."""
    with FakeTelegram() as telegram, ModelServer() as server:
        clock = Calendar()
        monkeypatch.setattr(runtime, "SystemClock", lambda: clock)
        bot = Bot(tmp_path, telegram, server, clock)
        bot.configure(
            memory="nudge_interval: 1",
            session="timezone: Europe/Oslo",
            auxiliary="background_review: {daily_tokens: 1000}",
        )
        await bot.start()
        yield bot
        await bot.stop()


async def says(bot: Bot, text: str) -> None:
    """Somebody says something, and the workers have their time."""
    bot.server.answers("Nothing.", usage=COST, when=is_review)
    await bot.says(text)
    await bot.run_jobs()


def statuses(bot: Bot) -> list[str]:
    with bot.core.db.read() as rd:
        return [row["status"] for row in rd.rows("SELECT status FROM reviews ORDER BY created_at, turn")]


async def test_the_owner_is_told_once_a_day_and_nothing_is_lost(bot: Bot) -> None:
    """One line when it stops; the next day all that waited is reviewed, each once."""
    for text in ("one", "two", "three"):
        await says(bot, text)
    told = [text for text in bot.sees() if "used up" in text]
    assert statuses(bot) == ["done", "due", "due"]
    assert told == [
        "Today's tokens for background work are used up (1,000 of 1,000). Reviews wait until 00:00; nothing is "
        "lost. /refine looks through a conversation all the same."
    ]
    await bot.says("/status")
    assert "used up: reviews wait until 2026-12-01 00:00, and nothing is lost" in bot.sees()[-1]

    await bot.restart()
    assert isinstance(bot.clock, Calendar)
    bot.clock.at += timedelta(hours=5)
    bot.server.forget_script()
    bot.server.answers("Nothing.", usage={**COST, "prompt_tokens": 90}, when=is_review)
    bot.server.answers("Nothing.", usage=COST, when=is_review)
    await bot.run_jobs()

    assert statuses(bot) == ["done", "done", "done"]
    assert len(bot.server.reviews) == 3
    await says(bot, "four")
    assert statuses(bot)[-1] == "due"
    assert len([text for text in bot.sees() if "used up (" in text]) == 2


async def test_refine_reviews_what_waits_for_tomorrow(bot: Bot) -> None:
    """A person who asks gets it, and is not told that all has been looked through."""
    for text in ("one", "two", "three"):
        await says(bot, text)

    await says(bot, "/refine")

    assert "2 messages of yours" in bot.sees()[-1]
    assert statuses(bot) == ["done", "done", "done"]


async def test_usage_says_it_in_words(bot: Bot) -> None:
    """This conversation, today, in the background; a bound and how much of it is left."""
    bot.server.answers("Hi!", usage={**COST, "prompt_tokens_details": {"cached_tokens": 800}})
    await says(bot, "one")

    await bot.says("/usage")

    assert bot.sees()[-1].split("\n")[:5] == [
        "This conversation: asked once, 900 tokens read (800 of them from its cache), 100 written",
        "Conversations today: asked once, 900 tokens read (800 of them from its cache), 100 written",
        "In the background today: asked once, 900 tokens read (0 of them from its cache), 100 written",
        "– reviews: asked once, 900 tokens read (0 of them from its cache), 100 written",
        "Background work may use 1,000 tokens a day, which are used up (1,000): reviews wait for tomorrow.",
    ]
    with bot.core.db.read() as rd:
        assert outbox.waiting(rd, ("telegram",), bot.core.clock.now()) == []
