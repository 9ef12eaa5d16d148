"""The message catalog: every sentence that a person reads, by key and language.

`text("write.unknown", "en", id=17)` fills the `{id}` of that entry. English is complete; a key that another
language lacks falls back to English. Where a language says one thing in other words than several, `KEY_one` stands
beside `KEY`. Values are shown as they are: escape people's words before.
"""

from collections.abc import Mapping

from gateway.catalog import en, ja

LANGUAGES = ("en", "ja")

NAMES: Mapping[str, str] = {"english": "en", "英語": "en", "japanese": "ja", "日本語": "ja"}
"""What people call a language, where it is not its code."""

_CATALOGS: Mapping[str, Mapping[str, str]] = {"en": en.SENTENCES, "ja": ja.SENTENCES}
_COUNTED = ("count", "turns")
"""The value that `KEY_one` looks at: the first of these that there is."""


def text(key: str, language: str, /, **values: object) -> str:
    """The sentence for `key` in `language`, with `{name}` filled from `values`. KeyError: no such key."""
    catalog = _CATALOGS.get(language, en.SENTENCES)
    if key not in catalog:
        catalog = en.SENTENCES
    sentence = catalog[key]
    if _is_one(values):
        sentence = catalog.get(f"{key}_one", sentence)
    return sentence.format_map({name: str(value) for name, value in values.items()})


def has(key: str) -> bool:
    """Whether the catalog knows this key."""
    return key in en.SENTENCES


def spoken(tag: str) -> str:
    """The language of ours that a locale ("en-GB", "ja_JP") or a name ("日本語") means; "" for any other."""
    name = tag.strip().lower()
    code = NAMES.get(name, name.replace("_", "-").partition("-")[0])
    return code if code in LANGUAGES else ""


def _is_one(values: Mapping[str, object]) -> bool:
    return next((str(values[name]) for name in _COUNTED if name in values), "") == "1"
