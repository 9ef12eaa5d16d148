"""What is said of a forget once somebody said yes: how it stands, and the receipt. Pure, and without the words."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from gateway import words
from gateway.conversation.phrases import escape
from gateway.records import Forget

MOST_FILES = 5


def state(forget: Forget, language: str) -> str:
    """One line: how it stands."""
    key = f"forget.is_{forget.status}"
    return words.text(key, language, id=forget.id)


def line(forget: Forget, space: str, zone: tzinfo, language: str) -> str:
    """One line of a list: `3 · 2026-11-30 09:00 · owner · Entries: 1, Messages: 4`"""
    at = forget.done_at or forget.begun_at or forget.requested_at
    held = layers(forget, language) or words.text("receipts.nothing", language)
    when = escape(f"{at.astimezone(zone):%Y-%m-%d %H:%M}")
    key = "receipts.line" if forget.status == "done" else "receipts.line_open"
    return words.text(key, language, id=forget.id, when=when, space=escape(space), layers=held)


def layers(forget: Forget, language: str) -> str:
    """`Entries: 1 · Messages: 4`: what was erased where."""
    erased = [(step.layer, step.erased or 0) for step in forget.steps if step.erased]
    named = (words.text("forget.layer", language, layer=_layer(layer, language), count=n) for layer, n in erased)
    return " · ".join(named)


def _layer(name: str, language: str) -> str:
    return words.text(f"layer.{name}", language)


def receipt(forget: Forget, space: str, in_chats: Mapping[str, int], zone: tzinfo, language: str) -> str:
    """What was erased where, when, by whom, verified how, and what is out of reach."""
    at = forget.done_at or forget.requested_at
    lines = [
        words.text(f"forget.is_{forget.status}", language, id=forget.id),
        words.text(
            "receipt.who",
            language,
            when=escape(f"{at.astimezone(zone):%Y-%m-%d %H:%M}"),
            by=_by(forget.begun_by or forget.by, language),
            space=escape(space),
        ),
        words.text(
            "receipt.erased", language, layers=layers(forget, language) or words.text("receipts.nothing", language)
        ),
        *_stayed(forget, language),
        *_chats(in_chats, language),
        *verified(forget, language),
    ]
    if forget.kind == "passage":
        lines.append(words.text("forget.mark" if forget.marks else "forget.no_mark", language))
    lines.append(words.text("receipt.outside", language))
    return "\n".join(lines)


def _by(who: str, language: str) -> str:
    return words.text("receipt.by_age", language) if who == "keep_days" else escape(who)


def _stayed(forget: Forget, language: str) -> list[str]:
    lines = []
    if forget.left_out:
        lines.append(words.text("receipt.left_out", language, count=len(forget.left_out)))
    if forget.left:
        files = ", ".join(f"{escape(path)} ({count})" for path, count in forget.left)
        lines.append(words.text("forget.left", language, files=files))
    return lines


def _chats(in_chats: Mapping[str, int], language: str) -> list[str]:
    return [
        words.text(key, language, count=in_chats[name])
        for name, key in (
            ("deleted", "receipt.chat_deleted"),
            ("kept", "receipt.chat_kept"),
            ("waiting", "receipt.chat_waiting"),
        )
        if in_chats.get(name)
    ]


def is_clean(forget: Forget) -> bool:
    """Whether everything was looked at and nothing found that may not be there."""
    return forget.status == "done" and bool(forget.verified.get("clean"))


def verified(forget: Forget, language: str) -> list[str]:
    """How it was looked at, and what is worth knowing of the disk."""
    if forget.status != "done":
        return []
    found = forget.verified
    how = str(found.get("how", ""))
    if how == "bytes" and found.get("clean"):
        stays = forget.left_out or _number(found.get("accounted"))
        lines = [words.text("receipt.clean_but" if stays else "receipt.clean", language)]
    elif how == "bytes":
        where = found.get("where")
        files = [str(one) for one in where][:MOST_FILES] if isinstance(where, Sequence) else []
        lines = [
            words.text(
                "receipt.not_clean", language, count=_number(found.get("hits")), files=escape(", ".join(files))
            )
        ]
    else:
        lines = [words.text("receipt.rows", language)]
    if inside := _number(found.get("inside_longer_words")):
        lines.append(words.text("receipt.inside", language, count=inside))
    if unreadable := _number(found.get("unreadable")):
        lines.append(words.text("receipt.unreadable", language, count=unreadable))
    if disk := str(found.get("filesystem") or ""):
        key = "receipt.disk" if found.get("overwrites") else "receipt.disk_copies"
        lines.append(words.text(key, language, disk=escape(disk)))
    return lines


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
