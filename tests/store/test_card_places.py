"""Where the words of a write may be read: in private where it was made, else at the owner's, never in a group."""

from gateway.chat import TERMINAL_OWNER, Chat, Person
from gateway.memory import cards
from gateway.sections import AccessSettings
from gateway.settings import Settings
from gateway.store import cardrows, outbox, people, writes
from gateway.store.db import Database, Transaction
from tests.store import given
from tests.store.given import NINE

SETTINGS = Settings(access=AccessSettings(owners=("discord:9",), allowed=("telegram:456",)))
GROUP = Chat("telegram", "-100200")
OWNERS_DM = Chat("discord", "77")


def known(tx: Transaction, chat: Chat, person: str = "", minutes: float = 0) -> Chat:
    at = given.after(minutes=minutes)
    people.keep_chat(tx, chat, private=bool(person), person=person, space=None, language="", at=at)
    return chat


def test_in_private_it_stays_where_it_was_said(db: Database) -> None:
    """Also in a topic of it, and in a chat that is not known yet."""
    with db.write() as tx:
        known(tx, OWNERS_DM, "discord:9")
        bens = known(tx, Chat("telegram", "456"), "telegram:456")
        terminal = known(tx, Chat("terminal", "1"), TERMINAL_OWNER.key)

        for chat in (bens, Chat("telegram", "456", "7"), terminal, Chat("telegram", "5")):
            assert cards.place(tx, SETTINGS, chat) == chat


def test_of_a_group_it_goes_to_the_owner_on_whatever_platform(db: Database) -> None:
    """The chat used last, or the one that /home chose; a terminal comes and goes."""
    with db.write() as tx:
        known(tx, GROUP)
        assert cards.place(tx, SETTINGS, GROUP) is None

        known(tx, OWNERS_DM, "discord:9")
        known(tx, Chat("terminal", "1"), TERMINAL_OWNER.key, minutes=5)
        assert cards.place(tx, SETTINGS, GROUP) == OWNERS_DM

        people.keep_account(tx, Person("telegram", "123"), "owner", None, NINE)
        phone = known(tx, Chat("telegram", "123"), "telegram:123", minutes=1)
        assert cards.place(tx, SETTINGS, GROUP) == phone


def test_whoever_was_taken_out_is_told_nothing_more(db: Database) -> None:
    """What is left to decide of theirs is the owner's to see."""
    with db.write() as tx:
        known(tx, OWNERS_DM, "discord:9")
        theirs = known(tx, Chat("telegram", "666"), "telegram:666")

        assert cards.audience(tx, SETTINGS, theirs) is None
        assert cards.place(tx, SETTINGS, theirs) == OWNERS_DM
        people.keep_account(tx, Person("telegram", "666"), "allowed", None, NINE)
        assert cards.audience(tx, SETTINGS, theirs) == theirs


def test_a_group_that_has_moved_is_told_where_it_is_now(db: Database) -> None:
    """The count is for the people who talk there."""
    with db.write() as tx:
        known(tx, GROUP)
        people.move_chat(tx, "telegram", GROUP.id, "-1001234", NINE)
        write, _ = writes.born(tx, given.proposal(tx))
        for _ in range(2):
            cards.ask(tx, SETTINGS, [write], GROUP, NINE)

        told = outbox.by_dedupe(tx, f"write-{write.id}-waits")
        assert told is not None and (told.chat, told.kind, told.values) == (
            Chat("telegram", "-1001234"),
            "waits_homeless",
            {"count": 1},
        )
        assert cardrows.cards_of(tx, write.id) == []
