"""Who may talk, in which chats, and whose space is whose. Deciding is `conversation.access`.

Of a stranger only the account and its wrong codes are kept, never words.
"""

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from gateway.chat import Chat, Person
from gateway.errors import NotFound
from gateway.records import Account, KnownChat, Space
from gateway.store.encoding import optional_time_of, strings_text, time_text
from gateway.store.transaction import Reader, Transaction

_CODE_WINDOW = timedelta(hours=1)

# -- spaces ------------------------------------------------------------------------------------------


def ensure_space(tx: Transaction, name: str, kind: str, whose: str, at: datetime) -> Space:
    """The space with this folder name, made now if there is none. `whose` is a person's or a chat's key."""
    tx.execute(
        """
        INSERT INTO spaces (name, kind, whose, created_at) VALUES (:name, :kind, :whose, :at)
            ON CONFLICT (name) DO NOTHING
        """,
        {"name": name, "kind": kind, "whose": whose, "at": time_text(at)},
    )
    return space_named(tx, name)


def space(rd: Reader, id: int) -> Space:
    """The space with this number. Raises NotFound."""
    row = rd.row("SELECT * FROM spaces WHERE id = ?", (id,))
    if row is None:
        raise NotFound("space.unknown", name=id)
    return _space(row)


def space_named(rd: Reader, name: str) -> Space:
    """The space with this folder name. Raises NotFound."""
    row = rd.row("SELECT * FROM spaces WHERE name = ?", (name,))
    if row is None:
        raise NotFound("space.unknown", name=name)
    return _space(row)


def spaces(rd: Reader) -> list[Space]:
    """All spaces, oldest first."""
    return [_space(row) for row in rd.rows("SELECT * FROM spaces ORDER BY id")]


def closed_spaces(rd: Reader) -> list[Space]:
    """Spaces that nobody uses any more (their account joined another person), oldest first."""
    return [_space(row) for row in rd.rows("SELECT * FROM spaces WHERE closed_at IS NOT NULL ORDER BY id")]


# -- accounts ----------------------------------------------------------------------------------------


def account(rd: Reader, person: Person) -> Account | None:
    row = rd.row("SELECT * FROM people WHERE platform = :platform AND id = :id", _who(person))
    return None if row is None else _account(row)


def keep_account(tx: Transaction, person: Person, role: str, space: int | None, at: datetime) -> None:
    """Say what an account is from now on: owner, allowed or stranger, and in which space."""
    tx.execute(
        """
        INSERT INTO people (platform, id, role, space, since) VALUES (:platform, :id, :role, :space, :at)
            ON CONFLICT (platform, id) DO UPDATE
           SET role = :role, space = :space, since = CASE WHEN role = :role THEN since ELSE :at END
        """,
        {**_who(person), "role": role, "space": space, "at": time_text(at)},
    )


def forget_account(tx: Transaction, person: Person) -> None:
    """Keep nothing of an account any more."""
    tx.execute("DELETE FROM people WHERE platform = :platform AND id = :id", _who(person))


def owners(rd: Reader) -> list[str]:
    """The keys of the accounts that became owner by a code (settings may name more)."""
    rows = rd.rows("SELECT platform, id FROM people WHERE role = 'owner' ORDER BY since, platform, id")
    return [Person(row["platform"], row["id"]).key for row in rows]


def greeted(tx: Transaction, person: Person, at: datetime) -> bool:
    """Note that a person has been told what is kept. True the first time only."""
    return tx.changed(
        """
        UPDATE people SET greeted_at = :at
         WHERE platform = :platform AND id = :id AND greeted_at IS NULL
        """,
        {**_who(person), "at": time_text(at)},
    )


def wrong_code(tx: Transaction, person: Person, at: datetime) -> int:
    """Count one wrong code; how many it were within an hour of the first."""
    row = tx.row(
        """
        INSERT INTO people (platform, id, role, since, wrong_codes, wrong_since)
        VALUES (:platform, :id, 'stranger', :at, 1, :at)
            ON CONFLICT (platform, id) DO UPDATE
           SET wrong_codes = CASE WHEN wrong_since > :hour_ago THEN wrong_codes + 1 ELSE 1 END,
               wrong_since = CASE WHEN wrong_since > :hour_ago THEN wrong_since ELSE :at END
        RETURNING wrong_codes
        """,
        {**_who(person), "at": time_text(at), "hour_ago": time_text(at - _CODE_WINDOW)},
    )
    return 0 if row is None else int(row["wrong_codes"])


def clear_codes(tx: Transaction, person: Person) -> None:
    """Forget an account's wrong codes."""
    tx.execute(
        "UPDATE people SET wrong_codes = 0, wrong_since = NULL WHERE platform = :platform AND id = :id",
        _who(person),
    )


# -- chats -------------------------------------------------------------------------------------------


def keep_chat(
    tx: Transaction, chat: Chat, *, private: bool, person: str, space: int | None, language: str, at: datetime
) -> None:
    """Note that a chat was used. `person` is whose private chat it is; a language "" leaves the known one."""
    tx.execute(
        """
        INSERT INTO chats (platform, id, space, private, person, language, last_at)
        VALUES (:platform, :id, :space, :private, :person, :language, :at)
            ON CONFLICT (platform, id) DO UPDATE
           SET space = :space, private = :private, person = :person, last_at = :at,
               language = CASE WHEN :language = '' THEN language ELSE :language END
        """,
        {
            "platform": chat.platform,
            "id": chat.id,
            "space": space,
            "private": private,
            "person": person,
            "language": language,
            "at": time_text(at),
        },
    )


def chat(rd: Reader, chat: Chat) -> KnownChat | None:
    """A chat as kept; threads of it are the same chat here."""
    row = rd.row(
        "SELECT * FROM chats WHERE platform = :platform AND id = :id", {"platform": chat.platform, "id": chat.id}
    )
    return None if row is None else _known_chat(row)


def set_home(tx: Transaction, chat: Chat) -> None:
    """Cards and notices of this chat's space come here from now on."""
    tx.execute(
        """
        UPDATE chats SET home = (platform = :platform AND id = :id)
         WHERE space = (SELECT space FROM chats WHERE platform = :platform AND id = :id)
        """,
        {"platform": chat.platform, "id": chat.id},
    )


def home_chat(rd: Reader, owner_keys: Sequence[str]) -> Chat | None:
    """The home chat of these accounts, else their private chat used last."""
    row = rd.row(
        """
        SELECT platform, id FROM chats
         WHERE private AND person IN (SELECT value FROM json_each(?))
         ORDER BY home DESC, last_at DESC
         LIMIT 1
        """,
        (strings_text(owner_keys),),
    )
    return None if row is None else Chat(row["platform"], row["id"])


def refused_group(tx: Transaction, chat: Chat, at: datetime) -> bool:
    """Note that a group was told that it cannot be served. True the first time only."""
    return tx.changed(
        """
        INSERT INTO chats (platform, id, private, refused_at) VALUES (:platform, :id, 0, :at)
            ON CONFLICT (platform, id) DO UPDATE SET refused_at = :at WHERE refused_at IS NULL
        """,
        {"platform": chat.platform, "id": chat.id, "at": time_text(at)},
    )


def _who(person: Person) -> dict[str, object]:
    return {"platform": person.platform, "id": person.id}


def _space(row: sqlite3.Row) -> Space:
    return Space(row["id"], row["name"], row["kind"])


def _account(row: sqlite3.Row) -> Account:
    return Account(
        key=Person(row["platform"], row["id"]).key,
        role=row["role"],
        space=row["space"],
        greeted_at=optional_time_of(row["greeted_at"]),
        wrong_codes=row["wrong_codes"],
        wrong_since=optional_time_of(row["wrong_since"]),
    )


def _known_chat(row: sqlite3.Row) -> KnownChat:
    return KnownChat(
        chat=Chat(row["platform"], row["id"]),
        private=bool(row["private"]),
        person=row["person"],
        language=row["language"],
        home=bool(row["home"]),
        last_at=optional_time_of(row["last_at"]),
        refused_at=optional_time_of(row["refused_at"]),
    )
