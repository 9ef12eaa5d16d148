"""Turns an outbox row into what is shown: fetches the records, `notices` and the commands' views say the words."""

from dataclasses import dataclass, replace

from gateway import words
from gateway.chat import Chat, Person
from gateway.conversation import (
    besidetext,
    cardtext,
    commands,
    deciders,
    notices,
    resettext,
    skillcard,
    takeback,
    takebacktext,
    tidytext,
)
from gateway.conversation.access import Standing, is_group
from gateway.conversation.cardtext import Decider
from gateway.conversation.commands import export, forget, forget_taps, journey, receipts
from gateway.conversation.commands.about import welcome_text
from gateway.conversation.commands.call import Services
from gateway.conversation.language import language_of_row
from gateway.conversation.notices import Rendered
from gateway.errors import NotFound, Refused
from gateway.memory import entries
from gateway.records import Outgoing, Role, Status, Write
from gateway.store import cardrows, messages, pairings, people, writes

WITH_WORDS = (
    "reply",
    "answer",
    "session_list",
    "taken_back",
    "taken_back_update",
    "notice",
    "notice_update",
    "warning",
    "reset",
    "tidied",
    "ask_edit",
)
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
                if self.services.asks_first(row.space):
                    return None  # it is decided already, by config.yaml or a command
                buttons = tuple(notices.button(name, row, language) for name in ("ask_first", "remember_freely"))
                return Rendered(words.text("ask_first.question", language), buttons=(buttons,))
            case "first_answer":
                asks = self.services.asks_first(row.space)
                return Rendered(words.text("ask_first.asks" if asks else "ask_first.tells", language), silent=True)
            case "reset":
                return resettext.rendered(row, language)
            case "compressed" | "compressed_still_long" | "not_compressed" | "too_long":
                return Rendered(words.text(f"say.{row.kind}", language), silent=True)
            case "warning":
                return Rendered(words.text(str(row.values["key"]), language, **row.values), silent=True)
            case "taken_back" | "taken_back_update":
                return self._taken_back(row, language)
            case "forget_plan" | "forget_plan_update":
                return forget.card(self.services, row, language) if self._may_see_plan(row) else None
            case "forgotten":
                return receipts.done(self.services, row, language, whole=self._is_private(row))
            case "export":
                return export.rendered(self.services, row, language) if self._decides_here(row) else None
            case "forget_delete":
                named = row.values["messages"]
                assert isinstance(named, list)
                return Rendered("", deletes=tuple(map(str, named)))
            case "answer" | "session_list":
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
            answer = messages.find(rd, row.message)
        if answer is None:
            return None  # taken back at this moment
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
            if row.chat.platform == "terminal":
                told = [write for write in told if not self._settled_by_command(write)]
        unheeded = str(row.values.get("unheeded", ""))
        verbosity, services = self._verbosity(row), self.services
        near = besidetext.lines(services.db, services.memory, told, language, with_words=verbosity == "verbose")
        rendered = notices.notice(told, verbosity, language, unsaved=unsaved, unheeded=unheeded, beside=near)
        in_force = any(write.status is Status.APPLIED and not write.decided_by for write in told)
        if rendered is None or not in_force or row.chat.platform == "terminal" or not self._decides_here(row):
            return rendered
        if verbosity == "off":
            return rendered
        return replace(rendered, buttons=((notices.button("undo", row, language),),))

    def _taken_back(self, row: Outgoing, language: str) -> Rendered:
        """With [Undo] for all that rests on it, where somebody who may decide reads it."""
        found, decides = row.values["writes"], self._decides_here(row)
        assert isinstance(found, list)
        with self.services.db.read() as rd:
            rests = takeback.listed(rd, int(str(row.values["question"])), found)
        with_button = decides and row.chat.platform != "terminal"
        rendered = takebacktext.rendered(row, rests, language, with_words=decides, with_button=with_button)
        return replace(rendered, aside=self._asked_elsewhere(row))

    def _verbosity(self, row: Outgoing) -> str:
        """A chat that does not belong to the space (any more) hears that something changed, without the words."""
        verbosity = self.services.settings.notifications(row.chat.platform)
        return "on" if verbosity == "verbose" and not self._hears_words(row) else verbosity

    def _reminder(self, row: Outgoing, language: str) -> Rendered | None:
        with self.services.db.read() as rd:
            count = cardrows.count_undecided(rd, row.chat)
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

    def _may_see_plan(self, row: Outgoing) -> bool:
        """A plan has words, until it is decided; how it stands then has none, and must reach every card."""
        return row.values.get("is") not in (None, "planned") or self._decides_here(row)

    def _is_private(self, row: Outgoing) -> bool:
        with self.services.db.read() as rd:
            return not is_group(people.chat(rd, row.chat), row.chat)

    def _pairing(self, row: Outgoing, language: str) -> Rendered | None:
        """Who asks to be let in, while that is still to be decided."""
        with self.services.db.read() as rd:
            asked = pairings.find(rd, str(row.values["code"]))
        if asked is None or asked.decided_at is not None or not self._decides_here(row):
            return None
        person, until = _profile(asked.person, row.chat), asked.expires_at.astimezone(self.services.freezer.zone)
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
        near = cardtext.conflict(write, self.services.memory.texts(space, write.target))
        return cardtext.Around(self._budget(write, doc), near, elsewhere, several)

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
        if row.chat.platform == "terminal" and self._settled_by_command(write):
            return None  # the command's own answer says it, on the same screen
        decider = self._undoer(write, row) if write.status is Status.UNDONE else self._decider(write, row)
        said = skillcard.decided if write.kind == "skill" else cardtext.decided
        return said(write, row, decider, language)

    def _question(self, row: Outgoing, language: str) -> Rendered | None:
        """Asks for another text, as long as the write waits."""
        if row.write is None:
            return self._question_of_an_entry(row, language)
        write = self._write(row)
        if write is None or write.status is not Status.STAGED or not self._decides_here(row):
            return None
        return cardtext.question(write, row, language)

    def _question_of_an_entry(self, row: Outgoing, language: str) -> Rendered:
        """Where a platform has dialogs, its button opens one."""
        if forget_taps.asks(row):
            return forget_taps.question(row, language)
        answers = row.chat.platform == "telegram"
        text = journey.question_text(self.services, row, language, answers=answers)
        buttons = () if answers else ((notices.button("edit", row, language),),)
        return Rendered(text, buttons=buttons, asks=answers)

    def _decider(self, write: Write, row: Outgoing) -> Decider:
        with self.services.db.read() as rd:
            return deciders.of(rd, self.services.access, self.services.freezer.zone, write, row.chat)

    def _undoer(self, write: Write, row: Outgoing) -> Decider:
        with self.services.db.read() as rd:
            return deciders.of_undo(rd, self.services.access, self.services.freezer.zone, write, row.chat)

    def _settled_by_command(self, write: Write) -> bool:
        settled_in = write.undone_in if write.status is Status.UNDONE else write.decided_in
        if settled_in is None:
            return False
        with self.services.db.read() as rd:
            return messages.get(rd, settled_in).role is Role.COMMAND

    def _write(self, row: Outgoing) -> Write | None:
        with self.services.db.read() as rd:
            try:
                return writes.get(rd, row.write) if row.write is not None else None
            except NotFound:
                return None

    def _language(self, row: Outgoing) -> str:
        with self.services.db.read() as rd:
            return language_of_row(rd, row, self.services.settings)


def _profile(person: Person, chat: Chat) -> str:
    """An account by which its person can be recognised: the app shows the name, which we do not keep."""
    key = notices.escape(person.key)
    if person.platform != chat.platform or not person.id.isdecimal():
        return key
    match person.platform:
        case "telegram":
            return f"[{key}](tg://user?id={person.id})"
        case "discord":
            return f"{key} (<@{person.id}>)"
        case _:
            return key
