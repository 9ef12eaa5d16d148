"""Makes the frozen prompt and tool definitions of a session (design.md 6.5).

What a prompt is made of is read here, once, when a session opens or a person asks for a refresh; its order and
words are `prompt`, its memory blocks `memory.snapshot`.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from gateway import scan, words
from gateway.chat import Chat
from gateway.conversation import prompt, tools
from gateway.errors import Refused
from gateway.home import Home
from gateway.memory.writing import FileWarning, Memory
from gateway.records import Session, Space
from gateway.settings import Settings
from gateway.store import messages, people, prompts, sessions, textfile
from gateway.store.db import Database, Reader, Transaction

log = logging.getLogger(__name__)

MOST_CONTEXT_CHARS = 100_000
"""Of SOUL.md and of AGENTS.md. A longer one would fill the model's window, and take long to scan."""


@dataclass(frozen=True)
class Freezer:
    """Freezes prompts. Reads SOUL.md, AGENTS.md and the memory of a space; decides nothing."""

    home: Home
    settings: Settings
    memory: Memory
    zone: tzinfo
    model_name: str

    def parts(self, space: Space, platform: str, at: datetime) -> tuple[prompt.Part, ...]:
        """The parts of the prompt that a session opened now would get."""
        targets = self.memory.targets(space)
        memory_block, user_block = self.memory.blocks(space)
        rules = (prompt.GROUP_RULES,) if space.kind == "group" else ()
        return prompt.parts(
            prompt.Ingredients(
                soul=self._scanned(self.home.soul),
                tool_guidance=(*rules, *tools.guidance(targets, self.settings.agent.disabled_toolsets)),
                system_message=self.settings.agent.system_message,
                memory_block=memory_block,
                user_block=user_block,
                skills_index=self._skills(space),
                agents=self._scanned(self.home.agents),
                now=at.astimezone(self.zone),
                timezone=str(self.zone),
                platform=platform,
            )
        )

    def _skills(self, space: Space) -> str:
        if tools.SKILLS in self.settings.agent.disabled_toolsets:
            return ""
        return self.memory.skills.index(space)

    def tools(self, space: Space) -> str:
        """The tool definitions that a session opened now would get, as JSON text ("" for none)."""
        return tools.definitions(self.memory.targets(space), self.settings.agent.disabled_toolsets)

    def open(
        self, tx: Transaction, chat: Chat, space: Space, at: datetime, member: str = "", *, incognito: bool = False
    ) -> Session:
        """Open a session in this chat with a prompt frozen now."""
        session = Session(
            id=sessions.new_id(at),
            space=space.id,
            chat=chat,
            member=member,
            opened_at=at,
            ended_at=None,
            system_prompt=prompt.join(self.parts(space, chat.platform, at)),
            tools=self.tools(space),
            generation=1,
            frozen_at=at,
            turns=0,
            last_at=at,
            title="",
            model=self.model_name,
            incognito=incognito,
        )
        sessions.open(tx, session)
        return session

    def refreeze(self, tx: Transaction, session: Session, at: datetime) -> None:
        """Give an open session a new prompt: memory and tools as they are now, its own date (promise 4)."""
        space = people.space(tx, session.space)
        fresh = prompt.join(self.parts(space, session.chat.platform, session.opened_at))
        prompts.refreeze(tx, session.id, fresh, self.tools(space), at)

    def freeze_again(self, tx: Transaction, session: Session, at: datetime) -> None:
        """Give a session whose prompt a forget erased another: memory as it is now, its own date (promise 4)."""
        space = people.space(tx, session.space)
        fresh = prompt.join(self.parts(space, session.chat.platform, session.opened_at))
        prompts.freeze_again(tx, session.id, fresh, self.tools(space), at)

    def refresh(self, tx: Transaction, chat: Chat, at: datetime, named: str = "") -> bool:
        """Refreeze what a chat talks in: `/memory refresh` and [Use now]. False: no session is open.

        Where each member of a group has a session, all of these: the memory is the group's.
        """
        used = self.used_in(tx, chat, named)
        for session in used:
            self.refreeze(tx, session, at)
        return bool(used)

    def used_in(self, rd: Reader, chat: Chat, named: str = "") -> Sequence[Session]:
        """The open sessions of a chat, else the one that it was asked to go on with."""
        session = sessions.find(rd, named) if named else None
        return sessions.open_in(rd, chat) or ([session] if session is not None else [])

    def stamp_zone(self, at: datetime) -> datetime:
        """An instant in the time zone in which the model is told times."""
        return at.astimezone(self.zone)

    def warnings(self, space: Space) -> tuple[FileWarning, ...]:
        """What the person should be told about the files of their prompt when a session opens; never the words."""
        return (*self.memory.warnings(space), *self._left_out())

    def _left_out(self) -> Iterator[FileWarning]:
        for path in (self.home.soul, self.home.agents):
            try:
                _context(path)
            except Refused as refused:
                yield FileWarning(refused.key, refused.values)

    def _scanned(self, path: Path) -> str:
        """A context file as it may be shown to a model; left out where it cannot be or is clearly an attack."""
        try:
            text = _context(path)
        except Refused as refused:
            log.warning("prompt.file_left_out", extra={"file": path.name, "reason": refused.key})
            return ""
        verdict = scan.check(text)
        if verdict.level is scan.Level.REFUSED:
            log.warning("prompt.file_left_out", extra={"file": path.name, "reason": verdict.reasons[0]})
            return words.text("prompt.file_left_out", "en", file=path.name)
        return text


def freeze_again(db: Database, freezer: Freezer, message_id: int, at: datetime) -> None:
    """See that the turn of a message has a prompt, where a forget erased the one it began with."""
    with db.read() as rd:
        message = messages.get(rd, message_id)
        if message.erased or prompts.is_kept(rd, message.session, message.generation):
            return
    with db.write() as tx:
        session = sessions.find(tx, message.session)
        if session is None:
            return
        if not session.system_prompt:
            freezer.freeze_again(tx, session, at)
        messages.send_under(tx, session.id, message.turn, sessions.get(tx, session.id).generation)
    log.info("session.frozen_again", extra={"session": session.id})


def _context(path: Path) -> str:
    """The text of a context file. Raises Refused for one that cannot be read or is too long to be context."""
    text = textfile.read(path).decode("utf-8", "replace").strip()
    if len(text) > MOST_CONTEXT_CHARS:
        raise Refused("prompt.too_long", file=path.name, count=len(text), most=MOST_CONTEXT_CHARS)
    return text
