"""The terminal as a platform: lines typed or piped in, answers on stdout, notices and cards on stderr.

In an interactive terminal a card of the turn just ended is a question on the spot: yes, no, edit or later; to a
plan of what to forget, numbers and letters are an answer, too. The person at the terminal is the owner.
"""

import asyncio
import re
import secrets
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway import words
from gateway.chat import TERMINAL_OWNER, Button, Chat, How, IncomingMessage, OutgoingMessage, Piece, Tap
from gateway.errors import TryLater
from gateway.platforms.text import clean
from gateway.ports import Clock, PlatformHealth, Receiver

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

NAME = "terminal"
SIGN = "…"
LEAVING = ("/exit", "/quit", "exit", "quit")
"""What people type to leave, beside Ctrl-D."""
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What could move the cursor, change the title or fill the clipboard of whoever reads an answer."""
_BOXES = re.compile("^[☑☐] ", re.MULTILINE)
_PICKED = re.compile(r"(\d+|[a-j])([\s,、，–-]+(\d+|[a-j]))*", re.IGNORECASE)
"""Hits to leave out and near matches to take along, as `conversation.forgetcard` reads them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A card to ask about: its message id and its buttons by action."""

    message_id: str
    buttons: dict[str, Button]
    picks: bool = False
    """Whether what it lists can be picked by number: then no number may mean yes."""


@dataclass
class TerminalPlatform:
    """One terminal chat. Lives as long as the process's input."""

    chat: Chat
    clock: Clock
    settled: Callable[[], Awaitable[None]]
    """Waits until everything that the last line set going has been said."""
    once: str | None = None
    """The one message of `hikae chat -q`; None to read lines."""
    session: str = ""
    """The session to go on with (`--resume`)."""
    history: Path | None = None
    spoken: Callable[[], str] = lambda: "en"
    """The language of the terminal's own questions: its chat's, which `/language` may have changed just now."""
    lost: TryLater | None = None
    """Why the last thing that could not be kept was not."""
    _questions: list[Question] = field(default_factory=list)
    _prompts: "PromptSession[str] | None" = None
    _shows_sign: bool = False

    @property
    def name(self) -> str:
        return NAME

    def serves(self, chat: Chat) -> bool:
        return chat == self.chat

    async def run(self, receiver: Receiver, ready: Callable[[], None]) -> None:
        """Hand over what is typed, one line after the other, until the input ends."""
        ready()
        if self.once is not None:
            await self._hand_over(receiver, self.once)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            await self._converse(receiver)
        else:
            await self._read_lines(receiver)

    async def send(self, message: OutgoingMessage) -> str:
        text = _ESCAPE.sub(r"\1", message.text) if message.escaped else self._readable(message.text)
        text = _CONTROLS.sub("�", text.replace("\r\n", "\n"))
        if self._prompts is not None:
            from gateway.platforms.terminal_wrap import wrapped  # late, like prompt_toolkit

            text = self._take_sign_away() + wrapped(text, shutil.get_terminal_size().columns)
        print(text, file=sys.stderr if message.aside else sys.stdout, flush=True)
        message_id = message.edits or secrets.token_hex(6)
        buttons = {button.data.partition(":")[0]: button for row in message.buttons for button in row}
        asks = not message.edits or {"approve", "forget", "forget_all"} & buttons.keys()
        if self._prompts is not None and buttons and asks:
            picks = "forget" in buttons and _BOXES.search(text) is not None
            self._questions.append(Question(message_id, buttons, picks))
        return message_id

    def _readable(self, markdown: str) -> str:
        """An answer as a person reads it; whoever reads it from a pipe gets it as it was written."""
        if self._prompts is None:
            return markdown
        from gateway.platforms import terminal_text  # late, like prompt_toolkit

        return terminal_text.plain(markdown)

    async def delete(self, chat: Chat, message_ids: Sequence[str]) -> Sequence[str]:
        """What was printed stays where it was printed."""
        return ()

    async def typing(self, chat: Chat) -> None:
        """A sign that somebody thinks, in a terminal that a person looks at; the answer takes its place."""
        if self._prompts is not None and not self._shows_sign:
            self._shows_sign = True
            print(SIGN, end="", flush=True)

    def chunks(self, text: str) -> tuple[str, ...]:
        return (text,)

    def health(self) -> PlatformHealth:
        return PlatformHealth("ok", self.clock.now())

    async def close(self) -> None:
        """Nothing: stdin and stdout are the process's."""

    # -- input -----------------------------------------------------------------------------------------

    async def _read_lines(self, receiver: Receiver) -> None:
        while line := await asyncio.to_thread(sys.stdin.readline):
            if line.strip():
                await self._hand_over(receiver, line.rstrip("\r\n"))

    async def _converse(self, receiver: Receiver) -> None:
        # Imported here: one-shot and piped runs, and the chat platforms, do without it.
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import FileHistory
        from prompt_toolkit.patch_stdout import patch_stdout

        history = FileHistory(str(self.history)) if self.history else None
        self._prompts = PromptSession(history=history)
        with patch_stdout(raw=True):
            line = await self._ask(self._prompts, await self._text("terminal.you"))
            while line is not None and line.strip().lower() not in LEAVING:
                words_instead = ""
                if line.strip():
                    await self._hand_over(receiver, line)
                    words_instead = await self._ask_questions(receiver)
                line = words_instead or await self._ask(self._prompts, await self._text("terminal.you"))

    async def _ask_questions(self, receiver: Receiver) -> str:
        """Ask about the cards just shown. Words that are no answer mean later, and are what to go on with."""
        while self._questions:
            question = self._questions.pop(0)
            words_instead = await self._ask_one(receiver, question)
            await self._until_settled(receiver)
            if words_instead:
                self._questions.clear()
                return words_instead
        return ""

    async def _ask_one(self, receiver: Receiver, question: Question) -> str:
        from prompt_toolkit import PromptSession

        asker: PromptSession[str] = PromptSession()
        choices = _choices(question)
        answer = (await self._ask(asker, _asking(question, await self._language()))) or ""
        action = choices.get(answer.strip().lower())
        if question.picks and _PICKED.fullmatch(answer.strip()):
            await self._tap(receiver, question, "choose", answer.strip())
            return ""
        if action == "edit":
            text = (await self._ask(asker, await self._text("terminal.new_text")) or "").strip()
            if text:
                await self._tap(receiver, question, "edit", text)
        elif action:
            await self._tap(receiver, question, action)
        return answer if action is None and answer.strip() else ""

    async def _ask(self, session: Any, text: str) -> str | None:
        """One line from the person; None at the end of input (Ctrl-D, Ctrl-C)."""
        try:
            return str(await session.prompt_async(text))
        except (EOFError, KeyboardInterrupt):
            return None

    async def _text(self, key: str, **values: object) -> str:
        return words.text(key, await self._language(), **values)

    async def _language(self) -> str:
        return await asyncio.to_thread(self.spoken)

    async def _hand_over(self, receiver: Receiver, text: str) -> None:
        try:
            await receiver.message(self._message(text))
        except TryLater as busy:
            self.lost = busy
            print(await self._text("terminal.not_kept", reason=busy), file=sys.stderr, flush=True)
            return
        await self._until_settled(receiver)

    async def _until_settled(self, receiver: Receiver) -> None:
        """Wait until all is said; where a person looks on, Ctrl-C stops the answer meanwhile."""
        if self._prompts is None:
            await self.settled()
            return
        pressed = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, pressed.set)
        settling, pressing = asyncio.ensure_future(self.settled()), asyncio.ensure_future(pressed.wait())
        try:
            await asyncio.wait((settling, pressing), return_when=asyncio.FIRST_COMPLETED)
            if not settling.done():
                await receiver.message(self._message("/stop"))
            await settling
        finally:
            settling.cancel()
            pressing.cancel()
            loop.remove_signal_handler(signal.SIGINT)
            print(self._take_sign_away(), end="", flush=True)

    def _take_sign_away(self) -> str:
        shows, self._shows_sign = self._shows_sign, False
        return "\r\x1b[K" if shows else ""

    async def _tap(self, receiver: Receiver, question: Question, action: str, text: str = "") -> None:
        data = question.buttons[{"edit": "approve", "choose": "forget"}.get(action, action)].data
        tap = Tap(
            chat=self.chat,
            person=TERMINAL_OWNER,
            id=secrets.token_hex(8),
            data=f"{action}:{data.partition(':')[2]}",
            at=self.clock.now(),
            message_id=question.message_id,
            text=text,
        )
        toast = await receiver.tap(tap)
        if toast:
            print(toast, file=sys.stderr, flush=True)

    def _message(self, text: str) -> IncomingMessage:
        return IncomingMessage(
            chat=self.chat,
            person=TERMINAL_OWNER,
            id=secrets.token_hex(8),
            pieces=(Piece(How.OWN, TERMINAL_OWNER.key, clean(text)),),
            at=self.clock.now(),
            session=self.session,
        )


def _choices(question: Question) -> dict[str, str]:
    """What may be answered to a question, and the action it means; "" is later."""
    later = {"": "", "l": "", "later": ""}
    if "approve" in question.buttons:
        said = {"y": "approve", "yes": "approve", "n": "reject", "no": "reject", "e": "edit", "edit": "edit"}
        return said | later
    if question.picks:
        return {"y": "forget", "yes": "forget", "n": "cancel", "no": "cancel"} | later
    return {str(number): action for number, action in enumerate(question.buttons, 1)} | later


def _asking(question: Question, language: str) -> str:
    if "approve" in question.buttons:
        return words.text("terminal.decide", language)
    if question.picks:
        return words.text("terminal.forget", language)
    labels = (f"[{number}] {button.label}" for number, button in enumerate(question.buttons.values(), 1))
    return words.text("terminal.choose", language, choices=words.text("cli.and", language).join(labels))
