"""`hikae config`: what is set and by whom, and whether it can be started with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click

from gateway import app, fields, sections, settings, words
from gateway.cli import Group, Options, emit, json_option
from gateway.cli.cells import cells, pad
from gateway.home import Home
from gateway.modelchoice import ModelChoice
from gateway.records import Choice
from gateway.settings import Loaded
from gateway.store import choices, people


@dataclass(frozen=True)
class Checked:
    """A configuration that can be started with."""

    model: ModelChoice
    warnings: tuple[str, ...]
    language: str = "en"


def show(loaded: Loaded, chosen: Sequence[tuple[str, Choice]] = ()) -> list[dict[str, object]]:
    """Every setting with its source; then what chat commands chose, by space; then tokens, set or not set."""
    rows: list[dict[str, object]] = [
        {"key": key, "value": _public(key, value), "source": loaded.sources[key]}
        for key, value in sections.leaves(loaded.settings)
    ]
    for space, choice in chosen:
        value = {"on": True, "off": False}.get(choice.value, choice.value)
        row = {"key": choice.key, "value": value, "source": "chat command", "space": space, "by": choice.by}
        rows.append({**row, "at": choice.at.isoformat()})
    for name in loaded.settings.secret_names():
        source = loaded.settings.secret_source(name)
        rows.append({"key": name, "value": "set" if source else "not set", "source": source or "default"})
    return rows


def _public(key: str, value: object) -> object:
    """The value, an address without the password that it may hold."""
    return fields.without_password(str(value)) if key.endswith("url") else value


def check(home: Home) -> Checked:
    """Load everything and choose the models as a start would. Raises ConfigError with every problem."""
    loaded = settings.load(home)
    loaded.settings.review_model()
    loaded.settings.compression_model()
    return Checked(loaded.settings.chat_model(), loaded.warnings, loaded.settings.display.language)


config = Group("config", help="What is set, where it comes from, and whether it is right.")


@config.command("show")
@json_option
@click.pass_obj
def _show(options: Options) -> None:
    """Each value with its source; tokens only as set or not set."""
    loaded = settings.load(options.home)
    rows = show(loaded, _chosen(options.home))
    if options.json:
        emit(rows)
    else:
        click.echo("\n".join(_table(rows, loaded.settings.display.language)))


@config.command("check")
@json_option
@click.pass_obj
def _check(options: Options) -> None:
    """Whether the bot can be started with it; else every problem at once."""
    checked = check(options.home)
    if options.json:
        emit(_as_data(checked))
    else:
        click.echo("\n".join(_sentences(checked)))


def _chosen(home: Home) -> list[tuple[str, Choice]]:
    """What chat commands set, with the name of the space. Looking makes no database where there is none."""
    if not home.state_db.exists():
        return []
    core = app.open_core(home)
    try:
        with core.db.read() as rd:
            names = {space.id: space.name for space in people.spaces(rd)}
            return [(names[choice.space], choice) for choice in choices.all(rd, None)]
    finally:
        core.close()


def _table(rows: list[dict[str, object]], language: str) -> Iterator[str]:
    shown = [(str(row["key"]), _cell(row["value"]), _source(row, language)) for row in rows]
    key_width = max(cells(key) for key, _, _ in shown)
    value_width = min(40, max(cells(value) for _, value, _ in shown))
    for key, value, source in shown:
        yield f"{pad(key, key_width)}  {pad(value, value_width)}  {source}"


def _source(row: dict[str, object], language: str) -> str:
    if "space" not in row:
        return str(row["source"])
    return words.text("config.source_space", language, source=row["source"], space=row["space"])


def _cell(value: object) -> str:
    return "-" if value is None else fields.plain(value).replace("\n", "\\n")


def _as_data(checked: Checked) -> dict[str, object]:
    model = {"provider": checked.model.provider, "name": checked.model.name, "why": str(checked.model.why)}
    return {"ok": True, "model": model, "warnings": list(checked.warnings)}


def _sentences(checked: Checked) -> Iterator[str]:
    language = checked.language
    yield words.text("config.ok", language)
    yield words.text("config.model", language, model=checked.model.name, why=checked.model.why.said(language))
    yield from checked.warnings
