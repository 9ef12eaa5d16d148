"""Rows to begin with, and two at once."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from gateway.chat import Chat
from gateway.records import Action as Action
from gateway.records import Evidence, NewOutgoing, NewWrite, Operation, Origin, Role, Session, Status, Target
from gateway.store import messages as messages
from gateway.store import people, sessions
from gateway.store import search_index as search_index
from gateway.store.db import Transaction
from gateway.store.messages import NewMessage

T = TypeVar("T")

NINE = datetime(2026, 11, 30, 9, 0, 7, tzinfo=UTC)
CHAT = Chat("telegram", "123")


@dataclass
class StillClock:
    """Says the same time until it is moved."""

    at: datetime = NINE

    def now(self) -> datetime:
        return self.at


def after(**units: float) -> datetime:
    return NINE + timedelta(**units)


def space(tx: Transaction, name: str = "owner") -> int:
    return people.ensure_space(tx, name, "owner" if name == "owner" else "person", "", NINE).id


def session(tx: Transaction, id: str = "20261130_090007_57bbf6", *, chat: Chat = CHAT, turns: int = 0) -> Session:
    opened = Session(
        id=id,
        space=space(tx),
        chat=chat,
        member="",
        opened_at=NINE,
        ended_at=None,
        system_prompt="You are hikae.",
        tools="[]",
        generation=1,
        frozen_at=NINE,
        turns=turns,
        last_at=NINE,
        title="",
        model="offline",
    )
    sessions.open(tx, opened)
    return opened


def said(tx: Transaction, text: str, **fields: object) -> NewMessage:
    """A user message, unless `fields` say otherwise; not kept yet."""
    values: dict[str, object] = {"space": space(tx), "chat": CHAT, "person": "telegram:123", "role": Role.USER}
    return NewMessage(text=text, **{"at": NINE, **values, **fields})  # type: ignore[arg-type]  # test data by name


def keep(tx: Transaction, text: str, **fields: object) -> int:
    id = messages.keep(tx, said(tx, text, **fields))
    assert id is not None
    return id


def proposal(tx: Transaction, content: str = "Lives in Bergen", **fields: object) -> NewWrite:
    values: dict[str, object] = {
        "space": space(tx),
        "target": Target.USER,
        "operations": (Operation(Action.ADD, content),),
        "origin": Origin.REVIEW,
        "evidence": Evidence(None, "telegram:123", "I moved to Bergen"),
        "status": Status.STAGED,
        "dedupe": f"turn-{content}",
        "created_at": NINE,
    }
    return NewWrite(**{**values, **fields})  # type: ignore[arg-type]  # test data by name


def to_say(tx: Transaction, dedupe: str, **fields: object) -> NewOutgoing:
    values: dict[str, object] = {"kind": "notice", "chat": CHAT, "space": space(tx), "created_at": NINE}
    return NewOutgoing(dedupe=dedupe, **{**values, **fields})  # type: ignore[arg-type]  # test data by name


def at_once(*actions: Callable[[], T]) -> list[T]:
    """Run all of them side by side, begun together; their results in order."""
    start = threading.Barrier(len(actions))

    def begin(action: Callable[[], T]) -> T:
        start.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(begin, actions))
