"""The sections of config.yaml, design.md 6.2, default for default.

A field marked `only(…)` refuses what is not there yet: the change that brings it takes the mark away.
How a value is read is `fields`; what the settings mean together, and where they come from, is `settings`.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict

from gateway.fields import (
    Accounts,
    Groups,
    Host,
    Label,
    RedisAddress,
    SocketAddress,
    Switch,
    Text,
    TimeOfDay,
    Variable,
    WebAddress,
    ZoneName,
    decimal,
    listed,
    only,
    whole,
    word,
)

Provider = Literal["auto", "openai", "openrouter", "anthropic", "offline"]
Mode = Literal["polling", "webhook"]
Reset = Literal["none", "idle", "daily", "both"]
Busy = Literal["queue", "interrupt"]
GroupSessions = Literal["shared", "per_person"]
ExternalMemory = Literal["none", "honcho", "mem0"]
Verbosity = Literal["off", "on", "verbose"]
Language = Literal["en", "ja"]
Toolset = Literal["memory", "session_search", "skills"]


class Section(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ModelSettings(Section):
    """The model that chats."""

    provider: Annotated[Provider, word(Provider)] = "auto"
    name: Label = ""
    base_url: WebAddress = ""
    api_key_env: Variable = ""
    context_window: Annotated[int, whole(1_000, 100_000_000, 128_000)] = 128_000
    timeout_seconds: Annotated[float, decimal(0, 86_400, "120")] = 120


class WebhookSettings(Section):
    """Where Telegram calls us in webhook mode; what must be there then is checked in `settings`."""

    url: WebAddress = ""
    port: Annotated[int, whole(1, 65_535, 8443)] = 8443
    secret_env: Variable = "TELEGRAM_WEBHOOK_SECRET"


class TelegramSettings(Section):
    """Telegram; off without a token."""

    token_env: Variable = "TELEGRAM_BOT_TOKEN"
    base_url: WebAddress = ""
    mode: Annotated[Mode, word(Mode)] = "polling"
    webhook: WebhookSettings = WebhookSettings()


class DiscordSettings(Section):
    """Discord; off without a token."""

    token_env: Variable = "DISCORD_BOT_TOKEN"
    base_url: WebAddress = ""
    gateway_url: SocketAddress = ""


class PlatformsSettings(Section):
    """The chat networks."""

    telegram: TelegramSettings = TelegramSettings()
    discord: DiscordSettings = DiscordSettings()


class GroupSettings(Section):
    """Which groups the bot serves."""

    require_mention: Switch = True
    allowed: Groups = ()


class AccessSettings(Section):
    """Who may talk and decide."""

    owners: Accounts = ()
    allowed: Accounts = ()
    pairing: Switch = True
    groups: GroupSettings = GroupSettings()
    daily_turns: Annotated[int, whole(0, 1_000_000, 0)] = 0


class SessionSettings(Section):
    """How long a conversation goes on."""

    reset: Annotated[Reset, word(Reset)] = "none"
    idle_minutes: Annotated[int, whole(1, 525_600, 1440)] = 1440
    daily_at: TimeOfDay = "04:00"
    timezone: ZoneName = ""
    busy: Annotated[Busy, word(Busy)] = "queue"
    groups: Annotated[GroupSessions, word(GroupSessions)] = "shared"
    keep_days: Annotated[int, whole(0, 36_500, 0)] = 0


class MemorySettings(Section):
    """What is remembered, and when it asks first."""

    memory_enabled: Switch = True
    user_profile_enabled: Switch = True
    memory_char_limit: Annotated[int, whole(1, 1_000_000, 2200)] = 2200
    user_char_limit: Annotated[int, whole(1, 1_000_000, 1375)] = 1375
    write_approval: Switch = False
    nudge_interval: Annotated[int, whole(0, 10_000, 10)] = 10
    idle_review_minutes: Annotated[int, whole(0, 525_600, 30)] = 30
    pending_ttl_days: Annotated[int, whole(0, 36_500, 30)] = 30
    provider: Annotated[ExternalMemory, word(ExternalMemory), only("none")] = "none"


class SkillsSettings(Section):
    """Procedures the model can follow."""

    write_approval: Switch = False


class PlatformDisplay(Section):
    """What one platform shows differently; None = as everywhere."""

    memory_notifications: Annotated[Verbosity | None, word(Verbosity)] = None


class DisplayPlatforms(Section):
    """The overrides, by platform."""

    telegram: PlatformDisplay = PlatformDisplay()
    discord: PlatformDisplay = PlatformDisplay()
    terminal: PlatformDisplay = PlatformDisplay()
    web: PlatformDisplay = PlatformDisplay()


class DisplaySettings(Section):
    """What people see."""

    memory_notifications: Annotated[Verbosity, word(Verbosity)] = "on"
    language: Annotated[Language, word(Language)] = "en"
    platforms: DisplayPlatforms = DisplayPlatforms()


class ReviewSettings(Section):
    """The background look at finished turns. Which model that is: `Settings.review_model`."""

    enabled: Switch = True
    provider: Annotated[Provider, word(Provider)] = "auto"
    model: Label = ""
    base_url: WebAddress = ""
    api_key_env: Variable = ""
    daily_tokens: Annotated[int, whole(0, 1_000_000_000, 0)] = 0


class CompressionModelSettings(Section):
    """What writes the summaries. Which model that is: `Settings.compression_model`."""

    provider: Annotated[Provider, word(Provider)] = "auto"
    model: Label = ""
    base_url: WebAddress = ""
    api_key_env: Variable = ""


class AuxiliarySettings(Section):
    """Models for work beside the chat."""

    background_review: ReviewSettings = ReviewSettings()
    compression: CompressionModelSettings = CompressionModelSettings()


class AgentSettings(Section):
    """What the model is told and offered."""

    system_message: Text = ""
    max_tool_rounds: Annotated[int, whole(1, 1_000, 16)] = 16
    disabled_toolsets: Annotated[tuple[Annotated[Toolset, word(Toolset)], ...], listed("memory")] = ()


class CompressionSettings(Section):
    """When a long session is compressed: at this much of the model's window. Off, only `/compress` does it."""

    enabled: Switch = True
    threshold: Annotated[float, decimal(0, 1, "0.5")] = 0.5


class RedisSettings(Section):
    """The workers' doorbell; "" = our own server."""

    url: RedisAddress = ""


class WebSettings(Section):
    """The phone page (its issue is still to come; on by default)."""

    enabled: Switch = True
    host: Host = "127.0.0.1"
    port: Annotated[int, whole(1, 65_535, 8765)] = 8765
    public_url: Annotated[WebAddress, only("")] = ""
    metrics_token_env: Annotated[Variable, only("")] = ""


class BackupsSettings(Section):
    """Copies of the home."""

    keep: Annotated[int, whole(0, 100_000, 7)] = 7


def leaves(section: BaseModel) -> Iterator[tuple[str, object]]:
    """Every setting below a section as (`memory.nudge_interval`, value), in the order of design.md."""
    for name, value in section:
        if isinstance(value, Section):
            yield from ((f"{name}.{below}", leaf) for below, leaf in leaves(value))
        else:
            yield name, value
