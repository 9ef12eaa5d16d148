"""Turns an outbox row into what is shown: fetches the records, `notices` and the commands' views say the words."""

from dataclasses import dataclass

from gateway import words
from gateway.conversation import commands, notices
from gateway.conversation.commands.about import welcome_text
from gateway.conversation.commands.call import Services
from gateway.conversation.notices import Rendered
from gateway.errors import NotFound, Refused
from gateway.memory import entries, snapshot
from gateway.records import Outgoing, Role, Status, Write
from gateway.store import messages, people, writes


@dataclass(frozen=True)
class Renderer:
    """Renders rows when they are first taken: language, verbosity and platform are those of that moment."""

    services: Services

    def __call__(self, row: Outgoing) -> Rendered | None:
        """What to show, or None when there is nothing to say any more. What cannot be shown is said instead."""
        language = self._language(row)
        try:
            return self._rendered(row, language)
        except Refused as refused:
            values = {name: notices.escape(str(value)) for name, value in refused.values.items()}
            return Rendered(words.text(refused.key, language, **values), aside=False)

    def _rendered(self, row: Outgoing, language: str) -> Rendered | None:
        match row.kind:
            case "reply":
                return self._reply(row)
            case "notice":
                unsaved = bool(row.values.get("unsaved"))
                return notices.notice(self._writes(row), self._verbosity(row), language, unsaved=unsaved)
            case "card":
                return self._card(row, language)
            case "card_update":
                return self._card_update(row, language)
            case "welcome":
                return Rendered(welcome_text(self.services, row, language))
            case "ask_first":
                buttons = tuple(notices.button(name, row, language) for name in ("ask_first", "remember_freely"))
                return Rendered(words.text("ask_first.question", language), buttons=(buttons,))
            case "first_answer":
                asks = self.services.asks_first(row.space)
                return Rendered(words.text("ask_first.asks" if asks else "ask_first.tells", language), silent=True)
            case "warning":
                return Rendered(words.text(str(row.values["key"]), language, **row.values), silent=True)
            case "answer":
                return Rendered(self._answer(row, language), aside=self._asked_elsewhere(row))
            case _:
                return Rendered(words.text(f"say.{row.kind}", language, **row.values), aside=False)

    def _reply(self, row: Outgoing) -> Rendered | None:
        if row.message is None:
            return None
        with self.services.db.read() as rd:
            answer = messages.get(rd, row.message)
        return Rendered(answer.text, aside=answer.chat != row.chat, escaped=False)

    def _asked_elsewhere(self, row: Outgoing) -> bool:
        """Whether it answers a terminal that has gone: it is no output of the one that says it now."""
        if row.message is None:
            return False
        with self.services.db.read() as rd:
            return messages.get(rd, row.message).chat != row.chat

    def _answer(self, row: Outgoing, language: str) -> str:
        key = str(row.values["say"])
        if key in commands.VIEWS:
            return commands.VIEWS[key](self.services, row, language)
        shown = {name: notices.escape(str(value)) for name, value in row.values.items()}
        return words.text(key, language, **shown)

    def _writes(self, row: Outgoing) -> list[Write]:
        with self.services.db.read() as rd:
            if row.review is not None:
                return writes.of_review(rd, *row.review)
            return writes.of_message(rd, row.message) if row.message is not None else []

    def _card(self, row: Outgoing, language: str) -> Rendered | None:
        write = self._write(row)
        if write is None or write.status is not Status.STAGED:
            return None
        typed = row.chat.platform == "terminal"
        return notices.card(write, row, self._usage_after(write), language, typed=typed)

    def _usage_after(self, write: Write) -> str:
        """The budget as it would be after this write; "" when the file cannot be read or takes it no more."""
        memory, limit = self.services.memory, self.services.settings.budget(write.target)
        with self.services.db.read() as rd:
            space = people.space(rd, write.space)
        try:
            doc = memory.read(space, write.target)
        except Refused:
            return ""
        after = entries.apply(write.operations, doc, limit, batch=len(write.operations) > 1)
        return snapshot.usage(entries.chars(after.doc), limit) if isinstance(after, entries.Applied) else ""

    def _card_update(self, row: Outgoing, language: str) -> Rendered | None:
        write = self._write(row)
        if write is None:
            return None
        if write.status is Status.STAGED:
            return self._card(row, language)
        with self.services.db.read() as rd:
            known = people.chat(rd, row.chat)
        by = "" if known is not None and known.person == write.decided_by else write.decided_by
        if row.values.get("in_use"):
            return notices.in_use(write, language)
        if row.chat.platform == "terminal" and self._decided_by_command(write):
            return None  # the command's own answer says it, on the same screen
        return notices.decided(write, row, by, language)

    def _decided_by_command(self, write: Write) -> bool:
        if write.decided_in is None:
            return False
        with self.services.db.read() as rd:
            return messages.get(rd, write.decided_in).role is Role.COMMAND

    def _write(self, row: Outgoing) -> Write | None:
        with self.services.db.read() as rd:
            try:
                return writes.get(rd, row.write) if row.write is not None else None
            except NotFound:
                return None

    def _language(self, row: Outgoing) -> str:
        with self.services.db.read() as rd:
            known = people.chat(rd, row.chat)
        return (known.language if known else "") or self.services.settings.display.language

    def _verbosity(self, row: Outgoing) -> str:
        return self.services.settings.notifications(row.chat.platform)
