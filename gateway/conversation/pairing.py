"""Pairing: a stranger is told a code, the owner says yes or no (design.md 6.4, 7.1).

What is kept of a stranger is the account and its codes. Chat commands, buttons and `hikae pair` come here; what a
yes means for spaces is `access`, the words are `notices`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway.chat import Chat, Person
from gateway.conversation import firstwords
from gateway.conversation.access import Access, Standing, new_code, owner_space
from gateway.errors import AlreadyDecided, NotFound, Refused
from gateway.records import NewOutgoing, Pairing, Space
from gateway.store import outbox, pairings, people
from gateway.store.db import Reader, Transaction

CODE_TIME = timedelta(hours=1)
DAY = timedelta(days=1)
KEPT = timedelta(days=2)
CODES_A_DAY = 3
"""For one account. With `MOST_OPEN`, what strangers can make the bot say has an end."""
MOST_OPEN = 20
"""Codes that wait at a time, of all strangers. The owner's own ways in are not among them."""
MOST_TOLD_NO = 20
"""Of those who were ignored or taken out, so many are listed."""
OWNER = "owner"


@dataclass(frozen=True, slots=True)
class LetIn:
    """Whom a yes let in, and which space it has now."""

    person: str
    space: str


@dataclass(frozen=True, slots=True)
class Known:
    """One account as `/pair` lists it: let in, asking with a code, or told no."""

    person: str
    role: str
    """owner | allowed | asking | ignored | revoked"""
    space: str
    """"" while it has none."""
    since: datetime | None
    code: str = ""
    expires_at: datetime | None = None
    in_settings: bool = False
    """Whether config.yaml lets it in: then only config.yaml can take it out."""


# -- asking ------------------------------------------------------------------------------------------------


def code_for(
    tx: Transaction, access: Access, person: Person, chat: Chat, now: datetime, language: str = ""
) -> Pairing | None:
    """The code a stranger is told: the one it has, else a new one, with a card for the owner. None: silence."""
    if not may_be_told(tx, person, now):
        return None
    current = pairings.current(tx, person, now)
    if current is not None:
        return current
    pairings.drop_before(tx, now - KEPT)
    asked = Pairing(new_code(), person, Chat(chat.platform, chat.id), now, now + CODE_TIME, language=language)
    pairings.ask(tx, asked)
    if not pairings.ignored_since(tx, person, now - DAY):
        _show(tx, access, asked, now)
    return asked


def may_be_told(rd: Reader, person: Person, now: datetime) -> bool:
    """Whether a stranger's message is answered with a code. Also asked before anything is written."""
    current = pairings.current(rd, person, now)
    if current is not None:
        return current.decided_at is None
    return pairings.asked_since(rd, person, now - DAY) < CODES_A_DAY and len(pairings.waiting(rd, now)) < MOST_OPEN


def show_waiting(tx: Transaction, access: Access, now: datetime) -> None:
    """Show the owner who asks, where no card could be shown before."""
    for asked in pairings.waiting(tx, now):
        _show(tx, access, asked, now)


def _show(tx: Transaction, access: Access, asked: Pairing, now: datetime) -> None:
    home = people.home_chat(tx, access.owners(tx))
    if home is not None:
        card = NewOutgoing(
            dedupe=_card(asked.code),
            kind="pairing",
            chat=home,
            space=owner_space(tx, now).id,
            created_at=now,
            values={"code": asked.code},
        )
        outbox.put(tx, card)


# -- deciding ----------------------------------------------------------------------------------------------


def approve(tx: Transaction, access: Access, code: str, now: datetime, *, name: str = "") -> LetIn:
    """The owner's yes to a code, or (with `name`) to join an account that is let in, `telegram:9`, to a person.

    `name` is a space: "owner" or another person's. An account that was ignored or revoked is named by its key, too.
    Returns whom it let in and with which space. Raises Refused.
    """
    space = _space_to_join(tx, name, now) if name else None
    if ":" in code:
        return _join(tx, access, code, space, now)
    asked = _asked(tx, code, now)
    if not pairings.decide(tx, asked.code, now):
        raise AlreadyDecided("pair.over")
    joined = access.let_in(tx, asked.person, space, now)
    _redraw(tx, asked, now, joined)
    _tell(tx, access, asked, joined, now)
    return LetIn(asked.person.key, joined.name)


def who(rd: Reader, code: str, now: datetime) -> Person:
    """Whom a yes to this code would let in. Raises Refused where it would let in nobody."""
    return _person(code) if ":" in code else _asked(rd, code, now).person


def ignore(tx: Transaction, code: str, now: datetime) -> None:
    """The owner's no: silence for that account. Raises AlreadyDecided."""
    asked = pairings.find(tx, code)
    if asked is None or not pairings.ignore(tx, code, now):
        raise AlreadyDecided("pair.over")
    _redraw(tx, asked, now, None)


def revoke(tx: Transaction, access: Access, key: str, now: datetime) -> None:
    """Take an account out. Raises Refused where config.yaml lets it in, or nobody did."""
    access.revoke(tx, _person(key), now)


def _asked(rd: Reader, code: str, now: datetime) -> Pairing:
    asked = pairings.find(rd, code.strip().upper())
    if asked is None:
        raise NotFound("pair.unknown_code")
    if asked.decided_at is not None or asked.expires_at <= now:
        raise AlreadyDecided("pair.over")
    return asked


def _join(tx: Transaction, access: Access, key: str, space: Space | None, now: datetime) -> LetIn:
    person = _person(key)
    if access.standing(tx, person) is Standing.STRANGER:
        return _take_back(tx, access, person, space, now)
    if space is None:
        raise Refused("pair.as_whom", person=key)
    if person.key in access.settings.access.owners and space.kind != OWNER:
        raise Refused("pair.in_settings", person=key, setting="access.owners")
    return LetIn(key, access.let_in(tx, person, space, now).name)


def _take_back(tx: Transaction, access: Access, person: Person, space: Space | None, now: datetime) -> LetIn:
    """A no was not meant: an account that was ignored or revoked is let in."""
    asked = next((each for each in pairings.ignored(tx) if each.person == person), None)
    account = people.account(tx, person)
    if asked is None and (account is None or account.revoked_at is None):
        raise NotFound("pair.not_let_in", person=person.key)
    joined = access.let_in(tx, person, space, now)
    pairings.take_back(tx, person)
    if asked is not None:
        _redraw(tx, asked, now, joined)
        _tell(tx, access, asked, joined, now)
    return LetIn(person.key, joined.name)


def _space_to_join(tx: Transaction, name: str, now: datetime) -> Space:
    if name == OWNER:
        return owner_space(tx, now)
    space = people.space_named(tx, name)
    if space.kind != "person" or people.is_closed(tx, space.id):
        raise NotFound("pair.not_a_person", name=name)
    return space


def _person(key: str) -> Person:
    try:
        return Person.parse(key.strip())
    except ValueError:
        raise Refused("pair.which") from None


def _redraw(tx: Transaction, asked: Pairing, now: datetime, joined: Space | None) -> None:
    """The owner's card says what became of it."""
    card = outbox.by_dedupe(tx, _card(asked.code))
    if card is None:
        return
    ending = "allowed" if joined else "ignored"
    outbox.put(
        tx,
        NewOutgoing(
            dedupe=f"{_card(asked.code)}-{ending}",
            kind="pairing_decided",
            chat=card.chat,
            space=card.space,
            created_at=now,
            edits=card.id,
            values={
                "ending": ending,
                "person": asked.person.key,
                "space": joined.name if joined else "",
            },
        ),
    )


def _tell(tx: Transaction, access: Access, asked: Pairing, joined: Space, now: datetime) -> None:
    """Whoever was let in hears it, with the welcome."""
    people.keep_chat(
        tx, asked.chat, private=True, person=asked.person.key, space=joined.id, language=asked.language, at=now
    )
    outbox.put(
        tx,
        NewOutgoing(dedupe=f"let-in-{asked.code}", kind="let_in", chat=asked.chat, space=joined.id, created_at=now),
    )
    firstwords.put(tx, access, asked.chat, asked.person, joined, now)


def _card(code: str) -> str:
    return f"pairing-{code}"


# -- listing -----------------------------------------------------------------------------------------------


def known(rd: Reader, access: Access, now: datetime) -> list[Known]:
    """Who asks, who is let in (by a code, a yes or config.yaml), and who was told no of late."""
    asking = [
        Known(asked.person.key, "asking", "", asked.created_at, asked.code, asked.expires_at)
        for asked in pairings.waiting(rd, now)
    ]
    wanted = access.settings.access
    named = dict.fromkeys((*wanted.owners, *wanted.allowed))
    kept = {account.key: account.since for account in people.let_in(rd)}
    inside = [
        _let_in(rd, access, key, kept.get(key), key in named)
        for key in (*kept, *(key for key in named if key not in kept))
    ]
    return asking + inside + _told_no(rd, {each.person for each in (*asking, *inside)})


def _told_no(rd: Reader, others: set[str]) -> list[Known]:
    """Whom the owner ignored or took out, newest first."""
    told = [Known(each.person.key, "ignored", "", each.ignored_at) for each in pairings.ignored(rd)]
    told += [Known(each.key, "revoked", "", each.revoked_at) for each in people.revoked(rd)]
    newest = sorted((each for each in told if each.since is not None), key=_since, reverse=True)
    found: dict[str, Known] = {}
    for each in newest:
        found.setdefault(each.person, each)
    return [each for each in found.values() if each.person not in others][:MOST_TOLD_NO]


def _since(known: Known) -> datetime:
    assert known.since is not None
    return known.since


def _let_in(rd: Reader, access: Access, key: str, since: datetime | None, in_settings: bool) -> Known:
    person = Person.parse(key)
    standing = access.standing(rd, person)
    own = access.own_space(rd, person)
    space = OWNER if standing is Standing.OWNER else (own.name if own else "")
    return Known(key, standing.value, space, since, in_settings=in_settings)
