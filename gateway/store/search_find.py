"""One search: the matches are read and ranked, the best are shown by session."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.records import Found, FoundSession, Hit, Message
from gateway.store import search_matches, search_rank
from gateway.store.encoding import time_of
from gateway.store.messagerows import message_of
from gateway.store.search_index import count_unindexed, is_degraded, words_of
from gateway.store.search_matches import Limits, Lookup, Matches
from gateway.store.search_query import Query
from gateway.store.search_rank import Candidate, Scored
from gateway.store.transaction import Reader

HITS_OF_A_SESSION = 3
BESIDE = 2


@dataclass(frozen=True, slots=True)
class Search:
    """One search in one space. `at_least`: how much of its terms a message must have, where not all."""

    rd: Reader
    space: int
    query: Query
    limits: Limits
    limit: int
    at_least: float = 0.0

    def run(self) -> Found:
        """Find, rank, show."""
        lookup = Lookup(self.rd, self.space, self.query, self.limits)
        indexed = bool(self.query.match) and not is_degraded(self.rd)
        waiting = count_unindexed(self.rd, self.space)
        matches = lookup.matches() if indexed else Matches()
        candidates = self._read(matches.ids)
        if not indexed or waiting:
            known = set(matches.ids)
            scanned = lookup.not_indexed_yet() if indexed else lookup.scanned()
            candidates += self._read([id for id in scanned if id not in known], unseen=True)
        scored = search_rank.ranked(candidates, self.query, at_least=self.at_least)
        numbers = self._numbered(matches) if matches.found > len(scored) or matches.mostly else {}
        counts = Counter(one.candidate.session for one in scored)
        if not self.query.exact and not self.at_least:
            counts |= Counter({session: matches.by_session[number] for session, number in numbers.items()})
        mostly = {session for session, number in numbers.items() if number in matches.mostly}
        countable = not matches.complete and matches.likely <= search_matches.COUNT_AT_MOST
        total = lookup.count() if countable else 0
        return Found(
            sessions=tuple(self._sessions(scored, counts, mostly)),
            matches=max(total, sum(counts.values())),
            more=not matches.complete and not 0 < total <= search_matches.COUNT_AT_MOST,
            ranked=0 if matches.complete else matches.found,
            newest_only=search_matches.SCANNED if not indexed and lookup.has_more_than_scanned() else 0,
            loosely=bool(self.at_least) and bool(scored),
            unindexed=waiting,
        )

    def _read(self, ids: Sequence[int], *, unseen: bool = False) -> list[Candidate]:
        """Their words, read in the order in which they lie in the file."""
        cursor = self.rd.connection.cursor()
        cursor.row_factory = None
        cursor.execute(
            """
            SELECT id, session, role, unixepoch(at), text, tool_calls FROM messages
             WHERE id IN (SELECT value FROM json_each(:ids))
            """,
            {"ids": json.dumps(sorted(ids))},
        )
        return [
            Candidate(id, session or "", role, second, words_of(text, calls), unseen)
            for id, session, role, second, text, calls in cursor
        ]

    def _numbered(self, matches: Matches) -> dict[str, int]:
        rows = self.rd.rows(
            "SELECT session, number FROM searched_sessions WHERE number IN (SELECT value FROM json_each(:numbers))",
            {"numbers": json.dumps(list(matches.by_session))},
        )
        return {row["session"]: row["number"] for row in rows}

    def _sessions(
        self, scored: Sequence[Scored], counts: Mapping[str, int], mostly: Collection[str]
    ) -> Iterator[FoundSession]:
        by_session: dict[str, list[Scored]] = defaultdict(list)
        for one in scored:
            by_session[one.candidate.session].append(one)
        worth = {
            id: search_rank.of_session(of_it[0].score, counts[id], about=id in mostly)
            for id, of_it in by_session.items()
        }
        order = sorted(worth, key=lambda id: (-worth[id], id))[: self.limit]
        best = {id: [one.candidate for one in by_session[id][:HITS_OF_A_SESSION]] for id in order}
        titles = self._each("SELECT id, title AS value FROM sessions", order)
        shown = [one.id for hits in best.values() for one in hits]
        times = self._each("SELECT id, at AS value FROM messages", shown)
        for id, hits in best.items():
            yield FoundSession(
                id=id,
                title=titles.get(id, ""),
                matches=counts[id],
                hits=tuple(self._hit(one, times[one.id]) for one in hits),
                around=tuple(beside(self.rd, hits[0].id, BESIDE)),
            )

    def _each(self, select: str, ids: Sequence[object]) -> dict[object, str]:
        """A value of each of these rows, in one look."""
        rows = self.rd.rows(f"{select} WHERE id IN (SELECT value FROM json_each(:ids))", {"ids": json.dumps(ids)})
        return {row["id"]: row["value"] for row in rows}

    def _hit(self, one: Candidate, at: str) -> Hit:
        place = search_rank.first_place(one.text, self.query.terms)
        shown = search_rank.snippet(one.text, place)
        return Hit(one.session, one.id, one.role, time_of(at), shown, place)


def beside(rd: Reader, message: int, each: int) -> list[Message]:
    """A message of a session with so many before and after it."""
    row = rd.row("SELECT * FROM messages WHERE id = ?", (message,))
    if row is None:
        return []
    place = {"session": row["session"], "turn": row["turn"], "id": row["id"], "each": each}
    which = "role IN ('user', 'assistant', 'tool') AND part_of IS NULL"
    earlier = rd.rows(
        f"""
        SELECT * FROM messages
         WHERE session = :session AND (turn, id) < (:turn, :id) AND {which}
         ORDER BY turn DESC, id DESC
         LIMIT :each
        """,
        place,
    )
    later = rd.rows(
        f"""
        SELECT * FROM messages
         WHERE session = :session AND (turn, id) > (:turn, :id) AND {which}
         ORDER BY turn, id
         LIMIT :each
        """,
        place,
    )
    return [message_of(each_row) for each_row in (*reversed(earlier), row, *later)]
