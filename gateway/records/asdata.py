"""Records as JSON has them: times in UTC, what is absent as null. For `--json`, and for files people take along."""

from datetime import UTC, datetime

from gateway.records.sessions import Message


def message(row: Message) -> dict[str, object]:
    """One message without its id: everything that was said in it and who said which part."""
    return {
        "turn": row.turn,
        "role": row.role.value,
        "person": row.person or None,
        "at": iso(row.at),
        "text": row.text,
        "pieces": [{"how": piece.how.value, "by": piece.by or None, "text": piece.text} for piece in row.pieces],
        "tool": row.tool_name or None,
        "tool_call": row.tool_call_id or None,
        "tool_calls": [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in row.tool_calls],
    }


def iso(at: datetime | None) -> str | None:
    """ISO 8601."""
    return None if at is None else at.astimezone(UTC).isoformat()
