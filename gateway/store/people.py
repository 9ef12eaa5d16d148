"""Who may talk, in which chats, and whose space is whose. Deciding is `conversation.access`.

Of a stranger only the account and its wrong codes are kept, never words.
"""

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from gateway.chat import TERMINAL_OWNER, Chat, Person
from gateway.records import Account, KnownChat
from gateway.store.encoding import optional_time_of, strings_text, time_text
from gateway.store.moving import former_ids as former_ids
from gateway.store.moving import move_chat as move_chat
from gateway.store.moving import where_now as where_now
from gateway.store.spaces import close_space as close_space
from gateway.store.spaces import closed_spaces as closed_spaces
from gateway.store.spaces import ensure_space as ensure_space
from gateway.store.spaces import is_closed as is_closed
from gateway.store.spaces import new_space as new_space
from gateway.store.spaces import open_space_of as open_space_of
from gateway.store.spaces import space as space
from gateway.store.spaces import space_named as space_named
from gateway.store.spaces import spaces as spaces
from gateway.store.spaces import whose as whose
from gateway.store.transaction import Reader, Transaction

_CODE_WINDOW = timedelta(hours=1)

# -- accounts ----------------------------------------------------------------------------------------


def account(rd: Reader, person: Person) -> Account | None:
    row = rd.row("SELECT * FROM people WHERE platform = :platform AND id = :id", _who(person))
    return None if row is None else _account(row)


def keep_account(tx: Transaction, person: Person, role: str, space: int | None, at: datetime) -> None:
    """Say what an account is from now on: owner, allowed or stranger, and in which space."""
    tx.execute(
        """
        INSERT INTO people (platform, id, role, space, since, revoked_at)
        VALUES (:platform, :id, :role, :space, :at, :revoked_at)
            ON CONFLICT (platform, id) DO UPDATE
           SET role = :role, space = :space, since = CASE WHEN role = :role THEN since ELSE :at END,
               revoked_at = :revoked_at
        """,
        {
            **_who(person),
            "role": role,
            "space": space,
            "at": time_text(at),
            "revoked_at": time_text(at) if role == "stranger" else None,
        },
    )


def let_in(rd: Reader) -> list[Account]:
    """The accounts that were let in by a code or a yes, oldest first (settings may name more)."""
    rows = rd.rows("SELECT * FROM people WHERE role IN ('owner', 'allowed') ORDER BY since, platform, id")
    return [_account(row) for row in rows]


def revoked(rd: Reader) -> list[Account]:
    """The accounts that were let in once and taken out, newest first."""
    rows = rd.rows("SELECT * FROM people WHERE revoked_at IS NOT NULL ORDER BY revoked_at DESC, platform, id")
    return [_account(row) for row in rows]


def accounts_of_space(rd: Reader, space: int) -> list[str]:
    """The keys of the accounts that were let in and use this space."""
    rows = rd.rows(
        """
        SELECT platform, id FROM people
         WHERE space = ? AND role IN ('owner', 'allowed')
         ORDER BY since, platform, id
        """,
        (space,),
    )
    return [Person(row["platform"], row["id"]).key for row in rows]


def owners(rd: Reader) -> list[str]:
    """The keys of the accounts that became owner by a code (settings may name more)."""
    rows = rd.rows("SELECT platform, id FROM people WHERE role = 'owner' ORDER BY since, platform, id")
    return [Person(row["platform"], row["id"]).key for row in rows]


def is_let_in(rd: Reader, key: str) -> bool:
    """Whether an account was let in by a code or a yes."""
    known = account(rd, Person.parse(key))
    return known is not None and known.role != "stranger"


def owner_keys(rd: Reader, named: Sequence[str]) -> tuple[str, ...]:
    """The keys of all accounts of the owner: those named in the settings, those kept, and the terminal's."""
    return tuple(dict.fromkeys((*named, *owners(rd), TERMINAL_OWNER.key)))


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
    tx: Transaction,
    chat: Chat,
    *,
    private: bool,
    person: str,
    space: int | None,
    language: str,
    at: datetime,
    server: str = "",
) -> None:
    """Note that a chat was used. `person` is whose private chat it is.

    `language` is a guess ("" for none): it counts where nothing was guessed before and nobody chose.
    """
    tx.execute(
        """
        INSERT INTO chats (platform, id, space, private, person, language, server, last_at)
        VALUES (:platform, :id, :space, :private, :person, :language, :server, :at)
            ON CONFLICT (platform, id) DO UPDATE
           SET space = :space, private = :private, person = :person, server = :server, last_at = :at,
               language = CASE WHEN language = '' THEN :language ELSE language END
        """,
        {
            "platform": chat.platform,
            "id": chat.id,
            "space": space,
            "private": private,
            "person": person,
            "language": language,
            "server": server,
            "at": time_text(at),
        },
    )


def chat(rd: Reader, chat: Chat) -> KnownChat | None:
    """A chat as kept; threads of it are the same chat here."""
    row = rd.row(
        "SELECT * FROM chats WHERE platform = :platform AND id = :id", {"platform": chat.platform, "id": chat.id}
    )
    return None if row is None else _known_chat(row)


def set_language(tx: Transaction, chat: Chat, language: str) -> None:
    """Speak this language in a known chat from now on."""
    tx.execute(
        "UPDATE chats SET language = :language WHERE platform = :platform AND id = :id",
        {"language": language, "platform": chat.platform, "id": chat.id},
    )


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
    """The home chat of these accounts, else their private chat used last. Never a terminal: these come and go."""
    row = rd.row(
        """
        SELECT platform, id FROM chats
         WHERE private AND person IN (SELECT value FROM json_each(?)) AND platform <> 'terminal'
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


def _account(row: sqlite3.Row) -> Account:
    return Account(
        key=Person(row["platform"], row["id"]).key,
        role=row["role"],
        space=row["space"],
        wrong_codes=row["wrong_codes"],
        wrong_since=optional_time_of(row["wrong_since"]),
        since=optional_time_of(row["since"]),
        revoked_at=optional_time_of(row["revoked_at"]),
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
        space=row["space"],
        server=row["server"],
    )
