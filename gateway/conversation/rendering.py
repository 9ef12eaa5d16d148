"""Turns an outbox row into what is shown: fetches the records, `notices` and the commands' views say the words.

How a row of each kind is drawn is in `KINDS`. Cards are `carddrawing`, who may read what is `audience`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from gateway import words
from gateway.chat import Chat, Person
from gateway.conversation import (
    audience,
    besidetext,
    carddrawing,
    commands,
    notices,
    phrases,
    resettext,
    takeback,
    takebacktext,
    tidytext,
)
from gateway.conversation.commands import export, forget, receipts
from gateway.conversation.commands.about import welcome_text
from gateway.conversation.commands.call import Services
from gateway.conversation.language import language_of_row
from gateway.conversation.notices import Rendered
from gateway.errors import Refused
from gateway.records import Outgoing, Status, Write
from gateway.skills import asking as skills_asking
from gateway.store import cardrows, messages, pairings, writes

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
    at_the_prompt: bool = False
    """Whether it is read in a shell, where commands are typed as `hikae …`."""

    def __call__(self, row: Outgoing) -> Rendered | None:
        """What to show, or None when there is nothing to say any more. What cannot be shown is said instead."""
        if row.kind in WITH_WORDS and not audience.is_let_in(self.services, row):
            return None
        with self.services.db.read() as rd:
            language = language_of_row(rd, row, self.services.settings)
        if self.at_the_prompt:
            language = words.at_the_prompt(language)
        try:
            return KINDS.get(row.kind, _sentence)(self.services, row, language)
        except Refused as refused:
            return Rendered(words.text(refused.key, language, **_escaped(refused.values)), aside=False)


# -- what was asked, and its answers -----------------------------------------------------------------------


def _reply(services: Services, row: Outgoing, language: str) -> Rendered | None:
    if row.message is None:
        return None
    with services.db.read() as rd:
        answer = messages.find(rd, row.message)
    if answer is None:
        return None  # taken back at this moment
    return Rendered(answer.text, aside=answer.chat != row.chat, escaped=False)


def _answer(services: Services, row: Outgoing, language: str) -> Rendered:
    key = str(row.values["say"])
    view = commands.VIEWS.get(key)
    text = view(services, row, language) if view else words.text(key, language, **_escaped(row.values))
    return Rendered(text, aside=audience.asked_elsewhere(services, row))


def _export(services: Services, row: Outgoing, language: str) -> Rendered | None:
    return export.rendered(services, row, language) if audience.decides_here(services, row) else None


def _taken_back(services: Services, row: Outgoing, language: str) -> Rendered:
    """With [Undo] for all that rests on it, where somebody who may decide reads it."""
    found, decides = row.values["writes"], audience.decides_here(services, row)
    assert isinstance(found, list)
    with services.db.read() as rd:
        rests = takeback.listed(rd, int(str(row.values["question"])), found)
    with_button = decides and row.chat.platform != "terminal"
    rendered = takebacktext.rendered(row, rests, language, with_words=decides, with_button=with_button)
    return replace(rendered, aside=audience.asked_elsewhere(services, row))


# -- what was remembered -----------------------------------------------------------------------------------


def _notice(services: Services, row: Outgoing, language: str) -> Rendered | None:
    """With [Undo] where somebody who may decide reads it: one tap takes back what nobody asked about."""
    unsaved, told = bool(row.values.get("unsaved")), _writes(services, row)
    if row.kind == "notice_update":
        told = [write for write in told if not write.decided_by]  # the others have cards, which say it
        if row.chat.platform == "terminal":
            told = [write for write in told if not carddrawing.settled_by_command(services, write)]
    unheeded = str(row.values.get("unheeded", ""))
    verbosity = audience.verbosity(services, row)
    near = besidetext.lines(services.db, services.memory, told, language, with_words=verbosity == "verbose")
    rendered = notices.notice(told, verbosity, language, unsaved=unsaved, unheeded=unheeded, beside=near)
    in_force = any(write.status is Status.APPLIED and not write.decided_by for write in told)
    if rendered is None or not in_force or row.chat.platform == "terminal":
        return rendered
    if verbosity == "off" or not audience.decides_here(services, row):
        return rendered
    return replace(rendered, buttons=((notices.button("undo", row, language),),))


def _writes(services: Services, row: Outgoing) -> list[Write]:
    with services.db.read() as rd:
        if row.review is not None:
            return writes.of_review(rd, *row.review)
        return writes.of_message(rd, row.message) if row.message is not None else []


def _tidied(services: Services, row: Outgoing, language: str) -> Rendered | None:
    return tidytext.tidied(row, carddrawing.write_of(services, row), audience.verbosity(services, row), language)


def _reminder(services: Services, row: Outgoing, language: str) -> Rendered | None:
    with services.db.read() as rd:
        count = cardrows.count_undecided(rd, row.chat)
    return Rendered(words.text("reminder.waiting", language, count=count), silent=True) if count else None


# -- what was forgotten ------------------------------------------------------------------------------------


def _plan(services: Services, row: Outgoing, language: str) -> Rendered | None:
    return forget.card(services, row, language) if audience.may_see_plan(services, row) else None


def _forgotten(services: Services, row: Outgoing, language: str) -> Rendered | None:
    return receipts.done(services, row, language, whole=audience.is_private(services, row))


def _deletion(services: Services, row: Outgoing, language: str) -> Rendered:
    named = row.values["messages"]
    assert isinstance(named, list)
    return Rendered("", deletes=tuple(map(str, named)))


# -- people and their first words --------------------------------------------------------------------------


def _pairing(services: Services, row: Outgoing, language: str) -> Rendered | None:
    """Who asks to be let in, while that is still to be decided."""
    with services.db.read() as rd:
        asked = pairings.find(rd, str(row.values["code"]))
    if asked is None or asked.decided_at is not None or not audience.decides_here(services, row):
        return None
    person, until = _profile(asked.person, row.chat), asked.expires_at.astimezone(services.freezer.zone)
    text = words.text("pairing.asks", language, person=person, code=asked.code, until=f"{until:%H:%M}")
    return Rendered(text, buttons=(tuple(notices.button(each, row, language) for each in ("allow", "ignore")),))


def _profile(person: Person, chat: Chat) -> str:
    """An account by which its person can be recognised: the app shows the name, which we do not keep."""
    key = phrases.escape(person.key)
    if person.platform != chat.platform or not person.id.isdecimal():
        return key
    match person.platform:
        case "telegram":
            return f"[{key}](tg://user?id={person.id})"
        case "discord":
            return f"{key} (<@{person.id}>)"
        case _:
            return key


def _pairing_decided(services: Services, row: Outgoing, language: str) -> Rendered:
    return Rendered(words.text(f"pairing.{row.values['ending']}", language, **row.values), silent=True)


def _welcome(services: Services, row: Outgoing, language: str) -> Rendered:
    return Rendered(welcome_text(services, row, language))


def _first_question(services: Services, row: Outgoing, language: str) -> Rendered | None:
    if services.asks_first(row.space):
        return None  # it is decided already, by config.yaml or a command
    buttons = tuple(notices.button(name, row, language) for name in ("ask_first", "remember_freely"))
    return Rendered(words.text("ask_first.question", language), buttons=(buttons,))


def _first_answer(services: Services, row: Outgoing, language: str) -> Rendered:
    asks = services.asks_first(row.space)
    said = [words.text("ask_first.asks" if asks else "ask_first.tells", language)]
    with services.db.read() as rd:
        asks_of_skills = skills_asking.asks_first(rd, services.settings, row.space)
    if asks and not asks_of_skills:
        said.append(words.text("ask_first.not_skills", language))
    return Rendered("\n".join(said), silent=True)


# -- what happened to a conversation -----------------------------------------------------------------------


def _reset(services: Services, row: Outgoing, language: str) -> Rendered | None:
    return resettext.rendered(row, language)


def _said_silently(services: Services, row: Outgoing, language: str) -> Rendered:
    return Rendered(words.text(f"say.{row.kind}", language), silent=True)


def _warning(services: Services, row: Outgoing, language: str) -> Rendered:
    return Rendered(words.text(str(row.values["key"]), language, **row.values), silent=True)


def _sentence(services: Services, row: Outgoing, language: str) -> Rendered:
    """Any other kind is a sentence of the catalog."""
    return Rendered(words.text(f"say.{row.kind}", language, **row.values), aside=False)


def _escaped(values: Mapping[str, object]) -> dict[str, str]:
    return {name: phrases.escape(str(value)) for name, value in values.items()}


KINDS: Mapping[str, Callable[[Services, Outgoing, str], Rendered | None]] = {
    "reply": _reply,
    "answer": _answer,
    "session_list": _answer,
    "export": _export,
    "taken_back": _taken_back,
    "taken_back_update": _taken_back,
    "notice": _notice,
    "notice_update": _notice,
    "tidied": _tidied,
    "card": carddrawing.card,
    "card_update": carddrawing.update,
    "ask_edit": carddrawing.question,
    "reminder": _reminder,
    "forget_plan": _plan,
    "forget_plan_update": _plan,
    "forgotten": _forgotten,
    "forget_delete": _deletion,
    "pairing": _pairing,
    "pairing_decided": _pairing_decided,
    "welcome": _welcome,
    "ask_first": _first_question,
    "first_answer": _first_answer,
    "reset": _reset,
    "compressed": _said_silently,
    "compressed_still_long": _said_silently,
    "not_compressed": _said_silently,
    "too_long": _said_silently,
    "warning": _warning,
}
