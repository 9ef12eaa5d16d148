"""Models: one file each. `build` makes the one that the settings chose."""

from gateway.ports import Model
from gateway.settings import ModelChoice


def warm_up(choice: ModelChoice) -> None:
    """Load what the model of this choice needs, in a process that forks one for each thought."""
    if choice.provider != "offline":
        from gateway.llm import openai

        openai.warm_up()


def build(choice: ModelChoice) -> Model:
    """The model of this choice. SDKs are imported by the one that is built, none by this module."""
    if choice.provider == "offline":
        from gateway.llm.offline import OfflineModel

        return OfflineModel()
    from gateway.llm.openai import OpenAIModel

    return OpenAIModel(
        choice.name,
        base_url=choice.base_url,
        api_key=choice.api_key,
        timeout_seconds=choice.timeout_seconds,
    )
