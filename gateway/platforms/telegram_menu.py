"""The menu of commands behind Telegram's "/" button, in the language of whoever looks at it."""

from collections.abc import Sequence

from gateway.chat import CommandSpec
from gateway.platforms.telegram_api import TelegramApi

LONGEST_NAME = 32
LONGEST_SUMMARY = 256
LANGUAGES = {"": "en", "ja": "ja"}
"""Telegram's language code and the language shown there; "" is for everybody whose language has no menu."""


async def show(api: TelegramApi, commands: Sequence[CommandSpec]) -> None:
    """Set each menu that differs from what is there; setting all at every start would be flood for nothing."""
    for code, language in LANGUAGES.items():
        wanted = lines(commands, language)
        if wanted and await api.commands(code) != wanted:
            await api.set_commands(wanted, code)


def lines(commands: Sequence[CommandSpec], language: str) -> list[tuple[str, str]]:
    """Name and summary of each command, as far as Telegram has room for them."""
    return [
        (command.name, _shortened(command.summary.get(language) or command.summary["en"]))
        for command in commands
        if len(command.name) <= LONGEST_NAME
    ]


def _shortened(summary: str) -> str:
    return summary if len(summary) <= LONGEST_SUMMARY else summary[: LONGEST_SUMMARY - 1] + "…"
