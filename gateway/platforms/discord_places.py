"""Which server and which parent channel a channel has: Discord's messages do not say.

Learnt from events where they tell, asked for once where they did not.
"""

from gateway.platforms import discord_updates
from gateway.platforms.discord_api import DiscordApi
from gateway.platforms.discord_updates import Json, Place


class Places:
    """The places of the channels that the bot has heard of, for one run."""

    def __init__(self, api: DiscordApi) -> None:
        self._api = api
        self._known: dict[str, Place] = {}

    def learn(self, event: str, data: Json) -> None:
        """From what Discord tells about servers, channels and threads; other events say nothing."""
        match event:
            case "GUILD_CREATE":
                for channel in [*data.get("channels", ()), *data.get("threads", ())]:
                    self._known[str(channel["id"])] = discord_updates.place(channel, str(data["id"]))
            case "CHANNEL_CREATE" | "THREAD_CREATE":
                self._known[str(data["id"])] = discord_updates.place(data)
            case "CHANNEL_DELETE" | "THREAD_DELETE":
                self._known.pop(str(data["id"]), None)
            case _:
                pass

    async def of_live(self, message: Json) -> Place:
        """Of a message that came as an event: only those of servers name one, and only there are threads."""
        return await self.of(message) if message.get("guild_id") else Place()

    async def of(self, message: Json) -> Place:
        """Of any message. Raises what asking Discord raises."""
        channel = str(message["channel_id"])
        if channel not in self._known:
            server = str(message.get("guild_id") or "")
            self._known[channel] = discord_updates.place(await self._api.channel(channel), server)
        return self._known[channel]
