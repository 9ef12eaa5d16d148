"""What a turn costs on Discord, beside the same turn on Telegram in the same run."""

from pathlib import Path
from typing import NamedTuple

from tests.bench.rig import Figure, Running, Server, access, configure, hikae, in_ms, percentile, running, scratch

SESSIONS, TURNS, FIRST = 10, 20, 2000


def turns(server: Server) -> list[Figure]:
    """Warm turns in one chat, a session here and a session there, so that both meet the same machine."""
    with (
        scratch() as folder,
        running(hikae(folder / "telegram", "gateway"), **_on_telegram(folder / "telegram", server)) as telegram,
        running(hikae(folder / "discord", "gateway"), **_on_discord(folder / "discord", server)) as discord,
    ):
        server.ask("/wait_poll")
        server.ask("/wait_connected")
        played = {"telegram": Played(telegram, [], []), "discord": Played(discord, [], [])}
        for platform in played:
            server.ask("/run", chats=1, turns=TURNS, platform=platform)
        for number in range(SESSIONS):
            for platform, one in played.items():
                one.play(server, platform, FIRST + number)
    here, there = played["discord"], played["telegram"]
    p50, cpu = here.p50 / there.p50, here.cpu_a_turn / there.cpu_a_turn
    return [
        Figure(
            "warm turn on Discord, p50",
            in_ms(here.p50),
            f"{in_ms(there.p50)} (Telegram)",
            f"≤ 1.25× ({p50:.2f}×)",
            p50 <= 1.25,
        ),
        Figure(
            "CPU a turn on Discord",
            in_ms(here.cpu_a_turn),
            f"{in_ms(there.cpu_a_turn)} (Telegram)",
            f"≤ 1.25× ({cpu:.2f}×)",
            cpu <= 1.25,
        ),
    ]


class Played(NamedTuple):
    """What one of the two bots has shown so far."""

    bot: Running
    latencies: list[float]
    cpu: list[float]

    def play(self, server: Server, platform: str, chat: int) -> None:
        """One session. Its first turn is not a warm one."""
        before, asked = self.bot.cpu_seconds(), _asked(server)
        found = server.ask("/run", chats=1, turns=TURNS, first=chat, platform=platform)
        self.cpu.append(self.bot.cpu_seconds() - before)
        # A refusal is a reply, too, and a cheap one.
        assert _asked(server) == asked + TURNS
        self.latencies.extend(found["latencies"][1:])

    @property
    def p50(self) -> float:
        return percentile(self.latencies, 50)

    @property
    def cpu_a_turn(self) -> float:
        return sum(self.cpu) / (len(self.cpu) * TURNS)


def _asked(server: Server) -> int:
    """How often the model was asked so far."""
    return int(server.ask("/count_asked", task="chat")["times"])


def _on_telegram(home: Path, server: Server) -> dict[str, str]:
    return configure(home, server, memory="nudge_interval: 0")


def _on_discord(home: Path, server: Server) -> dict[str, str]:
    people = access("discord", range(FIRST, FIRST + SESSIONS))
    configure(home, server, access=people, memory="nudge_interval: 0")
    return {
        "DISCORD_BOT_TOKEN": "bench",
        "HIKAE_DISCORD_BASE_URL": f"{server.url}/api/v10",
        "HIKAE_DISCORD_GATEWAY_URL": f"{server.url.replace('http', 'ws')}/gw",
        "HOME": str(home.parent),
    }
