"""The terminal as a platform: lines typed or piped in, answers on stdout, notices and cards on stderr.

In an interactive terminal a card of the turn just ended is a question on the spot: yes, no, edit or later. The
person at the terminal is the owner.
"""

import asyncio
import re
import secrets
import sys
from collections.abc import Awaitable, Callable
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
PROMPT = "you> "
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What could move the cursor, change the title or fill the clipboard of whoever reads an answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """A card to ask about: its message id and its buttons by action."""

    message_id: str
    buttons: dict[str, Button]


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
    lost: TryLater | None = None
    """Why the last thing that could not be kept was not."""
    _questions: list[Question] = field(default_factory=list)
    _prompts: "PromptSession[str] | None" = None

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
        text = _ESCAPE.sub(r"\1", message.text) if message.escaped else message.text
        text = _CONTROLS.sub("�", text.replace("\r\n", "\n"))
        print(text, file=sys.stderr if message.aside else sys.stdout, flush=True)
        message_id = message.edits or secrets.token_hex(6)
        buttons = {button.data.partition(":")[0]: button for row in message.buttons for button in row}
        if self._prompts is not None and buttons and (not message.edits or "approve" in buttons):
            self._questions.append(Question(message_id, buttons))
        return message_id

    async def typing(self, chat: Chat) -> None:
        """Nothing: the prompt comes back when the answer is there."""

    def chunks(self, text: str) -> tuple[str, ...]:
        return (text,)

    def health(self) -> PlatformHealth:
        return PlatformHealth("ok", self.clock.now())

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
            while (line := await self._ask(self._prompts, PROMPT)) is not None:
                if line.strip():
                    await self._hand_over(receiver, line)
                    await self._ask_questions(receiver)

    async def _ask_questions(self, receiver: Receiver) -> None:
        while self._questions:
            question = self._questions.pop(0)
            await self._ask_one(receiver, question)
            await self.settled()

    async def _ask_one(self, receiver: Receiver, question: Question) -> None:
        from prompt_toolkit import PromptSession

        asker: PromptSession[str] = PromptSession()
        if "approve" not in question.buttons:
            await self._choose(receiver, asker, question)
            return
        answer = (await self._ask(asker, "[y]es, [n]o, [e]dit, [l]ater? ") or "").strip().lower()
        if answer in ("y", "yes"):
            await self._tap(receiver, question, "approve")
        elif answer in ("n", "no"):
            await self._tap(receiver, question, "reject")
        elif answer in ("e", "edit"):
            text = await self._ask(asker, "new text> ")
            if text and text.strip():
                await self._tap(receiver, question, "edit", text.strip())

    async def _choose(self, receiver: Receiver, asker: Any, question: Question) -> None:
        """A question with other buttons: numbered; no number means later."""
        actions = list(question.buttons)
        labels = ", ".join(f"[{at}] {question.buttons[action].label}" for at, action in enumerate(actions, 1))
        answer = (await self._ask(asker, f"{labels}, or Enter for later: ") or "").strip()
        if answer.isdecimal() and 1 <= int(answer) <= len(actions):
            await self._tap(receiver, question, actions[int(answer) - 1])

    async def _ask(self, session: Any, text: str) -> str | None:
        """One line from the person; None at the end of input (Ctrl-D, Ctrl-C)."""
        try:
            return str(await session.prompt_async(text))
        except (EOFError, KeyboardInterrupt):
            return None

    async def _hand_over(self, receiver: Receiver, text: str) -> None:
        message = IncomingMessage(
            chat=self.chat,
            person=TERMINAL_OWNER,
            id=secrets.token_hex(8),
            pieces=(Piece(How.OWN, TERMINAL_OWNER.key, clean(text)),),
            at=self.clock.now(),
            session=self.session,
        )
        try:
            await receiver.message(message)
        except TryLater as busy:
            self.lost = busy
            print(words.text("terminal.not_kept", "en", reason=busy), file=sys.stderr, flush=True)
            return
        await self.settled()

    async def _tap(self, receiver: Receiver, question: Question, action: str, text: str = "") -> None:
        data = question.buttons["approve"].data if action == "edit" else question.buttons[action].data
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
