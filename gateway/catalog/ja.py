"""Japanese. A test holds it to the keys of English."""

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {}
