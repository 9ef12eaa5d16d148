"""What was said: the rows of every transcript, and of commands and taps until they are answered.

A message of a platform is kept once, however often it is handed over. Its id is `space << 32 | sequence`, so
that a space is a range of ids. What the model saw of a message, where it differs from what was said, is kept
beside it. Searching is `search`; the rows enter its index here. What waits for its answer is `unanswered`.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from gateway.chat import Chat, Piece
from gateway.errors import NotFound
from gateway.records import Done, Message, Summary
from gateway.store import incognito, search_index
from gateway.store.encoding import clean, pieces_text, strings_text, time_text
from gateway.store.messagerows import NewMessage as NewMessage
from gateway.store.messagerows import columns_of, message_of, place_of
from gateway.store.transaction import Reader, Transaction

ALBUM_SPAN = timedelta(hours=1)
"""How much later than its first part the last part of an album can come."""


def keep(tx: Transaction, new: NewMessage) -> int | None:
    """Keep a message and return its id. None: this message of its platform is kept already (a redelivery)."""
    if new.platform_id is not None and is_kept(tx, new.chat, new.platform_id):
        return None
    id = _next_id(tx, new.space)
    tx.execute(
        """
        INSERT INTO messages (id, platform, chat, thread, person, role, text, pieces, stamp, sent, at, session,
                              turn, round, generation, tool_calls, tool_call_id, tool_name, platform_id,
                              answers, done, done_at, album, speaker, via)
        VALUES (:id, :platform, :chat, :thread, :person, :role, :text, :pieces, :stamp, :sent, :at, :session,
                :turn, :round, :generation, :tool_calls, :tool_call_id, :tool_name, :platform_id,
                :answers, :done, :done_at, :album, :speaker, :via)
        """,
        {"id": id, **columns_of(new)},
    )
    if new.role in search_index.SEARCHED and not _is_incognito(tx, new):
        search_index.index(tx, id)
    return id


def _is_incognito(tx: Transaction, new: NewMessage) -> bool:
    """Whether a message is, or will be, of an incognito session: nobody is to find it."""
    return incognito.is_one(tx, new.session) if new.session else incognito.is_in_use(tx, new.chat)


def get(rd: Reader, id: int) -> Message:
    """The message with this id. Raises NotFound."""
    message = find(rd, id)
    if message is None:
        raise NotFound("message.unknown", id=id)
    return message


def find(rd: Reader, id: int) -> Message | None:
    """The message with this id, if there is one: it may have been taken back."""
    row = rd.row("SELECT * FROM messages WHERE id = ?", (id,))
    return None if row is None else message_of(row)


def of_platform(rd: Reader, chat: Chat, platform_id: str) -> Message | None:
    """The message that a platform knows by this id in this chat, if we have it."""
    row = rd.row(
        "SELECT * FROM messages WHERE platform = :platform AND chat = :chat AND platform_id = :platform_id",
        {"platform": chat.platform, "chat": chat.id, "platform_id": clean(platform_id)},
    )
    return None if row is None else message_of(row)


def is_kept(rd: Reader, chat: Chat, platform_id: str) -> bool:
    """Whether we have the message that a platform knows by this id in this chat."""
    return of_platform(rd, chat, platform_id) is not None


def begin(tx: Transaction, id: int, session: str, turn: int, generation: int, stamp: str, sent: str | None) -> None:
    """Let a waiting user message join its session as the question of a turn, as it will be sent."""
    hidden = incognito.is_one(tx, session)
    if hidden:
        search_index.unindex(tx, id)  # before: of an incognito session no row is known to the index
    tx.execute(
        """
        UPDATE messages
           SET session = :session, turn = :turn, generation = :generation, stamp = :stamp, sent = :sent
         WHERE id = :id AND done IS NULL
        """,
        {
            "id": id,
            "session": session,
            "turn": turn,
            "generation": generation,
            "stamp": clean(stamp),
            "sent": None if sent is None else clean(sent),
        },
    )
    if not hidden:
        search_index.joins(tx, id, session)


def finish(tx: Transaction, id: int, how: Done, at: datetime) -> bool:
    """Mark a message, command or tap as done. True if this call was the one that did."""
    return tx.changed(
        "UPDATE messages SET done = :how, done_at = :at WHERE id = :id AND done IS NULL",
        {"id": id, "how": how, "at": time_text(at)},
    )


def goes_on_with(rd: Reader, message: Message, session: str, turn: int) -> bool:
    """Whether this turn was ended unsaid by what the same person said next: one answer is to answer both."""
    row = rd.row(
        """
        SELECT 1 FROM messages AS ended
         WHERE session = :session AND turn = :turn AND role = 'user' AND done = 'stopped'
           AND person = :person AND id < :id
           AND NOT EXISTS (
               SELECT 1 FROM messages AS command
                WHERE command.id > ended.id AND command.id < :id AND command.role = 'command'
                  AND command.platform = :platform AND command.chat = :chat AND command.thread = :thread)
         LIMIT 1
        """,
        {
            **place_of(message.chat),
            "session": session,
            "turn": turn,
            "person": message.person,
            "id": message.id,
        },
    )
    return row is not None


def has_earlier_of_album(rd: Reader, message: Message) -> bool:
    """Whether an earlier message of the same person in the same place belongs to this one's album."""
    row = rd.row(
        """
        SELECT 1 FROM messages
         WHERE person = :person AND role = 'user' AND unixepoch(at) >= unixepoch(:since) AND at >= :since
           AND id < :id AND album = :album
           AND platform = :platform AND chat = :chat AND thread = :thread
         LIMIT 1
        """,
        {
            **place_of(message.chat),
            "person": message.person,
            "since": time_text(message.at - ALBUM_SPAN),
            "id": message.id,
            "album": message.album,
        },
    )
    return row is not None


def join(
    tx: Transaction, head: Message, parts: Sequence[Message], text: str, pieces: Sequence[Piece], at: datetime
) -> None:
    """Make one message of several that wait: the first one gets the words of all, the others point to it."""
    reword(tx, head, text, pieces)
    for part in parts:
        search_index.unindex(tx, part.id)
        tx.execute(
            """
            UPDATE messages
               SET text = '', pieces = '[]', part_of = :head, done = 'answered', done_at = :at
             WHERE id = :id
            """,
            {"head": head.id, "id": part.id, "at": time_text(at)},
        )


def reword(tx: Transaction, message: Message, text: str, pieces: Sequence[Piece]) -> None:
    """Let a message that waits say something else: its person changed it, or more of it came."""
    search_index.unindex(tx, message.id)
    tx.execute(
        "UPDATE messages SET text = :text, pieces = :pieces WHERE id = :id",
        {"id": message.id, "text": clean(text), "pieces": pieces_text(pieces)},
    )
    search_index.index(tx, message.id)


def newest_of_platform(rd: Reader, platform: str) -> dict[Chat, str]:
    """In each chat and thread, the highest id of a message or slash command, where ids count upwards."""
    rows = rd.rows(
        """
        WITH numbered AS (
            SELECT chat, thread, replace(platform_id, 'interaction:', '') AS number FROM messages
             WHERE platform = :platform AND platform_id IS NOT NULL)
        SELECT chat, thread, max(CAST(number AS INTEGER)) AS newest FROM numbered
         WHERE number NOT GLOB '*[^0-9]*'
         GROUP BY chat, thread
        """,
        {"platform": platform},
    )
    return {Chat(platform, row["chat"], row["thread"]): str(row["newest"]) for row in rows}


def fix(tx: Transaction, id: int, text: str) -> None:
    """Keep with a command or tap, until it is done, what it was found to mean."""
    tx.execute(
        "UPDATE messages SET text = :text WHERE id = :id AND done IS NULL AND role IN ('command', 'tap')",
        {"id": id, "text": clean(text)},
    )


def erase_words(tx: Transaction, id: int) -> None:
    """Forget what a command or tap said, once it is answered. Words of a transcript stay."""
    tx.execute(
        """
        UPDATE messages SET text = '', pieces = '[]', stamp = '', sent = NULL, via = ''
         WHERE id = ? AND role IN ('command', 'tap')
        """,
        (id,),
    )


def of_session(rd: Reader, session: str, *, up_to_turn: int | None = None, from_turn: int = 0) -> list[Message]:
    """The transcript of a session, in order."""
    rows = rd.rows(
        """
        SELECT * FROM messages
         WHERE session = :session AND turn BETWEEN :first AND :last AND role IN ('user', 'assistant', 'tool')
         ORDER BY turn, id
        """,
        {"session": session, "first": from_turn, "last": 1 << 62 if up_to_turn is None else up_to_turn},
    )
    return [message_of(row) for row in rows]


def shown(rd: Reader, session: str, summary: Summary | None, up_to_turn: int) -> list[Message]:
    """The transcript as far as requests still show it: without the turns for which a summary stands."""
    if summary is None:
        return of_session(rd, session, up_to_turn=up_to_turn)
    head = of_session(rd, session, up_to_turn=min(summary.head, up_to_turn))
    return head + of_session(rd, session, from_turn=summary.tail, up_to_turn=up_to_turn)


def send_under(tx: Transaction, session: str, from_turn: int, generation: int) -> None:
    """Let the turns from this one on, which are not answered yet, go on under another generation."""
    tx.execute(
        "UPDATE messages SET generation = :generation WHERE session = :session AND turn >= :turn",
        {"session": session, "turn": from_turn, "generation": generation},
    )


def of_turn(rd: Reader, session: str, turn: int) -> list[Message]:
    """The question of a turn and what was done to answer it, as far as it is committed."""
    rows = rd.rows(
        """
        SELECT * FROM messages
         WHERE session = :session AND turn = :turn AND role IN ('user', 'assistant', 'tool')
         ORDER BY id
        """,
        {"session": session, "turn": turn},
    )
    return [message_of(row) for row in rows]


def user_turns_since(rd: Reader, person_keys: Sequence[str], since: datetime) -> int:
    """How many messages these accounts have sent since then."""
    row = rd.row(
        """
        SELECT count(*) AS turns FROM messages
         WHERE role = 'user' AND person IN (SELECT value FROM json_each(:keys))
           AND unixepoch(at) >= unixepoch(:since) AND at >= :since
        """,
        {"keys": strings_text(person_keys), "since": time_text(since)},
    )
    return 0 if row is None else int(row["turns"])


def _next_id(tx: Transaction, space: int) -> int:
    row = tx.row(
        "UPDATE spaces SET last_sequence = last_sequence + 1 WHERE id = ? RETURNING last_sequence", (space,)
    )
    if row is None:
        raise NotFound("space.unknown", name=space)
    return space << 32 | int(row["last_sequence"])
