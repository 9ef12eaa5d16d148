"""Commands about the bot and the person: /start /help /status /model /home /whoami."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from gateway import words
from gateway.conversation import firstwords, members, phrases, spans
from gateway.conversation.access import Redeemed, Standing
from gateway.conversation.commands import pair
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.errors import Refused
from gateway.memory import cards
from gateway.records import Outgoing, Session
from gateway.store import holding, newerwrites, people, prompts, reviews, sessions, summaries, writes
from gateway.store.db import Transaction


def start(services: Services, call: Call) -> Said:
    """Welcome; with a code, whoever is allowed to talk becomes the owner."""
    if call.words and call.is_owner:
        # The owner opened a link with somebody's pairing code: that is a yes.
        with suppress(Refused):
            return pair.let_in(services, call.words[0])
        return _welcome(services, call, Standing.OWNER)
    if call.words:
        redeemed = services.access.redeem(services.db, call.person, call.words[0], services.clock.now())
        if redeemed is not Redeemed.WELCOME:
            return Said("say.code_wrong")
        with services.db.write() as tx:
            cards.show_homeless(tx, services.access.owners(tx), services.clock.now())
        return _welcome(services, call, Standing.OWNER)
    return _welcome(services, call, call.standing)


def _welcome(services: Services, call: Call, standing: Standing) -> Said:
    """The welcome, which is then not said again after the first answer."""
    now = services.clock.now()

    def ask(tx: Transaction) -> None:
        firstwords.ask(tx, services.access, call.message.chat, call.person, call.space, now)

    once = firstwords.welcome_key(call.person)
    return Said("welcome", {"standing": standing.value}, after=ask, once=once)


def help_(services: Services, call: Call) -> Said:
    """The commands this person may use."""
    return Said("help", {"standing": call.standing.value, "private": call.private})


def status(services: Services, call: Call) -> Said:
    """How the conversation and the work behind it stand."""
    with services.db.read() as rd:
        member = members.member_of(rd, services.settings, call.message.chat, call.message.person)
    return Said("status", {"member": member, "session": call.message.session})


def model(services: Services, call: Call) -> Said:
    """Which model answers. Changing it is configuration."""
    return Said("answer.model", {"model": services.model_name})


def whoami(services: Services, call: Call) -> Said:
    """The account, its standing and its space."""
    values = {"person": call.person.key, "standing": call.standing.value, "space": call.space.name}
    return Said("answer.whoami", values)


def home(services: Services, call: Call) -> Said:
    """Cards and notices for this person come to this chat."""
    if call.message.chat.platform == "terminal":
        raise Refused("answer.no_home")

    def set_home(tx: Transaction) -> None:
        people.set_home(tx, call.message.chat)

    return Said("answer.home", commit=set_home)


def welcome_text(services: Services, row: Outgoing, language: str) -> str:
    """What is kept, who can read it, how to forget."""
    standing = str(row.values.get("standing", ""))
    reader = "welcome.owner" if standing == Standing.OWNER else "welcome.allowed"
    asking = "welcome.asks" if services.asks_first(row.space) else "welcome.tells"
    return "\n\n".join(words.text(key, language) for key in ("welcome.kept", asking, reader, "welcome.forget"))


def status_text(services: Services, row: Outgoing, language: str) -> str:
    """The session and its snapshot, what waits, how the reviews are doing."""
    with services.db.read() as rd:
        member, named = (str(row.values.get(name, "")) for name in ("member", "session"))
        session = sessions.in_use(rd, row.chat, named, member)
        newer = newerwrites.count(rd, session) if session is not None else 0
        forgotten_at = prompts.forgotten_at(rd, session.id) if session is not None else None
        flushed_at = summaries.flushed_at(rd, session.id) if session is not None else None
        held = holding.until(rd, services.clock.now())
        waiting = writes.count_staged(rd, row.space)
        is_owners = people.space(rd, row.space).kind == "owner"
        counts = reviews.counts(rd, None if is_owners else row.space)
    lines = [_session_line(services, session, language)]
    if session is not None and (said := _forgotten_line(services, session, forgotten_at, language)):
        lines.append(said)
    if session is not None and session.incognito:
        lines.append(words.text("status.incognito", language))
    if flushed_at is not None:
        when = flushed_at.astimezone(services.settings.zone())
        lines.append(words.text("status.compressed", language, when=phrases.escape(f"{when:%Y-%m-%d %H:%M}")))
    if newer:
        lines.append(words.text("status.newer", language, count=newer))
    if ends := _reset_line(services, language):
        lines.append(ends)
    lines.append(words.text("status.pending", language, count=waiting))
    lines.append(
        words.text(
            "status.reviews",
            language,
            due=counts.get("due", 0),
            running=counts.get("running", 0),
            failed=counts.get("failed", 0),
        )
    )
    if held is not None:
        until = held.astimezone(services.settings.zone())
        lines.append(words.text("status.held", language, until=phrases.escape(f"{until:%Y-%m-%d %H:%M}")))
    lines.append(words.text("status.model", language, model=phrases.escape(services.model_name)))
    return "\n".join(lines)


def _session_line(services: Services, session: Session | None, language: str) -> str:
    if session is None:
        return words.text("status.no_session", language)
    now = services.clock.now()
    return words.text(
        "status.session",
        language,
        id=phrases.escape(session.id),
        turns=session.turns,
        age=spans.rounded(int((now - session.opened_at).total_seconds()), language),
        snapshot_age=spans.rounded(int((now - session.frozen_at).total_seconds()), language),
    )


def _forgotten_line(services: Services, session: Session, at: datetime | None, language: str) -> str:
    """That a forget erased the prompt of the session; "" where none did."""
    if at is None:
        return ""
    if not session.system_prompt:
        return words.text("status.forgotten", language)
    if session.frozen_at < at:
        return ""
    when = session.frozen_at.astimezone(services.settings.zone())
    return words.text("status.frozen_again", language, when=phrases.escape(f"{when:%Y-%m-%d %H:%M}"))


def _reset_line(services: Services, language: str) -> str:
    """When a new conversation begins by itself; "" for never."""
    chosen = services.settings.session
    if chosen.reset == "none":
        return ""
    span = spans.exact(chosen.idle_minutes, language)
    zone = phrases.escape(str(services.settings.zone()))
    return words.text(f"status.reset_{chosen.reset}", language, span=span, at=chosen.daily_at, zone=zone)


def whoami_text(services: Services, row: Outgoing, language: str) -> str:
    """Who the person is here: the account, what it may do, whose memory it has."""
    values = {name: phrases.escape(str(value)) for name, value in row.values.items()}
    values["standing"] = words.text(f"standing.{row.values['standing']}", language)
    return words.text("answer.whoami", language, **values)


VIEWS: Mapping[str, View] = {"welcome": welcome_text, "status": status_text, "answer.whoami": whoami_text}
