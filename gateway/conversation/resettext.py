"""The words of a conversation that begins unasked: why it does, and how to go on with the last one. Pure."""

from gateway import words
from gateway.conversation import phrases, spans
from gateway.conversation.notices import Rendered
from gateway.records import Outgoing


def rendered(row: Outgoing, language: str) -> Rendered:
    """Without a sound: the answer follows."""
    values = row.values
    why = words.text(
        f"reset.{values['why']}",
        language,
        span=spans.exact(int(str(values["minutes"])), language),
        at=values["at"],
    )
    back = "reset.back_in_group" if values["group"] else "reset.back"
    hint = words.text(back, language, id=phrases.escape(str(values["former"])))
    return Rendered(words.text("reset.said", language, why=why, hint=hint), silent=True)
