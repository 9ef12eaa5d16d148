"""Ends sessions: what no review has seen of one is reviewed now (design.md 5). Opening one is `opening`."""

from datetime import datetime

from gateway.memory import incognito
from gateway.records import Session
from gateway.settings import Settings
from gateway.store import reviews, sessions
from gateway.store.db import Transaction


def end(tx: Transaction, settings: Settings, session: Session, reason: str, now: datetime) -> None:
    """End a session; the next message of its chat opens another one. Of an incognito one nothing stays."""
    if session.incognito:
        incognito.erase(tx, session, now)
        return
    sessions.end(tx, session.id, reason, now)
    review_rest(tx, settings, session, now)


def review_rest(tx: Transaction, settings: Settings, session: Session, now: datetime) -> None:
    """Make the turns due that no review has seen, where reviews happen by themselves."""
    if settings.reviews_are_automatic:
        reviews.make_rest_due(tx, session.id, session.space, "end", now)
