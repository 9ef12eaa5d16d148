"""The frozen prompts of sessions: the one a session has now, and former ones, told apart by their generation.

A refresh or a compression gives a session another one. The former stays for the reviews of the turns that were
answered under it; one that a forget erased is gone, whoever still needs it.
"""

from datetime import datetime

from gateway.errors import NotFound
from gateway.store import summaries
from gateway.store.encoding import clean, optional_time_of, time_text
from gateway.store.transaction import Reader, Transaction


def of(rd: Reader, id: str, generation: int) -> tuple[str, str]:
    """The system prompt and the tools of one generation. Raises NotFound when it is no longer kept."""
    row = rd.row(
        """
        SELECT system_prompt, tools FROM sessions WHERE id = :id AND generation = :generation
         UNION ALL
        SELECT system_prompt, tools FROM former_prompts WHERE session = :id AND generation = :generation
        """,
        {"id": id, "generation": generation},
    )
    if row is None:
        raise NotFound("session.prompt_gone", id=id)
    return row["system_prompt"], row["tools"]


def is_kept(rd: Reader, id: str, generation: int) -> bool:
    """Whether the prompt of a generation is still kept: a forget may have erased it."""
    try:
        return bool(of(rd, id, generation)[0])
    except NotFound:
        return False


def forgotten_at(rd: Reader, id: str) -> datetime | None:
    """When a forget last erased the prompt of a session."""
    row = rd.row("SELECT forgotten_at FROM sessions WHERE id = ?", (id,))
    return None if row is None else optional_time_of(row["forgotten_at"])


def refreeze(tx: Transaction, id: str, system_prompt: str, tools: str, at: datetime) -> None:
    """Give a session another prompt. The former one stays for the reviews that still need it."""
    tx.execute(
        """
        INSERT INTO former_prompts (session, generation, system_prompt, tools)
        SELECT id, generation, system_prompt, tools FROM sessions WHERE id = ?
        """,
        (id,),
    )
    changed = tx.changed(
        """
        UPDATE sessions
           SET system_prompt = :system_prompt, tools = :tools, generation = generation + 1, frozen_at = :at
         WHERE id = :id
        """,
        {"id": id, "system_prompt": clean(system_prompt), "tools": clean(tools), "at": time_text(at)},
    )
    if not changed:
        raise NotFound("session.unknown", id=id)
    drop_former(tx, id)


def freeze_again(tx: Transaction, id: str, system_prompt: str, tools: str, at: datetime) -> bool:
    """Give a session a prompt where a forget erased its own; of that one nothing stays. False: it has one."""
    return tx.changed(
        """
        UPDATE sessions
           SET system_prompt = :system_prompt, tools = :tools, generation = generation + 1, frozen_at = :at
         WHERE id = :id AND system_prompt = ''
        """,
        {"id": id, "system_prompt": clean(system_prompt), "tools": clean(tools), "at": time_text(at)},
    )


def drop_former(tx: Transaction, session: str) -> None:
    """Delete the former prompts of turns that have been reviewed. A failed review may be asked for again."""
    tx.execute(
        """
        DELETE FROM former_prompts
         WHERE session = :session
           AND NOT EXISTS (
               SELECT 1
                 FROM messages JOIN sessions ON sessions.id = messages.session
                WHERE messages.session = :session AND messages.generation = former_prompts.generation
                  AND (messages.turn > sessions.last_due_turn
                       OR EXISTS (SELECT 1 FROM reviews
                                   WHERE reviews.session = :session AND reviews.status <> 'done'
                                     AND messages.turn BETWEEN reviews.first_turn AND reviews.turn)))
        """,
        {"session": session},
    )
    summaries.drop_former(tx, session)
