"""What an import makes of another bot's settings and skills, from their texts alone."""

import pytest

from gateway.memory import imports, imports_hermes, imports_settings
from gateway.memory.imports import Item, Kind, Report, Verdict
from gateway.settings import Settings
from gateway.skills import catalog


def mapped(text: str) -> dict[str, object]:
    return dict(imports_settings.read(text).settings)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("model: gpt-5-mini", {"model.name": "gpt-5-mini"}),
        ("model: {default: a/b, provider: anthropic}", {"model.name": "a/b", "model.provider": "anthropic"}),
        (
            "model: {model: llama, provider: ollama, base_url: 'http://127.0.0.1:11434/v1'}",
            {"model.name": "llama", "model.base_url": "http://127.0.0.1:11434/v1", "model.provider": "openai"},
        ),
        ("model: {default: x, provider: nous}", {"model.name": "x"}),
        ("memory: {memory_char_limit: lots}", {}),
        ("memory: {memory_enabled: off}", {"memory.memory_enabled": "off"}),
        ("memory: {provider: ''}", {"memory.provider": "none"}),
        ("agent: {max_turns: 90}", {"agent.max_tool_rounds": "90"}),
        ("display: {language: zh}", {}),
        ("memory: {memory_char_limit: {a: 1}}", {}),
    ],
)
def test_a_setting_is_mapped_where_a_start_of_ours_would_take_it(text: str, settings: dict[str, object]) -> None:
    """Else it is in the report, with why not."""
    assert mapped(text) == settings


def test_the_lines_are_settings_of_ours() -> None:
    """A person copies them; quotes where YAML wants them."""
    names = {"model.name": 'a: "b"', "memory.memory_char_limit": "4400", "session.daily_at": "04:00"}

    assert imports.lines_of(names) == (
        'model:\n  name: "a: \\"b\\""\nmemory:\n  memory_char_limit: 4400\nsession:\n  daily_at: "04:00"'
    )
    Settings.model_validate({"memory": {"memory_char_limit": "4400"}})


@pytest.mark.parametrize("name", ["api_key", "token", "bot_token", "OPENAI_API_KEY", "password"])
def test_a_key_is_named_and_never_shown(name: str) -> None:
    """Not even one that we would have no use for."""
    (item,) = imports_settings.read(f"{name}: hunter2").items

    assert (item.name, item.reason) == (name, "import.setting_secret")
    assert "hunter2" not in repr(item)


def test_a_bomb_of_aliases_is_no_work() -> None:
    """Nine levels of nine would be half a billion."""
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))

    assert len(imports_settings.read(bomb + "memory: *a9\n").items) == 11


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: printer\ndescription: How.\n---\n1. Off.\n",
        "# Printer\n1. Off.\n",
        "---\nname: Printer!\ndescription: a: b\n---\n1. Off.\n",
        '---\nname: printer\ndescription: "' + "x" * 2000 + '"\n---\n1. Off.\n',
        "---\nname: printer\n---\n\n1. Off.\n",
        '---\nname: printer\ndescription: say "hi" \\ there\n  and more: x\n---\n1. Off.\n',
    ],
)
def test_a_skill_that_is_fitted_may_stand_here(text: str) -> None:
    """Whatever its front matter was; the procedure is as it was."""
    fitted = imports_hermes.fit("printer", text)

    assert catalog.why_not("printer", fitted) == ""
    assert fitted.endswith("1. Off.\n")


def test_a_skill_that_may_stand_as_it_is_is_not_touched() -> None:
    """With the keys that we know nothing of."""
    text = "---\nname: printer\ndescription: How.\nversion: 1.2.0\nmetadata: {a: [b]}\n---\n1. Off.\n"

    assert imports_hermes.fit("printer", text) == text


def test_settings_alone_are_no_news() -> None:
    """They are shown each time, and never brought: nobody should be asked for ever."""
    setting = Item(Kind.SETTING, "model", Verdict.NEW)
    entry = Item(Kind.MEMORY, "Has a cat", Verdict.NEW)

    assert not Report((setting,)).is_news
    assert Report((setting, entry)).is_news
    assert Report((entry,)).count(Kind.MEMORY, Verdict.NEW) == 1
