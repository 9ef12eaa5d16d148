"""The calls of Discord's API that we make, in our words.

The SDK and its errors are behind `discord_http`. The other half of the SDK, the websocket, is in `discord_gateway`.
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from discord.http import HTTPClient, Route

from gateway.chat import Attachment, OutgoingMessage
from gateway.errors import Broken, ChatGone, PlatformBusy, WayClosed
from gateway.platforms import discord_http, discord_markup, discord_updates, discord_views
from gateway.platforms.discord_http import AlreadyAcknowledged, Http, MessageGone, TokenRefused, ours
from gateway.platforms.discord_updates import Json, Me

PAGE = 100
"""The most messages that Discord gives at once."""

_PRIVATE = ":private"
_EPHEMERAL, _NO_PREVIEWS, _SILENT = 1 << 6, 1 << 2, 1 << 12
_MODAL, _SUGGESTIONS = 9, 8
_SAY, _DEFER, _DEFER_UPDATE = 4, 5, 6
_LONGEST_NONCE = 25
_NOBODY: Json = {"parse": []}
"""Whom a message may ping: nobody, whatever its words are."""


class DiscordApi:
    """The calls that we make. Raises PlatformBusy, ChatGone, WayClosed, Broken and `discord_http`'s."""

    def __init__(self, token: str, base_url: str) -> None:
        discord_http.quieten()
        self._token = token
        self._base_url = base_url
        self._http: Http | None = None
        self._me = Me("", "", "")

    @property
    def http(self) -> HTTPClient:
        """The SDK's client, for its websocket. Raises PlatformBusy before `connect`."""
        if self._http is None:
            raise PlatformBusy("Discord is not connected yet")
        return self._http

    async def connect(self) -> Me:
        """Say hello. Raises TokenRefused, or PlatformBusy to be tried again."""
        await self.close()
        http = Http(self._base_url)
        try:
            account = await ours(http.static_login(self._token))
            application = await ours(http.request(Route("GET", "/oauth2/applications/@me")))
            self._me = Me(str(account["id"]), str(application["id"]), str(account["username"]))
        except BaseException:
            await http.close()
            raise
        self._http = http
        return self._me

    async def close(self) -> None:
        """The connections; calls that come later are told to come again."""
        http, self._http = self._http, None
        if http is not None:
            await http.close()

    async def send(self, message: OutgoingMessage) -> str:
        """A new message in the chat, or on the way that it must go."""
        if message.via:
            try:
                return await self._follow_up(message)
            except WayClosed:
                if message.via.endswith(_PRIVATE):
                    raise
                # Everybody there may read it: it is said in the chat, like anything else.
        body = _content(message) | {"flags": _NO_PREVIEWS | (_SILENT if message.silent else 0)}
        if message.nonce:
            body |= {"nonce": nonce(message), "enforce_nonce": True}
        route = Route("POST", _MESSAGES, channel_id=discord_updates.channel_of(message.chat))
        if message.file is not None:
            return _id(await self._call(route, form=_form(body, message.file)))
        if not message.reply_to.isdecimal():
            return _id(await self._call(route, json=body))
        try:
            return _id(await self._call(route, json=body | {"message_reference": _reply(message.reply_to)}))
        except Broken:
            # Discord refuses replies to its own notes, and where we may not read what was said.
            return _id(await self._call(route, json=body))

    async def edit(self, message: OutgoingMessage) -> None:
        """Without buttons in `message`, the ones that are there go."""
        body = _content(message) | {"flags": _NO_PREVIEWS}
        if message.via:
            route = Route(
                "PATCH", _WEBHOOK + "/messages/{message_id}", message_id=message.edits, **self._way(message)
            )
            await _on_the_way(self._call(route, json=body))
            return
        place = {"channel_id": discord_updates.channel_of(message.chat), "message_id": message.edits}
        await self._call(Route("PATCH", _MESSAGES + "/{message_id}", **place), json=body)

    async def delete(self, channel: str, message: str) -> bool:
        """Whether the message is not there any more; False for somebody else's that we may not take away."""
        route = Route("DELETE", _MESSAGES + "/{message_id}", channel_id=channel, message_id=message)
        try:
            await self._call(route)
        except MessageGone:
            return True
        except (ChatGone, Broken):
            return False
        return True

    async def show_typing(self, channel: str) -> None:
        await self._call(Route("POST", "/channels/{channel_id}/typing", channel_id=channel))

    async def channel(self, channel: str) -> Json:
        answer: Json = await self._call(Route("GET", "/channels/{channel_id}", channel_id=channel))
        return answer

    async def history(self, channel: str, **bound: str) -> list[Json]:
        """The next messages `after` one or `before` one, or the newest; oldest first, at most PAGE."""
        route = Route("GET", _MESSAGES, channel_id=channel)
        found: list[Json] = await self._call(route, params={**bound, "limit": PAGE})
        return sorted(found, key=lambda message: int(message["id"]))

    async def commands(self) -> Sequence[Json]:
        found: Sequence[Json] = await self._call(
            Route("GET", _COMMANDS, application_id=self._me.application), params={"with_localizations": "true"}
        )
        return found

    async def set_commands(self, menu: Sequence[Json]) -> None:
        await self._call(Route("PUT", _COMMANDS, application_id=self._me.application), json=menu)

    # -- interactions: each must be acknowledged within 3 seconds --------------------------------------

    async def defer(self, interaction: Json, *, private: bool) -> None:
        """ "… is thinking"; only the person sees it, and the first answer, where it is private."""
        await self._acknowledge(interaction, _DEFER, {"flags": _EPHEMERAL} if private else None)

    async def withdraw(self, interaction: Json) -> None:
        """Take "… is thinking" away, where nothing is to be said."""
        way = {"webhook_id": self._me.application, "webhook_token": str(interaction["token"])}
        await self._call(Route("DELETE", _ORIGINAL, **way))

    async def defer_update(self, interaction: Json) -> None:
        """A press is heard; the message stays as it is."""
        await self._acknowledge(interaction, _DEFER_UPDATE, None)

    async def open_dialog(self, interaction: Json, dialog: Json) -> None:
        await self._acknowledge(interaction, _MODAL, dialog)

    async def suggest(self, interaction: Json, choices: Sequence[Json]) -> None:
        await self._acknowledge(interaction, _SUGGESTIONS, {"choices": choices})

    async def answer_privately(self, interaction: Json, words: str) -> None:
        """A toast as the first answer to a press."""
        await self._acknowledge(interaction, _SAY, _toast(words))

    async def toast(self, interaction: Json, words: str) -> None:
        """A toast after the press was acknowledged."""
        way = {"webhook_id": self._me.application, "webhook_token": str(interaction["token"])}
        await self._call(Route("POST", _WEBHOOK, **way), json=_toast(words), params={"wait": "true"})

    async def _acknowledge(self, interaction: Json, kind: int, data: Json | None) -> None:
        way = {"webhook_id": str(interaction["id"]), "webhook_token": str(interaction["token"])}
        route = Route("POST", "/interactions/{webhook_id}/{webhook_token}/callback", **way)
        body = {"type": kind} | ({} if data is None else {"data": data})
        try:
            await self._call(route, json=body)
        except AlreadyAcknowledged:
            return  # an earlier try arrived after all

    async def _follow_up(self, message: OutgoingMessage) -> str:
        """On the interaction only. Its token runs out after 15 minutes.

        The first part takes the place of "… is thinking", however often it is sent: these calls know no nonce.
        """
        body = _content(message) | {"flags": _NO_PREVIEWS}
        if not message.goes_on:
            route = Route("PATCH", _ORIGINAL, **self._way(message))
            with suppress(MessageGone):  # whoever dismissed it asked all the same
                return _id(await _on_the_way(self._call(route, json=body)))
        private = _EPHEMERAL if message.via.endswith(_PRIVATE) else 0
        route = Route("POST", _WEBHOOK, **self._way(message))
        answer = self._call(route, json=body | {"flags": _NO_PREVIEWS | private}, params={"wait": "true"})
        return _id(await _on_the_way(answer))

    def _way(self, message: OutgoingMessage) -> dict[str, str]:
        return {"webhook_id": self._me.application, "webhook_token": message.via.removesuffix(_PRIVATE)}

    async def _call(self, route: Route, **what: Any) -> Any:
        """Any: JSON both ways."""
        return await ours(self.http.request(route, **what))


def way(interaction: Json, *, private: bool) -> str:
    """What a command's answer carries back as `via`: the token, and whether only the person may see it."""
    return str(interaction["token"]) + (_PRIVATE if private else "")


def nonce(message: OutgoingMessage) -> str:
    """The same for each try of a chunk, at most 25 characters; Discord drops a repeat of it for some minutes.

    The chunk's own id is not enough: two homes may have the same bot one after the other, both count from 1, and
    the second one's first message must not be taken for a repeat. So its words and place are in it, as a hash.
    """
    told = f"{message.nonce}\n{message.chat.key}\n{message.text}"
    digest = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()
    return f"{message.nonce}-{digest[:8]}" if len(message.nonce) <= _LONGEST_NONCE - 9 else digest[:_LONGEST_NONCE]


_MESSAGES = "/channels/{channel_id}/messages"
_COMMANDS = "/applications/{application_id}/commands"
_WEBHOOK = "/webhooks/{webhook_id}/{webhook_token}"
_ORIGINAL = _WEBHOOK + "/messages/@original"


def _content(message: OutgoingMessage) -> dict[str, Any]:
    return {
        "content": discord_markup.shown(message.text),
        "components": discord_views.rows(message.buttons),
        "allowed_mentions": _NOBODY,
    }


def _form(body: dict[str, Any], file: Attachment) -> list[dict[str, Any]]:
    """A message with a file: several parts, made anew by the SDK for each try."""
    content = {"name": "files[0]", "value": file.content, "filename": file.name, "content_type": _ANY_BYTES}
    return [{"name": "payload_json", "value": json.dumps(body)}, content]


_ANY_BYTES = "application/octet-stream"


def _reply(message: str) -> dict[str, Any]:
    return {"message_id": message, "fail_if_not_exists": False}


def _toast(words: str) -> dict[str, Any]:
    content = discord_markup.clip(discord_markup.shown(words), discord_markup.LONGEST)
    return {"content": content, "flags": _EPHEMERAL, "allowed_mentions": _NOBODY}


def _id(answer: Any) -> str:
    return str(answer["id"])


async def _on_the_way(call: Any) -> Any:
    """A call on an interaction's token: whatever is wrong with the token, there is no other way."""
    try:
        return await call
    except (TokenRefused, ChatGone):
        raise WayClosed("the time to answer this command has run out") from None
