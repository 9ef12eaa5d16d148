"""A flood: fifty chats that write faster than Telegram lets us answer them, evenly and then all at once.

The one figure with Telegram's real bounds in force; everywhere else they are open. The floor of the throughput is
what the bounds themselves allow. A quiet chat asks now and then, whether or not it has been answered.
"""

import math
from dataclasses import dataclass

from gateway.platforms.gates import TELEGRAM_RATES, Limit
from tests.bench.rig import Figure, Running, Server, access, configure, hikae, in_ms, percentile, running, scratch

CHATS, EACH, FIRST = 50, 20, 4000
"""Fewer of a chat wait than may wait; with more, the chat would be told so."""
PACE_SECONDS = 1.0
"""Between two messages of a chat: 50 a second, where 30 can be answered."""
QUIET, QUIET_PACE_SECONDS = 1000, 3.0


def flood(server: Server) -> list[Figure]:
    """Throughput, the wait of a chat that has nothing to do with it, memory, and whether all came in order."""
    with scratch() as folder:
        home = folder / "home"
        people = access("telegram", range(FIRST, FIRST + CHATS))
        environment = configure(home, server, access=people, memory="nudge_interval: 0")
        with running(hikae(home, "gateway", program="gateway"), **environment) as bot:
            server.ask("/wait_poll")
            # Before the others: what the quiet chat is told here counts against it for some seconds.
            alone = percentile(server.ask("/run", chats=1, turns=10, first=QUIET)["latencies"], 50)
            # Twice: the first answer of all may come before the welcome, which is no part of the flood.
            server.ask("/run", chats=CHATS, turns=2, first=FIRST)
            server.ask("/model", echoes=True)
            even, at_once = _flooded(server, bot, PACE_SECONDS), _flooded(server, bot, 0.0)
    share = even.rate / even.most
    lost, overtaken = even.lost + at_once.lost, even.overtaken + at_once.overtaken
    return [
        Figure(
            f"flood of {CHATS * EACH:,} messages in {CHATS} chats, replies/s",
            f"{even.rate:.1f}",
            f"{even.most:.1f} (the bounds)",
            f"≥ 0.9× ({share:.2f}×)",
            share >= 0.9,
        ),
        _quiet("flood: a quiet chat's reply, p95", even, alone),
        _quiet("flood that comes all at once: a quiet chat's reply, p95", at_once, alone),
        Figure(
            "gateway after the flood",
            f"{even.late:.0f} MB",
            f"{even.early:.0f} MB (after 100 replies)",
            "≤ +20 MB",
            even.late - even.early <= 20,
        ),
        Figure("floods: lost, out of order", f"{lost}, {overtaken}", "–", "0, 0", lost == overtaken == 0),
    ]


@dataclass(frozen=True, slots=True)
class _Flooded:
    rate: float
    most: float
    quiet: float
    lost: int
    overtaken: int
    early: float
    late: float


def _flooded(server: Server, bot: Running, pace: float) -> _Flooded:
    asked = {"chats": CHATS, "each": EACH, "first": FIRST, "pace": pace}
    server.ask("/flood", **asked, quiet=QUIET, quiet_pace=QUIET_PACE_SECONDS)
    early = bot.megabytes()
    found = server.ask("/flooded")
    return _Flooded(
        rate=found["replies"] / found["seconds"],
        most=found["replies"] / _least_seconds(found["replies"]),
        quiet=_most_of(found["quiet_waits"]),
        lost=found["lost"],
        overtaken=found["overtaken"],
        early=early,
        late=bot.megabytes(),
    )


def _most_of(waits: list[float]) -> float:
    """The wait that 95 % are not above. Of so few, a quantile between them would lie beyond the longest."""
    return sorted(waits)[math.ceil(0.95 * len(waits)) - 1]


def _least_seconds(replies: int) -> float:
    """How soon the last of so many can be said, if one is said whenever the bounds allow it."""
    return max(*_waits(TELEGRAM_RATES.bot, replies), *_waits(TELEGRAM_RATES.chat, EACH))


def _waits(limits: tuple[Limit, ...], replies: int) -> list[float]:
    return [(replies - 1) // limit.most * limit.seconds for limit in limits]


def _quiet(name: str, flooded: _Flooded, alone: float) -> Figure:
    return Figure(name, in_ms(flooded.quiet), f"{in_ms(alone)} (p50, alone)", "≤ 2 s", flooded.quiet <= 2)
