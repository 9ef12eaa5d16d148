"""What every chat network must do, whatever it is. Written once; each adapter passes it on its own loopback.

A subclass gives a `network` fixture: a `Network`, the fake with the few things that people and trouble do.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, TypeVar

import pytest

from gateway.chat import Attachment, Button, Chat, Dialog, IncomingMessage, OutgoingMessage, Person, Suggestion, Tap
from gateway.errors import ChatGone, ConfigError, PlatformBusy, TryLater
from gateway.ports import Platform

T = TypeVar("T")


class Network(Protocol):
    """A fake of one chat network, with one person in one private chat."""

    chat: Chat
    person: Person
    longest: int
    """How much text one message holds, in the network's own measure."""

    def platform(self) -> Platform: ...
    def says(self, text: str) -> str:
        """The person writes; returns the message's id."""

    def taps(self, message_id: str, label: str) -> str:
        """The person presses a button; returns the id of the press."""

    def toast(self, tap: str) -> str | None:
        """What was shown for this press, None while it is not acknowledged."""

    def screen(self) -> list[tuple[str, tuple[str, ...]]]:
        """What the chat shows of the bot: text and button labels of each message, as it is now."""

    def sends(self) -> int:
        """How many messages were sent or changed so far."""

    def measure(self, text: str) -> int:
        """The length of what is shown for this Markdown, in the network's own measure."""

    def keeps(self) -> str:
        """A message that the network does not let the bot delete; its id."""

    def files(self) -> list[tuple[str, bytes]]:
        """Every file that was sent: name and content."""

    def refuse_token(self) -> None: ...
    def be_busy_once(self, after: float) -> None: ...
    def break_down_once(self) -> None: ...
    def close_chat(self) -> None: ...
    def deliver_nonsense(self) -> None: ...
    async def wait_for(self, predicate: Callable[[], T]) -> T: ...


@dataclass
class ScriptedReceiver:
    """Keeps what it is given, or refuses it for as long as a test says so."""

    messages: list[IncomingMessage] = field(default_factory=list)
    taps: list[Tap] = field(default_factory=list)
    edits: list[IncomingMessage] = field(default_factory=list)
    moves: list[tuple[str, str, str]] = field(default_factory=list)
    asked: list[Tap] = field(default_factory=list)
    """Presses on buttons that open a dialog."""
    typed: list[tuple[Person, str, str]] = field(default_factory=list)
    """Who typed what behind which command."""
    question: Dialog | str = ""
    suggestions: Sequence[Suggestion] = ()
    kept: Mapping[Chat, str] = field(default_factory=dict)
    toast: str = ""
    refusals: int = 0
    """How many of the next things cannot be kept."""
    refused: list[str] = field(default_factory=list)
    """The ids of what was not kept, in order."""

    async def message(self, message: IncomingMessage) -> bool:
        self._refuse_if_told(message.id)
        self.messages.append(message)
        return True

    async def tap(self, tap: Tap) -> str:
        self._refuse_if_told(tap.id)
        self.taps.append(tap)
        return self.toast

    async def edit(self, message: IncomingMessage) -> None:
        self._refuse_if_told(message.id)
        self.edits.append(message)

    async def moved(self, platform: str, from_id: str, to_id: str) -> None:
        self._refuse_if_told(from_id)
        self.moves.append((platform, from_id, to_id))

    async def dialog(self, tap: Tap) -> Dialog | str:
        self.asked.append(tap)
        return self.question

    async def suggest(
        self, person: Person, chat: Chat, server: str, command: str, typed: str
    ) -> Sequence[Suggestion]:
        self.typed.append((person, command, typed))
        return self.suggestions

    async def last_kept(self, platform: str) -> Mapping[Chat, str]:
        return self.kept

    def _refuse_if_told(self, what: str) -> None:
        if self.refusals:
            self.refusals -= 1
            self.refused.append(what)
            raise TryLater("the disk is full", after=0.01)

    def said(self) -> list[str]:
        """The people's own words so far."""
        return [message.own_text for message in self.messages]


class WallClock:
    """The real time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@asynccontextmanager
async def running(platform: Platform, receiver: ScriptedReceiver) -> AsyncIterator[None]:
    """The platform receives while the block runs; the block begins once it is connected."""
    ready = asyncio.Event()
    task = asyncio.create_task(platform.run(receiver, ready.set))
    waiting = asyncio.create_task(ready.wait())
    try:
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        yield
        assert not task.done(), "the platform stopped receiving"
    finally:
        for one in (waiting, task):
            one.cancel()
        await asyncio.gather(waiting, task, return_exceptions=True)
        await platform.close()


class PlatformContract:
    """The promises of ports.Platform."""

    async def test_hands_over_what_a_person_says(self, network: Network) -> None:
        """The words arrive as the person's own, with who, where and which message."""
        receiver = ScriptedReceiver()
        async with running(network.platform(), receiver):
            message_id = network.says("I moved to Bergen 🏔")
            await network.wait_for(lambda: receiver.messages)

        (message,) = receiver.messages
        assert (message.own_text, message.id) == ("I moved to Bergen 🏔", message_id)
        assert (message.chat, message.person, message.private) == (network.chat, network.person, True)
        assert message.at.tzinfo is not None

    async def test_keeps_the_order_of_what_is_said(self, network: Network) -> None:
        """An answer to the second question must not come before the first."""
        receiver = ScriptedReceiver()
        words = [f"number {n}" for n in range(20)]
        async with running(network.platform(), receiver):
            for word in words:
                network.says(word)
            await network.wait_for(lambda: len(receiver.messages) >= len(words))

        assert receiver.said() == words

    async def test_hands_over_again_what_could_not_be_kept(self, network: Network) -> None:
        """A full disk must not cost anybody's words: nothing after them is confirmed before them."""
        receiver = ScriptedReceiver(refusals=2)
        async with running(network.platform(), receiver):
            first, _ = network.says("first"), network.says("second")
            await network.wait_for(lambda: len(receiver.messages) >= 2)

        assert receiver.refused == [first, first]
        assert receiver.said() == ["first", "second"]

    async def test_outlives_what_it_cannot_read(self, network: Network) -> None:
        """One damaged update must not make the bot deaf."""
        receiver = ScriptedReceiver()
        async with running(network.platform(), receiver):
            network.deliver_nonsense()
            network.says("still there?")
            await network.wait_for(lambda: receiver.messages)

        assert receiver.said() == ["still there?"]

    async def test_a_tap_arrives_and_its_toast_is_shown(self, network: Network) -> None:
        """A press is acknowledged, or the phone shows a spinner until it gives up."""
        receiver, platform = ScriptedReceiver(toast="Remembered"), network.platform()
        async with running(platform, receiver):
            card = OutgoingMessage(network.chat, "Remember it?", ((Button("Yes", "yes:17:x"),),))
            message_id = await platform.send(card)
            tap = network.taps(message_id, "Yes")
            await network.wait_for(lambda: network.toast(tap))

        (received,) = receiver.taps
        assert (received.id, received.data, received.message_id) == (tap, "yes:17:x", message_id)
        assert (received.chat, received.person) == (network.chat, network.person)
        assert network.toast(tap) == "Remembered"

    async def test_shows_what_it_sends_and_changes_it(self, network: Network) -> None:
        """A decided card changes and loses its buttons; changing it again to the same is no error."""
        platform = network.platform()
        async with running(platform, ScriptedReceiver()):
            sent = await platform.send(OutgoingMessage(network.chat, "Keep?", ((Button("Yes", "y"),),)))
            assert network.screen() == [("Keep?", ("Yes",))]

            change = OutgoingMessage(network.chat, "✓ Kept", edits=sent)
            assert await platform.send(change) == sent
            assert await platform.send(change) == sent

        assert network.screen() == [("✓ Kept", ())]

    async def test_deletes_messages_and_says_which_are_gone(self, network: Network) -> None:
        """Asked again after a kill, what is gone is gone: no error, and counted once more."""
        platform = network.platform()
        async with running(platform, ScriptedReceiver()):
            first = await platform.send(OutgoingMessage(network.chat, "one"))
            second = await platform.send(OutgoingMessage(network.chat, "two"))
            assert list(await platform.delete(network.chat, [first])) == [first]
            assert list(await platform.delete(network.chat, [first])) == [first]
            assert network.screen() == [("two", ())]
            assert list(await platform.delete(network.chat, [first, second])) == [first, second]
            assert network.screen() == []

    async def test_says_which_messages_it_could_not_delete(self, network: Network) -> None:
        """A receipt counts what really went."""
        receiver, platform = ScriptedReceiver(), network.platform()
        async with running(platform, receiver):
            kept = network.keeps()
            sent = await platform.send(OutgoingMessage(network.chat, "one"))
            assert list(await platform.delete(network.chat, [kept, sent])) == [sent]

    async def test_a_file_arrives_whole_under_its_name(self, network: Network) -> None:
        """What is exported is somebody's only copy."""
        platform, content = network.platform(), '{"蜂": 1}\n'.encode() * 1000
        async with running(platform, ScriptedReceiver()):
            file = Attachment("export.json", content)
            await platform.send(OutgoingMessage(network.chat, "Everything", file=file))

        assert network.files() == [("export.json", content)]
        assert [text for text, _ in network.screen()] == ["Everything"]

    async def test_says_how_long_to_wait_when_the_network_is_busy(self, network: Network) -> None:
        """Calling again too early makes the ban longer."""
        platform = network.platform()
        async with running(platform, ScriptedReceiver()):
            network.be_busy_once(after=25)
            with pytest.raises(PlatformBusy) as busy:
                await platform.send(OutgoingMessage(network.chat, "hello"))
            assert busy.value.after >= 25
            assert network.sends() == 0

    async def test_trouble_of_the_network_is_not_ours(self, network: Network) -> None:
        """A 500 means again later, and its text stays outside."""
        platform = network.platform()
        async with running(platform, ScriptedReceiver()):
            network.break_down_once()
            with pytest.raises(PlatformBusy):
                await platform.send(OutgoingMessage(network.chat, "hello"))
            await platform.send(OutgoingMessage(network.chat, "hello"))

        assert network.screen() == [("hello", ())]

    async def test_knows_when_a_chat_is_gone(self, network: Network) -> None:
        """Whoever blocked the bot is not to be tried for ever."""
        platform = network.platform()
        async with running(platform, ScriptedReceiver()):
            network.close_chat()
            with pytest.raises(ChatGone):
                await platform.send(OutgoingMessage(network.chat, "hello"))
            await platform.typing(network.chat)

    async def test_a_refused_token_is_a_matter_of_configuration(self, network: Network) -> None:
        """Only the operator can put it right: it is said once, with the setting, and not tried again."""
        network.refuse_token()
        platform = network.platform()

        with pytest.raises(ConfigError) as refused:
            async with running(platform, ScriptedReceiver()):
                pass

        assert "token" in str(refused.value)
        assert platform.health().state == "refused"

    async def test_long_answers_arrive_whole_and_in_order(self, network: Network) -> None:
        """Every chunk fits, and together they say everything."""
        platform = network.platform()
        text = "\n\n".join(f"Paragraph {n} is about 🧭 number {n}. " * 9 for n in range(60))
        chunks = platform.chunks(text)
        async with running(platform, ScriptedReceiver()):
            for chunk in chunks:
                await platform.send(OutgoingMessage(network.chat, chunk))

        assert len(chunks) > 1
        assert all(network.measure(chunk) <= network.longest for chunk in chunks)
        assert " ".join(shown for shown, _ in network.screen()).split() == text.split()

    async def test_is_healthy_while_it_listens(self, network: Network) -> None:
        """`status` must tell a deaf bot from a quiet one."""
        platform = network.platform()
        assert platform.health().state == "starting"

        async with running(platform, ScriptedReceiver()):
            await network.wait_for(lambda: platform.health().last_poll_at)
            assert platform.health().state == "ok"
