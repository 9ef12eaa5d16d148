"""Where memory lives, layer by layer. Erasing them comes with the issue on forgetting.

Every text column of the database is claimed by one of these (`store/columns.py`); a test fails on one without.
"""

from enum import StrEnum


class Layer(StrEnum):
    """One place where somebody's words can be, and where a forget looks for them."""

    ENTRIES = "entries"
    """MEMORY.md and USER.md, and what we last knew of them."""
    LEDGER = "ledger"
    """Proposed, decided and undone writes."""
    MESSAGES = "messages"
    OUTBOX = "outbox"
    """What is still to be said."""
    PROMPTS = "prompts"
    """Frozen system prompts and tool definitions of sessions."""
    REQUESTS = "requests"
    """The words of a forget that is still going on."""
    SEARCH_INDEX = "search_index"
    TITLES = "titles"
    """What sessions are called."""
