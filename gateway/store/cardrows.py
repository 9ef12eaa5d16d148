"""Cards and notices among the rows of the outbox: what shows a write, how it was drawn last, what still waits."""

from datetime import datetime

from gateway.chat import Chat
from gateway.records import Outgoing, Write
from gateway.store.encoding import time_text
from gateway.store.outbox import outgoing_of
from gateway.store.transaction import Reader


def cards_of(rd: Reader, write: int) -> list[Outgoing]:
    """Every card that shows a write, sent or still waiting, oldest first."""
    return [
        outgoing_of(row)
        for row in rd.rows("SELECT * FROM outbox WHERE write = ? AND kind = 'card' ORDER BY id", (write,))
    ]


def notices_of(rd: Reader, write: Write) -> list[Outgoing]:
    """The notices that told of a write, sent or still waiting, oldest first."""
    rows = rd.rows(
        """
        SELECT * FROM outbox WHERE kind = 'notice' AND message = :message
         UNION
        SELECT * FROM outbox WHERE kind = 'notice' AND session = :session AND review_turn = :turn
         ORDER BY id
        """,
        {"message": write.message, "session": write.session or None, "turn": write.review_turn},
    )
    return [outgoing_of(row) for row in rows]


def was_shown(rd: Reader, write: int) -> bool:
    """Whether a card of this write has reached a chat."""
    row = rd.row(
        "SELECT 1 FROM outbox WHERE write = ? AND kind IN ('card', 'card_update') AND status = 'delivered' LIMIT 1",
        (write,),
    )
    return row is not None


def shows_as_it_is(rd: Reader, write: Write) -> bool:
    """False while the cards of a write show an older drawing of it: "approve all" must not cover that one."""
    if not write.redrawn:
        return True
    row = rd.row(
        """
        SELECT count(*) AS cards,
               max(status = 'delivered' AND json_extract("values", '$.redrawn') >= :redrawn) AS shown
          FROM outbox
         WHERE write = :write AND kind IN ('card', 'card_update')
        """,
        {"write": write.id, "redrawn": write.redrawn},
    )
    return row is None or not row["cards"] or bool(row["shown"])


def newest_update(rd: Reader, write: int, card: int) -> Outgoing | None:
    """The last change of a write's card that was put, whatever became of it."""
    row = rd.row("SELECT * FROM outbox WHERE write = ? AND edits = ? ORDER BY id DESC LIMIT 1", (write, card))
    return None if row is None else outgoing_of(row)


def newest_change(rd: Reader, card: int, kind: str) -> Outgoing | None:
    """The last change of a message that was put, of one kind."""
    row = rd.row(f"SELECT * FROM outbox WHERE edits = ? AND kind = '{kind}' ORDER BY id DESC LIMIT 1", (card,))
    return None if row is None else outgoing_of(row)


def count_undecided(rd: Reader, chat: Chat) -> int:
    """How many of the writes that have a card in this chat still wait for a yes."""
    row = rd.row(
        """
        SELECT count(DISTINCT writes.id) AS undecided
          FROM writes JOIN outbox ON outbox.write = writes.id AND outbox.kind = 'card'
         WHERE writes.status = 'staged' AND outbox.platform = :platform AND outbox.chat = :chat
        """,
        {"platform": chat.platform, "chat": chat.id},
    )
    return 0 if row is None else int(row["undecided"])


def due_reminders(rd: Reader, since: datetime) -> list[tuple[Chat, int]]:
    """The chats in which a card has waited since before then, each with the space of its oldest one.

    Not where a reminder is still to be said. Not a terminal: nobody is there, and the next to come sees what waits.
    """
    rows = rd.rows(
        """
        SELECT outbox.platform, outbox.chat, outbox.thread, writes.space, min(writes.id)
          FROM writes JOIN outbox ON outbox.write = writes.id AND outbox.kind = 'card'
         WHERE writes.status = 'staged' AND writes.created_at <= :since AND outbox.platform <> 'terminal'
           AND NOT EXISTS (
               SELECT 1 FROM outbox AS reminder
                WHERE reminder.kind = 'reminder' AND reminder.status = 'waiting'
                  AND reminder.platform = outbox.platform AND reminder.chat = outbox.chat)
         GROUP BY outbox.platform, outbox.chat
         ORDER BY min(writes.id)
        """,
        {"since": time_text(since)},
    )
    return [(Chat(row["platform"], row["chat"], row["thread"]), row["space"]) for row in rows]
