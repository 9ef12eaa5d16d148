"""`hikae config show|check`: what an operator and a program read."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway import app
from gateway.chat import Person
from gateway.cli import main
from gateway.home import Home
from gateway.memory import asking
from gateway.modelchoice import KEY_VARIABLES
from gateway.sections import leaves
from gateway.settings import VARIABLES, Settings
from gateway.store import people

TOKEN = "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty home that `hikae` finds, and no variable of the machine."""
    for name in (*VARIABLES.values(), *KEY_VARIABLES.values(), "TELEGRAM_BOT_TOKEN", "DISCORD_BOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HIKAE_HOME", str(tmp_path))
    return Home(tmp_path)


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


class Hikae:
    """Runs `hikae …` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Said:
        code = main(list(arguments))
        return Said(code, *self._capsys.readouterr())


@pytest.fixture
def hikae(home: Home, capsys: pytest.CaptureFixture[str]) -> Hikae:
    return Hikae(capsys)


def test_show_names_every_value_with_its_source(home: Home, hikae: Hikae, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first question when something is not as expected: who said so?"""
    home.config.write_text("memory: {nudge_interval: 3}\n")
    home.env_file.write_text(f"TELEGRAM_BOT_TOKEN={TOKEN}\n")
    monkeypatch.setenv("REDIS_URL", "redis://:hunter2@127.0.0.1:6379")

    result = hikae("config", "show", "--json")

    rows = {row["key"]: (row["value"], row["source"]) for row in json.loads(result.out)}
    assert list(rows)[: len(list(leaves(Settings())))] == [key for key, _ in leaves(Settings())]
    assert rows["memory.nudge_interval"] == (3, "config.yaml")
    assert rows["memory.write_approval"] == (False, "default")
    assert rows["redis.url"] == ("redis://…@127.0.0.1:6379", "environment")
    assert rows["TELEGRAM_BOT_TOKEN"] == ("set", ".env")
    assert rows["OPENAI_API_KEY"] == ("not set", "default")
    assert TOKEN not in result.out
    assert (result.code, result.err) == (0, "")


def test_show_is_a_table_for_people(hikae: Hikae) -> None:
    """One line per value, in the words of config.yaml."""
    result = hikae("config", "show")

    lines = [line.split() for line in result.out.splitlines()]
    assert ["memory.write_approval", "false", "default"] in lines
    assert ["model.name", '""', "default"] in lines
    assert ["access.owners", "[]", "default"] in lines


def test_show_names_what_a_chat_command_chose(home: Home, hikae: Hikae) -> None:
    """It goes before config.yaml for its space, so without it the table would be wrong."""
    at = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
    core = app.open_core(home)
    with core.db.write() as tx:
        space = people.ensure_space(tx, "telegram-123", "person", "telegram:123", at)
        asking.choose(tx, space.id, asks=True, by=Person("telegram", "123"), at=at)
    core.close()

    rows = json.loads(hikae("config", "show", "--json").out)

    assert [row for row in rows if row["source"] == "chat command"] == [
        {
            "key": "memory.write_approval",
            "value": True,
            "source": "chat command",
            "space": "telegram-123",
            "by": "telegram:123",
            "at": "2026-11-30T09:00:00+00:00",
        }
    ]
    assert "chat command, space telegram-123" in hikae("config", "show").out


def test_check_says_ok_and_which_model(home: Home, hikae: Hikae) -> None:
    """The same choice that a start makes, with what else it has to say."""
    home.config.write_text("model: {name: some/model}\n")
    home.env_file.write_text("HIKAE_MODEL_NAMES=x\nOPENROUTER_API_KEY=abc\n")

    result = hikae("config", "check")

    assert (result.code, result.out) == (
        0,
        "The configuration is ok.\n"
        "The model is some/model (OPENROUTER_API_KEY is set).\n"
        "HIKAE_MODEL_NAMES is set but means nothing; did you mean HIKAE_MODEL_NAME?\n",
    )
    assert json.loads(hikae("--json", "config", "check").out) == {
        "ok": True,
        "model": {"provider": "openai", "name": "some/model", "why": "OPENROUTER_API_KEY is set"},
        "warnings": ["HIKAE_MODEL_NAMES is set but means nothing; did you mean HIKAE_MODEL_NAME?"],
    }


@pytest.mark.parametrize("command", ["show", "check"])
def test_every_problem_is_printed_and_the_exit_code_is_2(home: Home, hikae: Hikae, command: str) -> None:
    """For people on stderr, for programs as one JSON value on stdout."""
    home.config.write_text("memroy: {}\nmemory: {provider: honcho}\n")
    unknown = 'unknown key "memroy"; did you mean "memory"? (config.yaml, line 1)'
    later = 'memory.provider is "honcho". That is not yet available. Use none. (config.yaml, line 2)'

    plain, as_json = hikae("config", command), hikae("config", command, "--json")

    assert (plain.code, plain.out, plain.err) == (2, "", f"{unknown}\n{later}\n")
    assert (as_json.code, as_json.err) == (2, "")
    assert json.loads(as_json.out) == {"error": {"kind": "ConfigError", "message": f"{unknown}\n{later}"}}


def test_check_finds_a_missing_key_and_show_does_not_mind(home: Home, hikae: Hikae) -> None:
    """Showing needs no model; starting does."""
    home.config.write_text("model: {provider: openai, name: m}\n")

    assert hikae("config", "show").code == 0
    assert (hikae("config", "check").code, "OPENAI_API_KEY is not set" in hikae("config", "check").err) == (
        2,
        True,
    )
