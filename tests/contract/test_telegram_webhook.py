"""Telegram's other way in, over real sockets: it calls us, and what holds for polls holds here too."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.chat import IncomingMessage
from gateway.errors import ConfigError
from gateway.platforms import telegram_webhook
from gateway.platforms.telegram import TelegramPlatform, WebhookAddress
from tests.contract.platform import PlatformContract, ScriptedReceiver, running
from tests.contract.telegram_network import ADA, BEN, TelegramNetwork, build
from tests.fakes.telegram import FakeTelegram
from tests.processes import machine, until

SECRET = "a-secret-that-only-Telegram-knows"


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    """A Telegram on loopback; misusing its API fails the test."""
    with FakeTelegram() as server:
        yield server


class CalledNetwork(TelegramNetwork):
    """The same network, for a bot that is called."""

    def platform(self) -> TelegramPlatform:
        return called(self.server)


@pytest.fixture
def network(telegram: FakeTelegram) -> TelegramNetwork:
    return CalledNetwork(telegram)


def called(telegram: FakeTelegram, **options: Any) -> TelegramPlatform:
    """The adapter in webhook mode."""
    port = free_port()
    return build(telegram, webhook=WebhookAddress(f"http://127.0.0.1:{port}/hook", port, SECRET), **options)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


async def post(telegram: FakeTelegram, body: bytes | Any, secret: str | None = SECRET) -> int:
    """Call the webhook as somebody else; returns the status."""
    headers = {b"X-Telegram-Bot-Api-Secret-Token": secret.encode()} if secret is not None else {}
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.post(telegram.webhook["url"], content=body, headers=headers)).status_code


class TestContract(PlatformContract):
    """A bot that is called passes what every platform must."""


async def test_telegram_is_told_where_and_with_what(telegram: FakeTelegram) -> None:
    """One call at a time, with a secret, and nothing that waits is dropped."""
    telegram.says(ADA, "said while we were away")
    receiver, platform = ScriptedReceiver(), called(telegram)
    async with running(platform, receiver):
        await telegram.wait_for(lambda: receiver.messages)
        hook = dict(telegram.webhook)

    assert receiver.said() == ["said while we were away"]
    assert hook["allowed_updates"] == ["message", "edited_message", "callback_query"]
    assert (hook["secret_token"], hook["max_connections"], hook["drop_pending_updates"]) == (SECRET, 1, False)
    assert telegram.called("getUpdates") == []


@pytest.mark.parametrize("secret", [None, "", "wrong", SECRET + "x", "ключ"])
async def test_without_the_secret_nobody_is_heard(telegram: FakeTelegram, secret: str | None) -> None:
    """Anybody can find the address; only Telegram may speak in people's names."""
    receiver = ScriptedReceiver()
    async with running(called(telegram), receiver):
        assert await post(telegram, b'{"update_id": 1, "message": {}}', secret) == 403

    assert receiver.messages == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"no": "id"}', 400),
        (b"[" * 100_000, 400),
        (b"\xff", 400),
        (b" " * (telegram_webhook.MOST_BYTES + 1), 413),
        (b'{"update_id": 5, "message": {"text": "no chat"}}', 200),
        (b'{"update_id": 6, "something_new": 1}', 200),
    ],
    ids=["half", "list", "no-id", "deep", "bytes", "long", "damaged", "new"],
)
async def test_what_is_no_update_is_refused(telegram: FakeTelegram, body: bytes, status: int) -> None:
    """A damaged update would come for ever; what is not one at all comes from somewhere else."""
    receiver = ScriptedReceiver()
    async with running(called(telegram), receiver):
        assert await post(telegram, body) == status
        telegram.says(ADA, "still there?")
        await telegram.wait_for(lambda: receiver.messages)

    assert receiver.said() == ["still there?"]


async def test_a_body_without_end_is_given_up(telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that says nothing more must not be held for ever."""
    monkeypatch.setattr(telegram_webhook, "BODY_SECONDS", 0.1)
    async with running(called(telegram), ScriptedReceiver()):
        port = httpx.URL(telegram.webhook["url"]).port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        secret = f"X-Telegram-Bot-Api-Secret-Token: {SECRET}"
        writer.write(f"POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n{secret}\r\n\r\n{{".encode())
        answer = await asyncio.wait_for(reader.readline(), 5)
        writer.close()

    assert b"408" in answer


async def test_what_could_not_be_kept_is_asked_for_again(telegram: FakeTelegram) -> None:
    """503 is how Telegram is told: not yet. Nothing overtakes it meanwhile."""
    receiver, platform = ScriptedReceiver(refusals=2), called(telegram)
    async with running(platform, receiver):
        first = telegram.says(ADA, "first")
        telegram.says(ADA, "second")
        telegram.says(BEN, "third")
        await telegram.wait_for(lambda: not telegram.unconfirmed)
        assert platform.health().state == "ok"

    assert receiver.said() == ["first", "second", "third"]
    assert receiver.refused == [str(first)] * 2
    assert telegram.webhook_answers == [503, 503, 200, 200, 200]


async def test_it_is_confirmed_only_when_it_is_kept(telegram: FakeTelegram) -> None:
    """A 200 that comes before the commit would lose the message with the next kill."""
    let_go = asyncio.Event()

    class Slow(ScriptedReceiver):
        async def message(self, message: IncomingMessage) -> bool:
            await super().message(message)
            await let_go.wait()
            return True

    receiver = Slow()
    async with running(called(telegram), receiver):
        telegram.says(ADA, "hello")
        await telegram.wait_for(lambda: receiver.messages)
        assert telegram.webhook_answers == []
        let_go.set()
        await telegram.wait_for(lambda: telegram.webhook_answers)

    assert telegram.webhook_answers == [200]


async def test_calls_side_by_side_are_taken_one_after_the_other(telegram: FakeTelegram) -> None:
    """Telegram may open a second connection when it thinks that the first is dead."""
    at_once: list[int] = []

    class Counting(ScriptedReceiver):
        inside = 0

        async def message(self, message: IncomingMessage) -> bool:
            self.inside += 1
            at_once.append(self.inside)
            await asyncio.sleep(0)
            self.inside -= 1
            return True

    async with running(called(telegram), Counting()):
        updates = [
            f'{{"update_id": {n}, "message": {{"message_id": {n}, "date": 1, "text": "x", '
            f'"chat": {{"id": 1, "type": "private"}}, "from": {{"id": 1, "is_bot": false, "first_name": "A"}}}}}}'
            for n in range(1, 9)
        ]
        assert await asyncio.gather(*(post(telegram, one) for one in updates)) == [200] * 8

    assert at_once == [1] * 8


async def test_a_webhook_that_somebody_changed_is_set_again(
    telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Silence alone says nothing: a quiet bot and a forgotten one hear the same."""
    monkeypatch.setattr(telegram_webhook, "LOOK_EVERY_SECONDS", 0.05)
    receiver, platform = ScriptedReceiver(), called(telegram)
    async with running(platform, receiver):
        telegram.webhook["url"] = "https://elsewhere.example/"
        telegram.fail("getWebhookInfo", 500)
        await telegram.wait_for(lambda: "127.0.0.1" in telegram.webhook["url"])
        telegram.says(ADA, "hello")
        await telegram.wait_for(lambda: receiver.messages)
        assert platform.health().state == "ok"

    assert "telegram.webhook_was_changed" in caplog.messages


async def test_polling_takes_over_from_a_webhook(telegram: FakeTelegram) -> None:
    """Whoever goes back to polling hears what the webhook left."""
    async with running(called(telegram), ScriptedReceiver()):
        assert telegram.webhook
    telegram.webhook_answers.clear()
    receiver = ScriptedReceiver()
    async with running(build(telegram), receiver):
        telegram.says(ADA, "hello")
        await telegram.wait_for(lambda: receiver.messages)

    assert telegram.webhook == {}
    assert receiver.said() == ["hello"]


async def test_a_taken_port_is_a_matter_of_configuration(telegram: FakeTelegram) -> None:
    """It is said with the setting, and does not take the other platforms along."""
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        platform = build(telegram, webhook=WebhookAddress("http://127.0.0.1/", port, SECRET))
        with pytest.raises(ConfigError, match=f"webhook.port is {port}"):
            async with running(platform, ScriptedReceiver()):
                pass


async def test_the_programs_own_signal_handlers_stay(telegram: FakeTelegram) -> None:
    """The server's would end it on Ctrl-C without finishing what is under way."""
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    async with running(called(telegram), ScriptedReceiver()):
        await telegram.wait_for(lambda: telegram.webhook)
        assert await post(telegram, b"", "") == 403
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


async def test_no_log_line_holds_the_secret_or_an_address(
    telegram: FakeTelegram, caplog: pytest.LogCaptureFixture
) -> None:
    """Who calls and how is no business of a log file."""
    caplog.set_level("DEBUG")
    receiver = ScriptedReceiver(refusals=1)
    async with running(called(telegram), receiver):
        telegram.says(ADA, "the-diary-of-ada")
        await telegram.wait_for(lambda: receiver.messages)
        await post(telegram, b"{", "wrong")
    ours = [record for record in caplog.records if not record.name.startswith(("asyncio", "httpcore", "httpx"))]

    lines = [record.getMessage() for record in ours]
    assert not [line for line in lines if SECRET in line or "diary" in line or "/hook" in line]


Trouble = Callable[[FakeTelegram], None]


@pytest.mark.parametrize(
    "trouble",
    [
        lambda server: server.drop("setWebhook", times=2),
        lambda server: server.fail("setWebhook", 500),
        lambda server: server.fail("setWebhook", 429, retry_after=0.05),
        lambda server: server.fail("getMe", 502, body=b"<html>"),
        lambda server: server.drop_after_accept("setWebhook"),
    ],
    ids=["hang-up", "500", "429", "html", "lost-answer"],
)
async def test_trouble_at_the_start_is_waited_out(telegram: FakeTelegram, trouble: Trouble) -> None:
    """A reboot brings the bot up before the network."""
    trouble(telegram)
    receiver = ScriptedReceiver()
    async with running(called(telegram), receiver):
        telegram.says(ADA, "hello")
        await telegram.wait_for(lambda: receiver.messages)

    assert receiver.said() == ["hello"]


def test_a_kill_costs_a_gateway_that_is_called_nothing(telegram: FakeTelegram, tmp_path: Path) -> None:
    """The whole program in webhook mode: what was said while it was dead is answered, once."""
    port = free_port()
    with machine(tmp_path) as here:
        here.configure(
            access=f"owners: ['telegram:{ADA}']",
            platforms=f"telegram: {{mode: webhook, webhook: {{url: 'http://127.0.0.1:{port}/', port: {port}}}}}",
        )
        environment = {
            "TELEGRAM_BOT_TOKEN": telegram.token,
            "TELEGRAM_WEBHOOK_SECRET": SECRET,
            "HIKAE_TELEGRAM_BASE_URL": telegram.url,
            "HIKAE_MODEL_PROVIDER": "offline",
        }
        first = here.start("gateway", **environment)
        telegram.says(ADA, "/help")  # its answer may be seen twice: the kill may come before it is marked
        until(lambda: telegram.screen(ADA))
        here.kill(first)
        telegram.says(ADA, "/whoami")
        telegram.says(ADA, "/whoami")
        second = here.start("gateway", **environment)
        until(lambda: len(answers(telegram)) >= 2)
        until(lambda: not telegram.unconfirmed)
        assert here.end(second) == 0

    assert len(answers(telegram)) == 2


def answers(telegram: FakeTelegram) -> list[str]:
    """What was said to the question who one is."""
    return [one.text for one in telegram.screen(ADA) if f"telegram:{ADA}" in one.text]
