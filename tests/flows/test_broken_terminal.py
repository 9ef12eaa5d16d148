"""What once broke `hikae chat`, or a kill in the middle of a command, as real processes; each stays mended."""

import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model import ModelServer
from tests.fakes.telegram import FakeTelegram
from tests.processes import Machine, machine, until

pytestmark = pytest.mark.processes

ANNA = 123


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as one:
        yield one


@pytest.fixture
def here(tmp_path: Path, server: ModelServer) -> Iterator[Machine]:
    with machine(tmp_path) as one:
        one.configure(
            model=f"provider: openai, name: fake-1, base_url: '{server.url}'",
            access=f"owners: ['telegram:{ANNA}']",
            memory="nudge_interval: 0, write_approval: true",
        )
        yield one


def rows(one: Machine, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(one.home.state_db)) as db:
        return db.execute(sql).fetchall()


def session_of(run: subprocess.CompletedProcess[str]) -> str:
    return run.stderr.rpartition("session: ")[2].strip()


def test_a_terminal_that_cannot_show_a_sign_still_gets_the_answer(here: Machine, server: ModelServer) -> None:
    """Else the answer waits for a terminal that can, and every later one waits behind it."""
    server.answers("Lovely 🏔")
    server.answers("two 🏔")

    first = here.run("chat", "-q", "hello", PYTHONIOENCODING="ascii")
    second = here.run("chat", "-q", "and now?")

    assert (first.stdout, second.stdout) == ("Lovely ?\n", "two 🏔\n")


def test_bytes_that_are_no_text_are_read_as_far_as_they_are(here: Machine, server: ModelServer) -> None:
    """`printf '\\377' | hikae chat` is no reason for a traceback."""
    done = subprocess.run(
        here._command(("chat", "-q", "-")), env=here._environment({}), input=b"\xffhello", capture_output=True
    )

    assert (done.returncode, done.stdout) == (0, b"Hello from the fake model.\n")
    assert rows(here, "SELECT text FROM messages WHERE role = 'user'") == [("\ufffdhello",)]


def test_an_answer_cannot_steer_the_terminal(here: Machine, server: ModelServer) -> None:
    """Words from anywhere come back in answers: none of them may clear the screen or set its title."""
    server.answers("\x1b]0;mine\x07\x1b[2Jhello\x9b")

    assert here.run("chat", "-q", "hi").stdout == "�]0;mine��[2Jhello�\n"


def test_the_answer_to_a_killed_run_is_no_output_of_the_next(here: Machine, server: ModelServer) -> None:
    """A script that reads stdout gets its own answer; what the killed run asked is answered on stderr."""
    killed = here.start("chat", "-q", "first", HIKAE_FAILPOINT="turn.answer_committed")
    until(lambda: killed.poll() is not None)
    server.answers("to the second")

    done = here.run("chat", "-q", "second")

    assert done.stdout == "to the second\n"
    assert "Hello from the fake model." in done.stderr


def test_new_leaves_a_resumed_conversation(here: Machine) -> None:
    """`/new` always works, also where `--resume` named a session; the one that was left stays open for others."""
    named = session_of(here.run("chat", "-q", "one"))

    talk = here.run("chat", "--resume", named, given="two\n/new\nthree\n/memory refresh\nfour\n/new\nfive\n")

    said = rows(here, "SELECT session, turn, text FROM messages WHERE role = 'user' ORDER BY id")
    second, third = said[2][0], said[4][0]
    assert said == [
        (named, 1, "one"),
        (named, 2, "two"),
        (second, 1, "three"),
        (second, 2, "four"),
        (third, 1, "five"),
    ]
    assert len({named, second, third}) == 3
    assert session_of(talk) == third
    assert rows(here, f"SELECT generation FROM sessions WHERE id = '{second}'") == [(2,)]


def test_ctrl_c_ends_a_run_that_waits_for_its_model(here: Machine, server: ModelServer) -> None:
    """At once and with 130; the question is kept."""
    gate = server.holds("never")
    waiting = here.start("chat", "-q", "think hard")
    gate.wait_reached()

    waiting.send_signal(signal.SIGINT)

    assert waiting.wait(10) == 130
    assert rows(here, "SELECT done FROM messages WHERE role = 'user'") == [(None,)]


def test_what_could_not_be_kept_ends_with_1_and_a_sentence(here: Machine) -> None:
    """A script must see that nothing was answered; a person gets the reason and no traceback."""
    here.run("chat", "-q", "hello")
    with closing(sqlite3.connect(here.home.state_db, isolation_level=None)) as other_program:
        other_program.execute("BEGIN IMMEDIATE")
        done = here.run("chat", "-q", "and now?")

    assert (done.returncode, done.stdout) == (1, "")
    assert "it is locked by another program" in done.stderr
    assert "Traceback" not in done.stderr


def test_approve_all_tells_of_all_also_after_a_kill_in_the_middle(here: Machine, server: ModelServer) -> None:
    """The second run of the command finds nothing staged any more, and has the same to say."""
    with FakeTelegram() as telegram:
        on = {"TELEGRAM_BOT_TOKEN": telegram.token, "HIKAE_TELEGRAM_BASE_URL": telegram.url}
        server.calls_many(
            *(("memory", {"action": "add", "content": fact}) for fact in ("Owns a tuba", "Plays jazz"))
        )
        first = here.start("gateway", HIKAE_FAILPOINT="write.applied:2", **on)
        telegram.says(ANNA, "Owns a tuba, Plays jazz")
        telegram.wait_until(lambda: sum("Approve" in shown.labels for shown in telegram.screen(ANNA)) == 2, 40)
        telegram.says(ANNA, "/memory approve all")
        until(lambda: first.poll() is not None)

        second = here.start("gateway", **on)
        telegram.wait_until(lambda: any("jazz" in s.text and "✓ remembered" in s.text for s in telegram.sent), 40)

        answers = [shown.text for shown in telegram.sent if "✓ remembered" in shown.text]
        assert answers == ['1 ✓ remembered: "Owns a tuba"\n2 ✓ remembered: "Plays jazz"']
        assert here.end(second) == 0
