"""`hikae up` and the command line as real processes: gateway, worker and Redis on one home."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.model import ModelServer, is_review
from tests.fakes.telegram import FakeTelegram
from tests.processes import Machine, machine, until

pytestmark = pytest.mark.processes

ANNA = 123


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as one:
        yield one


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as one:
        yield one


@pytest.fixture
def here(tmp_path: Path, server: ModelServer, telegram: FakeTelegram) -> Iterator[Machine]:
    """Ended before the servers it talks to."""
    assert telegram.port
    with machine(tmp_path) as one:
        configure(one, server)
        yield one


def configure(one: Machine, server: ModelServer, **sections: str) -> None:
    base = {
        "model": f"provider: openai, name: fake-1, base_url: '{server.url}'",
        "access": f"owners: ['telegram:{ANNA}']",
    }
    one.configure(**base, **sections)


def on(telegram: FakeTelegram) -> dict[str, str]:
    return {"TELEGRAM_BOT_TOKEN": telegram.token, "HIKAE_TELEGRAM_BASE_URL": telegram.url}


def texts(telegram: FakeTelegram) -> list[str]:
    return [shown.text for shown in telegram.screen(ANNA)]


def test_a_review_runs_in_a_worker_and_its_card_is_decided_from_the_shell(
    here: Machine, server: ModelServer, telegram: FakeTelegram
) -> None:
    """The whole loop on real processes: message, reply, review, card, approval by CLI, file, changed card."""
    configure(here, server, memory="write_approval: true, nudge_interval: 1")
    server.calls("memory", when=is_review, action="add", content="Lives in Bergen", evidence="moved to Bergen")
    up = here.start("up", **on(telegram))
    telegram.says(ANNA, "I moved to Bergen")
    telegram.wait_until(lambda: any("Lives in Bergen" in text for text in texts(telegram)), 40)

    pending = json.loads(here.run("memory", "pending", "--json").stdout)
    approved = here.run("memory", "approve", str(pending[0]["id"]))

    assert approved.returncode == 0, approved.stderr
    telegram.wait_until(lambda: any(text.startswith("✓ Remembered") for text in texts(telegram)), 40)
    assert (here.home.path / "memories" / "MEMORY.md").read_text("utf-8") == "Lives in Bergen\n"
    status = json.loads(here.run("status", "--json", **on(telegram)).stdout)
    assert status["gateway"]["running"] and status["worker"]["running"]
    assert here.end(up) == 0
    assert here.pids() == []


def test_nothing_is_lost_when_the_gateway_is_killed_between_message_and_answer(
    here: Machine, server: ModelServer, telegram: FakeTelegram
) -> None:
    """The message was committed before it was confirmed; the next start answers it, once."""
    gate = server.holds("first try")
    first = here.start("up", **on(telegram))
    telegram.says(ANNA, "are you there?")
    gate.wait_reached()
    here.kill(first)
    gate.open()
    server.answers("I am back")

    here.start("up", **on(telegram))
    telegram.wait_until(lambda: "I am back" in texts(telegram), 40)

    assert texts(telegram).count("I am back") == 1
    with closing(sqlite3.connect(here.home.state_db)) as db:
        answers = db.execute("SELECT count(*) FROM messages WHERE answers IS NOT NULL").fetchone()
    assert answers == (1,)


def test_a_second_gateway_is_refused_by_name(here: Machine, telegram: FakeTelegram) -> None:
    """Two gateways on one home would answer everything twice."""
    first = here.start("gateway", **on(telegram))
    until(lambda: "Ready on telegram" in here.output(first))

    second = here.run("gateway", **on(telegram))

    assert second.returncode == 1
    assert f"pid {first.pid}" in second.stderr


def test_twenty_one_shot_runs_leave_twenty_completed_reviews(here: Machine, server: ModelServer) -> None:
    """Each process is gone at once; a detached worker does what they left."""
    server.otherwise = "ok"
    for _ in range(20):
        server.answers("nothing to save", when=is_review, seconds=0.5)
    for number in range(20):
        done = here.run("chat", "-q", f"message {number}")
        assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr

    def states() -> list[tuple[str, int]]:
        with closing(sqlite3.connect(here.home.state_db)) as db:
            return db.execute("SELECT status, count(*) FROM reviews GROUP BY status").fetchall()

    until(lambda: states() == [("done", 20)], 120)
    assert len(server.reviews) == 20


def test_a_new_session_recalls_what_an_earlier_one_was_told(tmp_path: Path) -> None:
    """The README's first promise, with the offline model and nothing set up."""
    with machine(tmp_path) as here:
        told = here.run("chat", "-q", "remember that I live in Bergen")
        asked = here.run("chat", "-q", "where do I live?")

    assert "session: " in told.stderr
    assert "Bergen" in asked.stdout


def test_piped_lines_are_a_conversation(tmp_path: Path) -> None:
    """`hikae up` without a chat platform talks where it stands, and ends with its input."""
    with machine(tmp_path) as here:
        talk = here.run("up", given="remember that I live in Bergen\n/new\nwhere do I live?\n")

        assert talk.returncode == 0, talk.stderr
        assert "Bergen" in talk.stdout.splitlines()[-1]
        until(lambda: here.pids() == [])


def test_with_nothing_to_talk_on_it_says_what_to_set(tmp_path: Path) -> None:
    """A service without a token must not sit there silently."""
    with machine(tmp_path) as here:
        up = here.start("up")

        assert up.wait(40) == 2
        assert "TELEGRAM_BOT_TOKEN" in here.output(up)
