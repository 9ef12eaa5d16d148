"""Something to say whose language is not known yet: a key of the catalog and its values."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway import words
from gateway.modelchoice import Why


@dataclass(frozen=True, slots=True)
class Sentence:
    """JSON has it in English, people in their language."""

    key: str
    values: Mapping[str, object] = field(default_factory=dict)

    def said(self, language: str) -> str:
        return words.text(self.key, language, **{name: _in(value, language) for name, value in self.values.items()})


def _in(value: object, language: str) -> object:
    return value.said(language) if isinstance(value, Sentence | Why) else value


def sentence(key: str, /, **values: object) -> Sentence:
    return Sentence(key, values)
