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

from gateway import app, broker, scan, settings, words
from gateway.cli.opened import clock_time
from gateway.clock import SystemClock
from gateway.errors import ConfigError, GatewayError
from gateway.home import Home
from gateway.memory import dailytokens, entries, snapshot
from gateway.memory.entries import Document
from gateway.memory.files import vouched_in
from gateway.records import Space, Target
from gateway.settings import ModelChoice, Settings
from gateway.store import holding, looking, people, search_index, textfile
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
    says: str


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
        yield from (Check("settings", False, problem) for problem in error.problems)
        return
    yield Check("settings", True, "config.yaml and .env can be started with")
    yield from _prompt_files(home)
    yield from _of_the_database(home, chosen)
    yield _redis(home, chosen)
    yield _model(chosen)
    yield from _auxiliary_models(chosen)


# -- the machine -------------------------------------------------------------------------------------------


def _python() -> Check:
    ok = sys.version_info >= OLDEST_PYTHON
    return Check("python", ok, platform.python_version() + ("" if ok else " is too old: 3.11 or newer is needed"))


def _sqlite() -> Check:
    version, options = looking.sqlite_version(), looking.sqlite_options()
    name = ".".join(map(str, version))
    missing = [each for each in ("FTS5", "trigram", "threadsafe") if each not in options]
    if missing:
        return Check("sqlite", False, f"{name} lacks {', '.join(missing)}. Use a Python with SQLite 3.34 or newer.")
    bug = (
        ""
        if version >= FIXED_SQLITE
        else " (its bug in resetting the WAL cannot happen here: one lock keeps checkpoints and commits apart)"
    )
    return Check("sqlite", True, f"{name} with {', '.join(sorted(options))}{bug}")


def _disk(home: Home) -> Check:
    place = next(path for path in (home.path, *home.path.parents) if path.exists())
    free = shutil.disk_usage(place).free
    says = f"{free // (1024 * 1024):,} MiB free at {place}"
    return Check("disk", free >= FREE_BYTES, says if free >= FREE_BYTES else f"{says}. Make room.")


# -- files -------------------------------------------------------------------------------------------------


def _home(home: Home) -> Check:
    if home.path.is_dir():
        return Check("home", True, str(home.path))
    if home.path.exists():
        return Check("home", False, f"{home.path} is not a folder. Move it away, or use another --home.")
    return Check("home", True, f"{home.path} is not there yet; the first start makes it")


def _modes(home: Home) -> Iterator[Check]:
    if not home.path.is_dir():
        return
    wrong = [problem for path in _private(home) if (problem := _mode_problem(path))]
    yield from (Check("modes", False, problem) for problem in wrong)
    if not wrong:
        yield Check("modes", True, "closed to other accounts")


def _private(home: Home) -> Iterator[Path]:
    yield from (home.path, home.env_file, home.config, home.owner_code)
    yield from sorted(home.path.glob("state.db*"))
    for folder in (home.backups, home.logs, home.exports, home.run):
        yield folder
    for folder in (home.backups, home.logs, home.exports):
        yield from sorted(folder.glob("*"))


def _mode_problem(path: Path) -> str:
    try:
        found = path.lstat()
    except OSError:
        return ""
    if found.st_uid != os.geteuid():
        return f"{path} belongs to another account. Give it to the one that hikae runs as: chown."
    if stat.S_ISLNK(found.st_mode) or not found.st_mode & 0o077:
        return ""
    mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
    return f"{path} can be read by other accounts. chmod {mode} {path}"


def _prompt_files(home: Home) -> Iterator[Check]:
    for path in (home.soul, home.agents):
        try:
            data = textfile.read(path)
        except textfile.Unreadable as error:
            yield Check("prompt", False, str(error))
            continue
        verdict = scan.check(data.decode("utf-8", "replace").strip())
        if verdict.level is scan.Level.REFUSED:
            why = words.text(verdict.reasons[0], "en")
            yield Check("prompt", False, f"{path.name} is left out of every prompt. {why} Change the file.")
        elif data:
            yield Check("prompt", True, f"{path.name}, {len(data):,} bytes")


# -- what the database knows -------------------------------------------------------------------------------


def _of_the_database(home: Home, chosen: Settings) -> Iterator[Check]:
    try:
        with looking.look(home) as rd:
            if rd is None:
                yield Check("database", True, "not there yet; the first start makes it")
            else:
                looking.refuse_damaged(rd)
                yield Check("database", True, f"{home.state_db.stat().st_size:,} bytes")
                yield _search(rd)
                yield from _background(rd, chosen)
                yield from _closed_spaces(rd)
            yield from _platforms(chosen, rd)
            for space in _spaces(rd):
                for target in Target:
                    yield from _memory_file(home, chosen, rd, space, target)
    except GatewayError as error:
        yield Check("database", False, str(error))


def _spaces(rd: Reader | None) -> Sequence[Space]:
    known = people.spaces(rd) if rd is not None else []
    return known if any(space.kind == "owner" for space in known) else [_OWNERS_SPACE, *known]


def _search(rd: Reader) -> Check:
    """Whether everything that was said is found by the index."""
    if search_index.is_degraded(rd):
        says = "slow: messages are read one by one, since SQLite lacked FTS5 when they were last kept. "
        return Check("search", False, says + "Use a Python whose SQLite has it, and start the gateway.")
    if behind := search_index.count_unindexed(rd):
        says = f"{behind:,} messages are not in the index yet: found all the same, more slowly. "
        return Check("search", True, says + "The gateway goes on with it.")
    return Check("search", True, "every message is in the index")


def _background(rd: Reader, chosen: Settings) -> Iterator[Check]:
    """Reviews that stand still on purpose look like reviews that are broken."""
    now = SystemClock().now()
    until, today = holding.until(rd, now), dailytokens.today(rd, chosen, now)
    if until is not None:
        says = f"{today.used:,} of {today.bound:,} tokens for background work are used; reviews wait until "
        yield Check("reviews", True, says + clock_time(until, chosen.zone()))


def _closed_spaces(rd: Reader) -> Iterator[Check]:
    for space in people.closed_spaces(rd):
        yield Check("spaces", True, f"{space.name} is closed: nobody uses it any more; its files are kept.")


def _platforms(chosen: Settings, rd: Reader | None) -> Iterator[Check]:
    """Each chat platform: off, without an owner, or ready."""
    owned = bool(chosen.access.owners or (rd is not None and people.owners(rd)))
    tokens = {"telegram": chosen.platforms.telegram.token_env, "discord": chosen.platforms.discord.token_env}
    for name, variable in tokens.items():
        source = chosen.secret_source(variable)
        if not source:
            yield Check(name, True, f"off: {variable} is not set")
        elif not owned:
            yield Check(name, False, "nobody is the bot's owner yet. Get a code: hikae pair code")
        else:
            yield Check(name, True, f"{variable} is set ({source})")


def _memory_file(home: Home, chosen: Settings, rd: Reader | None, space: Space, target: Target) -> Iterator[Check]:
    path = home.memory_file(space.name, target)
    try:
        data = textfile.read(path)
    except textfile.Unreadable as error:
        yield Check("memory", False, str(error))
        return
    if not data:
        return
    doc = entries.parse(data)
    limit = chosen.budget(target)
    vouched = vouched_in(rd, space, target, doc, limit) if rd is not None and space.id else frozenset()
    problems = list(_memory_problems(doc, limit, vouched))
    usage = snapshot.usage(entries.chars(doc), limit)
    yield from (Check("memory", False, f"{path}: {problem}") for problem in problems)
    if not problems:
        yield Check("memory", True, f"{path}: {usage}")


def _memory_problems(doc: Document, limit: int, vouched: frozenset[str]) -> Iterator[str]:
    if entries.chars(doc) > limit:
        yield f"over its budget ({snapshot.usage(entries.chars(doc), limit)}). Shorten it."
    if doc.bad_bytes:
        yield f"{doc.bad_bytes} bytes are no UTF-8. Save it as UTF-8."
    for text in snapshot.hidden(doc, limit, vouched):
        reason = words.text(scan.check(text).reasons[0], "en")
        yield f"entry {entries.fingerprint(text)} is not shown to the model ({reason}). Change or remove it."


# -- the world ---------------------------------------------------------------------------------------------


def _redis(home: Home, chosen: Settings) -> Check:
    if broker.reachable(broker.connect_url(home, chosen)):
        return Check("redis", True, "answers" + (" (redis.url)" if chosen.redis.url else " (our own)"))
    if chosen.redis.url:
        return Check(
            "redis", False, "the configured one does not answer. Start it, or check redis.url (REDIS_URL)."
        )
    problem = broker.own_problem(home)
    return Check("redis", not problem, problem or f"starts with the worker ({broker.find_server()})")


def _model(chosen: Settings) -> Check:
    try:
        choice = chosen.chat_model()
    except ConfigError as error:
        return Check("model", False, str(error))
    if choice.provider == "offline":
        keys = any(chosen.secret(variable) for variable in settings.KEY_VARIABLES.values())
        wanted = chosen.model.provider == "auto" and (bool(chosen.model.name) or keys)
        return Check("model", not wanted, f"offline: {choice.why}")
    return _reached("model", choice)


def _auxiliary_models(chosen: Settings) -> Iterator[Check]:
    """The models of reviews and of summaries, where they have their own."""
    for name, choose in (("review model", chosen.review_model), ("compression model", chosen.compression_model)):
        try:
            choice = choose()
        except ConfigError as error:
            own = (problem for problem in error.problems if "auxiliary." in problem)  # the rest is the chat's
            yield from (Check(name, False, problem) for problem in own)
            continue
        if choice is not None and choice.provider != "offline":
            yield _reached(name, choice)


def _reached(name: str, choice: ModelChoice) -> Check:
    problem = asyncio.run(_reach(choice))
    return Check(name, not problem, problem or f"{choice.name} answers")


async def _reach(choice: ModelChoice) -> str:
    try:
        async with asyncio.timeout(REACH_SECONDS):
            return await app.model_problem(choice)
    except TimeoutError:
        return f"the model's server does not answer within {REACH_SECONDS:.0f} seconds. Check model.base_url."
