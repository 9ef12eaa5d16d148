"""What calls cost, as the command line and the chat say it; and what `doctor` says of the search index."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway import app, cli, logs
from gateway.home import Home
from gateway.records import Usage
from gateway.store import duejobs, usage
from tests.bot import ANNA, BEN, running_bot
from tests.fakes.model import ModelServer
from tests.workbench import open_bench
from workers import runtime


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def core(home: Home) -> Iterator[app.Core]:
    home.path.mkdir(mode=0o700)
    home.config.write_text("session: {timezone: Asia/Tokyo}\n")
    core = app.open_core(home)
    yield core
    core.close()


def hikae(home: Home, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    cli.main(["--home", str(home.path), *arguments])
    return capsys.readouterr().out


def calls(core: app.Core, *rows: tuple[timedelta, str]) -> None:
    with core.db.write() as tx:
        for ago, task in rows:
            usage.add(tx, Usage(task, "s", 1, "fake-1", 1000, 10, 900, datetime.now(UTC) - ago))


def test_usage_sums_by_day_and_task(home: Home, core: app.Core, capsys: pytest.CaptureFixture[str]) -> None:
    """As a table for people, as one JSON value for programs (design.md 6.8)."""
    calls(core, (timedelta(0), "chat"), (timedelta(0), "chat"), (timedelta(days=3), "background_review"))

    table = hikae(home, capsys, "usage").splitlines()
    told = json.loads(hikae(home, capsys, "usage", "--json"))

    assert re.split(r" {2,}", table[0]) == ["DAY", "TASK", "CALLS", "IN", "OUT", "CACHED"]
    assert re.split(r" {2,}", table[1])[1:] == ["chat", "2", "2,000", "20", "1,800"]
    assert re.split(r" {2,}", table[3]) == ["together", "3", "3,000", "30", "2,700"]
    assert [(each["task"], each["calls"], each["in"], each["out"], each["cached"]) for each in told] == [
        ("chat", 2, 2000, 20, 1800),
        ("background_review", 1, 1000, 10, 900),
    ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", each["day"]) for each in told)


def test_usage_covers_the_days_that_were_asked_for(
    home: Home, core: app.Core, capsys: pytest.CaptureFixture[str]
) -> None:
    """Today is one of them."""
    assert hikae(home, capsys, "usage") == "No model was called in the last 7 days.\n"
    calls(core, (timedelta(days=8), "chat"), (timedelta(days=2), "chat"))

    assert hikae(home, capsys, "usage", "--days", "1") == "No model was called today.\n"
    assert len(json.loads(hikae(home, capsys, "usage", "--json"))) == 1
    assert len(json.loads(hikae(home, capsys, "usage", "--days", "30", "--json"))) == 2


async def test_everybody_but_the_owner_sees_only_their_own(tmp_path: Path) -> None:
    """What others ask is nobody's business; the owner pays for all of it."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello", ANNA)
        await bot.says("hello", BEN)
        await bot.says("hello again", BEN)

        await bot.says("/usage", BEN)
        await bot.says("/usage", ANNA)

        assert [line.partition(",")[0] for line in bot.sees(BEN)[-1].split("\n")[:2]] == [
            "This conversation: asked 2 times",
            "Conversations today: asked 2 times",
        ]
        assert [line.partition(",")[0] for line in bot.sees(ANNA)[-1].split("\n")[:3]] == [
            "This conversation: asked once",
            "Conversations today: asked 3 times",
            "In the background today: the model was not asked",
        ]


async def test_usage_before_the_first_word(tmp_path: Path) -> None:
    """Nothing was asked yet, and that is what it says."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/usage")

        assert bot.sees()[-1].startswith("This conversation: the model was not asked\n")


def test_the_line_of_a_review_has_numbers_and_no_words(tmp_path: Path) -> None:
    """`logs/agent.log` tells what each review cost, to be found by one pattern."""
    with ModelServer() as model:
        bench = open_bench(tmp_path, model)
        try:
            logs.setup(bench.home, to_stderr=False)
            review = bench.due("xyzzy is my secret")
            bench.model.answers(
                "nothing about xyzzy",
                usage={
                    "prompt_tokens": 900,
                    "completion_tokens": 7,
                    "total_tokens": 907,
                    "prompt_tokens_details": {"cached_tokens": 800},
                },
            )
            runtime.run(bench.home, duejobs.job_of(review))
        finally:
            logs.close()
            bench.close()

        events = [json.loads(line)["event"] for line in bench.log().splitlines()]
        job = f"review-{review.session}-1-0"
        assert f"Background review complete: job={job} calls=1 in=900 out=7 cached=800 result=committed" in events
        assert "xyzzy" not in bench.log()


def test_logs_take_25_megabytes_at_most() -> None:
    """5 MB, five kept (the issue's numbers)."""
    assert (logs.MOST_BYTES, logs.FILES) == (5_000_000, 5)


# -- the search index --------------------------------------------------------------------------------------


def test_doctor_says_what_is_not_in_the_index(
    home: Home, core: app.Core, capsys: pytest.CaptureFixture[str]
) -> None:
    """A search that is slow, or reads one by one, looks like one that is broken."""
    assert "every message is in the index" in hikae(home, capsys, "doctor")

    with core.db.write() as tx:
        tx.execute("INSERT INTO spaces (id, name, kind, created_at) VALUES (1, 'owner', 'owner', '')")
        tx.execute("INSERT INTO unindexed (space, next, last) VALUES (1, 1, 1500)")
    assert "1,500 messages are not in the index yet" in hikae(home, capsys, "doctor")

    with core.db.write() as tx:
        tx.execute("UPDATE search_state SET degraded = 1")
    told = {each["check"]: each for each in json.loads(hikae(home, capsys, "doctor", "--json"))}
    assert not told["search"]["ok"]
