"""What is said of a turn that was taken back, and of the memory that rests on it. Pure."""

from collections.abc import Sequence

from gateway import words
from gateway.conversation import notices, phrases, skilltext
from gateway.conversation.notices import Rendered
from gateway.records import Outgoing, Status, Write

_STATES = {
    Status.STAGED: "takeback.waits",
    Status.APPROVED: "takeback.waits",
    Status.APPLIED: "takeback.in_force",
    Status.UNDONE: "takeback.undone",
    Status.REJECTED: "takeback.rejected",
}


def rendered(
    row: Outgoing, rests: Sequence[Write], language: str, *, with_words: bool, with_button: bool
) -> Rendered:
    """What was done, and what rests on it, one line each. `with_words`: their texts may be read in this chat."""
    head = words.text("takeback.again" if row.values.get("again") else "takeback.done", language)
    if not rests:
        return Rendered(head)
    live = any(write.status in (Status.STAGED, Status.APPLIED) for write in rests)
    lines = [head, words.text("takeback.rests", language, count=len(rests))]
    lines += [line(write, language, with_words=with_words) for write in rests]
    if live:
        lines.append(words.text("takeback.commands", language))
    buttons = ((notices.button("undo", row, language),),) if live and with_button else ()
    return Rendered("\n".join(lines), buttons=buttons)


def line(write: Write, language: str, *, with_words: bool = True) -> str:
    """`17 add to USER: "Lives in Bergen" (in force)`"""
    state = words.text(_STATES.get(write.status, "takeback.ended"), language)
    if not with_words:
        return words.text("takeback.line", language, line=str(write.id), state=state)
    pending_line = skilltext.pending_line if write.kind == "skill" else phrases.pending_line
    shown = pending_line(write, with_space=False, language=language)
    return words.text("takeback.line", language, line=shown, state=state)
