"""What the index finds in one space: ids of messages, not yet what is in them.

The newest matches come first, and with them how many each session has and which is its newest, counted over some
thousands; of sessions of any age those that are about the word; and, where no index helps, what is read from end to
end. The limits of a space are in every statement, as a range of ids.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gateway.records import Role
from gateway.store import search_fold
from gateway.store.encoding import time_of
from gateway.store.search_index import DAY_SECONDS, OWN_TOOL, count_unindexed, is_degraded
from gateway.store.search_query import All, Any, Query, Term
from gateway.store.transaction import Reader

READ = 300
"""The text of so many matches is read."""
READ_OF_SPARSE, SPARSE = 100, 50_000
"""So few of a phrase of common words, where that many lie over so many messages or more: all positions of its words
between two matches are compared, which takes longer than anything else."""
COMMON = 5_000
"""A word is common that is in more messages. One that is not makes its phrase cheap to find."""
COUNTED, COUNTED_OF_SEVERAL = 5_000, 1_000
COUNT_AT_MOST = 50_000
DENSE = 80
ABOUT, MOSTLY_ABOUT = 10, 20
OF_EACH_PART = 60
OF_EACH_SESSION, READ_OF_EACH = 40, 2
NARROW = 4_000
"""A range of so many ids is read forwards to its end: to begin at the end costs SQLite five times as much."""
SCANNED = 50_000


@dataclass(frozen=True, slots=True)
class Context:
    """What the model has before it: a session from one message on. Older ones of it were compressed away, except
    for those before `compressed`."""

    session: str
    first: int = 0
    compressed: int = 0

    def holds(self, session: str | None, message: int) -> bool:
        return session == self.session and not self.compressed <= message < self.first


@dataclass(frozen=True, slots=True)
class Limits:
    """Where to look."""

    after: datetime | None = None
    """From this moment on."""
    before: datetime | None = None
    """What was said earlier than this moment."""
    role: Role | None = None
    but: Context | None = None


@dataclass(frozen=True, slots=True)
class Matches:
    """What was found. Sessions are numbers of `searched_sessions`."""

    ids: tuple[int, ...] = ()
    """Which messages are worth reading."""
    found: int = 0
    """Among so many they were chosen."""
    complete: bool = True
    """Whether these are all that match."""
    by_session: Counter[int] = field(default_factory=Counter)
    """How many each session has, as far as they were looked at."""
    mostly: frozenset[int] = frozenset()
    """The sessions that are about little else than the one word."""
    likely: int = 0
    """How many match in all, if they lie as close to each other everywhere as among those that were found."""


@dataclass(frozen=True, slots=True)
class _About:
    """Sessions that are about a word: those that are mostly, and the newest matches of those not seen otherwise."""

    mostly: frozenset[int] = frozenset()
    older: Mapping[int, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lookup:
    """One query in one space, within limits."""

    rd: Reader
    space: int
    query: Query
    limits: Limits

    def matches(self) -> Matches:
        """What is worth reading: the newest, the newest of sessions that have many, and of those about the word.

        Of alternatives the newest of each are read, too: the rare ones would drown.
        """
        read = COUNTED if self.query.exact else READ
        low, high = self.span()
        rows, complete = self._newest(low, high)
        by_session = Counter(session for _, session in rows)
        ids = dict.fromkeys(id for id, _ in rows[:read])
        shown = {session for _, session in rows[:read]}
        if len(rows) > read:
            newest = {session: id for id, session in reversed(rows)}
            dense = [session for session, _ in by_session.most_common(DENSE)]
            ids.update(dict.fromkeys(newest[session] for session in dense))
            shown.update(dense)
        if complete:
            return Matches(tuple(ids), len(rows), True, by_session)
        if isinstance(self.query.node, Any):
            for part in self.query.node.parts:
                ids.update(dict.fromkeys(id for id, _ in self._ids(part.match, low, high, OF_EACH_PART)))
        about = self._about(shown)
        for number, of_it in about.older.items():
            ids.update(dict.fromkeys(of_it[:READ_OF_EACH]))
            by_session[number] = max(by_session[number], len(of_it))
        likely = len(rows) * (rows[0][0] - low) // max(1, rows[0][0] - rows[-1][0])
        return Matches(tuple(ids), len(rows), False, by_session, about.mostly, likely)

    def count(self) -> int:
        """How many match in all, where that is cheap to say; 0: it is not."""
        if self.query.width != 1 or self.query.terms[0].prefix or self.limits.role is not None:
            return 0
        low, high = self.span()
        row = self.rd.row(
            """
            SELECT count(*) AS count FROM (
                SELECT 1 FROM message_words
                 WHERE message_words MATCH :match AND rowid >= :low AND rowid < :high
                 LIMIT :most)
            """,
            {"match": self._match(self.query.match), "low": low, "high": high, "most": COUNT_AT_MOST + 1},
        )
        return 0 if row is None else int(row["count"])

    # -- where ---------------------------------------------------------------------------------------------

    def span(self) -> tuple[int, int]:
        """The ids among which everything is that the limits allow."""
        low, high = self.space << 32, (self.space + 1) << 32
        if self.limits.after is None and self.limits.before is None:
            return low, high
        if is_degraded(self.rd) or count_unindexed(self.rd, self.space):
            return low, high
        first, last = self._seconds()
        row = self.rd.row(
            """
            SELECT min(first) AS first, max(last) AS last FROM message_days
             WHERE space = :space AND day BETWEEN :from AND :to
            """,
            {"space": self.space, "from": first // DAY_SECONDS, "to": last // DAY_SECONDS},
        )
        if row is None or row["first"] is None:
            return low, low
        return max(low, row["first"]), min(high, row["last"] + 1)

    def _seconds(self) -> tuple[int, int]:
        first = -(1 << 40) if self.limits.after is None else int(self.limits.after.timestamp())
        last = 1 << 40 if self.limits.before is None else int(self.limits.before.timestamp())
        return first, last

    def _where(self) -> tuple[str, dict[str, object]]:
        """The limits that a range of ids cannot say, on `message_places`."""
        sql, values = "", dict[str, object]()
        if self.limits.after is not None or self.limits.before is not None:
            first, last = self._seconds()
            sql += " AND places.at >= :first_second AND places.at < :last_second"
            values |= {"first_second": first, "last_second": last}
        if self.limits.but is not None:
            sql += (
                " AND NOT ((places.id >= :context OR places.id < :compressed) AND places.session IN"
                " (SELECT number FROM searched_sessions WHERE session = :but))"
            )
            but = self.limits.but
            values |= {"context": but.first, "compressed": but.compressed, "but": but.session}
        return sql, values

    def _match(self, match: str) -> str:
        role = self.limits.role
        return match if role is None else f'{match} AND "{search_fold.ROLES[role]}"'

    # -- the index -----------------------------------------------------------------------------------------

    def _most(self) -> int:
        """The dearer a match is to find, the fewer are looked for. A role is one more token in each."""
        if self.query.exact:
            return COUNTED_OF_SEVERAL
        terms = self.query.terms
        if self.query.width == 1:
            several = self.limits.role is not None
            return READ if terms[0].prefix else COUNTED_OF_SEVERAL if several else COUNTED
        phrases = any(len(term.tokens) > 1 for term in terms)
        return READ if phrases or isinstance(self.query.node, Any) else COUNTED_OF_SEVERAL

    def _newest(self, low: int, high: int) -> tuple[list[tuple[int, int]], bool]:
        """(id, session) of the newest matches, and whether that is all of them."""
        most, match, rows = self._most(), self.query.match, list[tuple[int, int]]()
        # What the index finds too much of is looked at afterwards: there every match is needed that may be one.
        phrases = not self.query.exact and any(len(term.tokens) > 1 for term in self.query.terms)
        if most > READ_OF_SPARSE and phrases:
            rows = self._ids(match, low, high, READ_OF_SPARSE)
            if len(rows) < READ_OF_SPARSE:
                return rows, True
            if rows[0][0] - rows[-1][0] >= SPARSE and self._has_phrase_of_common_words(low, high):
                return rows, False
            high = rows[-1][0]
        rows += self._ids(match, low, high, most - len(rows) + 1)
        return rows[:most], len(rows) <= most

    def _has_phrase_of_common_words(self, low: int, high: int) -> bool:
        phrases = (term.tokens for term in self.query.terms if len(term.tokens) > 1)
        return any(all(self._is_common(token, low, high) for token in dict.fromkeys(each)) for each in phrases)

    def _is_common(self, token: str, low: int, high: int) -> bool:
        row = self.rd.row(
            """
            SELECT 1 FROM message_words
             WHERE message_words MATCH :match AND rowid >= :low AND rowid < :high
             LIMIT 1 OFFSET :count
            """,
            {"match": f'"{token}"', "low": low, "high": high, "count": COMMON},
        )
        return row is not None

    def _ids(self, match: str, low: int, high: int, most: int) -> list[tuple[int, int]]:
        """(id, session) of the newest matches in a range."""
        newest = f"ORDER BY message_words.rowid DESC LIMIT {most}" if high - low > NARROW else ""
        return self._found(match, low, high, newest)[:most]

    def _found(self, match: str, low: int, high: int, newest: str) -> list[tuple[int, int]]:
        """All of them in one row: at each row other threads may take the interpreter, and keep it for long."""
        where, values = self._where()
        cursor = self.rd.connection.cursor()
        cursor.row_factory = None
        cursor.execute(
            f"""
            SELECT json_group_array(id), json_group_array(session) FROM (
                SELECT places.id, places.session
                  FROM message_words CROSS JOIN message_places AS places ON places.id = message_words.rowid
                 WHERE message_words MATCH :match
                   AND message_words.rowid >= :low AND message_words.rowid < :high {where}
                 {newest})
            """,
            {"match": self._match(match), "low": low, "high": high, **values},
        )
        ids, sessions = cursor.fetchone()
        return sorted(zip(json.loads(ids), json.loads(sessions), strict=True), reverse=True)

    def _about(self, shown: Collection[int]) -> "_About":
        """Of sessions of any age that are about the one word, the newest: which are about little else, and matches
        in those of which nothing is read yet."""
        limits = self.limits
        if (
            not self.query.single
            or limits.role is not None
            or limits.after is not None
            or limits.before is not None
        ):
            return _About()
        low, high = self.span()
        mostly = self._themes(f"{self.query.single}~2", MOSTLY_ABOUT)
        older: dict[int, list[int]] = {}
        for number, (first, last) in (mostly | self._themes(self.query.single, ABOUT)).items():
            if number not in shown:
                ids = self._ids(self.query.match, max(low, first), min(high, last + 1), OF_EACH_SESSION)
                older[number] = [id for id, of in ids if of == number]
        older = {number: of_it for number, of_it in older.items() if of_it}
        return _About(frozenset(number for number in mostly if number in shown or number in older), older)

    def _themes(self, theme: str, most: int) -> dict[int, tuple[int, int]]:
        """The newest sessions that are about something, with the ids from which to which they go."""
        rows = self.rd.rows(
            """
            SELECT number, first, last
              FROM session_words CROSS JOIN searched_sessions ON number = session_words.rowid & 0xFFFFFFFF
             WHERE session_words MATCH :match AND session_words.rowid >= :low AND session_words.rowid < :high
             ORDER BY session_words.rowid DESC
             LIMIT :most
            """,
            {"match": f'"{theme}"', "low": self.space << 32, "high": (self.space + 1) << 32, "most": most},
        )
        return {number: (first, last) for number, first, last in rows}

    # -- without the index ---------------------------------------------------------------------------------

    def scanned(self) -> list[int]:
        """Messages that have the words as typed, among the newest."""
        return self._scanned(*self.span())

    def has_more_than_scanned(self) -> bool:
        """Whether there are messages that `scanned` did not look at."""
        low, high = self.span()
        row = self.rd.row(
            "SELECT 1 FROM messages WHERE id >= :low AND id < :high LIMIT 1 OFFSET :count",
            {"low": low, "high": high, "count": SCANNED},
        )
        return row is not None

    def not_indexed_yet(self) -> list[int]:
        """Messages that have the words as typed, among those that the index does not know yet."""
        row = self.rd.row("SELECT next, last FROM unindexed WHERE space = ?", (self.space,))
        low, high = self.span()
        return [] if row is None else self._scanned(max(low, row["next"]), min(high, row["last"] + 1))

    def _scanned(self, low: int, high: int) -> list[int]:
        likes, values = self._likes()
        rows = self.rd.rows(
            f"""
            SELECT id, role, session, at FROM (
                SELECT id, role, session, at, text, tool_calls, tool_name FROM messages
                 WHERE id >= :low AND id < :high AND role IN ('user', 'assistant', 'tool')
                   AND NOT EXISTS (
                       SELECT 1 FROM sessions WHERE sessions.id = messages.session AND incognito = 1)
                 ORDER BY id DESC
                 LIMIT :scanned)
             WHERE tool_name <> '{OWN_TOOL}' AND ({likes})
             LIMIT :read
            """,
            {"low": low, "high": high, "scanned": SCANNED, "read": READ, **values},
        )
        (first, last), but = self._seconds(), self.limits.but
        return [
            row["id"]
            for row in rows
            if (self.limits.role is None or row["role"] == self.limits.role)
            and first <= time_of(row["at"]).timestamp() < last
            and (but is None or not but.holds(row["session"], row["id"]))
        ]

    def _likes(self) -> tuple[str, dict[str, object]]:
        """That a text has the terms, in one of the spellings that LIKE can tell."""
        node = self.query.node
        terms = (
            [part for part in node.parts if isinstance(part, Term)] if isinstance(node, All) else self.query.terms
        )
        values: dict[str, object] = {}
        each = []
        for term in terms:
            parts = []
            for spellings in term.parts():
                names = [f"like{len(values) + place}" for place in range(len(spellings))]
                values |= {name: _like(spelling) for name, spelling in zip(names, spellings, strict=True)}
                parts.append(
                    " OR ".join(rf"text LIKE :{name} ESCAPE '\' OR {_CALLS} :{name} ESCAPE '\'" for name in names)
                )
            each.append(" AND ".join(f"({part})" for part in parts))
        return (" AND " if isinstance(node, All) else " OR ").join(f"({one})" for one in each) or "1", values


_CALLS = "tool_calls <> '[]' AND tool_calls LIKE"


def _like(text: str) -> str:
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"
