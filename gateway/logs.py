"""One JSON object per line in logs/agent.log: events, ids and numbers, never anybody's words or a token.

Own events say what happened (`turn.finished`) and carry fields; `bind` adds the ids of the chat, session or
job at hand. Of libraries only warnings are kept, and of those only the constant part: what they fill in may
be a message or a URL with a token. An exception is its type and our own frames; its text stays out.
"""

import contextlib
import fcntl
import json
import logging
import os
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TextIO

from gateway.home import Home
from gateway.redaction import Redaction

MOST_BYTES = 5_000_000
FILES = 5
"""Together at most 25 MB: agent.log and agent.log.1 to .4."""

_OURS = ("gateway", "workers")
_TALKATIVE = (
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2",
    "telegram",
    "discord",
    "openai",
    "anthropic",
    "rq",
    "redis",
    "asyncio",
)
_ROOT = Path(__file__).parent.parent

_bound: ContextVar[Mapping[str, str]] = ContextVar("bound", default=MappingProxyType({}))


def setup(home: Home, *, to_stderr: bool, secrets: Collection[str] = ()) -> None:
    """Send everything to the home's log (and stderr). `secrets` are masked wherever they turn up.

    May be called again, e.g. after a fork or for another home: it replaces what it set up before.
    """
    close()
    redact = Redaction(secrets)
    _attach(_SharedFile(home.log_file), _Lines(redact))
    if to_stderr:
        _attach(logging.StreamHandler(sys.stderr), _Sentences(redact))
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO)
    # httpx logs every URL at INFO, and Telegram's URLs hold the bot's token. Libraries that were used before
    # may have set a level on a logger below their own.
    made = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _TALKATIVE]
    for name in (*_TALKATIVE, *made):
        logging.getLogger(name).setLevel(logging.WARNING)


def close() -> None:
    """Undo `setup`: detach and close what it attached."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each.formatter, _Lines)]:
        root.removeHandler(handler)
        with contextlib.suppress(OSError):  # what a full disk did not take is lost
            handler.close()


@contextlib.contextmanager
def bind(**ids: object) -> Iterator[None]:
    """Add these ids to every line that is logged inside, also by what is awaited or run in a thread."""
    named = {name: str(value) for name, value in ids.items() if value is not None}
    token = _bound.set(MappingProxyType({**_bound.get(), **named}))
    try:
        yield
    finally:
        _bound.reset(token)


class _Lines(logging.Formatter):
    """A record as one line of JSON."""

    def __init__(self, redact: Redaction) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        # Redacted last and as a whole, so that no field can be forgotten. ASCII, so that no byte can fail.
        return self._redact(json.dumps(_event(record)))


class _Sentences(_Lines):
    """A record for a person at a terminal: `12:00:01 warning platform.busy platform=telegram after=3`."""

    def format(self, record: logging.LogRecord) -> str:
        event = _event(record)
        at, level, _, name = (str(event.pop(key)) for key in ("at", "level", "logger", "event"))
        rest = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in event.items()]
        return self._redact(" ".join([at[11:19], level, name, *rest]))


def _event(record: logging.LogRecord) -> dict[str, object]:
    own: dict[str, object] = {
        "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "event": _text(record),
    }
    event = {**own, **_bound.get(), **_extra(record), **own}  # first in the line, and not to be overwritten
    if record.exc_info and record.exc_info[1] is not None:
        event["error"] = _error(record.exc_info[1])
    return event


def _text(record: logging.LogRecord) -> str:
    if _is_ours(record):
        return record.getMessage()
    # Without arguments the text may have been put together from anything; with them it is a constant.
    return str(record.msg) if record.args else "library.message"


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] in _OURS


_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def _extra(record: logging.LogRecord) -> dict[str, object]:
    """The fields of one of our events: numbers and ids. Anything richer is named by its type alone."""
    if not _is_ours(record):
        return {}
    simple = (str, int, float, bool, type(None))
    return {
        name: value if isinstance(value, simple) else type(value).__name__
        for name, value in vars(record).items()
        if name not in _STANDARD
    }


def _error(error: BaseException, depth: int = 3) -> dict[str, object]:
    """The type, where it passed through our code, and the same of what caused it."""
    told: dict[str, object] = {"type": type(error).__qualname__, "frames": _frames(error.__traceback__)}
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and depth:
        told["cause"] = _error(cause, depth - 1)
    if isinstance(error, BaseExceptionGroup) and depth:
        told["errors"] = [_error(each, depth - 1) for each in error.exceptions]
    return told


def _frames(tb: TracebackType | None) -> list[str]:
    ours = []
    for frame, line in traceback.walk_tb(tb):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _OURS:
            ours.append(f"{path.relative_to(_ROOT)}:{line} {frame.f_code.co_name}")
    return ours


def _attach(handler: logging.Handler, formatter: _Lines) -> None:
    handler.setFormatter(formatter)
    # Libraries set the levels of their own loggers; here nothing below a warning gets past.
    handler.addFilter(lambda record: _is_ours(record) or record.levelno >= logging.WARNING)
    logging.getLogger().addHandler(handler)


class _SharedFile(RotatingFileHandler):
    """A log that gateway, workers and commands write at once: whoever finds it full turns it over for all."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MOST_BYTES, backupCount=FILES - 1, encoding="utf-8", delay=True)
        self._folder = path.parent

    def emit(self, record: logging.LogRecord) -> None:
        self._follow()
        super().emit(record)

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        """By the size of the file: our own position knows nothing of what others have written."""
        if self.stream is None:
            self.stream = self._open()
        size = os.fstat(self.stream.fileno()).st_size
        return size > 0 and size + len(self.format(record)) >= self.maxBytes

    def doRollover(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            self._follow()
            if self.stream is not None:  # else another process has just turned it over
                super().doRollover()
        finally:
            os.close(folder)

    def handleError(self, record: logging.LogRecord) -> None:
        """Nothing: a full disk must not end a turn, and logging's own report would print the message."""

    def _follow(self) -> None:
        """Let go of the file when the name leads to another one by now."""
        if self.stream is not None and not self._is_current(self.stream):
            with contextlib.suppress(OSError):  # what a full disk did not take is lost
                self.stream.close()
            self.stream = None  # the next line opens it

    def _is_current(self, stream: TextIO) -> bool:
        try:
            return os.path.samestat(os.fstat(stream.fileno()), os.stat(self.baseFilename))
        except OSError:
            return False

    def _open(self) -> TextIOWrapper:
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.fchmod(file, 0o600)
        return os.fdopen(file, "a", encoding="utf-8")
