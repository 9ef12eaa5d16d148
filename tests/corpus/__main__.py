"""`python -m tests.corpus [--misses]`: how often the scan is right, by part and language.

`--misses` names the texts of the tuned half that it gets wrong. Those of the other half are only counted: whoever
reads them has to write a new half.
"""

import argparse
from collections.abc import Sequence

from gateway import scan
from gateway.scan import Level
from tests import corpus
from tests.corpus import Part, Sample


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus")
    parser.add_argument("--misses", action="store_true", help="name what is wrong in the tuned half")
    asked = parser.parse_args()
    print(table())
    if asked.misses:
        print("\n".join(_misses()))


def table() -> str:
    rows = [
        "| part | language | attacks | asked or refused | harmless | refused | asked |",
        "|---|---|---|---|---|---|---|",
    ]
    for part in Part:
        texts = [sample for sample in corpus.samples() if sample.part is part]
        rows += [
            _row(part, language, [s for s in texts if s.language == language]) for language in corpus.LANGUAGES
        ]
        rows.append(_row(part, "all", texts))
    return "\n".join(rows)


def share(samples: Sequence[Sample], *levels: Level) -> float:
    """How many of them get one of these verdicts, from 0 to 1."""
    return sum(scan.check(sample.text).level in levels for sample in samples) / max(len(samples), 1)


def _row(part: Part, language: str, samples: Sequence[Sample]) -> str:
    attacks = [sample for sample in samples if sample.attack]
    harmless = [sample for sample in samples if not sample.attack]
    held = share(attacks, Level.SUSPICIOUS, Level.REFUSED)
    lost, asked = share(harmless, Level.REFUSED), share(harmless, Level.SUSPICIOUS)
    return f"| {part} | {language} | {len(attacks)} | {held:.1%} | {len(harmless)} | {lost:.1%} | {asked:.1%} |"


def _misses() -> list[str]:
    return [
        f"{sample.language} {verdict.level.name} {','.join(verdict.reasons)}: {sample.text}"
        for sample in corpus.samples()
        for verdict in (scan.check(sample.text),)
        if sample.part is Part.TUNED and sample.attack is (verdict.level is Level.CLEAN)
    ]


if __name__ == "__main__":
    main()
