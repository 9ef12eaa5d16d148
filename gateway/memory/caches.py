"""What this process remembers of people's words between two looks at a text, and how it is made to forget it.

Nothing changes by it: what a cache holds can be computed again. A test finds every cache of the house and fails for
one that is neither here nor known to hold no words.
"""

import re

from gateway import scan
from gateway.memory import conflicts_reading, entries, folding, passages, rareparts, snapshot, tombstones

WITH_WORDS = (
    scan.check,
    *entries.CACHES,
    *snapshot.CACHES,
    *folding.CACHES,
    *passages.CACHES,
    *tombstones.CACHES,
    conflicts_reading.facts,
    conflicts_reading.stem,
    rareparts.stem,
)


def clear() -> None:
    """Drop all of it, and the patterns that were made of what was forgotten."""
    for cached in WITH_WORDS:
        cached.cache_clear()
    re.purge()
