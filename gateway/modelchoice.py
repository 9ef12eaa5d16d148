"""Which model is asked, and why: what is named, what `auto` finds, what a model beside the chat's takes over.

Pure: tokens are looked up by the function that is handed in (`Settings.secret`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gateway import words
from gateway.errors import ConfigError
from gateway.sections import CompressionModelSettings, ModelSettings, ReviewSettings

Secret = Callable[[str], str]
"""The token in a variable, "" for none."""

Auxiliary = ReviewSettings | CompressionModelSettings
"""What chooses a model for work beside the chat."""

KEY_VARIABLES: Mapping[str, str] = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
}
"""Where each provider's key is by default, in the order in which `auto` looks."""

ADDRESSES: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Where each provider answers."""


@dataclass(frozen=True)
class ModelChoice:
    """Which model to ask, and why that one. `provider`: openai (any compatible endpoint), anthropic or offline."""

    provider: str
    name: str
    why: "Why"
    base_url: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    context_window: int = 128_000
    timeout_seconds: float = 120.0


@dataclass(frozen=True)
class Why:
    """The reason for a choice, for whom it concerns to read in their language."""

    key: str
    """Of the catalog."""
    name: str = ""
    """What it is about: a provider, the variable of a key, or the model."""
    keys: tuple[str, ...] = ()
    """Of an offline model: the variables in which a key was found, ..."""
    wanted: tuple[str, ...] = ()
    """... what is to be set, ..."""
    one_of: tuple[str, ...] = ()
    """... and of what only one, besides."""

    def __str__(self) -> str:
        return self.said("en")

    def said(self, language: str) -> str:
        if self.key != "model.why_offline":
            return words.text(self.key, language, provider=self.name, variable=self.name)
        named = words.text("model.named" if self.name else "model.not_named", language, name=self.name)
        joint = words.text("reset.joint", language)
        found = words.text("model.keys" if self.keys else "model.no_key", language, keys=joint.join(self.keys))
        wanted = [*self.wanted, *([_either(self.one_of, language)] if self.one_of else [])]
        return words.text(self.key, language, named=named, found=found, wanted=joint.join(wanted))


def _either(choices: tuple[str, ...], language: str) -> str:
    """`a`, `a or b`, `a, b or c`."""
    if len(choices) == 1:
        return choices[0]
    first = words.text("cli.and", language).join(choices[:-1])
    return words.text("model.either", language, first=first, last=choices[-1])


def choose(model: ModelSettings, secret: Secret, section: str) -> ModelChoice:
    """The model of these settings, which stand in `section`. Raises ConfigError when it lacks a name or a key."""
    provider, why = _provider(model, secret)
    if provider == "offline":
        return ModelChoice("offline", "offline", why)
    if problems := _problems(model, secret, provider, section):
        raise ConfigError(problems)
    return ModelChoice(
        provider="anthropic" if provider == "anthropic" else "openai",
        name=model.name,
        why=why,
        base_url=model.base_url or ADDRESSES[provider],
        api_key=secret(_key_variable(model, provider)),
        context_window=model.context_window,
        timeout_seconds=model.timeout_seconds,
    )


def _provider(model: ModelSettings, secret: Secret) -> tuple[str, Why]:
    """The provider and the reason: what design.md 6.2 says of `auto`."""
    if model.provider != "auto":
        return model.provider, Why("model.why_provider", model.provider)
    if model.name and model.base_url:
        return "openai", Why("model.why_address")
    for provider, variable in _keys_to_try(model).items():
        if model.name and secret(variable):
            return provider, Why("model.why_key", variable)
    return "offline", _why_offline(model, secret)


def _keys_to_try(model: ModelSettings) -> Mapping[str, str]:
    own = model.api_key_env
    return {name: key for name, key in KEY_VARIABLES.items() if own in ("", key)}


def _why_offline(model: ModelSettings, secret: Secret) -> Why:
    """What `auto` found, and what to set instead."""
    tried = _keys_to_try(model)
    found = tuple(key for key in tried.values() if secret(key))
    needs_key = not model.base_url and not found
    return Why(
        "model.why_offline",
        model.name,
        found,
        wanted=() if model.name else ("model.name",),
        one_of=(tuple(tried.values()) or ("model.provider",)) if needs_key else (),
    )


def _problems(model: ModelSettings, secret: Secret, provider: str, section: str) -> list[str]:
    variable = _key_variable(model, provider)
    problems = []
    if not model.name:
        problems.append(name_missing(provider, section))
    if not secret(variable) and (model.api_key_env or not model.base_url):
        problems.append(
            f"{variable} is not set, and the model needs it ({section}.provider is {provider}). "
            f"Put it into .env, or set {section}.provider to offline."
        )
    return problems


def _key_variable(model: ModelSettings, provider: str) -> str:
    return model.api_key_env or KEY_VARIABLES[provider]


def beside(chat: ModelSettings, own: Auxiliary) -> ModelSettings | None:
    """An auxiliary model: what is left out is the chat's, as long as it is asked at the same place.

    None: it is the chat's itself.
    """
    if own.provider == "auto" and not (own.model or own.base_url or own.api_key_env):
        return None
    at_the_chats = own.provider in ("auto", chat.provider) and not own.base_url
    place = {
        "provider": chat.provider if at_the_chats else own.provider,
        "base_url": chat.base_url if at_the_chats else own.base_url,
        "api_key_env": own.api_key_env or (chat.api_key_env if at_the_chats else ""),
    }
    return chat.model_copy(update={**place, "name": own.model or chat.name})


_NO_MATTER = Why("")


def is_same(one: ModelChoice, other: ModelChoice) -> bool:
    """Whether both ask the same model at the same place for the same account: these share a prompt cache."""
    return replace(one, why=_NO_MATTER) == replace(other, why=_NO_MATTER)


# -- what is wrong with what was set -----------------------------------------------------------------------


def name_missing(provider: str, section: str) -> str:
    """The problem of a provider that is named without a model."""
    name = f"{section}.name" if section == "model" else f"{section}.model"
    return (
        f'{name} is "", and {section}.provider is {provider}. '
        "It must be the name of a model, e.g. anthropic/claude-sonnet-4.5."
    )


def warnings(model: ModelSettings) -> Iterator[str]:
    """What `auto` cannot make use of."""
    if model.provider != "auto" or not model.name or model.base_url:
        return
    if model.api_key_env not in ("", *KEY_VARIABLES.values()):
        yield (
            f"model.api_key_env is {model.api_key_env}, which does not tell whose key it is; "
            "the model is offline. Set model.provider or model.base_url."
        )
