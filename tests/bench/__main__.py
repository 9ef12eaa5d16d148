"""`python -m tests.bench [--write] [--quick]`: measure everything; with --write, into docs/benchmarks.md."""

import argparse
import inspect
import platform
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tests.bench import figures
from tests.bench.rig import ROOT, Figure, Server

PAGE = ROOT / "docs" / "benchmarks.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--only", choices=[name for name, _ in figures.ALL])
    parser.add_argument("--quick", action="store_true", help="grow to 100,000 stored messages, not to a million")
    asked = parser.parse_args()
    found: list[Figure] = []
    for name, measure in figures.ALL:
        if asked.only in (None, name):
            rows = _measured(measure, quick=asked.quick)
            print(_table(rows), flush=True)
            found += rows
    if asked.write:
        PAGE.write_text(_page(found), "utf-8")


def _measured(measure: Callable[..., list[Figure]], *, quick: bool) -> list[Figure]:
    """Each is given what it asks for by name."""
    wanted = inspect.signature(measure).parameters
    if "quick" in wanted:
        return measure(quick=quick)
    if "server" not in wanted:
        return measure()
    server = Server()
    try:
        return measure(server)
    finally:
        server.close()


def _table(rows: list[Figure]) -> str:
    lines = ["| figure | hikae | floor | goal | met |", "|---|---|---|---|---|"]
    lines += [f"| {row.name} | {row.value} | {row.floor} | {row.goal} | {_met(row)} |" for row in rows]
    return "\n".join(lines)


def _met(row: Figure) -> str:
    return {True: "yes", False: "**no**", None: ""}[row.met]


def _page(rows: list[Figure]) -> str:
    notes = PAGE.read_text("utf-8").partition(NOTES_MARK)[2] if PAGE.exists() else "\n"
    return (
        "# Benchmarks\n\n"
        f"`python -m tests.bench --write`, {datetime.now(UTC):%Y-%m-%d}, on {_machine()}.\n"
        "The floor is the same work done bare with the same libraries, measured in the same run\n"
        "(tests/bench/floor.py); the load comes from a process of its own. Absolute figures move with the\n"
        "machine; the ratios are what counts.\n\n"
        f"{_table(rows)}\n\n{NOTES_MARK}{notes}"
    )


NOTES_MARK = "## Notes\n"


def _machine() -> str:
    named = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    cpu = named[0].partition(":")[2].strip() if named else platform.machine()
    return f"{cpu}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"


if __name__ == "__main__":
    main()
