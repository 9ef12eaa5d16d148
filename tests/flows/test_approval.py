"""The story of an approval: proposed, shown, decided once, written, and said."""

import asyncio
from pathlib import Path

import pytest

from gateway.records import Status
from tests.bot import ANNA, BEN, Bot, running_bot
from tests.fakes.model import is_review

ASK = "write_approval: true"


async def proposes(bot: Bot, content: str, said: str, target: str = "memory") -> None:
    """Anna says something, and the model wants to remember."""
    bot.server.calls("memory", action="add", content=content, target=target)
    bot.server.answers("May I?")
    await bot.says(said)


async def test_a_write_waits_for_the_tap_and_is_then_kept(tmp_path: Path) -> None:
    """Asked, the bot writes nothing before the yes; the card then says so and offers to use it now."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen", target="user")
        card = bot.card_with("Approve")

        assert "Lives in Bergen" in card.text
        assert card.labels == ("Approve", "Reject", "Edit")
        assert bot.memory_file("USER.md") == ""

        await bot.taps("Approve")

        assert bot.memory_file("USER.md") == "Lives in Bergen\n"
        decided = bot.card_with("Use now")
        assert decided.message_id == card.message_id
        assert decided.text.startswith('✓ Remembered: "Lives in Bergen"')


async def test_a_rejected_card_says_so_without_the_words(tmp_path: Path) -> None:
    """A no leaves nothing behind in the chat."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        card = bot.card_with("Approve")

        await bot.taps("Reject")

        now = next(shown for shown in bot.telegram.screen(ANNA) if shown.message_id == card.message_id)
        assert "rejected" in now.text
        assert "Bergen" not in now.text
        assert bot.memory_file() == ""


async def test_a_card_survives_a_restart(tmp_path: Path) -> None:
    """A phone may lie on the table for a week."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        await bot.restart()

        await bot.taps("Approve")

        assert bot.memory_file() == "Lives in Bergen\n"


async def test_two_taps_at_once_decide_once(tmp_path: Path) -> None:
    """Two accounts of the owner tap the two buttons at the same moment: one decision, one change of the card."""
    access = f"owners: ['telegram:{ANNA}', 'telegram:{BEN}']"
    async with running_bot(tmp_path, memory=ASK, access=access) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        card = bot.card_with("Approve")
        before = len(bot.telegram.sent)

        bot.telegram.taps(ANNA, card, "Approve", chat=ANNA)
        bot.telegram.taps(BEN, card, "Approve", chat=ANNA)
        bot.telegram.taps(ANNA, card, "Reject", chat=ANNA)
        await bot.settles()

        (write,) = bot.ledger()
        assert write.status is Status.APPLIED
        assert bot.memory_file() == "Lives in Bergen\n"
        assert len(bot.telegram.sent) == before + 1


async def test_use_now_refreshes_the_open_conversation(tmp_path: Path) -> None:
    """What was just approved can be used at once, at the cost of the prompt cache."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        await bot.taps("Approve")
        await bot.says("where do I live?")
        assert "Lives in Bergen" not in bot.server.last.messages[0]["content"]

        await bot.taps("Use now")
        assert any(text.startswith("✓ Remembered, and in use") for text in bot.sees())
        assert not any("Use now" in shown.labels for shown in bot.telegram.screen(ANNA))
        await bot.says("and now?")

        assert "Lives in Bergen" in bot.server.last.messages[0]["content"]


async def test_an_entry_changed_meanwhile_is_shown_again_before_it_is_overwritten(tmp_path: Path) -> None:
    """An approval is a yes to what was shown, not to what the file says by now."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        path = bot.home.space_dir("owner") / "MEMORY.md"
        path.write_text("Lives in Oslo\n", "utf-8")
        bot.server.calls("memory", action="replace", old_text="Oslo", content="Lives in Bergen")
        bot.server.answers("May I?")
        await bot.says("I live in Bergen")
        path.write_text("Lives in Oslo, Grünerløkka\n", "utf-8")

        await bot.taps("Approve")

        assert path.read_text("utf-8") == "Lives in Oslo, Grünerløkka\n"
        assert "Grünerløkka" in bot.card_with("Approve").text

        await bot.taps("Approve")

        assert path.read_text("utf-8") == "Lives in Bergen\n"


async def test_commands_decide_like_taps(tmp_path: Path) -> None:
    """Everything a button does can be typed."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        await proposes(bot, "Owns a tuba", "I own a tuba")
        first, second = bot.ledger()

        await bot.says("/memory pending")
        assert bot.sees()[-1].splitlines() == [
            "Waiting for your yes: 2",
            f'{first.id} add to MEMORY: "Lives in Bergen"',
            f'{second.id} add to MEMORY: "Owns a tuba"',
            "/memory approve ID…|all · /memory reject ID…|all",
        ]
        await bot.says(f"/memory approve {first.id} 99")
        assert bot.sees()[-1].splitlines() == [
            f'{first.id} ✓ remembered: "Lives in Bergen"',
            "There is no write 99. /memory pending and /skills pending show what waits.",
        ]
        await bot.says("/memory reject all")

        assert bot.memory_file() == "Lives in Bergen\n"
        assert [write.status for write in bot.ledger()] == [Status.APPLIED, Status.REJECTED]


async def test_nobody_decides_for_somebody_else(tmp_path: Path) -> None:
    """Ben may talk, and decides only for his own space, whatever ids he tries."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        (write,) = bot.ledger()

        await bot.says(f"/memory approve {write.id}", BEN)
        await bot.says("/memory pending", BEN)

        assert "Bergen" not in "".join(bot.sees(BEN))
        assert bot.ledger()[0].status is Status.STAGED


async def test_the_owner_answers_the_first_question(tmp_path: Path) -> None:
    """[Ask first] is kept for the space and works at once."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await bot.taps("Ask first")
        await proposes(bot, "Lives in Bergen", "I live in Bergen")

        assert bot.memory_file() == ""
        assert bot.card_with("Approve")
        assert any("I ask you before I remember" in text for text in bot.sees())


@pytest.mark.parametrize(
    ("display", "notice"),
    [
        ("memory_notifications: off", None),
        ("memory_notifications: on", "💾 Memory updated"),
        ("memory_notifications: verbose", "💾 Memory ➕ Lives in Bergen"),
        (
            "memory_notifications: off, platforms: {telegram: {memory_notifications: verbose}}",
            "💾 Memory ➕ Lives in Bergen",
        ),
    ],
)
async def test_a_review_tells_as_loudly_as_configured(tmp_path: Path, display: str, notice: str | None) -> None:
    """One notice, after the reply it belongs to, only for real changes."""
    async with running_bot(tmp_path, memory="nudge_interval: 1", display=display) as bot:
        bot.server.calls(
            "memory", when=is_review, action="add", content="Lives in Bergen", evidence="moved to Bergen"
        )
        await bot.says("I moved to Bergen")
        before = bot.sees()

        await bot.run_jobs()

        assert bot.memory_file() == "Lives in Bergen\n"
        assert bot.sees()[len(before) :] == ([notice] if notice else [])


async def test_a_reviewed_fact_waits_for_approval_and_is_then_kept(tmp_path: Path) -> None:
    """What the review wants to remember is shown first and written only after a tap."""
    async with running_bot(tmp_path, memory=f"nudge_interval: 1, {ASK}") as bot:
        bot.server.calls(
            "memory", when=is_review, action="add", content="Lives in Bergen", evidence="moved to Bergen"
        )
        await bot.says("I moved to Bergen")
        await bot.run_jobs()
        card = bot.card_with("Approve")

        assert "[auto]" in card.text
        assert "Because you said" in card.text
        assert bot.memory_file() == ""

        await bot.restart()
        await bot.taps("Approve")

        assert bot.memory_file() == "Lives in Bergen\n"


async def test_a_review_sends_the_bytes_of_its_turn_again(tmp_path: Path) -> None:
    """The model's cache serves the review: same tools, and the turn's last request as its prefix."""
    async with running_bot(tmp_path, memory="nudge_interval: 2") as bot:
        await bot.says("I moved to Bergen")
        await bot.says("it rains a lot")
        await bot.says("/memory refresh")
        await bot.says("this comes later")
        await bot.run_jobs()

        (review,) = bot.server.reviews
        last = bot.server.chats[1]
        assert review.message_bytes.startswith(last.message_bytes)
        assert review.json["tools"] == last.json["tools"]
        assert "this comes later" not in review.body.decode()


async def test_every_user_turn_is_reviewed_once_over_restarts_and_new(tmp_path: Path) -> None:
    """The interval counts turns of the conversation, not of a process; /new reviews the rest."""
    async with running_bot(tmp_path, memory="nudge_interval: 3") as bot:
        for number in range(1, 5):
            await bot.says(f"message {number}")
            await bot.restart()
        await bot.says("/new")
        await bot.run_jobs()
        await bot.run_jobs()

        spans = [
            [n for n in range(1, 5) if f"message {n}" in review.body.decode()] for review in bot.server.reviews
        ]
        assert spans == [[1, 2, 3], [1, 2, 3, 4]]
        with bot.core.db.read() as rd:
            counted = rd.rows("SELECT first_turn, turn, status FROM reviews ORDER BY turn")
        assert [tuple(row) for row in counted] == [(1, 3, "done"), (4, 4, "done")]


async def test_what_could_not_be_saved_is_said_whatever_the_model_claims(tmp_path: Path) -> None:
    """Nothing is lost silently: a full file, and a model that says it worked."""
    async with running_bot(tmp_path, memory="memory_char_limit: 20") as bot:
        bot.server.calls("memory", action="add", content="Lives in Bergen, in the old town by the harbour")
        bot.server.answers("Saved!")

        await bot.says("I live in Bergen, in the old town by the harbour")

        assert bot.sees()[0] == "Saved!"
        assert bot.sees()[1].startswith("⚠️ Not saved to memory:")


async def test_commands_are_answered_while_a_turn_runs(tmp_path: Path) -> None:
    """A slow model must not make the bot deaf; /stop ends the turn unsaid."""
    async with running_bot(tmp_path) as bot:
        gate = bot.server.holds("far too late")
        bot.telegram.says(ANNA, "think hard")
        await gate.reached()

        bot.telegram.says(ANNA, "/whoami")
        await bot.until(lambda: any("telegram:123" in text for text in bot.sees()))
        bot.telegram.says(ANNA, "/stop")
        await bot.until(lambda: "✓ Stopped." in bot.sees())
        gate.open()
        await asyncio.wait_for(bot.settles(), 20)

        assert "far too late" not in bot.sees()


async def test_what_cannot_be_shown_is_said_and_holds_nothing_up(tmp_path: Path) -> None:
    """A folder in place of MEMORY.md: the person hears it, and the next answer comes."""
    async with running_bot(tmp_path) as bot:
        (bot.home.space_dir("owner") / "MEMORY.md").mkdir(parents=True)

        await bot.says("/memory")
        await bot.says("/whoami")

        assert "MEMORY.md" in bot.sees()[0]
        assert "telegram:123" in bot.sees()[1]


async def test_an_unreadable_soul_is_left_out_and_said(tmp_path: Path) -> None:
    """A broken file of the prompt must not make the bot mute."""
    async with running_bot(tmp_path) as bot:
        (bot.home.path / "SOUL.md").mkdir()
        bot.server.answers("Here I am")

        await bot.says("hello")

        assert "Here I am" in bot.sees()
        assert any("SOUL.md" in text for text in bot.sees())


async def test_turns_said_while_reviews_are_off_are_not_reviewed_later_unless_asked(tmp_path: Path) -> None:
    """Switching reviews on does not reach back; /refine does."""
    async with running_bot(tmp_path, memory="nudge_interval: 0") as bot:
        await bot.says("between us")
        bot.configure(memory="nudge_interval: 1")
        await bot.restart()
        await bot.says("and this is not")
        await bot.run_jobs()

        with bot.core.db.read() as rd:
            spans = [tuple(row) for row in rd.rows("SELECT first_turn, turn FROM reviews")]
        assert spans == [(2, 2)]


async def test_refine_reviews_what_was_said_while_reviews_were_off(tmp_path: Path) -> None:
    """A person may ask for it at any time."""
    async with running_bot(tmp_path, memory="nudge_interval: 0") as bot:
        await bot.says("I moved to Bergen")
        await bot.says("/refine")
        await bot.run_jobs()
        await bot.says("/refine")

        assert len(bot.server.reviews) == 1
        assert bot.sees()[-1] == "Everything answered so far has been looked through already."


async def test_stop_says_whether_there_was_anything_to_stop(tmp_path: Path) -> None:
    """A ✓ for nothing would be a small lie."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/stop")

        assert bot.sees() == ["Nothing is being answered right now."]


async def test_a_card_is_one_message_and_a_rejection_takes_all_of_it_back(tmp_path: Path) -> None:
    """However long the text is, a rejected card shows none of its words."""
    async with running_bot(tmp_path, memory=f"memory_char_limit: 20000, {ASK}") as bot:
        long_text = "Bergen and the rain. " * 300
        await proposes(bot, long_text, f"please remember: {long_text[:3000]}")
        cards = [shown for shown in bot.telegram.screen(ANNA) if shown.labels]
        assert len(cards) == 1

        await bot.taps("Reject")

        assert not any("the rain" in text for text in bot.sees())


async def test_several_that_wait_are_decided_with_one_tap(tmp_path: Path) -> None:
    """The second card offers all; every card then says what became of it."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        await proposes(bot, "Owns a tuba", "I own a tuba")
        assert bot.card_with("Approve all").labels == ("Approve", "Reject", "Edit", "Approve all", "Reject all")

        await bot.taps("Approve all")

        first, second = bot.ledger()
        assert bot.memory_file() == "Lives in Bergen\n§\nOwns a tuba\n"
        assert (
            bot.sees()[-1] == f'{first.id} ✓ remembered: "Lives in Bergen"\n{second.id} ✓ remembered: "Owns a tuba"'
        )
        assert [text.split(" (by you")[0] for text in bot.sees() if "(by you" in text] == [
            '✓ Remembered: "Lives in Bergen"',
            '✓ Remembered: "Owns a tuba"',
        ]


async def test_a_card_that_was_decided_meanwhile_says_so(tmp_path: Path) -> None:
    """The phone still showed the buttons; the toast tells what happened, and nothing is decided twice."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        card = bot.card_with("Approve")
        await bot.says("/memory reject all")

        toast = await bot.presses(card, "Approve")

        assert toast.startswith("This was rejected already (by you, 20")
        assert bot.memory_file() == ""


async def test_a_button_copied_to_another_message_does_nothing(tmp_path: Path) -> None:
    """Its token is bound to the card's own message."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        await proposes(bot, "Lives in Bergen", "I live in Bergen")
        await proposes(bot, "Owns a tuba", "I own a tuba")
        first, second = (shown for shown in bot.telegram.screen(ANNA) if "Approve" in shown.labels)

        toast = await bot.presses(second, "Approve", data_of=first)

        assert toast == "This button does not work any more."
        assert [write.status for write in bot.ledger()] == [Status.STAGED, Status.STAGED]


async def test_a_card_says_when_somebody_else_decided(tmp_path: Path) -> None:
    """Ben sees that it was the owner, not which of her accounts."""
    async with running_bot(tmp_path, memory=ASK) as bot:
        bot.server.calls("memory", action="add", content="Plays chess")
        bot.server.answers("May I?")
        await bot.says("I play chess", BEN)

        await bot.says("/memory approve all")

        (decided,) = (text for text in bot.sees(BEN) if text.startswith("✓ Remembered"))
        assert decided.startswith('✓ Remembered: "Plays chess" (by the owner, 20')
        assert str(ANNA) not in decided


async def test_a_verbose_notice_of_a_batch_names_whole_entries(tmp_path: Path) -> None:
    """`old_text` is three letters that the model chose; what went is the entry."""
    async with running_bot(tmp_path, display="memory_notifications: verbose") as bot:
        path = bot.home.space_dir("owner") / "MEMORY.md"
        path.write_text("Lives in Oslo\n§\nOwns a tuba\n", "utf-8")
        operations = [
            {"action": "replace", "old_text": "Osl", "content": "Lives in Bergen"},
            {"action": "remove", "old_text": "tub"},
        ]
        bot.server.calls("memory", operations=operations)
        bot.server.answers("Done.")

        await bot.says("I moved to Bergen and sold the tuba")

        assert '💾 Memory ✏️ "Lives in Oslo" → "Lives in Bergen"\n💾 Memory ➖ Owns a tuba' in bot.sees()
