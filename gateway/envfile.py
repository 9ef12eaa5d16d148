"""`.env` as text: which variables stand in it, and in which line. No disk; what they mean is `settings`."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """What a line sets its variable to."""

    text: str
    line: int


def read(text: str, problems: list[str]) -> dict[str, Said]:
    """`NAME=value` lines, with `export `, quotes and comments as shells know them. No expansion."""
    said = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip().removeprefix("export ").strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            problems.append(f"A line is not NAME=value. (.env, line {number})")  # it may be a lost token
            continue
        said[name] = Said(_unquoted(value), number)
    return said


def _unquoted(value: str) -> str:
    quoted = re.fullmatch(r"""(["'])(.*)\1(?:\s+#.*)?""", value)
    return quoted[2] if quoted else re.sub(r"(^|\s+)#.*", "", value)
