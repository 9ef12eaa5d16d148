"""Memory that grows full is made smaller: asked for or not, shown first or told of, once, whatever is killed."""

import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway import app, cli
from gateway.chat import Chat
from gateway.home import Home
from gateway.jobs import Job, TidyJob
from gateway.records import Origin, Status, Target, Tidy
from gateway.store import locks, outbox, people, textfile, tidies
from tests.bot import Bot, running_bot
from tests.fakes.model import Json, ModelServer
from tests.fakes.telegram import FakeTelegram
from tests.workbench import Workbench, open_bench
from workers import burst, due, runtime

NOTES = (
    "The printer is in the cellar, next to the boiler",
    "Printer: in the cellar",
    "The router is restarted by unplugging it for ten seconds",
    "The spare key hangs in the shed",
)
LEFT = (NOTES[0], NOTES[2], NOTES[3])
FULL = "memory_char_limit: 200"
CHAT = Chat("telegram", "1")


def file_of(*texts: str) -> str:
    return "\n§\n".join(texts) + "\n"


def is_tidy(request: Json) -> bool:
    return str(request["messages"][1]["content"]).startswith("Memory tidy:")


def wants(server: ModelServer, *operations: Json) -> None:
    server.calls("memory", target="memory", operations=list(operations), when=is_tidy)


def remove(text: str) -> Json:
    return {"action": "remove", "old_text": text}


def asked(server: ModelServer) -> list[Any]:
    return [request for request in server.requests if is_tidy(request.json)]


class Calendar:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Bot]:
    async with running_bot(tmp_path, memory=FULL) as bot:
        write_file(bot, file_of(*NOTES))
        yield bot


def write_file(bot: Bot, text: str) -> None:
    textfile.replace(bot.home.memory_file("owner", Target.MEMORY), text.encode())


# -- asked for -----------------------------------------------------------------------------------------------


async def test_what_was_asked_for_is_done_and_told(bot: Bot) -> None:
    """The person hears at once that it began, and then what it saved and how to take it back."""
    wants(bot.server, remove("Printer:"))

    await bot.says("/memory tidy")
    await bot.run_jobs()

    write = bot.ledger()[-1]
    assert bot.memory_file() == file_of(*LEFT)
    assert bot.sees()[-2:] == [
        "✓ I look for what can be merged or shortened: MEMORY. You hear what comes of it.",
        f"🧹 Tidied up MEMORY: 166 → 141 characters, 4 → 3 entries. /memory undo {write.id} takes it back.",
    ]
    assert (write.origin, write.status, write.before) == (Origin.TIDY, Status.APPLIED, NOTES[1])
    assert (write.evidence.message, write.evidence.quote) == (None, "")


async def test_with_approval_on_it_waits_on_a_card_that_says_what_it_saves(tmp_path: Path) -> None:
    """A batch is decided as one, and approving it does exactly what the card showed."""
    async with running_bot(tmp_path, memory=f"{FULL}, write_approval: true") as bot:
        write_file(bot, file_of(*NOTES))
        wants(bot.server, remove("Printer:"))
        await bot.says("/memory tidy")
        await bot.run_jobs()
        card = bot.card_with("Approve")
        assert "MEMORY: 166 → 141 characters, 4 → 3 entries" in card.text
        assert NOTES[1] in card.text
        assert bot.memory_file() == file_of(*NOTES)

        await bot.says("/memory tidy")
        assert bot.sees()[-1].startswith("A tidy waits for your yes already:")
        await bot.taps("Approve")

        assert bot.memory_file() == file_of(*LEFT)


async def test_the_entries_are_sent_as_data_and_what_it_cost_is_counted(bot: Bot) -> None:
    """The request holds this file and nothing of any conversation."""
    await bot.says("My bicycle is green")
    bot.server.answers("nothing", when=is_tidy)
    await bot.says("/memory tidy")
    await bot.run_jobs()

    [request] = asked(bot.server)
    assert "4. The spare key hangs in the shed" in request.messages[1]["content"]
    assert "bicycle" not in json.dumps(request.json)
    assert usage_of(bot) == [("tidy", 1)]
    assert bot.sees()[-1] == "MEMORY: there is nothing to tidy."


def usage_of(bot: Bot) -> list[tuple[str, int]]:
    with bot.core.db.read() as rd:
        rows = rd.rows("SELECT task, count(*) AS calls FROM usage WHERE task <> 'chat' GROUP BY task")
    return [(row["task"], row["calls"]) for row in rows]


async def test_an_empty_memory_asks_no_model(tmp_path: Path) -> None:
    """There is nothing to look at."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/memory tidy")
        await bot.run_jobs()

        assert bot.sees()[-1] == "There is nothing in memory that could be tidied."
        assert bot.server.requests == ()


async def test_a_useless_answer_changes_nothing_and_is_said(bot: Bot) -> None:
    """After three tries, each told what was wrong."""
    for _ in range(3):
        wants(bot.server, remove("The bicycle"))
    await bot.says("/memory tidy")
    await bot.run_jobs()

    assert bot.memory_file() == file_of(*NOTES)
    assert bot.sees()[-1] == (
        "⚠️ MEMORY was not tidied and is as it was: the model named an entry that is not there."
    )
    assert len(asked(bot.server)) == 3
    assert "No entry matched" in asked(bot.server)[-1].messages[-1]["content"]
    assert [write for write in bot.ledger() if write.origin is Origin.TIDY] == []


async def test_what_would_lose_most_of_it_is_shown_first_whatever_the_policy(bot: Bot) -> None:
    """Writing freely is no leave to throw half of it away."""
    wants(bot.server, remove(NOTES[0]), remove(NOTES[2]), remove(NOTES[3]))
    await bot.says("/memory tidy")
    await bot.run_jobs()

    assert bot.memory_file() == file_of(*NOTES)
    assert "it would take away more than half of the file" in bot.card_with("Approve").text


async def test_a_second_wish_while_the_first_is_due_is_one_tidy(bot: Bot) -> None:
    """Impatience costs nothing."""
    wants(bot.server, remove("Printer:"))
    await bot.says("/memory tidy")
    await bot.says("/memory tidy")
    await bot.run_jobs()

    assert len(asked(bot.server)) == 1
    assert sum(text.startswith("🧹") for text in bot.sees()) == 1


# -- by itself -----------------------------------------------------------------------------------------------


@pytest.fixture
async def calendar_bot(tmp_path: Path) -> AsyncIterator[Bot]:
    with FakeTelegram() as telegram, ModelServer() as server:
        bot = Bot(tmp_path, telegram, server, Calendar())
        bot.configure(memory=f"{FULL}, idle_review_minutes: 0")
        await bot.start()
        try:
            yield bot
        finally:
            await bot.stop()


async def fill(bot: Bot, *notes: str) -> None:
    for note in notes:
        await bot.says(f"/remember {note}")


async def test_a_write_that_fills_the_file_makes_a_tidy_due_once(calendar_bot: Bot) -> None:
    """Nobody asked, so only what was done is said; the next one is a day away and needs another write."""
    bot = calendar_bot
    await fill(bot, *NOTES[:3])
    bot.gateway.housekeeping.tidy()
    assert tidies_of(bot) == []
    await fill(bot, NOTES[3])
    wants(bot.server, remove("Printer:"))

    bot.gateway.housekeeping.tidy()
    bot.gateway.housekeeping.tidy()
    assert [(tidy.cause, tidy.status) for tidy in tidies_of(bot)] == [("full", "due")]
    await bot.run_jobs()

    assert bot.memory_file() == file_of(*LEFT)
    assert bot.sees()[-1].startswith("🧹 Tidied up MEMORY: 166 → 141 characters")
    await fill(bot, "The bicycle pump is in the hall")
    bot.clock.at += timedelta(hours=23)  # type: ignore[attr-defined]
    bot.gateway.housekeeping.tidy()
    assert len(tidies_of(bot)) == 1
    bot.clock.at += timedelta(hours=1, seconds=1)  # type: ignore[attr-defined]
    bot.gateway.housekeeping.tidy()
    assert len(tidies_of(bot)) == 2


async def test_what_was_looked_at_and_found_good_is_left_alone(calendar_bot: Bot) -> None:
    """The same content is not paid for again, and where nothing came of it nothing is said."""
    bot = calendar_bot
    await fill(bot, *NOTES)
    bot.server.answers("nothing", when=is_tidy)
    before = len(bot.sees())
    bot.gateway.housekeeping.tidy()
    await bot.run_jobs()
    assert len(asked(bot.server)) == 1

    bot.clock.at += timedelta(days=3)  # type: ignore[attr-defined]
    bot.gateway.housekeeping.tidy()

    assert [tidy.status for tidy in tidies_of(bot)] == ["done"]
    assert len(bot.sees()) == before


async def test_while_reviews_are_off_nothing_is_tidied_unasked(tmp_path: Path) -> None:
    """Whoever wants no background look at their words gets none."""
    async with running_bot(tmp_path, memory=f"{FULL}, nudge_interval: 0") as bot:
        await fill(bot, *NOTES)
        bot.gateway.housekeeping.tidy()

        assert tidies_of(bot) == []


def tidies_of(bot: Bot) -> list[Tidy]:
    with bot.core.db.read() as rd:
        rows = rd.rows("SELECT id FROM tidies ORDER BY created_at, id")
        found = [tidies.find(rd, row["id"]) for row in rows]
    return [tidy for tidy in found if tidy is not None]


# -- killed, raced, edited -----------------------------------------------------------------------------------


@dataclass
class Desk:
    """A home with a full file and a tidy of it that is due."""

    bench: Workbench
    job: TidyJob

    def tidy(self) -> Tidy:
        with self.bench.db.read() as rd:
            found = tidies.find(rd, self.job.tidy)
        assert found is not None
        return found

    def text(self) -> str:
        return textfile.read(self.bench.home.memory_file("owner", Target.MEMORY)).decode()

    def write(self, text: str) -> None:
        textfile.replace(self.bench.home.memory_file("owner", Target.MEMORY), text.encode())

    def said(self) -> list[str]:
        with self.bench.db.read() as rd:
            return [row["kind"] for row in rd.rows("SELECT kind FROM outbox ORDER BY id")]

    def rows(self) -> int:
        with self.bench.db.read() as rd:
            row = rd.row("SELECT count(*) AS rows FROM writes WHERE origin = 'tidy'")
        return 0 if row is None else int(row["rows"])

    def run(self) -> None:
        runtime.run(self.bench.home, self.job)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ModelServer() as model:
        bench = open_bench(tmp_path, model)
        now = datetime.now(UTC)
        with bench.db.write() as tx:
            space = people.ensure_space(tx, "owner", "owner", "telegram:1", now)
            tidies.make_due(tx, "1-memory-7", space.id, Target.MEMORY, "asked", CHAT, "", now)
        desk = Desk(bench, TidyJob("1-memory-7", 0))
        desk.write(file_of(*NOTES))
        yield desk
        bench.close()


def test_done_twice_it_is_done_once(desk: Desk) -> None:
    """Rings may come twice, and late."""
    wants(desk.bench.model, remove("Printer:"))

    desk.run()
    desk.run()

    assert (desk.text(), desk.rows(), desk.said()) == (file_of(*LEFT), 1, ["tidied"])
    assert list(desk.bench.home.run.glob("job-*")) == []


def test_a_file_edited_meanwhile_is_thought_about_anew(desk: Desk) -> None:
    """What a person writes in between is neither lost nor tidied unseen."""
    model = desk.bench.model
    held = model.holds("nothing", when=is_tidy)
    thread = threading.Thread(target=desk.run)
    thread.start()
    held.wait_reached()
    edited = file_of(*NOTES, "The bicycle is green")
    desk.write(edited)
    held.open()
    thread.join(20)
    assert (desk.tidy().status, desk.tidy().reason, desk.text()) == ("due", "changed", edited)

    wants(model, remove("Printer:"))
    desk.run()

    assert desk.text() == file_of(*LEFT, "The bicycle is green")
    assert desk.rows() == 1


def test_two_workers_ask_and_write_once(desk: Desk) -> None:
    """The second one finds the lock taken."""
    model = desk.bench.model
    held = model.holds("nothing", when=is_tidy)
    thread = threading.Thread(target=desk.run)
    thread.start()
    held.wait_reached()

    desk.run()
    held.open()
    thread.join(20)

    assert len(asked(model)) == 1
    assert (desk.tidy().status, desk.tidy().attempts) == ("done", 1)


def test_a_busy_model_is_asked_again_and_given_up_with_a_word(desk: Desk) -> None:
    """The person who asked hears of it in the end."""
    desk.bench.model.fails(429, retry_after=300, times=1000)

    for _ in range(due.MOST_ATTEMPTS):
        desk.run()
        with desk.bench.db.write() as tx:
            tx.execute("UPDATE tidies SET retry_at = '2026-01-01T00:00:00.000000+00:00' WHERE status = 'due'")

    assert (desk.tidy().status, desk.tidy().reason) == ("failed", "reason.tidy_busy")
    assert (desk.said(), desk.text()) == (["tidied"], file_of(*NOTES))


def test_a_closed_file_is_said_at_once(desk: Desk) -> None:
    """Somebody waits for the answer; trying for hours would not be one."""
    desk.bench.home.memory_file("owner", "memory").unlink()
    desk.bench.home.memory_file("owner", "memory").mkdir()

    desk.run()

    assert (desk.tidy().status, desk.tidy().reason, desk.said()) == ("failed", "reason.tidy_file", ["tidied"])


def test_a_ring_for_nothing_does_nothing(desk: Desk) -> None:
    """Rings come from Redis, where anybody could have written anything."""
    jobs: list[Job] = [TidyJob("../../etc", 0), TidyJob("1-memory-8", 3)]
    for job in jobs:
        runtime.run(desk.bench.home, job)

    assert (desk.bench.model.requests, desk.tidy().status) == ((), "due")


@pytest.mark.processes
@pytest.mark.parametrize("step", ["tidy.claimed", "tidy.thought", "tidy.committed", "write.replaced"])
def test_killed_at_any_step_it_is_done_once(desk: Desk, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real workers on a real Redis that is wiped, too: what is due stands in SQLite."""
    for _ in range(due.MOST_ATTEMPTS):
        wants(desk.bench.model, remove("Printer:"))
    monkeypatch.setenv("HIKAE_FAILPOINT", step)
    worker = desk.bench.worker()
    desk.bench.until(lambda: desk.tidy().attempts > 0)
    desk.bench.redis().flushall()
    worker.kill()
    worker.wait()
    monkeypatch.delenv("HIKAE_FAILPOINT")

    desk.bench.worker()

    desk.bench.until(lambda: desk.tidy().status == "done" and desk.text() == file_of(*LEFT))
    desk.bench.until(lambda: not unfinished(desk))
    assert (desk.rows(), desk.said()) == (1, ["tidied"])


def unfinished(desk: Desk) -> bool:
    with desk.bench.db.read() as rd:
        return rd.row("SELECT 1 FROM writes WHERE status = 'approved'") is not None


# -- other doors ---------------------------------------------------------------------------------------------


def test_it_can_be_asked_for_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the offline model, no worker and nobody's home chat: the next terminal says what came of it."""
    home = Home(tmp_path / "home")
    core = app.open_core(home)
    try:
        file = home.memory_file("owner", Target.MEMORY)
        textfile.replace(file, file_of("Likes tea", "likes tea.", "Lives in Bergen").encode())
        held = locks.try_lock(home.worker_lock)  # as if a worker ran: none is left behind
        assert cli.main(["--home", str(home.path), "memory", "tidy"]) == 0
        assert "MEMORY" in capsys.readouterr().out
        assert held is not None
        held.release()

        burst.work_off(home, core.db, core.clock, lambda job: runtime.run(home, job))

        assert textfile.read(file).decode() == file_of("Likes tea", "Lives in Bergen")
        with core.db.read() as rd:
            assert outbox.waiting_chat_ids(rd, "terminal") == ["tidy"]
    finally:
        core.close()


def test_nothing_to_tidy_is_said_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And no worker is woken for it."""
    assert cli.main(["--home", str(tmp_path / "home"), "--json", "memory", "tidy"]) == 0

    assert json.loads(capsys.readouterr().out) == {"space": "owner", "begun": [], "waiting": []}


def test_somebody_who_asks_while_it_runs_unasked_is_answered(desk: Desk) -> None:
    """Nothing is said of what nobody asked for; but now somebody did."""
    with desk.bench.db.write() as tx:
        tx.execute("UPDATE tidies SET cause = 'full'")
    held = desk.bench.model.holds("nothing", when=is_tidy)
    thread = threading.Thread(target=desk.run)
    thread.start()
    held.wait_reached()
    with desk.bench.db.write() as tx:
        assert not tidies.make_due(tx, "1-memory-8", 1, Target.MEMORY, "asked", CHAT, "", datetime.now(UTC))

    held.open()
    thread.join(20)

    assert desk.said() == ["tidied"]
