"""/pair: who asks to be let in, who is; yes and no. What that does is `pairing`. The owner's alone, in private."""

from collections.abc import Mapping
from datetime import tzinfo

from gateway import words
from gateway.conversation import pairing, phrases
from gateway.conversation.commands.call import Act, Call, Said, Services, View, part_of
from gateway.errors import Refused
from gateway.records import Outgoing
from gateway.store.db import Transaction


def pair(services: Services, call: Call) -> Said:
    """`/pair` and everything behind it."""
    return part_of(call, _SUBCOMMANDS, bare="list", usage="pair.usage")(services, call)


def list_(services: Services, call: Call) -> Said:
    """Who asks, and who is let in."""
    return Said("pair")


def approve(services: Services, call: Call) -> Said:
    """`/pair approve CODE [as NAME]`: a yes; with a name, as one more account of that person."""
    given = [word for word in call.words[1:] if word.lower().lstrip("-") != "as"]
    if not 1 <= len(given) <= 2:
        raise Refused("pair.usage")
    return let_in(services, *given)


def let_in(services: Services, code: str, name: str = "") -> Said:
    """The yes to a code, in the commit that ends the command. Raises Refused where there is nobody to let in."""
    now = services.clock.now()
    with services.db.read() as rd:
        person = pairing.who(rd, code, now)

    def approve_(tx: Transaction) -> None:
        pairing.approve(tx, services.access, code, now, name=name)

    return Said("pair.approved", {"person": person.key}, commit=approve_)


def revoke(services: Services, call: Call) -> Said:
    """`/pair revoke PLATFORM:ID`: that account is a stranger again."""
    if len(call.words) != 2:
        raise Refused("pair.usage")
    key, now = call.words[1], services.clock.now()
    if key == call.person.key:
        raise Refused("pair.yourself")

    def revoke_(tx: Transaction) -> None:
        pairing.revoke(tx, services.access, key, now)

    return Said("pair.revoked", {"person": key}, commit=revoke_)


def code(services: Services, call: Call) -> Said:
    """A code that makes whoever sends it one more account of the owner."""
    made = services.access.new_owner_code(services.clock.now())
    until = made.expires_at.astimezone(services.settings.zone())
    return Said("pair.code", {"code": made.code, "until": f"{until:%Y-%m-%d %H:%M}"})


_SUBCOMMANDS: Mapping[str, Act] = {"list": list_, "approve": approve, "revoke": revoke, "code": code}


def pair_text(services: Services, row: Outgoing, language: str) -> str:
    """One line for each account, under what can be done."""
    with services.db.read() as rd:
        known = pairing.known(rd, services.access, services.clock.now())
    zone = services.freezer.zone
    lines = [_line(each, zone, language) for each in known] or [words.text("pair.nobody", language)]
    return "\n".join((*lines, words.text("pair.usage", language)))


def _line(known: pairing.Known, zone: tzinfo, language: str) -> str:
    key = f"pair.is_{known.role}" + ("_by_settings" if known.in_settings else "")
    return words.text(
        key,
        language,
        person=phrases.escape(known.person),
        space=phrases.escape(known.space or "–"),
        code=known.code,
        when=f"{known.since.astimezone(zone):%Y-%m-%d %H:%M}" if known.since else "",
    )


VIEWS: Mapping[str, View] = {"pair": pair_text}
