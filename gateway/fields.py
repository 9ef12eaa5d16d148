"""How the text of one setting is read: as a switch, a number, a word, an address.

Each reader raises ValueError with the sentence that says what would do; `settings` adds the key, the value
and where it stands. Readers take text, because YAML 1.1 would make False of `off` and 870 of `14:30`, and
native values too, so that settings can be built in code.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field

from gateway.redaction import Redaction


@dataclass(frozen=True)
class Nested:
    """Stands for a mapping or a list where a single value is meant."""


class Hidden(ValueError):
    """What stands there may be a token: the message must not repeat it."""


_YES = ("true", "yes", "on")
_NO = ("false", "no", "off")


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = value.lower() if isinstance(value, str) else ""
    if word not in _YES + _NO:
        raise ValueError("It must be true or false.")
    return word in _YES


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("It must be text.")
    if any(0xD800 <= ord(char) <= 0xDFFF or char == "\0" for char in value):
        raise ValueError("It holds characters that are not text.")
    return value


def _label(value: object) -> str:
    label = _text(value).strip()
    if not label.isprintable() or len(label) > 200:
        raise ValueError("It must be one line of at most 200 characters.")
    return label


def _variable(value: object) -> str:
    name = value.strip() if isinstance(value, str) else "-"
    if name and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", name):
        raise Hidden(
            "It must be the name of an environment variable, e.g. TELEGRAM_BOT_TOKEN; "
            "a token or key itself belongs in .env."
        )
    return name


def _account(value: object) -> str:
    """A person's key, `telegram:123`, in the shape of `chat.Person.key`."""
    key = value.strip() if isinstance(value, str) else ""
    if not re.fullmatch(r"(telegram|discord):[1-9][0-9]{0,19}", key):
        raise ValueError("It must be a platform and an account's number, e.g. telegram:123 (/whoami tells it).")
    return key


def _group(value: object) -> str:
    key = value.strip() if isinstance(value, str) else ""
    if not re.fullmatch(r"telegram:-[1-9][0-9]{0,19}|discord:(server:)?[1-9][0-9]{0,19}", key):
        raise ValueError(
            "It must be a group, e.g. telegram:-100200, discord:CHANNEL_ID or discord:server:SERVER_ID."
        )
    return key


def _time_of_day(value: object) -> str:
    match = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError('It must be a time of day, e.g. "04:00".')
    return f"{int(match[1]):02}:{match[2]}"


def _zone_name(value: object) -> str:
    name = value.strip() if isinstance(value, str) else ""
    if name and zone(name) is None:
        raise ValueError("It must be an IANA time zone that this machine knows, e.g. Europe/Oslo.")
    return name


def zone(name: str) -> ZoneInfo | None:
    """The time zone of this name, None when this machine knows none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _host(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9._:-]{1,253}", value.strip()):
        raise ValueError("It must be an address or a host's name, e.g. 127.0.0.1.")
    return value.strip()


def whole(low: int, high: int, example: int) -> BeforeValidator:
    """A whole number from `low` to `high`."""

    def read(value: object) -> int:
        if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9][0-9_]{0,17}", value.strip(), re.ASCII):
            value = int(value.replace("_", ""))
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"It must be a whole number, e.g. {example}.")
        if not low <= value <= high:
            raise ValueError(f"It must be a whole number from {low} to {high}, e.g. {example}.")
        return value

    return BeforeValidator(read)


def decimal(low: float, high: float, example: str) -> BeforeValidator:
    """A number above `low` up to `high`."""

    def read(value: object) -> float:
        if isinstance(value, str) and re.fullmatch(
            r"\+?([0-9]{1,12}(\.[0-9]{0,12})?|\.[0-9]{1,12})", value.strip()
        ):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low < value <= high:
            raise ValueError(f"It must be a number above {low:g} and at most {high:g}, e.g. {example}.")
        return float(value)

    return BeforeValidator(read)


def word(literal: object) -> BeforeValidator:
    """One of the words of a Literal. Where `on` or `off` is one of them, true and false say it too."""
    choices: tuple[str, ...] = get_args(literal)

    def read(value: object) -> str:
        said = str(value).strip().lower() if isinstance(value, str | bool) else ""
        if said not in choices:
            said = "on" if said in _YES else "off" if said in _NO else said
        if said not in choices:
            raise ValueError(f"It must be {either(choices)}.")
        return said

    return BeforeValidator(read)


def url(*schemes: str, example: str) -> BeforeValidator:
    """An address with one of these schemes, or "". A slash at its end means nothing and is dropped."""

    def read(value: object) -> str:
        address = value.strip() if isinstance(value, str) else "-"
        if address and not _is_address(address, schemes):
            raise ValueError(f"It must be an address such as {example}.")
        return address.rstrip("/")

    return BeforeValidator(read)


def _is_address(address: str, schemes: Sequence[str]) -> bool:
    if not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(address)
        place = parts.path if parts.scheme == "unix" else parts.hostname
        return parts.scheme in schemes and parts.port != 0 and bool(place)
    except ValueError:
        return False


def listed(example: str) -> BeforeValidator:
    """A list; what stands in it is read item by item."""

    def read(value: object) -> Sequence[object]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"It must be a list, e.g. [{example}].")
        return tuple(dict.fromkeys(value)) if all(isinstance(item, str) for item in value) else value

    return BeforeValidator(read)


def only(*available: object) -> AfterValidator:
    """The values that work today. Another is a feature that is not there yet."""

    def refuse(value: object) -> object:
        if value not in available:
            raise ValueError(f"That is not yet available. Use {either([plain(each) for each in available])}.")
        return value

    return AfterValidator(refuse)


Switch = Annotated[bool, BeforeValidator(_switch)]
Text = Annotated[str, BeforeValidator(_text)]
Label = Annotated[str, BeforeValidator(_label)]
Variable = Annotated[str, BeforeValidator(_variable)]
TimeOfDay = Annotated[str, BeforeValidator(_time_of_day)]
ZoneName = Annotated[str, BeforeValidator(_zone_name)]
Host = Annotated[str, BeforeValidator(_host)]
Accounts = Annotated[tuple[Annotated[str, BeforeValidator(_account)], ...], listed("telegram:123")]
Groups = Annotated[tuple[Annotated[str, BeforeValidator(_group)], ...], listed("telegram:-100200")]
WebAddress = Annotated[str, url("http", "https", example="http://127.0.0.1:8081"), Field(repr=False)]
SocketAddress = Annotated[str, url("ws", "wss", example="ws://127.0.0.1:9000/gw"), Field(repr=False)]
RedisAddress = Annotated[str, url("redis", "rediss", "unix", example="redis://127.0.0.1:6379/0"), Field(repr=False)]


def either(choices: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def plain(value: object) -> str:
    """A value as it would be written in config.yaml."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return str(value) if value != "" else '""'


def shown(value: object) -> str:
    """A value in a message: short, printable, numbers bare, without a token or the password of an address."""
    if value is None:
        return "empty"
    if isinstance(value, Nested):
        return "more than one value"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    text = Redaction()(without_password(str(value)))
    text = "".join(char if char.isprintable() else "�" for char in text)
    text = text if len(text) <= 80 else text[:79] + "…"
    return text if re.fullmatch(r"[+-]?[0-9.]+", text) else f'"{text}"'


def without_password(address: str) -> str:
    """`redis://…@host` for `redis://:password@host`."""
    return re.sub(r"^(\w+://)?.*@", r"\1…@", address, flags=re.DOTALL)
