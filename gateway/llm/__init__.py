"""Models: one file each. `build` makes the one that the settings chose."""

from gateway.modelchoice import ModelChoice
from gateway.ports import Model


def warm_up(choice: ModelChoice) -> None:
    """Load what the model of this choice needs, in a process that forks one for each thought."""
    match choice.provider:
        case "openai":
            from gateway.llm import openai

            openai.warm_up()
        case "anthropic":
            from gateway.llm import anthropic

            anthropic.warm_up()


def build(choice: ModelChoice) -> Model:
    """The model of this choice. SDKs are imported by the one that is built, none by this module."""
    if choice.provider == "offline":
        from gateway.llm.offline import OfflineModel

        return OfflineModel()
    where = {"base_url": choice.base_url, "api_key": choice.api_key}
    if choice.provider == "anthropic":
        from gateway.llm.anthropic import AnthropicModel

        return AnthropicModel(choice.name, **where, timeout_seconds=choice.timeout_seconds)
    from gateway.llm.openai import OpenAIModel

    return OpenAIModel(choice.name, **where, timeout_seconds=choice.timeout_seconds)
