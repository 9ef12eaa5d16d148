"""The message catalog: every sentence that a person reads, by key and language.

`text("write.unknown", "en", id=17)` fills the `{id}` of that entry. English is complete; a key that another
language lacks falls back to English. Values are shown as they are: escape people's words before.
"""

from collections.abc import Mapping

from gateway.catalog import en, ja

LANGUAGES = ("en", "ja")

_CATALOGS: Mapping[str, Mapping[str, str]] = {"en": en.SENTENCES, "ja": ja.SENTENCES}


def text(key: str, language: str, /, **values: object) -> str:
    """The sentence for `key` in `language`, with `{name}` filled from `values`. KeyError: no such key."""
    sentence = _CATALOGS.get(language, en.SENTENCES).get(key) or en.SENTENCES[key]
    return sentence.format_map({name: str(value) for name, value in values.items()})


def has(key: str) -> bool:
    """Whether the catalog knows this key."""
    return key in en.SENTENCES
