"""Codes of people who are not let in yet."""

from gateway.chat import Chat, Person
from gateway.records import Pairing
from gateway.store import pairings
from gateway.store.db import Database
from tests.store import given
from tests.store.given import NINE

MALLORY, PAUL = Person("telegram", "666"), Person("discord", "7")


def asked(code: str, person: Person = MALLORY, hours: float = 0) -> Pairing:
    at = given.after(hours=hours)
    return Pairing(code, person, Chat(person.platform, person.id), at, given.after(hours=hours + 1))


def test_a_code_waits_until_it_is_decided_or_ends(db: Database) -> None:
    """Decided once; not a second longer than the hour."""
    with db.write() as tx:
        for pairing in (asked("AAAA2222"), asked("BBBB3333", PAUL, hours=0.5)):
            pairings.ask(tx, pairing)

        assert pairings.waiting(tx, given.after(minutes=40)) == [asked("AAAA2222"), asked("BBBB3333", PAUL, 0.5)]
        assert pairings.waiting(tx, given.after(hours=1)) == [asked("BBBB3333", PAUL, 0.5)]
        assert not pairings.decide(tx, "AAAA2222", given.after(hours=1))
        assert pairings.decide(tx, "BBBB3333", given.after(hours=1))
        assert not pairings.decide(tx, "BBBB3333", given.after(hours=1))
        assert not pairings.decide(tx, "CCCC4444", NINE)
        assert pairings.waiting(tx, given.after(hours=1)) == []


def test_the_code_of_an_account_is_known_while_it_lives(db: Database) -> None:
    """Also when it was ignored: that is what silence is made of."""
    with db.write() as tx:
        pairings.ask(tx, asked("AAAA2222"))
        pairings.decide(tx, "AAAA2222", NINE)

        found = pairings.current(tx, MALLORY, given.after(minutes=59))
        assert found is not None and (found.code, found.decided_at) == ("AAAA2222", NINE)
        assert pairings.current(tx, MALLORY, given.after(hours=1)) is None
        assert pairings.current(tx, PAUL, NINE) is None
        assert pairings.ignored_since(tx, MALLORY, given.after(hours=-1))
        assert not pairings.ignored_since(tx, MALLORY, NINE)
        assert not pairings.ignored_since(tx, PAUL, given.after(hours=-1))


def test_codes_are_counted_for_each_account_and_forgotten(db: Database) -> None:
    """What strangers leave behind here does not grow for ever."""
    with db.write() as tx:
        for number in range(3):
            pairings.ask(tx, asked(f"AAAA222{number}", hours=number))
        pairings.ask(tx, asked("BBBB3333", PAUL))

        assert pairings.asked_since(tx, MALLORY, given.after(hours=-1)) == 3
        assert pairings.asked_since(tx, MALLORY, NINE) == 2
        pairings.drop_before(tx, given.after(hours=2))
        assert pairings.find(tx, "AAAA2221") is None
        assert pairings.find(tx, "AAAA2222") == asked("AAAA2222", hours=2)
