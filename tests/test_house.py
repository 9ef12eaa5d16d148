"""The house itself: format, lint, types, import rules, and the promises that files make about each other."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gateway import words
from gateway.conversation import commands
from gateway.records import Action, Target

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("ruff", "format", "--check", "--quiet", "."), id="format"),
        pytest.param(("ruff", "check", "--quiet", "."), id="lint"),
        pytest.param(("mypy",), id="types"),
        pytest.param(("importlinter.cli", "lint-imports"), id="imports"),
    ],
)
def test_the_code_is_kept_in_order(command: tuple[str, ...]) -> None:
    """One command checks everything, so the tools run here."""
    runner = (sys.executable, "-c", _LINT_IMPORTS) if command[0] == "importlinter.cli" else _module(command)
    done = subprocess.run(runner, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


_LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def _module(command: tuple[str, ...]) -> tuple[str, ...]:
    return (sys.executable, "-m", *command)


def test_every_room_of_the_house_knows_only_what_it_may() -> None:
    """SQL stays in store/, the environment in settings, Redis names out of the conversation."""
    offenders = [
        f"{path.relative_to(ROOT)}: {found.group(0)!r}"
        for path in _sources()
        for pattern, allowed in _ONLY_HERE
        if not str(path.relative_to(ROOT)).startswith(allowed)
        for found in [re.search(pattern, path.read_text(encoding="utf-8"))]
        if found
    ]

    assert offenders == []


_ONLY_HERE: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r'execute\(\s*"""?\s*(SELECT|INSERT|UPDATE|DELETE)', ("gateway/store/",)),
    (r"\bos\.environ\b|\bgetenv\(", ("gateway/settings.py",)),
    (r"\.write_text\(|\.write_bytes\(|os\.replace\(", ("gateway/store/",)),
    (
        r"except Exception",
        (
            "gateway/conversation/lanes.py",
            "gateway/conversation/delivery.py",
            "gateway/housekeeping.py",
            "gateway/platforms/",
            "workers/runtime.py",
        ),
    ),
)


def _sources() -> list[Path]:
    return sorted(path for room in ("gateway", "workers") for path in (ROOT / room).rglob("*.py"))


def test_the_readme_has_exactly_two_commands_and_ci_runs_the_second() -> None:
    """A newcomer copies two lines; CI copies the second from the same place."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    marked = re.findall(r"<!-- command: (\w+) -->\n```\n(.+)\n```", readme)

    shown = subprocess.run(("bash", ".ci/run", "--show"), cwd=ROOT, capture_output=True, text=True, check=True)

    assert [name for name, _ in marked] == ["start", "test"]
    assert shown.stdout.strip() == marked[1][1]


def test_every_command_has_a_line_in_help() -> None:
    """Help, the Telegram menu and the table of commands are one."""
    missing = [name for name in commands.TABLE if not words.has(f"help.{name}")]

    assert missing == []


def test_every_sentence_that_is_said_is_in_the_catalog() -> None:
    """A key that is missing would be an error in the middle of a chat."""
    said = {key for source in _texts() for key in re.findall(_SAYS, source)}
    made = {f"what.{action}" for action in Action} | {f"memory.{target}" for target in Target}

    assert sorted(key for key in said | made if not (words.has(key) or key in commands.VIEWS)) == []


def test_no_sentence_of_the_catalog_is_left_over() -> None:
    """Whoever translates should not translate what nobody hears."""
    everything = "\n".join(_texts())
    made = tuple(set(re.findall(r'f"([a-z_]+\.[a-z_]*)\{', everything)))
    keys = re.findall(
        r'^    "([a-z_]+\.[a-z0-9_]+)":', (ROOT / "gateway/catalog/en.py").read_text("utf-8"), re.MULTILINE
    )

    assert keys
    assert [key for key in keys if not key.startswith(made) and not _is_said(key, everything)] == []


def _is_said(key: str, everything: str) -> bool:
    """`KEY_one` and `KEY_prompt` are said with `KEY` (see `words`)."""
    whole = key.removesuffix("_one").removesuffix("_prompt")
    return f'"{key}"' in everything or (whole != key and words.has(whole) and f'"{whole}"' in everything)


_SAYS = (
    r"(?:words\.text|say|Said|Refused|NotAllowed|NotFound|AlreadyDecided|Unreadable|Unwritable)"
    r'\(\s*"([a-z_]+\.[a-z0-9_]+)"'
)


def _texts() -> list[str]:
    return [path.read_text("utf-8") for path in _sources() if path.parent.name != "catalog"]


def test_every_test_that_the_list_of_known_faults_names_is_there() -> None:
    """A proof that was renamed or deleted is none."""
    listed = (ROOT / "docs" / "known-faults.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", listed)
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).is_file() or not re.search(rf"def {name}\(", (ROOT / path).read_text(encoding="utf-8"))
    ]

    assert len(named) > 100
    assert missing == []
    assert "??" not in listed


def test_no_file_names_a_package_registry() -> None:
    """Where packages come from is the machine's business."""
    hosts = re.compile(
        "|".join(("py" + "pi\\.org", "python" + "hosted", "registry\\.npm" + "js", "deb\\.deb" + "ian"))
    )
    tracked = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, check=False).stdout
    files = [ROOT / name for name in tracked.decode().split("\0") if name]
    naming = [str(path) for path in files if path.is_file() and hosts.search(path.read_text("utf-8", "replace"))]

    assert naming == []


def test_what_tests_read_of_the_bot_api_is_json() -> None:
    """The description that the fake validates against is the copy in this tree."""
    described = json.loads((ROOT / "tests" / "fakes" / "telegram-bot-api.json").read_text(encoding="utf-8"))

    assert "sendMessage" in described["methods"]
