"""Finding what was said: the best messages by session, what stands around one, the sessions used last.

No model is asked and nothing is summarised (docs/decisions/0013). Reading a query is `search_query`, what is
compared `search_fold`, what the index finds `search_matches`, which of it is best `search_rank`. Messages get into
the index by `search_index`, which is kept in order by `search_upkeep`.
"""

from gateway.errors import NotFound
from gateway.records import Found, Message, SessionSummary
from gateway.store import incognito, search_query, sessions
from gateway.store.encoding import clean
from gateway.store.search_find import Search, beside
from gateway.store.search_matches import Context as Context
from gateway.store.search_matches import Limits as Limits
from gateway.store.transaction import Reader

ANYWHERE = Limits()
OF_IT_AT_LEAST = 0.5
"""How much of a text without blanks a message must hold where none holds all."""


def find(rd: Reader, space: int, text: str, limit: int, limits: Limits = ANYWHERE) -> Found:
    """The sessions of a space that fit best, best first. Any text is a query; one without words finds nothing."""
    query = search_query.parse(text)
    if query.node is None or limit < 1:
        return Found(())
    found = Search(rd, space, query, limits, limit).run()
    parts = None if found.sessions else search_query.split(query)
    return found if parts is None else Search(rd, space, parts, limits, limit, OF_IT_AT_LEAST).run()


def around(rd: Reader, space: int, session: str, message: int, each: int) -> list[Message]:
    """A message with so many before and after it in its session. Raises NotFound for what is not of this space."""
    found = message >> 32 == space and not incognito.is_one(rd, session)
    shown = beside(rd, message, each) if found else []
    if not any(one.id == message and one.session == clean(session) for one in shown):
        raise NotFound("search.no_message", id=message)
    return shown


def recent(rd: Reader, space: int, limit: int) -> list[SessionSummary]:
    """The sessions used last."""
    return sessions.recent(rd, space, limit)
