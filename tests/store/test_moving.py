"""A group becomes a supergroup: everything that is still to happen there moves along, once."""

from gateway.chat import Chat
from gateway.records import Done, Role, Session
from gateway.store import messages, outbox, people, sessions, unanswered
from gateway.store.db import Database, Transaction
from tests.store import given
from tests.store.given import NINE

OLD, NEW, NEWER = Chat("telegram", "-100200"), Chat("telegram", "-1001234"), Chat("telegram", "-1005678")


def a_group(tx: Transaction) -> int:
    """The group's space; the chat is known and speaks Japanese."""
    space = people.ensure_space(tx, "telegram-group-100200", "group", "telegram:-100200", NINE).id
    people.keep_chat(tx, OLD, private=False, person="", space=space, language="ja", at=NINE)
    return space


def move(tx: Transaction) -> None:
    people.move_chat(tx, "telegram", OLD.id, NEW.id, NINE)


def open_in(tx: Transaction, id: str, chat: Chat) -> Session:
    return given.session(tx, id, chat=chat)


def test_the_new_chat_is_what_the_old_one_was(db: Database) -> None:
    """Space and language stay; permission is asked for by the id that the settings still name."""
    with db.write() as tx:
        space = a_group(tx)
        move(tx)
        move(tx)
        people.move_chat(tx, "telegram", NEW.id, NEWER.id, NINE)

        known = people.chat(tx, NEWER)
        assert known is not None and (known.space, known.private, known.language) == (space, False, "ja")
        assert people.former_ids(tx, NEWER) == [NEW.id, OLD.id]
        assert people.former_ids(tx, OLD) == []
        assert people.where_now(tx, Chat("telegram", OLD.id, "7")) == Chat("telegram", NEWER.id, "7")
        assert people.where_now(tx, Chat("telegram", "5")) == Chat("telegram", "5")


def test_a_group_that_was_never_used_keeps_its_permission(db: Database) -> None:
    """It may stand in the settings although nobody has talked there yet."""
    with db.write() as tx:
        move(tx)

        assert people.former_ids(tx, NEW) == [OLD.id]


def test_a_circle_leads_nowhere(db: Database) -> None:
    """Whatever a platform says, looking a chat up ends."""
    with db.write() as tx:
        move(tx)
        people.move_chat(tx, "telegram", NEW.id, OLD.id, NINE)
        people.move_chat(tx, "telegram", NEW.id, NEW.id, NINE)

        assert people.where_now(tx, OLD) == NEW == people.where_now(tx, NEW)


def test_what_was_chosen_in_the_new_chat_is_not_taken_back_by_the_old_news(db: Database) -> None:
    """The platform may say it again at any time."""
    with db.write() as tx:
        a_group(tx)
        move(tx)
        people.set_language(tx, NEW, "en")
        move(tx)

        known = people.chat(tx, NEW)
        assert known is not None and known.language == "en"


def test_the_conversation_goes_on_and_one_begun_meanwhile_ends(db: Database) -> None:
    """One is open per chat; the older one knows more."""
    with db.write() as tx:
        a_group(tx)
        old = open_in(tx, "20261130_090007_000001", OLD)
        topic = open_in(tx, "20261130_090007_000002", Chat("telegram", NEW.id, "7"))
        begun = open_in(tx, "20261130_090007_000003", NEW)
        move(tx)

        current = sessions.current(tx, NEW)
        assert current is not None and current.id == old.id
        assert sessions.get(tx, begun.id).ended_at == NINE
        assert sessions.get(tx, topic.id).ended_at is None
        assert sessions.current(tx, OLD) is None


def test_what_waits_moves_and_what_is_done_stays(db: Database) -> None:
    """Message ids begin anew there: the old one must not be taken for a new message's."""
    with db.write() as tx:
        a_group(tx)
        answered = given.keep(tx, "done", chat=OLD, platform_id="56")
        messages.finish(tx, answered, Done.ANSWERED, NINE)
        waits = given.keep(tx, "waits", chat=OLD, platform_id="57")
        move(tx)

        assert messages.get(tx, answered).chat == OLD
        moved = unanswered.oldest(tx, NEW, (Role.USER,))
        assert moved is not None and (moved.id, moved.platform_id) == (waits, "-100200:57")
        assert not messages.is_kept(tx, NEW, "57")


def test_what_is_to_be_said_is_said_in_the_new_chat(db: Database) -> None:
    """As a message of its own where it would have answered or changed one that is not there."""
    with db.write() as tx:
        a_group(tx)
        delivered = outbox.put(tx, given.to_say(tx, "card", chat=OLD))
        assert delivered is not None
        outbox.delivered(tx, delivered, NINE)
        waiting = outbox.put(tx, given.to_say(tx, "waiting", chat=OLD, reply_to="57"))
        for dedupe, edits in (("change", delivered), ("later change", waiting)):
            outbox.put(tx, given.to_say(tx, dedupe, chat=OLD, edits=edits))
        move(tx)

        rows = [outbox.by_dedupe(tx, dedupe) for dedupe in ("card", "waiting", "change", "later change")]
        found = [(row.chat, row.reply_to, row.edits) for row in rows if row is not None]
        assert found == [(OLD, "", None), (NEW, "", None), (NEW, "", None), (NEW, "", waiting)]
