"""A Telegram on loopback: real HTTP, real long polls, and people who write and tap when a test says so.

    with FakeTelegram() as telegram:
        platform = TelegramPlatform(telegram.token, telegram.url, clock)
        ...
        telegram.says(123, "hello")
        await telegram.wait_for(lambda: telegram.sent)

It runs in a thread of its own, so async tests, plain tests and tests with real processes use it alike.
Every call is checked against the published description of the Bot API (`telegram_rules`); what breaks a rule
is answered with 400, kept in `violations`, and fails the test when the `with` block ends.
"""

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self, TypeVar

from aiohttp import web

from tests.fakes import telegram_rules, telegram_webhook
from tests.fakes.telegram_rules import Wrong

T = TypeVar("T")

TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
BOT_ID = 110201543
BOT_NAME = "hikae_test_bot"
FIRST_UPDATE = 700_000
THE_PAST = int(time.time()) - 3600
"""When the first message is said, in Unix time: of late. Each next update is a second later."""


@dataclass(frozen=True)
class Shown:
    """One message that the bot sent, or one change of it, as the chat saw it at that moment."""

    chat: int
    message_id: int
    text: str
    buttons: tuple[tuple[tuple[str, str], ...], ...] = ()
    """Rows of (label, data)."""
    entities: tuple[tuple[str, int, int], ...] = ()
    """(type, offset, length)"""
    thread: int | None = None
    reply_to: int | None = None
    silent: bool = False
    edited: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """What stands on its buttons, in reading order."""
        return tuple(label for row in self.buttons for label, _ in row)


@dataclass(frozen=True)
class Call:
    """One call of a method, as it arrived."""

    method: str
    parameters: dict[str, Any]
    at: float
    """Seconds, monotonic."""


@dataclass
class _Failure:
    """An answer that replaces the next `times` of a method."""

    status: int = 0
    """0 for a connection that goes dead: `after` says whether the call still took effect."""
    body: bytes = b""
    after: bool = False
    silent: bool = False
    """Accept the call and never answer."""
    drips: bool = False
    """With `silent`: a byte now and then."""
    times: int = 1


@dataclass
class FakeTelegram:
    """See the module."""

    token: str = TOKEN
    username: str = BOT_NAME
    port: int = 0
    sent: list[Shown] = field(default_factory=list)
    """Everything the bot did to what people see, in order: new messages and changes of them."""
    calls: list[Call] = field(default_factory=list)
    toasts: dict[str, str] = field(default_factory=dict)
    """Acknowledged taps by callback id."""
    typing: list[int] = field(default_factory=list)
    """Chats in which "typing…" was shown."""
    menus: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """The commands behind the "/" button by language code; "" for everybody else."""
    webhook: dict[str, Any] = field(default_factory=dict)
    """What setWebhook said; {} while there is none."""
    webhook_answers: list[int] = field(default_factory=list)
    """The status of each call of the webhook, 0 where nobody answered."""
    violations: list[str] = field(default_factory=list)
    files: list[tuple[int, str, bytes]] = field(default_factory=list)
    """Every file that the bot sent: chat, name, content."""
    administered: set[int] = field(default_factory=set)
    """Groups in which the bot may delete what others write."""
    polls_at_once: int = 0
    """The most getUpdates calls that were ever open at the same time."""

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._updates: list[dict[str, Any]] = []
        self._next_update = FIRST_UPDATE
        self._next_message: dict[int, int] = {}
        self._messages: dict[tuple[int, int], dict[str, Any]] = {}
        self._chats: dict[int, dict[str, Any]] = {}
        self._blocked: set[int] = set()
        self._uploads: dict[str, tuple[str, bytes]] = {}
        self._too_old: set[tuple[int, int]] = set()
        self._open_taps: set[str] = set()
        self._topics: set[tuple[int, int]] = set()
        self._moved: dict[int, int] = {}
        self._failures: dict[str, list[_Failure]] = {}
        self._polls: list[asyncio.Future[None]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="fake-telegram", daemon=True)
        self._rules = telegram_rules.load()

    # -- life ----------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if error is None and self.violations:
            raise AssertionError("the Bot API was misused: " + "; ".join(self.violations))

    @property
    def url(self) -> str:
        """What HIKAE_TELEGRAM_BASE_URL takes."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Listen; returns once calls are answered."""
        self._thread.start()
        self.wait_until(lambda: self.port)

    def stop(self) -> None:
        """Close every connection and the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        application = web.Application()
        application.router.add_route("*", "/bot{token}/{method}", self._answer)
        # A poller that hangs up is noticed at once, as a real server would.
        runner = web.AppRunner(application, handler_cancellation=True, access_log=None, shutdown_timeout=0)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        self._loop.run_until_complete(site.start())
        self._tell(lambda: setattr(self, "port", runner.addresses[0][1]))
        calling = self._loop.create_task(telegram_webhook.call(self))
        self._loop.run_forever()
        calling.cancel()
        self._loop.run_until_complete(asyncio.wait((calling,)))
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    # -- people --------------------------------------------------------------------------------------

    def says(
        self,
        person: int,
        text: str | None = None,
        *,
        chat: int | None = None,
        reply_to: int | Shown | None = None,
        thread: int | None = None,
        language: str = "en",
        **fields: Any,
    ) -> int:
        """A person writes in their private chat, or in group `chat`; returns the message's id.

        `fields` are further fields of the Bot API's Message: photo, caption, forward_origin, …
        """
        message = self._new_message(chat or person, self._person(person, language), fields)
        if text is not None:
            message |= {"text": text, "entities": self._entities(text)}
        if thread is not None:
            self.has_topic(message["chat"]["id"], thread)
            message |= {"message_thread_id": thread, "is_topic_message": True}
        if reply_to is not None:
            message["reply_to_message"] = self._original(message["chat"]["id"], reply_to)
        self.update(message=message)
        return int(message["message_id"])

    def edits(
        self, person: int, message: int, text: str | None = None, *, chat: int | None = None, **fields: Any
    ) -> None:
        """A person changes what they wrote."""
        changed = self._messages[chat or person, message]
        changed |= {"edit_date": changed["date"] + 60, **fields}
        if text is not None:
            changed |= {"text": text, "entities": self._entities(text)}
        self.update(edited_message=changed)

    def sends_album(self, person: int, album: str, captions: list[str], *, chat: int | None = None) -> list[int]:
        """A person sends several photos at once; returns the messages' ids."""
        sent = []
        for caption in captions:
            fields: dict[str, Any] = {"caption": caption} if caption else {}
            sent.append(self.says(person, chat=chat, photo=PHOTO, media_group_id=album, **fields))
        return sent

    def has_topic(self, chat: int, thread: int) -> None:
        """A topic with this number is open there."""
        if chat < 0:
            self._chat(chat)["is_forum"] = True
        self._tell(lambda: self._topics.add((chat, thread)))

    def loses_topic(self, chat: int, thread: int) -> None:
        """The topic is deleted."""
        self._tell(lambda: self._topics.discard((chat, thread)))

    def migrates(self, group: int, to: int, *, by: int) -> None:
        """A group becomes a supergroup: both say so, and the old one takes nothing any more."""
        self._tell(lambda: self._moved.__setitem__(group, to))
        who = self._person(by, "en")
        self.update(message=self._new_message(group, who, {"migrate_to_chat_id": to}))
        self.update(message=self._new_message(to, who, {"migrate_from_chat_id": group}))

    def taps(self, person: int, message: int | Shown, label: str, *, chat: int | None = None) -> str:
        """A person presses the button with this label; returns the id of the press."""
        chat_id = message.chat if isinstance(message, Shown) else chat or person
        shown = self._messages[chat_id, _message_id(message)]
        data = next(
            button["callback_data"]
            for row in shown["reply_markup"]["inline_keyboard"]
            for button in row
            if button["text"] == label
        )
        return self.press(person, shown, data)

    def press(self, person: int, message: dict[str, Any] | None, data: str) -> str:
        """A press that carries this data, on any message."""
        with self._changed:
            tap = str(5_000_000_000 + self._next_update)
            self._open_taps.add(tap)
        query = {"id": tap, "from": self._person(person, "en"), "chat_instance": "1", "data": data}
        self.update(callback_query=query | ({"message": message} if message else {}))
        return tap

    def update(self, **content: Any) -> int:
        """Any update at all; returns its id."""
        with self._changed:
            number, self._next_update = self._next_update, self._next_update + 1
            self._updates.append({"update_id": number, **content})
            self._changed.notify_all()
        self._loop.call_soon_threadsafe(self._wake_polls)
        return number

    def number_anew(self, first: int) -> None:
        """Go on with update ids from here, as Telegram does after a quiet week."""
        self._tell(lambda: setattr(self, "_next_update", first))

    def blocks(self, person: int) -> None:
        """From now on the bot may not write to this person."""
        self._tell(lambda: self._blocked.add(person))

    def grows_old(self, chat: int, message: int) -> None:
        """More than 48 hours have passed for this message."""
        self._tell(lambda: self._too_old.add((chat, message)))

    def deletes(self, chat: int, message: int) -> None:
        """Somebody deletes a message."""
        self._tell(lambda: self._messages.pop((chat, message)))

    def knows(self, chat: int) -> None:
        """The bot may write to this chat although nobody has said anything yet."""
        self._tell(lambda: self._chat(chat))

    # -- trouble -------------------------------------------------------------------------------------

    def fail(
        self,
        method: str,
        status: int,
        *,
        description: str = "",
        retry_after: float | None = None,
        times: int = 1,
        body: bytes | None = None,
    ) -> None:
        """Answer the next calls of `method` with this status; `body` is sent as it is (HTML, half a JSON)."""
        answer: dict[str, Any] = {"ok": False, "error_code": status, "description": description or "Oops"}
        if retry_after is not None:
            answer["parameters"] = {"retry_after": retry_after}
        payload = json.dumps(answer).encode() if body is None else body
        self._arm(method, _Failure(status=status, body=payload, times=times))

    def drop(self, method: str, *, times: int = 1) -> None:
        """Hang up on the next calls before they take effect."""
        self._arm(method, _Failure(times=times))

    def drop_after_accept(self, method: str, *, times: int = 1) -> None:
        """The next calls take effect, but the connection dies before the answer."""
        self._arm(method, _Failure(after=True, times=times))

    def hang(self, method: str, *, times: int = 1) -> None:
        """Accept the next calls and never answer: a half-open connection."""
        self._arm(method, _Failure(silent=True, times=times))

    def drip(self, method: str, *, times: int = 1) -> None:
        """Answer the next calls with a byte now and then, without end: no pause is long enough to be noticed."""
        self._arm(method, _Failure(silent=True, drips=True, times=times))

    def recover(self) -> None:
        """Forget all trouble that has not happened yet."""
        self._tell(self._failures.clear)

    def _arm(self, method: str, failure: _Failure) -> None:
        self._tell(lambda: self._failures.setdefault(method, []).append(failure))

    # -- looking -------------------------------------------------------------------------------------

    def screen(self, chat: int) -> list[Shown]:
        """What this chat shows of the bot now: each message once, as last changed."""
        with self._changed:
            there = {number for where, number in self._messages if where == chat}
            latest = {one.message_id: one for one in self.sent if one.chat == chat and one.message_id in there}
        return [latest[number] for number in sorted(latest)]

    def messages_of(self, chat: int) -> list[dict[str, Any]]:
        """Every message of a chat as the Bot API's Message, whoever wrote it."""
        with self._changed:
            return [message for (where, _), message in sorted(self._messages.items()) if where == chat]

    def called(self, method: str) -> list[Call]:
        """All calls of a method so far."""
        with self._changed:
            return [call for call in self.calls if call.method == method]

    @property
    def pending(self) -> list[dict[str, Any]]:
        """Updates that nothing has confirmed."""
        with self._changed:
            return list(self._updates)

    def confirm(self, update: dict[str, Any], status: int) -> None:
        """The webhook answered an update with this status, 0 for not at all: 2xx confirms it."""
        with self._changed:
            self.webhook_answers.append(status)
            if 200 <= status < 300 and update in self._updates:
                self._updates.remove(update)
            self._changed.notify_all()

    @property
    def unconfirmed(self) -> list[int]:
        """Ids of updates that no higher offset has confirmed."""
        with self._changed:
            return [one["update_id"] for one in self._updates]

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 10.0) -> T:  # noqa: ASYNC109
        """Wait until `predicate` holds; returns what it returned. For async tests."""
        return await asyncio.to_thread(self.wait_until, predicate, timeout)

    def wait_until(self, predicate: Callable[[], T], timeout: float = 10.0) -> T:
        """The same for plain tests. Also looks now and then, for conditions outside this fake."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not (value := predicate()):
                if time.monotonic() > deadline:
                    raise AssertionError(f"did not happen within {timeout} s; the bot showed {self.sent}")
                self._changed.wait(0.05)
        return value

    # -- the server ----------------------------------------------------------------------------------

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        if request.match_info["token"] != self.token:
            return _refusal(401, "Unauthorized")
        given, from_form = await _parameters(request)
        for name, value in given.items():
            if isinstance(value, web.FileField):
                self._uploads[value.filename] = (value.filename, value.file.read())
                value.file.close()
                given[name] = value.filename
        failure = self._next_failure(method)
        self._tell(lambda: self.calls.append(Call(method, given, time.monotonic())))
        if failure is not None and failure.drips:
            await _drip(request)
        if failure is not None and failure.silent:
            await asyncio.Event().wait()
        if failure is not None and not failure.after:
            return _hang_up(request) if not failure.status else _raw(failure.status, failure.body)
        answer = await self._checked(method, given, from_form=from_form)
        return answer if failure is None else _hang_up(request)

    def _next_failure(self, method: str) -> _Failure | None:
        with self._changed:
            waiting = self._failures.get(method, [])
            if not waiting:
                return None
            waiting[0].times -= 1
            return waiting[0] if waiting[0].times > 0 else waiting.pop(0)

    async def _checked(self, method: str, given: dict[str, Any], *, from_form: bool) -> web.Response:
        try:
            parameters = self._rules.check(method, given, from_form=from_form)
            if (name := "_" + method.lower()) and hasattr(self, name):
                result = await getattr(self, name)(parameters)
                return web.json_response({"ok": True, "result": result})
            raise Wrong(f"this fake does not do {method}", status=404)
        except Refusal as refusal:
            return _refusal(refusal.status, str(refusal), refusal.parameters)
        except Wrong as wrong:
            problem = f"{method}: {wrong}"
            self._tell(lambda: self.violations.append(problem))
            return _refusal(wrong.status, str(wrong))

    async def _getme(self, _: dict[str, Any]) -> dict[str, Any]:
        return self._bot()

    async def _deletewebhook(self, parameters: dict[str, Any]) -> bool:
        if parameters.get("drop_pending_updates"):
            self._tell(self._updates.clear)
        self._tell(self.webhook.clear)
        return True

    async def _setwebhook(self, parameters: dict[str, Any]) -> bool:
        if not re.fullmatch(r"https?://.+", parameters["url"]):
            raise Wrong("Bad Request: bad webhook: invalid URL")
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", parameters.get("secret_token", "none")):
            raise Wrong("Bad Request: secret token contains unallowed characters")
        if not 1 <= parameters.get("max_connections", 40) <= 100:
            raise Wrong("Bad Request: max_connections must be 1 to 100")
        self._tell(lambda: self.webhook.update(parameters))
        return True

    async def _getwebhookinfo(self, _: dict[str, Any]) -> dict[str, Any]:
        return {
            "url": self.webhook.get("url", ""),
            "has_custom_certificate": False,
            "pending_update_count": len(self._updates),
        }

    async def _getmycommands(self, parameters: dict[str, Any]) -> list[dict[str, str]]:
        menu = self.menus.get(parameters.get("language_code", ""), [])
        return [{"command": name, "description": what} for name, what in menu]

    async def _setmycommands(self, parameters: dict[str, Any]) -> bool:
        named = [(one["command"], one["description"]) for one in parameters["commands"]]
        for name, what in named:
            if not re.fullmatch(r"[a-z0-9_]{1,32}", name) or not 1 <= len(what) <= 256:
                raise Wrong("Bad Request: BOT_COMMAND_INVALID")
        if not named or len(named) > 100:
            raise Wrong("Bad Request: BOT_COMMANDS_TOO_MUCH")
        language = parameters.get("language_code", "")
        if language and not re.fullmatch("[a-z]{2}", language):
            raise Wrong("Bad Request: invalid language code")
        self._tell(lambda: self.menus.__setitem__(language, named))
        return True

    async def _getupdates(self, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        if self.webhook:
            raise Refusal(409, "Conflict: can't use getUpdates method while webhook is active")
        for poll in self._polls:
            if not poll.done():
                poll.set_exception(
                    Refusal(
                        409,
                        "Conflict: terminated by other getUpdates request; make sure that only "
                        "one bot instance is running",
                    )
                )
        turn: asyncio.Future[None] = self._loop.create_future()
        self._polls.append(turn)
        self._tell(lambda: setattr(self, "polls_at_once", max(self.polls_at_once, len(self._polls))))
        try:
            return await self._poll(parameters, turn)
        finally:
            self._polls.remove(turn)
            turn.cancel()

    async def _poll(self, parameters: dict[str, Any], turn: asyncio.Future[None]) -> list[dict[str, Any]]:
        offset, limit = parameters.get("offset"), parameters.get("limit", 100)
        if not 1 <= limit <= 100:
            raise Wrong("Bad Request: limit must be 1 to 100")
        self._confirm(offset)
        if not self._updates:
            await asyncio.wait([turn], timeout=min(parameters.get("timeout", 0), 50))
        if turn.done():
            turn.result()
        with self._changed:
            return self._updates[:limit]

    def _confirm(self, offset: int | None) -> None:
        """Forget what a higher offset confirms; a negative one leaves the newest only."""
        if offset is None:
            return
        with self._changed:
            if offset < 0:
                self._updates = self._updates[offset:]
            else:
                self._updates = [one for one in self._updates if one["update_id"] >= offset]
            self._changed.notify_all()

    def _wake_polls(self) -> None:
        for poll in self._polls:
            if not poll.done():
                poll.set_result(None)

    async def _sendmessage(self, parameters: dict[str, Any]) -> dict[str, Any]:
        chat = self._reachable(parameters["chat_id"])
        thread = self._topic(chat, parameters.get("message_thread_id"))
        message = self._new_message(chat, self._bot(), {})
        self._fill(message, parameters)
        if thread is not None:
            message |= {"message_thread_id": thread, "is_topic_message": True}
        reply = parameters.get("reply_parameters")
        if reply and (chat, reply["message_id"]) in self._messages:
            message["reply_to_message"] = _without_reply(self._messages[chat, reply["message_id"]])
        elif reply and not reply.get("allow_sending_without_reply"):
            raise Refusal(400, "Bad Request: message to be replied not found")
        shown = replace(_shown(message), silent=parameters.get("disable_notification", False))
        self._tell(lambda: self.sent.append(shown))
        return message

    async def _senddocument(self, parameters: dict[str, Any]) -> dict[str, Any]:
        chat = self._reachable(parameters["chat_id"])
        if len(parameters.get("caption", "")) > 1024:
            raise Refusal(400, "Bad Request: message caption is too long")
        name, content = self._uploads.pop(parameters["document"])
        file = {"file_id": "d", "file_unique_id": "d", "file_name": name, "file_size": len(content)}
        message = self._new_message(chat, self._bot(), {"document": file, "caption": parameters.get("caption", "")})
        self._tell(lambda: self.files.append((chat, name, content)))
        shown = Shown(chat, message["message_id"], message["caption"])
        self._tell(lambda: self.sent.append(shown))
        return message

    async def _editmessagetext(self, parameters: dict[str, Any]) -> dict[str, Any]:
        if not {"chat_id", "message_id", "text"} <= parameters.keys():
            raise Wrong("editMessageText needs chat_id, message_id and text")
        chat = self._reachable(parameters["chat_id"])
        before = self._messages.get((chat, parameters["message_id"]))
        if before is None:
            raise Refusal(400, "Bad Request: message to edit not found")
        if before["from"]["id"] != BOT_ID:
            raise Refusal(400, "Bad Request: message can't be edited")
        message = {name: value for name, value in before.items() if name not in _CONTENT}
        self._fill(message, parameters)
        if all(message.get(name) == before.get(name) for name in _CONTENT):
            raise Refusal(
                400,
                "Bad Request: message is not modified: specified new message content and reply markup are "
                "exactly the same as a current content and reply markup of the message",
            )
        message["edit_date"] = message["date"]
        self._messages[chat, message["message_id"]] = message
        self._tell(lambda: self.sent.append(replace(_shown(message), edited=True)))
        return message

    async def _deletemessage(self, parameters: dict[str, Any]) -> bool:
        """Ours and what people wrote to us in private, for 48 hours."""
        chat, number = self._reachable(parameters["chat_id"]), parameters["message_id"]
        message = self._messages.get((chat, number))
        if message is None:
            raise Refusal(400, "Bad Request: message to delete not found")
        ours = message["from"]["id"] == BOT_ID
        if (chat, number) in self._too_old or not (ours or chat > 0 or chat in self.administered):
            raise Refusal(400, "Bad Request: message can't be deleted for everyone")
        self._tell(lambda: self._messages.pop((chat, number)))
        return True

    async def _answercallbackquery(self, parameters: dict[str, Any]) -> bool:
        tap, toast = parameters["callback_query_id"], parameters.get("text", "")
        if tap not in self._open_taps:
            raise Refusal(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        if len(toast) > 200:
            raise Wrong("Bad Request: MESSAGE_TOO_LONG")
        self._tell(lambda: self.toasts.__setitem__(tap, toast))
        return True

    async def _sendchataction(self, parameters: dict[str, Any]) -> bool:
        chat = self._reachable(parameters["chat_id"])
        thread, is_forum = parameters.get("message_thread_id"), self._chat(chat).get("is_forum", False)
        if is_forum and thread is None:
            return True  # accepted, and seen by nobody
        if not (is_forum and thread == 1):
            self._topic(chat, thread)
        self._tell(lambda: self.typing.append(chat))
        return True

    # -- its state -----------------------------------------------------------------------------------

    def _tell(self, change: Callable[[], object]) -> None:
        """Do it, and let everybody who waits look again."""
        with self._changed:
            change()
            self._changed.notify_all()

    def _topic(self, chat: int, thread: int | None) -> int | None:
        """The topic something goes to. In private chats one that is gone is passed over without a word."""
        if thread is None or (chat, thread) in self._topics:
            return thread
        if chat > 0:
            return None
        raise Refusal(400, "Bad Request: message thread not found")

    def _reachable(self, chat: int | str) -> int:
        if chat in self._moved:
            raise Refusal(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                {"migrate_to_chat_id": self._moved[int(chat)]},
            )
        if chat not in self._chats:
            raise Refusal(400, "Bad Request: chat not found")
        if chat in self._blocked:
            raise Refusal(403, "Forbidden: bot was blocked by the user")
        return int(chat)

    def _fill(self, message: dict[str, Any], parameters: dict[str, Any]) -> None:
        """Text, entities and buttons as Telegram would show them."""
        entities, markup = parameters.get("entities", []), parameters.get("reply_markup")
        if parameters.get("parse_mode"):
            raise Wrong("this fake reads entities only, no parse_mode")
        telegram_rules.check_text(parameters["text"], entities)
        telegram_rules.check_buttons(markup)
        message["text"] = parameters["text"].strip()
        if entities:
            message["entities"] = entities
        if markup and markup.get("inline_keyboard"):
            message["reply_markup"] = markup

    def _new_message(self, chat: int, who: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
        with self._changed:
            number = self._next_message.get(chat, 0) + 1
            self._next_message[chat] = number
            message = {
                "message_id": number,
                "from": who,
                "chat": self._chat(chat),
                "date": THE_PAST + self._next_update - FIRST_UPDATE,
                **fields,
            }
            self._messages[chat, number] = message
            return message

    def _chat(self, chat: int) -> dict[str, Any]:
        private = {"id": chat, "type": "private", "first_name": f"Person {chat}"}
        group = {"id": chat, "type": "supergroup", "title": f"Group {chat}"}
        return self._chats.setdefault(chat, private if chat > 0 else group)

    def _original(self, chat: int, message: int | Shown) -> dict[str, Any]:
        return _without_reply(self._messages[chat, _message_id(message)])

    def _bot(self) -> dict[str, Any]:
        return {"id": BOT_ID, "is_bot": True, "first_name": "hikae", "username": self.username}

    def _person(self, person: int, language: str) -> dict[str, Any]:
        return {"id": person, "is_bot": False, "first_name": f"Person {person}", "language_code": language}

    def _entities(self, text: str) -> list[dict[str, Any]]:
        """The commands and mentions that Telegram marks by itself."""
        found = re.finditer(r"(?<!\S)(?P<command>/\w+(@\w+)?)|(?<!\w)(?P<mention>@\w{3,})", text)
        return [
            {
                "type": "bot_command" if match["command"] else "mention",
                "offset": len(text[: match.start()].encode("utf-16-le")) // 2,
                "length": len(match[0]),
            }
            for match in found
        ]


PHOTO = [{"file_id": "f", "file_unique_id": "u", "width": 90, "height": 90}]
_CONTENT = ("text", "entities", "reply_markup")


class Refusal(Exception):
    """What Telegram itself says no to, though the call was well formed."""

    def __init__(self, status: int, description: str, parameters: dict[str, Any] | None = None) -> None:
        self.status = status
        self.parameters = parameters
        super().__init__(description)


async def _parameters(request: web.Request) -> tuple[dict[str, Any], bool]:
    if request.content_type == "application/json":
        return dict(await request.json()), False
    form = dict(await request.post()) if request.method == "POST" else {}
    return {**request.query, **form}, True


def _refusal(status: int, description: str, parameters: dict[str, Any] | None = None) -> web.Response:
    answer = {"ok": False, "error_code": status, "description": description}
    if parameters:
        answer["parameters"] = parameters
    return web.json_response(answer, status=status)


def _raw(status: int, body: bytes) -> web.Response:
    return web.Response(status=status, body=body, content_type="application/json")


async def _drip(request: web.Request) -> None:
    answer = web.StreamResponse()
    await answer.prepare(request)
    while True:
        await answer.write(b" ")
        await asyncio.sleep(0.02)


def _hang_up(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _message_id(message: int | Shown) -> int:
    return message if isinstance(message, int) else message.message_id


def _without_reply(message: dict[str, Any]) -> dict[str, Any]:
    """Telegram nests replies one level deep only."""
    return {name: value for name, value in message.items() if name != "reply_to_message"}


def _shown(message: dict[str, Any]) -> Shown:
    rows = message.get("reply_markup", {}).get("inline_keyboard", ())
    return Shown(
        chat=message["chat"]["id"],
        message_id=message["message_id"],
        text=message["text"],
        buttons=tuple(tuple((one["text"], one.get("callback_data", "")) for one in row) for row in rows),
        entities=tuple((one["type"], one["offset"], one["length"]) for one in message.get("entities", ())),
        thread=message.get("message_thread_id"),
        reply_to=message.get("reply_to_message", {}).get("message_id"),
    )
