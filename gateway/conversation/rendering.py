"""Turns an outbox row into what is shown: fetches the records, `notices` and the commands' views say the words."""

from dataclasses import dataclass, replace

from gateway import words
from gateway.chat import Person
from gateway.conversation import cardtext, commands, deciders, notices, skillcard, tidytext
from gateway.conversation.access import Standing
from gateway.conversation.cardtext import Decider
from gateway.conversation.commands.about import welcome_text
from gateway.conversation.commands.call import Services
from gateway.conversation.language import language_of_row
from gateway.conversation.notices import Rendered
from gateway.errors import NotFound, Refused
from gateway.memory import entries
from gateway.records import Outgoing, Role, Status, Write
from gateway.store import messages, outbox, pairings, people, writes

WITH_WORDS = ("reply", "answer", "notice", "notice_update", "warning", "tidied", "ask_edit")
"""Kinds that say something of a space: nobody hears them who was taken out meanwhile. Cards look by themselves."""


@dataclass(frozen=True)
class Renderer:
    """Renders rows when they are first taken: language, verbosity and platform are those of that moment."""

    services: Services

    def __call__(self, row: Outgoing) -> Rendered | None:
        """What to show, or None when there is nothing to say any more. What cannot be shown is said instead."""
        if row.kind in WITH_WORDS and not self._is_let_in(row):
            return None
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
            case "notice" | "notice_update":
                return self._notice(row, language)
            case "tidied":
                return tidytext.tidied(row, self._write(row), self._verbosity(row), language)
            case "card":
                return self._card(row, language)
            case "card_update":
                return self._card_update(row, language)
            case "ask_edit":
                return self._question(row, language)
            case "reminder":
                return self._reminder(row, language)
            case "pairing":
                return self._pairing(row, language)
            case "pairing_decided":
                return Rendered(words.text(f"pairing.{row.values['ending']}", language, **row.values), silent=True)
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

    def _is_let_in(self, row: Outgoing) -> bool:
        """Whether the chat is still one of ours: it may have been taken out while this waited."""
        with self.services.db.read() as rd:
            known = people.chat(rd, row.chat)
            if known is None:
                return True  # a terminal
            person = Person.parse(known.person) if known.private and known.person else Person(row.chat.platform, "")
            return self.services.access.standing_in(rd, person, row.chat) is not Standing.STRANGER

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

    def _notice(self, row: Outgoing, language: str) -> Rendered | None:
        """With [Undo] where somebody who may decide reads it: one tap takes back what nobody asked about."""
        unsaved, told = bool(row.values.get("unsaved")), self._writes(row)
        if row.kind == "notice_update":
            told = [write for write in told if not write.decided_by]  # the others have cards, which say it
        unheeded = str(row.values.get("unheeded", ""))
        rendered = notices.notice(told, self._verbosity(row), language, unsaved=unsaved, unheeded=unheeded)
        in_force = any(write.status is Status.APPLIED and not write.decided_by for write in told)
        if rendered is None or not in_force or row.chat.platform == "terminal" or not self._decides_here(row):
            return rendered
        if self._verbosity(row) == "off":
            return rendered
        return replace(rendered, buttons=((notices.button("undo", row, language),),))

    def _verbosity(self, row: Outgoing) -> str:
        """A chat that does not belong to the space (any more) hears that something changed, without the words."""
        verbosity = self.services.settings.notifications(row.chat.platform)
        return "on" if verbosity == "verbose" and not self._hears_words(row) else verbosity

    def _reminder(self, row: Outgoing, language: str) -> Rendered | None:
        with self.services.db.read() as rd:
            count = outbox.count_undecided(rd, row.chat)
        return Rendered(words.text("reminder.waiting", language, count=count), silent=True) if count else None

    def _hears_words(self, row: Outgoing) -> bool:
        """Whether the words of the row's space may be shown in its chat."""
        with self.services.db.read() as rd:
            known = people.chat(rd, row.chat)
        return self._decides_here(row) or (known is not None and not known.private and known.space == row.space)

    def _decides_here(self, row: Outgoing) -> bool:
        """Whether it goes to the private chat of somebody who decides for its space: only there are cards."""
        if row.chat.platform == "terminal":
            return True
        with self.services.db.read() as rd:
            known = people.chat(rd, row.chat)
            if known is None or not known.private or not known.person:
                return False
            return self.services.access.may_decide(rd, Person.parse(known.person), row.space)

    def _writes(self, row: Outgoing) -> list[Write]:
        with self.services.db.read() as rd:
            if row.review is not None:
                return writes.of_review(rd, *row.review)
            return writes.of_message(rd, row.message) if row.message is not None else []

    def _pairing(self, row: Outgoing, language: str) -> Rendered | None:
        """Who asks to be let in, while that is still to be decided."""
        with self.services.db.read() as rd:
            asked = pairings.find(rd, str(row.values["code"]))
        if asked is None or asked.decided_at is not None or not self._decides_here(row):
            return None
        person, until = notices.escape(asked.person.key), asked.expires_at.astimezone(self.services.freezer.zone)
        text = words.text("pairing.asks", language, person=person, code=asked.code, until=f"{until:%H:%M}")
        return Rendered(text, buttons=(tuple(notices.button(each, row, language) for each in ("allow", "ignore")),))

    # -- cards -------------------------------------------------------------------------------------------

    def _card(self, row: Outgoing, language: str) -> Rendered | None:
        write = self._write(row)
        if write is None or write.status is not Status.STAGED or not self._decides_here(row):
            return None
        show = skillcard.card if write.kind == "skill" else cardtext.card
        return show(write, row, self._around(write, row), language)

    def _around(self, write: Write, row: Outgoing) -> cardtext.Around:
        """What a card says besides its write: the file as it is now, and what waits for the same yes."""
        with self.services.db.read() as rd:
            space = people.space(rd, write.space)
            known = people.chat(rd, row.chat)
            several = writes.count_staged(rd, write.space) > 1
        elsewhere = known is not None and known.space != write.space
        if write.kind == "skill":
            return cardtext.Around(elsewhere=elsewhere, several=several)
        try:
            doc = self.services.memory.read(space, write.target)
        except Refused:
            return cardtext.Around(elsewhere=elsewhere, several=several)
        return cardtext.Around(self._budget(write, doc), cardtext.conflict(write, doc.texts), elsewhere, several)

    def _budget(self, write: Write, doc: entries.Document) -> cardtext.Budget:
        limit, operations = self.services.settings.budget(write.target), notices.whole_operations(write)
        change = entries.apply(operations, doc, limit, batch=len(operations) > 1)
        if not isinstance(change, entries.Applied):
            return cardtext.Budget(entries.chars(doc), None, limit)
        counts = len(doc.entries), len(change.doc.entries)
        return cardtext.Budget(entries.chars(doc), entries.chars(change.doc), limit, counts)

    def _card_update(self, row: Outgoing, language: str) -> Rendered | None:
        write = self._write(row)
        if write is None or not self._decides_here(row):
            return None
        if write.status is Status.STAGED:
            return self._card(row, language)
        if row.values.get("in_use") and write.status is Status.APPLIED:
            return cardtext.in_use(write, row, self._decider(write, row), language)
        if row.chat.platform == "terminal" and self._decided_by_command(write):
            return None  # the command's own answer says it, on the same screen
        decider = self._undoer(write, row) if write.status is Status.UNDONE else self._decider(write, row)
        said = skillcard.decided if write.kind == "skill" else cardtext.decided
        return said(write, row, decider, language)

    def _question(self, row: Outgoing, language: str) -> Rendered | None:
        """Asks for another text, as long as the write waits."""
        write = self._write(row)
        if write is None or write.status is not Status.STAGED or not self._decides_here(row):
            return None
        return cardtext.question(write, row, language)

    def _decider(self, write: Write, row: Outgoing) -> Decider:
        with self.services.db.read() as rd:
            return deciders.of(rd, self.services.access, self.services.freezer.zone, write, row.chat)

    def _undoer(self, write: Write, row: Outgoing) -> Decider:
        with self.services.db.read() as rd:
            return deciders.of_undo(rd, self.services.access, self.services.freezer.zone, write, row.chat)

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
            return language_of_row(rd, row, self.services.settings)
