"""Buttons, and the dialog that some of them open, as Discord's components. Pure.

Everything that a press needs later is in the button's `custom_id`, so a card survives any restart.
"""

from typing import Any

from gateway.chat import Button, Dialog, Tap
from gateway.platforms import discord_commands, discord_updates, text
from gateway.platforms.discord_markup import clip
from gateway.platforms.discord_updates import Json

TAP, ASK, ANSWER = "tap/", "ask/", "answer/"
"""What a `custom_id` begins with; the button's data follow."""

_ROW, _BUTTON, _TEXT_INPUT, _LABEL = 1, 2, 4, 18
_GREY = 2
_PARAGRAPH = 2
_MOST_IN_A_ROW, _MOST_ROWS = 5, 5
_LONGEST_TITLE = 45
_LONGEST_LABEL = 80
_LONGEST_ANSWER = 4000


def rows(buttons: tuple[tuple[Button, ...], ...]) -> list[dict[str, Any]]:
    """The rows of buttons; [] takes away those that are there. Any: it is JSON."""
    cut = [row[at : at + _MOST_IN_A_ROW] for row in buttons for at in range(0, len(row), _MOST_IN_A_ROW)]
    return [{"type": _ROW, "components": [_button(one) for one in row]} for row in cut[:_MOST_ROWS]]


def dialog(dialog: Dialog, data: str) -> dict[str, Any]:
    """The dialog that asks for text, for the button with these data."""
    field = {
        "type": _TEXT_INPUT,
        "custom_id": "text",
        "style": _PARAGRAPH,
        "value": clip(dialog.text, _LONGEST_ANSWER) if dialog.text else None,
        "required": True,
        "max_length": _LONGEST_ANSWER,
    }
    return {
        "custom_id": ANSWER + data,
        "title": clip(dialog.title, _LONGEST_TITLE),
        "components": [{"type": _LABEL, "label": clip(dialog.label, _LONGEST_TITLE), "component": field}],
    }


def tap(interaction: Json) -> Tap | None:
    """A press on one of our buttons or an answered dialog; None for a component that is not ours."""
    kind, slash, data = str(interaction["data"]["custom_id"]).partition("/")
    if kind + slash not in (TAP, ASK, ANSWER):
        return None
    where = discord_updates.place(interaction.get("channel") or {}, discord_commands.server(interaction))
    return Tap(
        chat=discord_updates.chat(str(interaction["channel_id"]), where),
        person=discord_updates.person(discord_commands.who(interaction)["id"]),
        id=str(interaction["id"]),
        data=text.clean(data),
        at=discord_updates.said_at(str(interaction["id"])),
        message_id=str((interaction.get("message") or {}).get("id") or ""),
        text=_typed(interaction["data"]),
    )


def asks(interaction: Json) -> bool:
    """Whether a press wants a dialog first."""
    return str(interaction["data"]["custom_id"]).startswith(ASK)


def _button(button: Button) -> dict[str, Any]:
    return {
        "type": _BUTTON,
        "style": _GREY,
        "label": clip(button.label, _LONGEST_LABEL),
        "custom_id": (ASK if button.asks else TAP) + button.data,
    }


def _typed(data: Json) -> str:
    """What stands in the dialog's field; the field is in a row or under a label."""
    for row in data.get("components") or ():
        for field in [*(row.get("components") or ()), *([row["component"]] if row.get("component") else ())]:
            if field.get("value"):
                return text.clean(str(field["value"]))
    return ""
