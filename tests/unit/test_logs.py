"""What reaches logs/agent.log: events and ids, and nobody's words or token (design.md, promise 8)."""

import asyncio
import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway import logs
from gateway.home import Home

TOKEN = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
WORDS = "I moved to Bergen"

log = logging.getLogger("gateway.test")
library = logging.getLogger("httpx")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    logs.setup(home, to_stderr=False, secrets=["correct-horse"])
    yield home
    logs.close()


def lines(home: Home) -> list[dict[str, Any]]:
    return [json.loads(line) for line in home.log_file.read_text().splitlines()]


def test_an_event_is_one_line_with_its_fields_and_the_ids_at_hand(home: Home) -> None:
    """An operator greps by session; a program reads it as JSON."""
    with logs.bind(chat="telegram:7", session="s1"), logs.bind(job="j1", person=None):
        log.info("turn.finished", extra={"turn": 3, "ms": 1.5, "path": Path("/words")})
    log.debug("turn.detail")

    (line,) = lines(home)
    assert line.pop("at").endswith("+00:00")
    assert line == {
        "level": "info", "logger": "gateway.test", "event": "turn.finished", "chat": "telegram:7",
        "session": "s1", "job": "j1", "turn": 3, "ms": 1.5, "path": "PosixPath",
    }  # fmt: skip


async def test_ids_stay_with_their_own_task_and_go_into_its_threads(home: Home) -> None:
    """Chats run side by side; a line with another chat's id sends people the wrong way."""

    async def turn(chat: str) -> None:
        with logs.bind(chat=chat):
            await asyncio.to_thread(log.info, "turn.begun")
            log.info("turn.finished")

    await asyncio.gather(turn("a"), turn("b"))
    log.info("all.done")

    assert sorted((line["event"], line.get("chat")) for line in lines(home)[:-1]) == [
        ("turn.begun", "a"), ("turn.begun", "b"), ("turn.finished", "a"), ("turn.finished", "b"),
    ]  # fmt: skip
    assert "chat" not in lines(home)[-1]


def test_a_field_cannot_take_the_place_of_the_event(home: Home) -> None:
    """Time, level and event are what everything else is sorted by."""
    log.warning("platform.busy", extra={"event": "other", "at": "never"})

    (line,) = lines(home)
    assert (line["event"], line["at"] != "never") == ("platform.busy", True)


def test_an_exception_is_its_type_and_our_frames(home: Home) -> None:
    """Foreign texts hold people's words; the type and the place are enough to find a bug."""
    try:
        try:
            json.loads(WORDS)
        except ValueError as error:
            raise RuntimeError(WORDS) from error
    except RuntimeError:
        log.exception("turn.failed")
    try:
        raise ExceptionGroup(WORDS, [KeyError(WORDS)])
    except ExceptionGroup:
        log.exception("lane.failed")
    try:
        with logs.bind(chat="a"):
            raise OSError(WORDS)
    except OSError:
        log.exception("store.failed")

    failed, group, stored = lines(home)
    assert (failed["error"]["type"], failed["error"]["cause"]["type"]) == ("RuntimeError", "JSONDecodeError")
    assert [each["type"] for each in group["error"]["errors"]] == ["KeyError"]
    assert stored["error"] == {"type": "OSError", "frames": []}
    assert WORDS not in home.log_file.read_text()


def test_a_frame_of_ours_is_named_by_file_and_line(home: Home) -> None:
    """The traceback's useful half."""
    try:
        Home(Path("/h")).space_dir("../words")
    except ValueError:
        log.exception("command.failed")

    frames = lines(home)[0]["error"]["frames"]
    assert [frame.partition(":")[0] for frame in frames] == ["gateway/home.py", "gateway/home.py"]
    assert frames[-1].endswith(" _one_part")


def test_a_library_says_only_what_is_constant_and_at_least_a_warning(home: Home) -> None:
    """httpx logs every URL at INFO, with the bot's token in it; others format people's texts in."""
    library.setLevel(logging.DEBUG)
    library.info("HTTP Request: %s", f"https://host/bot{TOKEN}/getUpdates")
    library.warning("retry of %s after %d s", WORDS, 3)
    library.error(f"{WORDS} failed")
    library.warning("said", extra={"text": WORDS})

    assert [(line["event"], line["logger"]) for line in lines(home)] == [
        ("retry of %s after %d s", "httpx"), ("library.message", "httpx"), ("library.message", "httpx"),
    ]  # fmt: skip
    assert WORDS not in home.log_file.read_text()


def test_setup_quiets_the_libraries_themselves(home: Home) -> None:
    """They may have handlers of their own, where our filter does not stand."""
    for name in ("httpx", "httpcore", "telegram.ext", "openai", "rq.worker"):
        assert not logging.getLogger(name).isEnabledFor(logging.INFO)


@pytest.mark.parametrize(
    "text",
    [
        f"https://api.telegram.org/bot{TOKEN}/sendMessage",
        "Authorization: Bearer abcdefgh12345678",
        "key sk-or-v1-0123456789abcdef0123",
        "two lines\nsk-or-v1-0123456789abcdef0123",
        "redis://user:correct-horse@127.0.0.1:6379",
        "MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.Gabc12.abcdefghijklmnopqrstuvwxyz0",
        "the password is correct-horse",
    ],
)
def test_a_token_is_masked_wherever_it_turns_up(home: Home, text: str) -> None:
    """The last fence, for the line that somebody writes next year."""
    log.warning(text, extra={"url": text, "note": "a@b"})

    (line,) = lines(home)
    assert "***" in line["event"]
    assert line["url"] == line["event"]
    for secret in ("AAHdqTcv", "abcdefgh12345678", "0123456789abcdef", "correct-horse", "Gabc12.abc"):
        assert secret not in home.log_file.read_text()


def test_the_file_is_private(home: Home) -> None:
    """0600 in a folder of 0700, also when somebody has opened it up."""
    log.info("gateway.started")
    home.log_file.chmod(0o644)
    logs.setup(home, to_stderr=False)
    log.info("gateway.started")

    assert stat.S_IMODE(home.log_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.logs.stat().st_mode) == 0o700
    assert len(lines(home)) == 2


def test_a_full_file_is_turned_over_once_for_all_who_write(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gateway, workers and commands share it: none may go on in a file that was renamed, or rename twice."""
    monkeypatch.setattr(logs, "MOST_BYTES", 1000)
    logs.setup(home, to_stderr=False)
    other = logs._SharedFile(home.log_file)
    other.setFormatter(logging.Formatter("%(message)s"))
    record = logging.makeLogRecord({"name": "gateway", "levelno": logging.INFO, "msg": "from another process"})

    for _ in range(60):
        log.info("turn.finished")
        other.handle(record)
    other.close()

    files = sorted(path.name for path in home.logs.iterdir())
    assert files == ["agent.log", "agent.log.1", "agent.log.2", "agent.log.3", "agent.log.4"]
    assert all(path.stat().st_size <= 1000 for path in home.logs.iterdir())
    kept = "".join(path.read_text() for path in home.logs.iterdir())
    assert abs(kept.count("turn.finished") - kept.count("from another process")) <= 1


def test_a_log_that_cannot_be_written_stops_nothing_and_prints_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk must not end a turn, and logging's own report would print the line."""
    (tmp_path / "logs").write_text("in the way")
    logs.setup(Home(tmp_path), to_stderr=False)

    log.warning("store.busy", extra={"wait": 3})
    logs.close()

    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_readable_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is for the file."""
    logs.setup(Home(tmp_path), to_stderr=True)

    with logs.bind(chat="telegram:7"):
        log.warning("platform.busy", extra={"after": 3, "known": True})
    logs.close()

    assert capsys.readouterr().err[8:] == " warning platform.busy chat=telegram:7 after=3 known=true\n"


def test_setup_again_writes_each_line_once(tmp_path: Path) -> None:
    """A worker sets up after each fork."""
    for name in ("one", "two", "two"):
        logs.setup(Home(tmp_path / name), to_stderr=False)
    log.info("worker.started")
    logs.close()

    assert not Home(tmp_path / "one").log_file.exists()
    assert len(lines(Home(tmp_path / "two"))) == 1


def test_a_file_that_was_moved_away_is_followed_by_a_new_one(home: Home) -> None:
    """An operator's logrotate, or `rm`, must not send every later line to nowhere."""
    log.info("gateway.started")
    home.log_file.rename(home.logs / "agent.log.old")
    log.info("turn.finished")

    assert [line["event"] for line in lines(home)] == ["turn.finished"]
