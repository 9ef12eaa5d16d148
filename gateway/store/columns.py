"""Which forget layer erases which text column: the list that a new column must join.

A layer is one place where somebody's words live (design.md, promise 5). NO_WORDS says that a column holds ids,
times, numbers, names of settings: nothing that a person said. A test walks the schema and fails on a column
that nobody claims.
"""

from collections.abc import Mapping

NO_WORDS = ""

_WITH_WORDS = {
    "entries": {"known_files": "text"},
    "ledger": {"writes": "target operations original quote before after"},  # the name of a skill is a word, too
    "messages": {"messages": "text pieces stamp sent tool_calls speaker"},  # a stamp may hold a speaker's name
    "outbox": {"chunks": "text"},
    "prompts": {"sessions": "system_prompt tools", "former_prompts": "system_prompt tools"},
    "requests": {"forgets": "passage"},
    "search_index": {"message_words": "text", "session_words": "text", "searched_sessions": "words"},
    "summaries": {"summaries": "text"},
    "titles": {"sessions": "title"},
}

_WITHOUT_WORDS = {
    "choice_changes": "key value by at",
    "chats": "platform id person language server last_at refused_at moved_to",
    "choices": "key value by at",
    "chunks": "platform_id delivered_at",
    "compressions": "session flushed_at",
    "forget_steps": "layer done_at",
    "forgets": "by status requested_at done_at kind rows left_out left_files begun_by begun_at expires_at verified",
    "former_prompts": "session",
    "known_files": "target sha256 at",
    "imported_sessions": "mark session at",
    "messages": "platform chat thread person role at session tool_call_id tool_name platform_id done done_at "
    "album via",
    "outbox": "dedupe kind platform chat thread token session values reply_to status due_at created_at "
    "delivered_at via postponed_at",
    "pairings": "code platform id chat language created_at expires_at decided_at ignored_at",
    "pauses": "scope since until",
    "people": "platform id role since greeted_at wrong_since revoked_at",
    "reviews": "session status cause claim lease_until retry_at reason created_at ended_at",
    "searched_sessions": "session",
    "sessions": "id platform chat thread member opened_at ended_at end_reason frozen_at last_at model said_at "
    "title_by forgotten_at",
    "spaces": "name kind whose created_at closed_at",
    "summaries": "session created_at",
    "tidies": "id target status cause platform chat thread content claim lease_until retry_at reason created_at "
    "ended_at",
    "tombstone_filters": "bits",
    "tombstone_keys": "key",
    "tombstones": "kind mark at",
    "usage": "at task session model job",
    "writes": "dedupe kind origin evidence_by flags status reason reason_values session base_hash "
    "before_hash after_hash created_at expires_at decided_by decided_at applied_at undone_by undone_at "
    "edited_by edited_at places undo_before_hash undo_after_hash",
}


def _claims() -> dict[str, str]:
    found = {f"{table}.{name}": NO_WORDS for table, names in _WITHOUT_WORDS.items() for name in names.split()}
    for layer, tables in _WITH_WORDS.items():
        found |= {f"{table}.{name}": layer for table, names in tables.items() for name in names.split()}
    return found


COLUMNS: Mapping[str, str] = _claims()
"""`table.column` -> the layer that erases it, or NO_WORDS."""
