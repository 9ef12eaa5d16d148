"""The command /usage: what the model has read and written, for this conversation, today, and in the background."""

from collections.abc import Iterator, Mapping, Sequence

from gateway import days, words
from gateway.conversation import members, phrases
from gateway.conversation.commands.call import Call, Said, Services, View
from gateway.memory import dailytokens
from gateway.memory.dailytokens import Today
from gateway.records import Outgoing, UsageSum
from gateway.store import usage as calls


def usage(services: Services, call: Call) -> Said:
    """Of one's own space; in private the owner sees all."""
    with services.db.read() as rd:
        session = members.in_use(rd, services.settings, call.message)
    return Said("usage", {"session": session.id if session is not None else "", "all": call.covers_all})


def usage_text(services: Services, row: Outgoing, language: str) -> str:
    """Three parts, and what a token is."""
    session, now = str(row.values["session"]), services.clock.now()
    with services.db.read() as rd:
        talked = calls.of_session(rd, session) if session else []
        today = dailytokens.today(rd, services.settings, now)
        begun = days.begins(today.day, days.MIDNIGHT, services.settings.zone())
        sums = calls.between(rd, begun, today.until, None if row.values["all"] else row.space)
    beside = [each for each in sums if each.task in dailytokens.TASKS]
    lines = [
        _line("usage.session", [each for each in talked if each.task not in dailytokens.TASKS], language),
        _line("usage.today", [each for each in sums if each not in beside], language),
        _line("usage.background", beside, language),
        *_of_tasks([each for each in sums if each.task != "chat"], language),
        *_of_bound(today, language),
        words.text("usage.token", language),
    ]
    return "\n".join(lines)


def _line(key: str, sums: Sequence[UsageSum], language: str) -> str:
    return words.text("usage.line", language, what=words.text(key, language), spent=_spent(sums, language))


def _of_tasks(sums: Sequence[UsageSum], language: str) -> Iterator[str]:
    """What it was for, where it was not an answer."""
    for each in sums:
        key = f"task.{each.task}"
        name = words.text(key, language) if words.has(key) else phrases.escape(each.task)
        yield words.text("usage.task", language, what=name, spent=_spent([each], language))


def _of_bound(today: Today, language: str) -> Iterator[str]:
    if today.bound:
        key = "usage.used_up" if today.used_up else "usage.bound"
        yield words.text(key, language, used=f"{today.used:,}", bound=f"{today.bound:,}")


def _spent(sums: Sequence[UsageSum], language: str) -> str:
    count = sum(each.calls for each in sums)
    if not count:
        return words.text("usage.nothing", language)
    read, written, cached = (
        f"{sum(getattr(each, name) for each in sums):,}" for name in ("input", "output", "cached")
    )
    return words.text("usage.spent", language, count=count, read=read, written=written, cached=cached)


VIEWS: Mapping[str, View] = {"usage": usage_text}
