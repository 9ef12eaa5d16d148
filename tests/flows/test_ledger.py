"""The ledger as people use it: why something is remembered, what happened to it, and how it is taken back."""

import asyncio
import json
from pathlib import Path

import pytest

from gateway.chat import Chat, Person, Tap
from gateway.decisions import DecisionEnding
from gateway.records import Origin, Status, Target
from gateway.store import people
from gateway.store.transaction import Transaction
from tests.bot import ANNA, BEN, MALLORY, Bot, running_bot
from tests.flows.test_approval import ASK, proposes
from tests.processes import Machine
from tests.store.given import NINE

GROUP = -100200
GROUP_ACCESS = f"owners: ['telegram:{ANNA}'], groups: {{allowed: ['telegram:{GROUP}']}}"


async def remembers(bot: Bot, content: str, said: str, person: int = ANNA) -> None:
    """The model writes it down unasked."""
    bot.server.calls("memory", action="add", content=content, target="memory")
    bot.server.answers("Noted.")
    await bot.says(said, person)


# -- undo ---------------------------------------------------------------------------------------------------


async def test_an_approved_card_can_be_taken_back_with_one_tap(tmp_path: Path) -> None:
    """The regret comes a second after the yes; the card then says that it was taken back, and by whom."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        await bot.taps("Approve")
        card = bot.card_with("Undo")
        assert card.labels == ("Use now", "Undo")

        assert await bot.taps("Undo") == ""

        assert bot.memory_file() == ""
        (row,) = bot.ledger()
        assert (row.status, row.undone_by) == (Status.UNDONE, f"telegram:{ANNA}")
        now = next(shown for shown in bot.telegram.screen(ANNA) if shown.message_id == card.message_id)
        assert now.text.startswith("↩ Taken back (by you, ")
        assert now.labels == ()
        assert (await bot.presses(now, "Undo", data_of=card)).startswith("This was taken back already (by you, ")


async def test_what_was_written_unasked_is_taken_back_from_its_notice(tmp_path: Path) -> None:
    """Nobody asked the person; so one tap must do."""
    async with running_bot(tmp_path) as bot:
        await remembers(bot, "Lives in Bergen", "I live in Bergen")
        notice = bot.card_with("Undo")
        assert notice.text == "💾 Memory updated"

        await bot.taps("Undo")

        assert bot.memory_file() == ""
        now = next(shown for shown in bot.telegram.screen(ANNA) if shown.message_id == notice.message_id)
        assert (now.text, now.labels) == ("↩ Taken back", ())


async def test_a_notice_takes_back_what_it_told_of_and_says_what_cannot_be(tmp_path: Path) -> None:
    """Each write for itself, and nothing of others is written over."""
    async with running_bot(tmp_path, display="memory_notifications: verbose") as bot:
        bot.server.calls("memory", action="add", content="Likes tea", target="memory")
        bot.server.calls("memory", action="add", content="Lives in Bergen", target="memory")
        bot.server.answers("Noted.")
        await bot.says("I live in Bergen and I like tea")
        bot.home.memory_file("owner", Target.MEMORY).write_text("Likes green tea\n§\nLives in Bergen\n", "utf-8")

        await bot.taps("Undo")

        assert bot.memory_file() == "Likes green tea\n"
        first, second, hand = bot.ledger()
        assert (first.status, second.status, hand.origin) == (Status.APPLIED, Status.UNDONE, Origin.HAND_EDIT)
        assert (
            f"Write {first.id} cannot be taken back: what it wrote was changed since by {hand.id}" in bot.sees()[-1]
        )
        assert any('↩ Taken back: "Lives in Bergen"' in text for text in bot.sees())


async def test_undo_by_command_takes_the_newest_of_this_space(tmp_path: Path) -> None:
    """And the one with a number; a second time it says so."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/remember Likes tea")
        await bot.says("/remember Lives in Bergen")
        await bot.says("/memory undo")
        assert bot.sees()[-1] == '↩ 2 taken back: "Lives in Bergen"'
        await bot.says("/memory undo 1")
        assert bot.memory_file() == ""
        await bot.says("/memory undo 1")
        assert bot.sees()[-1].startswith("Write 1 was taken back already.")
        await bot.says("/memory undo")
        assert bot.sees()[-1] == "Nothing in this memory can be taken back."


async def test_nobody_takes_back_what_is_not_theirs(tmp_path: Path) -> None:
    """Ids are numbers that anybody can guess (promise 6)."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/remember Likes tea")
        await bot.says("/memory undo 1", BEN)
        assert bot.sees(BEN)[-1] == "There is no write 1. /memory pending and /skills pending show what waits."
        await bot.says("/memory undo 1", MALLORY)
        await bot.says("/memory why tea", BEN)
        assert bot.sees(BEN)[-1].startswith("No entry of this memory says that.")
        await bot.says("/memory log", BEN)
        assert bot.sees(BEN)[-1] == "Nothing was ever proposed here."
        assert bot.memory_file() == "Likes tea\n"


async def test_a_forged_undo_button_does_nothing(tmp_path: Path) -> None:
    """The token of a row that shows no write is no way in."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await bot.says("/remember Likes tea")
        with bot.core.db.read() as rd:
            rows = rd.rows("SELECT * FROM outbox WHERE write IS NULL AND kind <> 'notice'")
        for row in rows:
            tap = Tap(
                chat=Chat("telegram", str(ANNA)), person=Person("telegram", str(ANNA)), id=f"x{row['id']}",
                data=f"undo:{row['id']}:{row['token']}", at=bot.clock.now(),
            )  # fmt: skip
            assert await bot.gateway.intake.tap(tap) == "This button does not work any more."
        assert bot.memory_file() == "Likes tea\n"


@pytest.mark.processes
async def test_a_yes_from_two_platforms_and_the_command_line_is_one(tmp_path: Path) -> None:
    """Whoever is first; the others hear so, the file is written once, and the ledger says by whom."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        here = Machine(bot.home)
        card = bot.card_with("Approve")

        started = [here.start("memory", "approve", "1", "--json") for _ in range(2)]
        tap = bot.telegram.taps(ANNA, card, "Approve")
        mine = await asyncio.to_thread(bot.core.memory.approve, 1, "discord:9", 500)
        codes = [await asyncio.to_thread(process.wait, 60) for process in started]
        await bot.until(lambda: tap in bot.telegram.toasts)
        await bot.settles()

        (row,) = bot.ledger()
        assert (row.status, bot.memory_file()) == (Status.APPLIED, "Lives in Bergen\n")
        winners = [code == 0 for code in codes]
        winners += [mine.ending is DecisionEnding.APPLIED, row.decided_by == f"telegram:{ANNA}"]
        assert winners.count(True) == 1
        with bot.core.db.read() as rd:
            updates = rd.rows("SELECT dedupe FROM outbox WHERE dedupe = 'write-1-approved'")
        assert len(updates) == 1


@pytest.mark.processes
async def test_an_undo_from_everywhere_at_once_is_one(tmp_path: Path) -> None:
    """The entry goes once, and what was there before is not taken away with it."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/remember Likes tea")
        await bot.says("/remember Lives in Bergen")
        here = Machine(bot.home)

        started = [here.start("memory", "undo", "2", "--json") for _ in range(2)]
        await bot.says("/memory undo 2")
        codes = [await asyncio.to_thread(process.wait, 60) for process in started]

        winners = [*(code == 0 for code in codes), bot.sees()[-1].startswith("↩ 2 taken back")]
        assert winners.count(True) == 1
        assert bot.memory_file() == "Likes tea\n"


# -- why ----------------------------------------------------------------------------------------------------


async def test_why_names_the_message_the_proposer_and_the_yes(tmp_path: Path) -> None:
    """The person always knows from what, why, and who said yes."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I moved to Bergen last week")
        await bot.taps("Approve")

        await bot.says("/memory why bergen")

        lines = bot.sees()[-1].split("\n")
        assert lines[0] == '"Lives in Bergen"'
        assert lines[1].startswith("MEMORY · memory:memory:")
        assert lines[2].startswith("Proposed in the conversation by the model, ")
        assert lines[3].startswith("It rests on a message (by you, ")
        assert lines[3].endswith('): "I moved to Bergen last week"')
        assert lines[4].startswith("Approved (by you, ")


async def test_why_follows_an_entry_through_hand_edits(tmp_path: Path) -> None:
    """What a person put under an entry belongs to it, and what it was before is told, too."""
    async with running_bot(tmp_path) as bot:
        await remembers(bot, "Lives in Bergen", "I moved to Bergen last week")
        bot.home.memory_file("owner", Target.MEMORY).write_text("Lives in Bergen\nby the harbour\n", "utf-8")

        await bot.says("/memory why harbour")

        told = bot.sees()[-1]
        assert "Written into the file by hand; noticed" in told
        assert 'Before that it said "Lives in Bergen":' in told
        assert '"I moved to Bergen last week"' in told
        assert "Written without asking" in told


async def test_why_lists_what_could_be_meant(tmp_path: Path) -> None:
    """With the id that names each."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/remember Anna likes tea")
        await bot.says("/remember Ben likes coffee")
        await bot.says("/memory why likes")
        first, second, third = bot.sees()[-1].split("\n")
        assert first.startswith("Several entries")
        assert (second[-17:], third[-19:]) == ('"Anna likes tea"'.rjust(17), '"Ben likes coffee"'.rjust(19))

        await bot.says(f"/memory why {second.split(' ')[0]}")

        assert bot.sees()[-1].startswith('"Anna likes tea"\n')


# -- log ----------------------------------------------------------------------------------------------------


async def test_the_log_shows_every_move_newest_first(tmp_path: Path) -> None:
    """Writes of everybody, hand edits, undos, and who switched approval."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/remember Likes tea")
        await bot.says("/memory approval on")
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        await bot.taps("Reject")
        await bot.says("/memory undo 1")
        bot.home.memory_file("owner", Target.MEMORY).write_text("mine\n", "utf-8")

        await bot.says("/memory log")

        hand, no, on, undone = bot.sees()[-1].split("\n")
        assert hand.startswith('3 ✓ add to MEMORY (owner) "mine" (by hand, ')
        assert no.startswith('2 ✗ rejected: add to MEMORY (owner) "Lives in Bergen" (by you, ')
        assert on.startswith("— /memory approval on (owner) (by you, ")
        assert undone.startswith('1 ↩ taken back: add to MEMORY (owner) "Likes tea" (by you, ')


async def test_the_log_is_paged(tmp_path: Path) -> None:
    """A phone shows two screens, and says how to see more."""
    async with running_bot(tmp_path) as bot:
        with bot.core.db.write() as tx:
            _many(tx, 20, "applied")
        await bot.says("/memory log")
        lines = bot.sees()[-1].split("\n")
        assert (len(lines), lines[-1]) == (16, "Older ones: /memory log 6")
        await bot.says("/memory log 6")
        assert [line.split(" ")[0] for line in bot.sees()[-1].split("\n")] == ["5", "4", "3", "2", "1"]


async def test_ten_thousand_waiting_are_listed_in_part(tmp_path: Path) -> None:
    """The list must still be one message and come at once."""
    async with running_bot(tmp_path) as bot:
        with bot.core.db.write() as tx:
            _many(tx, 10_000, "staged")
        began = bot.clock.now()
        await bot.says("/memory pending")
        assert (bot.clock.now() - began).total_seconds() < 5
        lines = bot.sees()[-1].split("\n")
        assert lines[0] == "Waiting for your yes: 10000"
        assert lines[-2].startswith("… and 9960 more")


async def test_a_group_reads_the_log_of_its_own_memory_without_what_was_never_in_it(tmp_path: Path) -> None:
    """What the owner rejected in private is not told to everybody afterwards; and a group is no place to edit."""
    async with running_bot(tmp_path, access=GROUP_ACCESS) as bot:
        await bot.says("/remember Mine alone")
        await says_in_group(bot, "/remember Plays on Tuesdays")
        with bot.core.db.write() as tx:
            _many(tx, 1, "staged", space="telegram-group-100200")
        bot.core.memory.reject(bot.ledger()[-1].id, f"telegram:{ANNA}")

        await says_in_group(bot, "/memory log")
        log = bot.telegram.screen(GROUP)[-1].text.split("\n")
        assert [line.split(" (")[0] for line in log] == [
            "3 ✗ rejected: [auto] add to MEMORY",
            '2 ✓ add to MEMORY "Plays on Tuesdays"',
        ]

        await says_in_group(bot, "/memory undo 1")
        assert bot.telegram.screen(GROUP)[-1].text.startswith("There is no write 1.")
        await says_in_group(bot, "/memory edit 3 x")
        assert bot.telegram.screen(GROUP)[-1].text == "/memory edit works in a private chat with me."
        assert bot.memory_file() == "Mine alone\n"


# -- hand edits ---------------------------------------------------------------------------------------------


async def test_a_hand_edit_is_a_row_when_a_conversation_begins(tmp_path: Path) -> None:
    """What the prompt shows from then on has a row that tells where it is from."""
    async with running_bot(tmp_path) as bot:
        path = bot.home.memory_file("owner", Target.MEMORY)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine\n", "utf-8")
        await bot.says("hello")
        (row,) = bot.ledger()
        assert (row.origin, row.after) == (Origin.HAND_EDIT, "mine")


# -- the command line ---------------------------------------------------------------------------------------


async def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    """One JSON value each, in the shapes that others rely on (design.md 6.8)."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        await bot.taps("Approve")
        here = Machine(bot.home)

        why = json.loads(here.run("memory", "why", "Bergen", "--json").stdout)
        assert sorted(why) == ["entry", "write"]
        assert (why["entry"]["text"], why["write"]["id"], why["write"]["decided_by"]) == (
            "Lives in Bergen", 1, f"telegram:{ANNA}",
        )  # fmt: skip
        (logged,) = json.loads(here.run("memory", "log", "--json").stdout)
        assert {"status", "reason", "before", "after", "decided_by", "decided_at"} < set(logged)
        undone = json.loads(here.run("memory", "undo", "--json").stdout)
        assert (undone["id"], undone["done"]) == (1, True)
        again = here.run("memory", "undo", "1", "--json")
        assert (again.returncode, json.loads(again.stdout)["error"]["kind"]) == (1, "AlreadyDecided")
        assert bot.memory_file() == ""


async def says_in_group(bot: Bot, text: str) -> None:
    bot.telegram.says(ANNA, text, chat=GROUP)
    await bot.settles()


def _many(tx: Transaction, count: int, status: str, space: str = "owner") -> None:
    """So many rows of a space."""
    whose = people.ensure_space(tx, space, "owner", "", NINE).id
    for number in range(count):
        tx.execute(
            """
            INSERT INTO writes (dedupe, space, kind, target, operations, origin, status, created_at)
            VALUES (?, ?, 'memory', 'memory', ?, 'background_review', ?, ?)
            """,
            (
                f"n-{number}",
                whose,
                '[{"action":"add","content":"x","old_text":""}]',
                status,
                "2026-11-30T09:00:00+00:00",
            ),
        )
