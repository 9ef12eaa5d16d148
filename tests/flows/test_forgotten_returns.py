"""What was forgotten is said again, and all that learns by itself tries to keep it: reviews, flushes, tidies.

The sentences are those of `corpus.forgotten`, in two languages; each goes through a real review of a real turn. The
published rates are of the marks alone (`store/test_forgetting_rates`); these are of all that a review passes.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from gateway.memory.forgetting import Scope
from gateway.records import HELD, Origin, Status, Write
from gateway.store import people
from tests.bot import ANNA, Bot, running_bot
from tests.corpus import forgotten
from tests.corpus.forgotten import Forgotten
from tests.fakes.model import Json, is_flush, is_review, is_summary
from tests.flows.test_cli import Machine
from tests.flows.test_cli import machine as machine
from tests.flows.test_compression import TOLD, says_much, talking
from tests.flows.test_tidy import NOTES, wants
from tests.hermes import HermesHome

FACT = "Keeps her bees in Lysekil"
PASSAGE = "bees in Lysekil"
AT_ONCE = 10
"""So many facts does a review want to keep: each is a proposal of its own."""


async def test_two_hundred_reviews_bring_nothing_back_silently(tmp_path: Path) -> None:
    """Promise 5: what was forgotten is not learnt again unasked; what only sounds like it is learnt as ever."""
    facts = forgotten.facts()
    async with running_bot(
        tmp_path, memory="nudge_interval: 1, memory_char_limit: 500000", session="reset: none"
    ) as bot:
        remember(bot, *(fact.entry for fact in facts))
        await forget(bot, *(fact.passage for fact in facts))
        assert all(fact.entry not in bot.memory_file() for fact in facts)

        for text in said(facts, "verbatim", "in other words"):
            await is_reviewed(bot, text)
        for texts in lots(list(said(facts, "innocent"))):
            await is_reviewed(bot, *texts)

        outcome = outcomes(bot, facts)
    back = [text for text, write in outcome["verbatim"] if write.status is Status.APPLIED]
    asked = [text for text, write in outcome["in other words"] if HELD in write.flags]
    held = [text for text, write in outcome["innocent"] if HELD in write.flags]
    assert [len(outcome[kind]) for kind in ("verbatim", "in other words", "innocent")] == [
        len(list(said(facts, kind))) for kind in ("verbatim", "in other words", "innocent")
    ]
    assert len(outcome["verbatim"]) + len(outcome["in other words"]) == 200
    assert back == []
    assert len(asked) >= 0.75 * len(outcome["in other words"])
    assert len(held) <= 0.01 * len(outcome["innocent"])
    assert all(write.status is Status.APPLIED for _, write in outcome["innocent"] if not write.flags)


async def test_a_flush_brings_nothing_back_silently(tmp_path: Path) -> None:
    """Before a conversation is compressed, what is said in it is looked through once more."""
    async with talking(tmp_path, 5_000) as bot:
        remember(bot, FACT)
        await forget(bot, PASSAGE)
        quote = "This is message 3"
        bot.server.calls("memory", action="add", content=f"{FACT}!", evidence=quote, when=is_flush)
        bot.server.answers(TOLD, when=is_summary)

        await says_much(bot, 19)

        [flushed] = [write for write in bot.ledger() if write.origin is Origin.FLUSH]
        assert (flushed.status, flushed.reason) == (Status.STAGED, "reason.forgotten_before")
        assert HELD in flushed.flags
        assert bot.memory_file() == ""


async def test_a_tidy_brings_nothing_back_silently(tmp_path: Path) -> None:
    """It may shorten what is there, and make up nothing that is not."""
    async with running_bot(tmp_path, memory="memory_char_limit: 200") as bot:
        remember(bot, FACT)
        await forget(bot, PASSAGE)
        remember(bot, *NOTES)
        wants(bot.server, {"action": "replace", "old_text": "Printer:", "content": FACT})

        await bot.says("/memory tidy")
        await bot.run_jobs()

        assert FACT not in bot.memory_file()
        assert [HELD in write.flags for write in bot.ledger() if write.origin is Origin.TIDY] in ([], [True])


def test_an_import_brings_nothing_back_silently(machine: Machine, tmp_path: Path) -> None:
    """The bot that somebody comes from still knows it."""
    machine.home.memory_file("owner", "memory").parent.mkdir(parents=True)
    machine.home.memory_file("owner", "memory").write_text(f"{FACT}\n")
    assert machine.hikae("forget", PASSAGE, "--yes").code == 0
    other = HermesHome(tmp_path / ".hermes")
    other.remembers(FACT, "The printer is called Gutenberg")

    ran = machine.hikae("import", "hermes", str(other.path), "--yes")

    assert ran.code == 0, ran
    assert machine.memory_file() == "The printer is called Gutenberg\n"
    [waiting] = machine.hikae("memory", "pending", "--json").json
    assert waiting["flags"] == [HELD]


async def test_what_a_person_writes_into_the_file_is_theirs(tmp_path: Path) -> None:
    """Nobody asks who opens the file with an editor; the next conversation knows it again."""
    async with running_bot(tmp_path) as bot:
        remember(bot, FACT)
        await forget(bot, PASSAGE)

        remember(bot, FACT)
        await bot.says("What do you know?")

        assert bot.memory_file() == f"{FACT}\n"
        assert FACT in bot.server.chats[-1].messages[0]["content"]


def said(facts: list[Forgotten], *kinds: str) -> Iterator[str]:
    return (text for fact in facts for kind, text in fact.proposed if kind in kinds)


def lots(texts: list[str]) -> Iterator[list[str]]:
    return (texts[at : at + AT_ONCE] for at in range(0, len(texts), AT_ONCE))


async def is_reviewed(bot: Bot, *texts: str) -> None:
    """A person says it in a conversation of its own, and a review quotes them word for word."""
    await bot.says("/new")
    await bot.says("\n".join(texts))
    calls: list[tuple[str, Json | str]] = [
        ("memory", {"action": "add", "target": "memory", "content": text, "evidence": text}) for text in texts
    ]
    bot.server.calls_many(*calls, when=is_review)
    await bot.run_jobs()
    bot.server.forget_script()


def outcomes(bot: Bot, facts: list[Forgotten]) -> dict[str, list[tuple[str, Write]]]:
    """Kind -> each sentence of it with the write that came of it."""
    kinds = {text: kind for fact in facts for kind, text in fact.proposed}
    found: dict[str, list[tuple[str, Write]]] = defaultdict(list)
    for write in bot.ledger():
        if write.origin is Origin.REVIEW and (text := write.operations[0].content) in kinds:
            found[kinds[text]].append((text, write))
    return found


def remember(bot: Bot, *texts: str) -> None:
    path = bot.home.memory_file("owner", "memory")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n§\n".join(texts) + "\n", "utf-8")


async def forget(bot: Bot, *texts: str) -> int:
    """A plan with a yes, and all of it erased."""

    def work() -> int:
        with bot.core.db.write() as tx:
            space = people.ensure_space(tx, "owner", "owner", f"telegram:{ANNA}", bot.core.clock.now())
        id = bot.core.forgetting.forget(space, Scope(texts), f"telegram:{ANNA}")
        assert bot.core.forgetting.go_on(id)
        return id

    return await asyncio.to_thread(work)
