"""What `hikae doctor` looks at. Each check is a line: ok, or what to do. Nothing is made or changed.

Nobody's words are shown: a memory file is named with numbers, an entry by its fingerprint.
"""

import asyncio
import os
import platform
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway import app, broker, scan, settings
from gateway.cli.opened import clock_time
from gateway.cli.sentence import Sentence, sentence
from gateway.clock import SystemClock
from gateway.errors import ConfigError, GatewayError, Refused
from gateway.home import Home
from gateway.memory import dailytokens, entries, snapshot
from gateway.memory.entries import Document
from gateway.memory.files import vouched_in
from gateway.modelchoice import KEY_VARIABLES, ModelChoice
from gateway.records import Space, Target
from gateway.settings import Settings
from gateway.store import holding, looking, people, search_index, textfile
from gateway.store.opening import OLDEST_SQLITE
from gateway.store.transaction import Reader

OLDEST_PYTHON = (3, 11)
FIXED_SQLITE = (3, 51, 3)
"""The first without the WAL-reset bug (store/db.py says how we live with it)."""
FREE_BYTES = 200 * 1024 * 1024
REACH_SECONDS = 5.0
_OWNERS_SPACE = Space(0, "owner", "owner")


@dataclass(frozen=True, slots=True)
class Check:
    """One line."""

    name: str
    ok: bool
    says: Sentence

    @classmethod
    def of(cls, name: str, ok: bool, key: str, /, **values: object) -> "Check":
        return cls(name, ok, Sentence(key, values))


def everything(home: Home) -> Iterator[Check]:
    """All checks, the quick ones first."""
    yield _python()
    yield _sqlite()
    yield _home(home)
    yield _disk(home)
    yield from _modes(home)
    try:
        chosen = settings.load(home).settings
    except ConfigError as error:
        yield from (Check.of("settings", False, "check.other", text=problem) for problem in error.problems)
        return
    yield Check.of("settings", True, "check.settings")
    yield from _prompt_files(home)
    yield from _of_the_database(home, chosen)
    yield _redis(home, chosen)
    yield _model(chosen)
    yield from _auxiliary_models(chosen)


# -- the machine -------------------------------------------------------------------------------------------


def _python() -> Check:
    ok = sys.version_info >= OLDEST_PYTHON
    key = "check.python" if ok else "check.python_old"
    return Check.of("python", ok, key, version=platform.python_version())


def _sqlite() -> Check:
    version, options = looking.sqlite_version(), looking.sqlite_options()
    name = ".".join(map(str, version))
    if version < OLDEST_SQLITE:
        return Check.of("sqlite", False, "check.sqlite_old", version=name)
    missing = [each for each in ("FTS5", "trigram", "threadsafe") if each not in options]
    if missing:
        return Check.of("sqlite", False, "check.sqlite_lacks", version=name, missing=", ".join(missing))
    key = "check.sqlite" if version >= FIXED_SQLITE else "check.sqlite_bug"
    return Check.of("sqlite", True, key, version=name, options=", ".join(sorted(options)))


def _disk(home: Home) -> Check:
    place = next(path for path in (home.path, *home.path.parents) if path.exists())
    free = shutil.disk_usage(place).free
    ok = free >= FREE_BYTES
    key = "check.disk" if ok else "check.disk_full"
    return Check.of("disk", ok, key, free=f"{free // (1024 * 1024):,}", place=place)


# -- files -------------------------------------------------------------------------------------------------


def _home(home: Home) -> Check:
    if home.path.is_dir():
        return Check.of("home", True, "check.home", path=home.path)
    if home.path.exists():
        return Check.of("home", False, "check.home_file", path=home.path)
    return Check.of("home", True, "check.home_later", path=home.path)


def _modes(home: Home) -> Iterator[Check]:
    if not home.path.is_dir():
        return
    wrong = [problem for path in _private(home) if (problem := _mode_problem(path))]
    yield from (Check("modes", False, problem) for problem in wrong)
    if not wrong:
        yield Check.of("modes", True, "check.modes")


def _private(home: Home) -> Iterator[Path]:
    yield from (home.path, home.env_file, home.config, home.owner_code)
    yield from sorted(home.path.glob("state.db*"))
    for folder in (home.backups, home.logs, home.exports, home.run):
        yield folder
    for folder in (home.backups, home.logs, home.exports):
        yield from sorted(folder.glob("*"))


def _mode_problem(path: Path) -> Sentence | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    if found.st_uid != os.geteuid():
        return sentence("check.foreign", path=path)
    if stat.S_ISLNK(found.st_mode) or not found.st_mode & 0o077:
        return None
    mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
    return sentence("check.readable", path=path, mode=mode)


def _prompt_files(home: Home) -> Iterator[Check]:
    for path in (home.soul, home.agents):
        try:
            data = textfile.read(path)
        except textfile.Unreadable as error:
            yield Check("prompt", False, _refusal(error))
            continue
        verdict = scan.check(data.decode("utf-8", "replace").strip())
        if verdict.level is scan.Level.REFUSED:
            why = sentence(verdict.reasons[0])
            yield Check.of("prompt", False, "check.left_out", file=path.name, why=why)
        elif data:
            yield Check.of("prompt", True, "check.file", file=path.name, count=f"{len(data):,}")


def _refusal(error: Refused) -> Sentence:
    return Sentence(error.key, error.values)


# -- what the database knows -------------------------------------------------------------------------------


def _of_the_database(home: Home, chosen: Settings) -> Iterator[Check]:
    try:
        with looking.look(home) as rd:
            if rd is None:
                yield Check.of("database", True, "check.no_database")
            else:
                looking.refuse_damaged(rd)
                yield Check.of("database", True, "check.database", count=f"{home.state_db.stat().st_size:,}")
                yield _search(rd)
                yield from _background(rd, chosen)
                yield from _closed_spaces(rd)
            yield from _platforms(chosen, rd)
            for space in _spaces(rd):
                for target in Target:
                    yield from _memory_file(home, chosen, rd, space, target)
    except GatewayError as error:
        yield Check.of("database", False, "check.other", text=error)


def _spaces(rd: Reader | None) -> Sequence[Space]:
    known = people.spaces(rd) if rd is not None else []
    return known if any(space.kind == "owner" for space in known) else [_OWNERS_SPACE, *known]


def _search(rd: Reader) -> Check:
    """Whether everything that was said is found by the index."""
    if search_index.is_degraded(rd):
        return Check.of("search", False, "check.search_slow")
    if behind := search_index.count_unindexed(rd):
        return Check.of("search", True, "check.search_behind", count=f"{behind:,}")
    return Check.of("search", True, "check.search")


def _background(rd: Reader, chosen: Settings) -> Iterator[Check]:
    """Reviews that stand still on purpose look like reviews that are broken."""
    now = SystemClock().now()
    until, today = holding.until(rd, now), dailytokens.today(rd, chosen, now)
    if until is not None:
        numbers = {"used": f"{today.used:,}", "bound": f"{today.bound:,}"}
        yield Check.of("reviews", True, "check.held", **numbers, until=clock_time(until, chosen.zone()))


def _closed_spaces(rd: Reader) -> Iterator[Check]:
    for space in people.closed_spaces(rd):
        yield Check.of("spaces", True, "check.closed_space", name=space.name)


def _platforms(chosen: Settings, rd: Reader | None) -> Iterator[Check]:
    """Each chat platform: off, without an owner, or ready."""
    owned = bool(chosen.access.owners or (rd is not None and people.owners(rd)))
    tokens = {"telegram": chosen.platforms.telegram.token_env, "discord": chosen.platforms.discord.token_env}
    for name, variable in tokens.items():
        source = chosen.secret_source(variable)
        if not source:
            yield Check.of(name, True, "check.off", variable=variable)
        elif not owned:
            yield Check.of(name, False, "check.ownerless")
        else:
            yield Check.of(name, True, "check.token", variable=variable, source=source)


def _memory_file(home: Home, chosen: Settings, rd: Reader | None, space: Space, target: Target) -> Iterator[Check]:
    path = home.memory_file(space.name, target)
    try:
        data = textfile.read(path)
    except textfile.Unreadable as error:
        yield Check("memory", False, _refusal(error))
        return
    if not data:
        return
    doc = entries.parse(data)
    limit = chosen.budget(target)
    vouched = vouched_in(rd, space, target, doc, limit) if rd is not None and space.id else frozenset()
    problems = list(_memory_problems(doc, limit, vouched))
    usage = _usage(entries.chars(doc), limit)
    yield from (Check.of("memory", False, "check.memory", path=path, said=problem) for problem in problems)
    if not problems:
        yield Check.of("memory", True, "check.memory", path=path, said=usage)


def _memory_problems(doc: Document, limit: int, vouched: frozenset[str]) -> Iterator[Sentence]:
    if entries.chars(doc) > limit:
        yield sentence("check.over_budget", usage=_usage(entries.chars(doc), limit))
    if doc.bad_bytes:
        yield sentence("check.bad_bytes", count=doc.bad_bytes)
    for text in snapshot.hidden(doc, limit, vouched):
        reason = sentence(scan.check(text).reasons[0])
        yield sentence("check.not_shown", id=entries.fingerprint(text), reason=reason)


def _usage(chars: int, limit: int) -> Sentence:
    """`67% — 1,474/2,200 chars`"""
    percent = snapshot.percent(chars, limit)
    return sentence("memory.usage_of", percent=percent, used=f"{chars:,}", limit=f"{limit:,}")


# -- the world ---------------------------------------------------------------------------------------------


def _redis(home: Home, chosen: Settings) -> Check:
    if broker.reachable(broker.connect_url(home, chosen)):
        return Check.of("redis", True, "check.redis_set" if chosen.redis.url else "check.redis_own")
    if chosen.redis.url:
        return Check.of("redis", False, "check.redis_silent")
    if problem := broker.own_problem(home):
        return Check.of("redis", False, "check.other", text=problem)
    return Check.of("redis", True, "check.redis_later", server=broker.find_server())


def _model(chosen: Settings) -> Check:
    try:
        choice = chosen.chat_model()
    except ConfigError as error:
        return Check.of("model", False, "check.other", text=error)
    if choice.provider == "offline":
        keys = any(chosen.secret(variable) for variable in KEY_VARIABLES.values())
        wanted = chosen.model.provider == "auto" and (bool(chosen.model.name) or keys)
        return Check.of("model", not wanted, "check.offline", why=choice.why)
    return _reached("model", choice)


def _auxiliary_models(chosen: Settings) -> Iterator[Check]:
    """The models of reviews and of summaries, where they have their own."""
    for name, choose in (("review model", chosen.review_model), ("compression model", chosen.compression_model)):
        try:
            choice = choose()
        except ConfigError as error:
            own = (problem for problem in error.problems if "auxiliary." in problem)  # the rest is the chat's
            yield from (Check.of(name, False, "check.other", text=problem) for problem in own)
            continue
        if choice is not None and choice.provider != "offline":
            yield _reached(name, choice)


def _reached(name: str, choice: ModelChoice) -> Check:
    problem = asyncio.run(_reach(choice))
    return Check(name, False, problem) if problem else Check.of(name, True, "check.answers", name=choice.name)


async def _reach(choice: ModelChoice) -> Sentence | None:
    try:
        async with asyncio.timeout(REACH_SECONDS):
            problem = await app.model_problem(choice)
    except TimeoutError:
        return sentence("check.slow", seconds=f"{REACH_SECONDS:.0f}")
    return sentence("check.other", text=problem) if problem else None
