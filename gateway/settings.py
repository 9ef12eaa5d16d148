"""What was set, and where the home is: the only reader of the environment, `.env` and config.yaml.

The sections are `sections`, how one value is read `fields`, what stands in which line `configfile` and `envfile`,
which model is asked `modelchoice`; here they come together. Tokens are not settings: `Settings.secret` looks
them up by the name of their variable.
"""

import difflib
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo

from pydantic import PrivateAttr, ValidationError

from gateway import configfile, envfile, fields, modelchoice, sections
from gateway.configfile import Given
from gateway.errors import ConfigError
from gateway.home import Home
from gateway.modelchoice import ModelChoice
from gateway.sections import PlatformDisplay, leaves


def find_home(
    *, home: str | None = None, profile: str | None = None, environ: Mapping[str, str] | None = None
) -> Home:
    """The home to use: the one named, else the profile's, else `$HIKAE_HOME`, else `~/.hikae`."""
    environ = os.environ if environ is None else environ
    account = environ.get("HOME") or os.path.expanduser("~")
    if home and profile is not None:
        raise ConfigError(["A home and a profile are both named. Name only one of them."])
    if profile is not None:
        return Home(Home(Path(os.path.abspath(account), ".hikae")).profiles / _profile_name(profile))
    chosen = home or environ.get("HIKAE_HOME") or "~/.hikae"
    if chosen == "~" or chosen.startswith("~/"):
        chosen = account + chosen[1:]
    return Home(Path(os.path.abspath(os.path.expanduser(chosen))))


def wants_plain_output(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the person asked for a terminal without colours and moving pictures (no-color.org, or a dumb one)."""
    environ = os.environ if environ is None else environ
    return bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"


def child_environment(home: Home) -> Mapping[str, str]:
    """The environment of a process that we start: our own, and this home as its home."""
    return {**os.environ, "HIKAE_HOME": str(home.path)}


def _profile_name(profile: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", profile):
        raise ConfigError(
            [f"The profile is {fields.shown(profile)}. It must be letters and digits, with . _ - between."]
        )
    return profile


# -- the settings ---------------------------------------------------------------------------------------


class Settings(sections.Section):
    """All that was set. Tokens are not fields: `secret` looks them up, and nothing prints them."""

    model: sections.ModelSettings = sections.ModelSettings()
    platforms: sections.PlatformsSettings = sections.PlatformsSettings()
    access: sections.AccessSettings = sections.AccessSettings()
    session: sections.SessionSettings = sections.SessionSettings()
    memory: sections.MemorySettings = sections.MemorySettings()
    skills: sections.SkillsSettings = sections.SkillsSettings()
    display: sections.DisplaySettings = sections.DisplaySettings()
    auxiliary: sections.AuxiliarySettings = sections.AuxiliarySettings()
    agent: sections.AgentSettings = sections.AgentSettings()
    compression: sections.CompressionSettings = sections.CompressionSettings()
    redis: sections.RedisSettings = sections.RedisSettings()
    web: sections.WebSettings = sections.WebSettings()
    backups: sections.BackupsSettings = sections.BackupsSettings()

    _environment: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _env_file: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def seeing(self, environment: Mapping[str, str], env_file: Mapping[str, str]) -> Self:
        """These settings with the variables that `secret` may look up."""
        settings = self.model_copy()
        settings._environment, settings._env_file = dict(environment), dict(env_file)
        return settings

    def secret(self, env_name: str) -> str:
        """The token in this variable: of the process, else of `.env`, else "". Never log it."""
        return self._environment.get(env_name, "").strip() or self._env_file.get(env_name, "").strip()

    def secret_source(self, env_name: str) -> str:
        """`environment`, `.env`, or "" when the variable is not set."""
        if self._environment.get(env_name, "").strip():
            return "environment"
        return ".env" if self._env_file.get(env_name, "").strip() else ""

    def secret_names(self) -> tuple[str, ...]:
        """Every variable that holds a token for these settings, set or not."""
        named = (
            self.platforms.telegram.token_env,
            self.platforms.telegram.webhook.secret_env,
            self.platforms.discord.token_env,
            self.model.api_key_env,
            self.auxiliary.background_review.api_key_env,
            self.auxiliary.compression.api_key_env,
            *modelchoice.KEY_VARIABLES.values(),
        )
        return tuple(dict.fromkeys(name for name in named if name))

    def secrets(self) -> tuple[str, ...]:
        """The tokens themselves, for the redaction of logs and for nothing else."""
        return tuple(value for value in map(self.secret, self.secret_names()) if value)

    def chat_model(self) -> ModelChoice:
        """The model that chats. Raises ConfigError when the one that is named lacks a name or a key."""
        return modelchoice.choose(self.model, self.secret, "model")

    @property
    def reviews_are_automatic(self) -> bool:
        """Whether reviews happen unasked at all; `/refine` works anyway."""
        return self.auxiliary.background_review.enabled and self.memory.nudge_interval > 0

    def review_model(self) -> ModelChoice | None:
        """The reviews' own model, which gets a digest; None: the chat's. Raises ConfigError as above."""
        return self._auxiliary("auxiliary.background_review", self.auxiliary.background_review)

    def compression_model(self) -> ModelChoice | None:
        """The model that writes summaries; None: the chat's. Raises ConfigError as above."""
        return self._auxiliary("auxiliary.compression", self.auxiliary.compression)

    def _auxiliary(self, section: str, own: modelchoice.Auxiliary) -> ModelChoice | None:
        asked = modelchoice.beside(self.model, own)
        if asked is None:
            return None
        chosen = modelchoice.choose(asked, self.secret, section)
        return None if modelchoice.is_same(chosen, self.chat_model()) else chosen

    def notifications(self, platform: str) -> str:
        """`off`, `on` or `verbose` on this platform."""
        override = dict(self.display.platforms).get(platform, PlatformDisplay())
        return override.memory_notifications or self.display.memory_notifications

    def enabled(self, target: str) -> bool:
        """Whether this memory file (a `records.Target`) is in use."""
        return self.memory.user_profile_enabled if target == "user" else self.memory.memory_enabled

    def budget(self, target: str) -> int:
        """How many characters this memory file (a `records.Target`) may hold."""
        return self.memory.user_char_limit if target == "user" else self.memory.memory_char_limit

    def zone(self) -> tzinfo:
        """The time zone people live in: the one that is set, else the machine's, else UTC."""
        named = self.session.timezone or self._environment.get("TZ", "").removeprefix(":")
        return (fields.zone(named) if named else None) or _machine_zone() or UTC

    @property
    def review_seconds(self) -> int:
        """How long a review may take: every round up to its time-out, and a minute for all the rest."""
        return int((self.agent.max_tool_rounds + 1) * self.model.timeout_seconds) + 60

    @property
    def failpoint(self) -> str | None:
        """Where a test lets this process die (`failpoints`). Never read from a file."""
        return self._environment.get("HIKAE_FAILPOINT") or None


VARIABLES: Mapping[str, str] = {
    "model.provider": "HIKAE_MODEL_PROVIDER",
    "model.name": "HIKAE_MODEL_NAME",
    "model.base_url": "HIKAE_MODEL_BASE_URL",
    "platforms.telegram.base_url": "HIKAE_TELEGRAM_BASE_URL",
    "platforms.discord.base_url": "HIKAE_DISCORD_BASE_URL",
    "platforms.discord.gateway_url": "HIKAE_DISCORD_GATEWAY_URL",
    "redis.url": "REDIS_URL",
}
"""The settings that a variable overrides. An empty variable counts as not set."""


def _machine_zone() -> ZoneInfo | None:
    link = os.path.realpath("/etc/localtime")
    return fields.zone(link.partition("/zoneinfo/")[2]) if "/zoneinfo/" in link else None


# -- loading -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """What a start read: settings, where each came from, what the operator should know."""

    settings: Settings
    sources: Mapping[str, str]
    """`memory.nudge_interval` -> config.yaml | environment | .env | default"""
    warnings: tuple[str, ...]
    config_sha256: str
    """Of config.yaml as it was read; compare with `config_digest` to see whether it has changed since."""


def load(home: Home, environ: Mapping[str, str] | None = None) -> Loaded:
    """Read and check everything. Raises ConfigError with all problems at once."""
    environment = dict(os.environ if environ is None else environ)
    problems: list[str] = []
    config = _read_file(home.config, problems)
    env_file = envfile.read(_decode(home.env_file, _read_file(home.env_file, problems), problems), problems)
    given = configfile.read(_decode(home.config, config, problems), Settings, problems)
    given.update(_from_variables(environment, env_file))
    settings = _validated(given, problems).seeing(environment, {name: said.text for name, said in env_file.items()})
    _check_failpoint(settings, problems)
    problems += _webhook_problems(settings)
    if problems:
        raise ConfigError(problems)
    return Loaded(
        settings=settings,
        sources={key: given[key].source if key in given else "default" for key, _ in leaves(settings)},
        warnings=(*modelchoice.warnings(settings.model), *_variable_warnings(settings)),
        config_sha256=hashlib.sha256(config).hexdigest(),
    )


def config_digest(home: Home) -> str:
    """The SHA-256 of config.yaml as it is now; "" when it cannot be read."""
    problems: list[str] = []
    config = _read_file(home.config, problems)
    return "" if problems else hashlib.sha256(config).hexdigest()


_MOST_BYTES = 256 * 1024


def _read_file(path: Path, problems: list[str]) -> bytes:
    """The bytes of a file, b"" when there is none. A FIFO or a device could keep us waiting for ever."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            problems.append(f"{path} is not a file. Replace it by a text file, or remove it.")
            return b""
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        problems.append(f"{path} cannot be read ({error.strerror}). Check the file and its permissions.")
        return b""
    if len(data) > _MOST_BYTES:
        problems.append(f"{path} is larger than {_MOST_BYTES // 1024} KiB. It is meant to be a short text file.")
        return b""
    return data


def _decode(path: Path, data: bytes, problems: list[str]) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(f"{path.name} is not UTF-8 text. Save it as UTF-8. ({path.name}, line {line})")
        return ""


def _from_variables(environment: Mapping[str, str], env_file: Mapping[str, envfile.Said]) -> dict[str, Given]:
    given = {}
    for key, name in VARIABLES.items():
        if environment.get(name, "").strip():
            given[key] = Given(environment[name], "environment", f"environment, {name}")
        elif name in env_file and env_file[name].text:
            given[key] = Given(env_file[name].text, ".env", f".env, line {env_file[name].line}")
    return given


# -- loading: checks ---------------------------------------------------------------------------------------


def _validated(given: Mapping[str, Given], problems: list[str]) -> Settings:
    """The settings; where a value is wrong, its problem and the default, so that the rest is checked too."""
    wrong: set[str] = set()
    try:
        settings = Settings.model_validate(_tree(given))
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            key = next(key for key in given if tuple(key.split(".")) == detail["loc"][: key.count(".") + 1])
            wrong.add(key)
            problems.append(
                _value_problem(key, given[key], detail["loc"][key.count(".") + 1 :], detail["ctx"]["error"])
            )
        settings = Settings.model_validate(_tree({key: said for key, said in given.items() if key not in wrong}))
    if not wrong & {"model.provider", "model.name"}:
        problems.extend(_model_name_problems(settings, given))
    problems.extend(_auxiliary_problems(settings, given, wrong))
    return settings


def _tree(given: Mapping[str, Given]) -> dict[str, object]:
    tree: dict[str, object] = {}
    for key, said in given.items():
        *sections, name = key.split(".")
        branch = tree
        for section in sections:
            branch = branch.setdefault(section, {})  # type: ignore[assignment]
        branch[name] = said.value
    return tree


def _value_problem(key: str, said: Given, rest: Sequence[int | str], error: Exception) -> str:
    value, where = said.value, said.where
    if rest and isinstance(value, list | tuple) and isinstance(rest[0], int):
        value, where, key = value[rest[0]], said.items[rest[0]], f"{key} (item {rest[0] + 1})"
    if isinstance(error, fields.Hidden):
        return f"{key} is something else. {error} ({where})"
    return f"{key} is {fields.shown(value)}. {error} ({where})"


def _model_name_problems(settings: Settings, given: Mapping[str, Given]) -> Iterator[str]:
    if settings.model.provider in modelchoice.ADDRESSES and not settings.model.name:
        yield f"{modelchoice.name_missing(settings.model.provider, 'model')} ({given['model.provider'].where})"


def _auxiliary_problems(settings: Settings, given: Mapping[str, Given], wrong: set[str]) -> Iterator[str]:
    """At another provider than the chat's, the chat's model is not to be had."""
    chosen: Mapping[str, modelchoice.Auxiliary] = dict(settings.auxiliary)
    for name, own in chosen.items():
        section = f"auxiliary.{name}"
        elsewhere = own.provider in modelchoice.ADDRESSES and own.provider != settings.model.provider
        if elsewhere and not own.model and not wrong & {f"{section}.provider", f"{section}.model"}:
            yield f"{modelchoice.name_missing(own.provider, section)} ({given[f'{section}.provider'].where})"


def _check_failpoint(settings: Settings, problems: list[str]) -> None:
    if not re.fullmatch(r"[a-z0-9_.]+(:[1-9][0-9]{0,5})?", settings.failpoint or "none"):
        problems.append("HIKAE_FAILPOINT is no name, and no name:visits. (environment, HIKAE_FAILPOINT)")


def _webhook_problems(settings: Settings) -> Iterator[str]:
    """What Telegram would refuse. It calls nothing but https, unless it is a Bot API server of one's own."""
    telegram = settings.platforms.telegram
    if telegram.mode != "webhook" or not settings.secret(telegram.token_env):
        return
    url, variable = telegram.webhook.url, telegram.webhook.secret_env
    if not url:
        yield (
            "platforms.telegram.mode is webhook, and platforms.telegram.webhook.url is empty. "
            "It must be the address at which Telegram reaches this bot, e.g. https://bot.example/telegram."
        )
    elif not url.startswith("https://") and not telegram.base_url:
        yield (
            f"platforms.telegram.webhook.url is {fields.shown(url)}. It must begin with https://: "
            "Telegram calls nothing else."
        )
    if not re.fullmatch(r"[A-Za-z0-9_-]{16,256}", settings.secret(variable) if variable else ""):
        yield (
            f"platforms.telegram.mode is webhook, and {variable or 'platforms.telegram.webhook.secret_env'} is not "
            "set to a secret. It must be 16 to 256 letters, digits, _ or -, e.g. from `openssl rand -hex 32`; "
            "put it into .env."
        )


def _variable_warnings(settings: Settings) -> Iterator[str]:
    """A misspelt variable would be as silent as one that is not set."""
    known = [*VARIABLES.values(), "HIKAE_HOME", "HIKAE_FAILPOINT"]
    for name in sorted({*settings._environment, *settings._env_file}):
        if name.startswith("HIKAE_") and name not in known:
            for meant in difflib.get_close_matches(name, known, 1, cutoff=0.8):
                yield f"{name} is set but means nothing; did you mean {meant}?"
