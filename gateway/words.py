"""The message catalog: every sentence that a person reads, by key and language.

`text("write.unknown", "en", id=17)` fills the `{id}` of that entry. English is complete; a key that another
language lacks falls back to English. Where a language says one thing in other words than several, `KEY_one` stands
beside `KEY`. Values are shown as they are: escape people's words before.

Sentences name commands as they are typed in a chat (`/memory log`). Whoever types `hikae memory log` is told these:
`at_the_prompt(language)` is the same language with commands of that kind, and where the sentence itself is another
there, `KEY_prompt` stands beside `KEY`.
"""

import re
from collections.abc import Mapping

from gateway.catalog import en, ja

LANGUAGES = ("en", "ja")

NAMES: Mapping[str, str] = {"english": "en", "英語": "en", "japanese": "ja", "日本語": "ja"}
"""What people call a language, where it is not its code."""

_CATALOGS: Mapping[str, Mapping[str, str]] = {"en": en.SENTENCES, "ja": ja.SENTENCES}
_COUNTED = ("count", "turns")
"""The value that `KEY_one` looks at: the first of these that there is."""
_PROMPT = "@prompt"
_COMMAND = re.compile(
    r"(?P<code>`?)(?<![\w/])/(?P<name>memory|skills|pair|search|sessions|usage|receipts|forget|export|journey)\b"
    r"(?P<rest>(?: (?:pending|approve|reject|edit|undo|why|log|approval|refresh|tidy|show|list|diff|revoke|code"
    r"|title|delete)\b)?(?: (?:(?:on\|off|on|off|17|NAME|TEXT|WORDS|CODE|PLATFORM:ID|言葉|Bergen|ベルゲン)(?!\w)"
    r"|\[?ID\]?(?:…\|all)?|\[as NAME\]|\{\w+\}))*)(?P=code)"
)
"""A chat command with what follows it, of those that `hikae` has, too."""
_BARE = {"memory": "memory show", "skills": "skills list", "pair": "pair list", "sessions": "sessions list"}
"""What a chat command without a subcommand is called there."""
_ELSEWHERE = {"search": "sessions search"}
"""Chat commands that have another name there."""


def text(key: str, language: str, /, **values: object) -> str:
    """The sentence for `key` in `language`, with `{name}` filled from `values`. KeyError: no such key."""
    spoken, at_prompt, _ = language.partition(_PROMPT)
    catalog = _CATALOGS.get(spoken, en.SENTENCES)
    if key not in catalog:
        catalog = en.SENTENCES
    sentence = catalog[key]
    if _is_one(values):
        sentence = catalog.get(f"{key}_one", sentence)
    if at_prompt:
        sentence = _COMMAND.sub(_as_typed, catalog.get(f"{key}_prompt", sentence))
    return sentence.format_map({name: str(value) for name, value in values.items()})


def at_the_prompt(language: str) -> str:
    """The same language for who reads the answer of a `hikae …` command."""
    return language if language.endswith(_PROMPT) else language + _PROMPT


def has(key: str) -> bool:
    """Whether the catalog knows this key."""
    return key in en.SENTENCES


def spoken(tag: str) -> str:
    """The language of ours that a locale ("en-GB", "ja_JP") or a name ("日本語") means; "" for any other."""
    name = tag.strip().lower()
    code = NAMES.get(name, name.replace("_", "-").partition("-")[0])
    return code if code in LANGUAGES else ""


def _as_typed(found: re.Match[str]) -> str:
    name, rest = _ELSEWHERE.get(found["name"], found["name"]), found["rest"]
    command = f"hikae {name}{rest.replace('as NAME', '--as NAME')}" if rest else f"hikae {_BARE.get(name, name)}"
    return command if " · " in found.string else f"`{command}`"


def _is_one(values: Mapping[str, object]) -> bool:
    return next((str(values[name]) for name in _COUNTED if name in values), "") == "1"
