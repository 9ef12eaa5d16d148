"""Who may talk, and whose space is whose."""

import pytest

from gateway.chat import Chat, Person
from gateway.errors import NotFound
from gateway.records import Account, KnownChat, Space
from gateway.store import people
from gateway.store.db import Database
from tests.store import given
from tests.store.given import CHAT, NINE

ADA = Person("telegram", "123")
STRANGER = Person("telegram", "666")


def test_a_space_is_made_once_and_found_by_name_and_number(db: Database, other: Database) -> None:
    """A folder name is given once and kept."""

    def ensure(database: Database) -> Space:
        with database.write() as tx:
            return people.ensure_space(tx, "telegram-123", "person", ADA.key, NINE)

    first, second = given.at_once(lambda: ensure(db), lambda: ensure(other))

    assert first == second == Space(1, "telegram-123", "person")
    with db.read() as rd:
        assert people.spaces(rd) == [first]
        assert people.space(rd, 1) == people.space_named(rd, "telegram-123") == first
        with pytest.raises(NotFound, match="no space 9"):
            people.space(rd, 9)
        with pytest.raises(NotFound, match="no space nowhere"):
            people.space_named(rd, "nowhere")


def test_an_account_is_what_was_said_of_it_last(db: Database) -> None:
    """A stranger that enters the owner code."""
    with db.write() as tx:
        space = given.space(tx)
        people.wrong_code(tx, ADA, NINE)
        people.keep_account(tx, ADA, "owner", space, given.after(hours=1))
        people.keep_account(tx, Person("discord", "9"), "owner", space, NINE)
        people.keep_account(tx, Person("telegram", "5"), "allowed", None, NINE)

        assert people.account(tx, ADA) == Account("telegram:123", "owner", space, 1, NINE, given.after(hours=1))
        assert people.owners(tx) == ["discord:9", "telegram:123"]
        assert people.account(tx, STRANGER) is None


def test_wrong_codes_are_counted_for_an_hour(db: Database) -> None:
    """Five shut an account out for the hour; the code stays valid for its owner."""
    with db.write() as tx:
        counts = [people.wrong_code(tx, STRANGER, given.after(minutes=10 * number)) for number in range(8)]
        account = people.account(tx, STRANGER)

        assert counts == [1, 2, 3, 4, 5, 6, 1, 2]
        assert account is not None and account.role == "stranger"
        people.clear_codes(tx, STRANGER)
        assert people.wrong_code(tx, STRANGER, given.after(minutes=80)) == 1


def test_the_first_guess_of_a_language_stays_until_somebody_chooses(db: Database) -> None:
    """Who chose English is not spoken to in Japanese again because their phone is Japanese."""
    with db.write() as tx:
        space = given.space(tx)
        assert people.chat(tx, CHAT) is None
        for language, minutes in (("", 0), ("ja", 1), ("en", 2)):
            people.keep_chat(
                tx,
                Chat("telegram", "123", "9"),
                private=True,
                person=ADA.key,
                space=space,
                language=language,
                at=given.after(minutes=minutes),
            )

        assert people.chat(tx, CHAT) == KnownChat(
            CHAT, True, ADA.key, "ja", False, given.after(minutes=2), None, space
        )
        people.set_language(tx, CHAT, "en")
        people.keep_chat(
            tx, CHAT, private=True, person=ADA.key, space=space, language="ja", at=given.after(minutes=3)
        )
        assert people.chat(tx, CHAT) == KnownChat(
            CHAT, True, ADA.key, "en", False, given.after(minutes=3), None, space
        )


def test_cards_come_home_else_where_the_owner_was_last(db: Database) -> None:
    """/home, else the private chat used last; never a group, never another person's chat."""
    chats = {"1": 1, "2": 3, "3": 2}
    keys = [ADA.key]
    with db.write() as tx:
        space = given.space(tx)
        assert people.home_chat(tx, keys) is None

        def use(id: str, minutes: int, *, private: bool = True, person: str = ADA.key) -> None:
            at = given.after(minutes=minutes)
            chat = Chat("telegram", id)
            people.keep_chat(tx, chat, private=private, person=person, space=space, language="", at=at)

        for id, minutes in chats.items():
            use(id, minutes)
        use("-100", 9, private=False, person="")
        use("5", 9, person="telegram:5")

        assert people.home_chat(tx, keys) == Chat("telegram", "2")
        people.set_home(tx, Chat("telegram", "1"))
        people.set_home(tx, Chat("telegram", "3"))
        assert people.home_chat(tx, keys) == Chat("telegram", "3")
        use("3", 20)
        assert people.home_chat(tx, keys) == Chat("telegram", "3")


def test_a_group_is_refused_once(db: Database) -> None:
    """Politely, and then never again."""
    group = Chat("telegram", "-100200")
    with db.write() as tx:
        assert (people.refused_group(tx, group, NINE), people.refused_group(tx, group, NINE)) == (True, False)
        assert people.chat(tx, group) == KnownChat(group, False, "", "", False, None, NINE)


def test_a_name_is_given_once_and_the_next_space_gets_a_number(db: Database) -> None:
    """Whoever is let in again begins anew, beside what was closed."""
    with db.write() as tx:
        first = people.new_space(tx, "telegram-123", "person", ADA.key, NINE)
        people.new_space(tx, "telegram-1234", "person", "telegram:1234", NINE)
        assert people.open_space_of(tx, ADA.key) == first

        people.close_space(tx, first.id, NINE)
        assert people.open_space_of(tx, ADA.key) is None
        second = people.new_space(tx, "telegram-123", "person", ADA.key, NINE)
        people.close_space(tx, second.id, NINE)
        third = people.new_space(tx, "telegram-123", "person", ADA.key, NINE)

        assert [first.name, second.name, third.name] == ["telegram-123", "telegram-123-2", "telegram-123-3"]
        assert people.closed_spaces(tx) == [first, second]
        assert (people.is_closed(tx, first.id), people.is_closed(tx, third.id)) == (True, False)
        assert people.whose(tx, third.id) == ADA.key


def test_the_accounts_of_a_space_are_those_let_in(db: Database) -> None:
    """A stranger whose wrong codes are counted is nobody's account."""
    with db.write() as tx:
        space = people.new_space(tx, "telegram-123", "person", ADA.key, NINE).id
        people.keep_account(tx, ADA, "allowed", space, NINE)
        people.keep_account(tx, Person("discord", "9"), "allowed", space, given.after(hours=1))
        people.wrong_code(tx, STRANGER, NINE)

        assert people.accounts_of_space(tx, space) == ["telegram:123", "discord:9"]
        assert [account.key for account in people.let_in(tx)] == ["telegram:123", "discord:9"]
        assert [people.is_let_in(tx, key) for key in (ADA.key, STRANGER.key, "telegram:1")] == [True, False, False]
        people.keep_account(tx, ADA, "stranger", None, NINE)
        assert people.accounts_of_space(tx, space) == ["discord:9"]
        assert people.owner_keys(tx, ("telegram:7",)) == ("telegram:7", "terminal:owner")
