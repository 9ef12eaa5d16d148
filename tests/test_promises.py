"""The promises of design.md section 8, one test each that tries to break it.

The fifth, forgetting, waits for its issue. Kills at every step are in `crash/`.
"""

from collections import Counter
from pathlib import Path

from gateway import logs
from gateway.records import Status
from tests.bot import ANNA, BEN, MALLORY, Bot, running_bot
from tests.fakes.model import is_review


async def test_1_every_message_is_kept_before_it_is_confirmed_and_answered_once(tmp_path: Path) -> None:
    """Delivered twice, with a restart in between, and while the model fails: one answer each."""
    async with running_bot(tmp_path) as bot:
        bot.server.fails(500, times=2)
        for text in ("one", "two", "three"):
            bot.telegram.says(ANNA, text)
        await bot.settles()
        await bot.restart()
        for update in [{"message": one} for one in _said(bot)]:
            bot.telegram.update(**update)
        await bot.settles()

        with bot.core.db.read() as rd:
            counted = rd.rows(
                """SELECT m.text, count(a.id) FROM messages AS m LEFT JOIN messages AS a ON a.answers = m.id
                    WHERE m.role = 'user' GROUP BY m.id ORDER BY m.id"""
            )
        assert [tuple(row) for row in counted] == [("one", 1), ("two", 1), ("three", 1)]
        assert bot.telegram.unconfirmed == []


def _said(bot: Bot) -> list[dict[str, object]]:
    """Everything Anna has written, as Telegram would hand it over again."""
    return [message for message in bot.telegram.messages_of(ANNA) if not message["from"]["is_bot"]]


async def test_2_no_memory_file_changes_without_a_yes_and_every_yes_ends(tmp_path: Path) -> None:
    """Proposed by a turn and by a review, rejected or ignored: nothing. One yes: one change."""
    async with running_bot(tmp_path, memory="write_approval: true, nudge_interval: 1") as bot:
        bot.server.calls("memory", action="add", content="Lives in Bergen")
        bot.server.answers("May I?")
        bot.server.calls("memory", when=is_review, action="add", content="Owns a boat", evidence="a boat")
        await bot.says("I live in Bergen and own a boat")
        await bot.run_jobs()
        await bot.restart()
        untouched = not any(bot.home.space_dir("owner").iterdir())
        first, second = bot.ledger()
        await bot.says(f"/memory approve {first.id}")
        await bot.says(f"/memory reject {second.id}")
        await bot.says(f"/memory approve {second.id}")

        assert untouched
        assert bot.memory_file() == "Lives in Bergen\n"
        assert [write.status for write in bot.ledger()] == [Status.APPLIED, Status.REJECTED]


async def test_3_every_user_turn_has_one_committed_review(tmp_path: Path) -> None:
    """Over restarts, a failing review model and /new: each turn is in exactly one review that is done."""
    async with running_bot(tmp_path, memory="nudge_interval: 3") as bot:
        for number in range(8):
            await bot.says(f"message {number}")
            if number == 4:
                await bot.restart()
        await bot.says("/new")
        await bot.run_jobs()
        await bot.run_jobs()

        with bot.core.db.read() as rd:
            reviews = rd.rows("SELECT first_turn, turn, status FROM reviews")
        seen = Counter(turn for row in reviews for turn in range(row["first_turn"], row["turn"] + 1))
        assert seen == Counter(range(1, 9))
        assert {row["status"] for row in reviews} == {"done"}
        assert len(bot.server.reviews) == len(reviews)


async def test_4_the_prompt_and_tools_of_an_open_session_change_only_by_refresh(tmp_path: Path) -> None:
    """Memory, SOUL.md, settings, another model and a restart leave every byte; /memory refresh changes them."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await bot.says("/remember The cellar is damp")
        (bot.home.path / "SOUL.md").write_text("You are a pirate.", "utf-8")
        bot.configure(
            memory="user_profile_enabled: false, memory_char_limit: 900",
            agent="disabled_toolsets: [session_search], system_message: be brief",
            model=f"provider: openai, name: fake-2, base_url: '{bot.server.url}'",
        )
        await bot.restart()
        await bot.says("and now?")

        before, after = bot.server.chats
        assert after.messages[0] == before.messages[0]
        assert after.json["tools"] == before.json["tools"]

        await bot.says("/memory refresh")
        await bot.says("and now?")

        fresh = bot.server.last
        assert fresh.messages[0]["content"].startswith("You are a pirate.")
        assert "The cellar is damp" in fresh.messages[0]["content"]
        assert fresh.json["tools"] != before.json["tools"]


async def test_6_nobody_outside_access_reaches_a_model_a_file_or_another_persons_words(tmp_path: Path) -> None:
    """A stranger at every door, and an allowed person at the owner's."""
    async with running_bot(tmp_path, memory="write_approval: true") as bot:
        bot.server.calls("memory", action="add", content="Lives in Bergen")
        bot.server.answers("May I?")
        await bot.says("I live in Bergen")
        (write,) = bot.ledger()
        card = bot.card_with("Approve")
        asked = len(bot.server.requests)

        for text in ("hello", "/memory", "/memory approve all", f"/memory approve {write.id}", "/start", "/new"):
            await bot.says(text, MALLORY)
        bot.telegram.update(
            edited_message=_said(bot)[0] | {"from": {"id": MALLORY, "is_bot": False, "first_name": "M"}}
        )
        await bot.taps("Approve", MALLORY, card)
        for text in ("/memory", "/memory pending", f"/memory approve {write.id}", "/memory reject all"):
            await bot.says(text, BEN)
        await bot.taps("Reject", BEN, card)

        assert len(bot.server.requests) == asked
        assert all(text.startswith("I do not know you yet.") for text in bot.sees(MALLORY))
        assert "Bergen" not in "".join(bot.sees(BEN))
        assert bot.ledger()[0].status is Status.STAGED


async def test_7_a_failure_in_part_two_never_repeats_part_one(tmp_path: Path) -> None:
    """A long answer arrives whole and in order, whatever the platform does in between, restart included."""
    long_answer = "\n\n".join(f"Paragraph {number}. " + "rain " * 300 for number in range(8))
    async with running_bot(tmp_path) as bot:
        bot.server.answers(long_answer)
        bot.telegram.says(ANNA, "tell me everything")
        await bot.until(lambda: len(bot.sees()) >= 1)
        bot.telegram.fail("sendMessage", 500, times=2)
        await bot.restart()
        await bot.until(lambda: "Paragraph 7" in "".join(bot.sees()), 40)
        await bot.settles()

        parts = [text for text in bot.sees() if "Paragraph" in text]
        said = Counter(word for part in parts for word in part.split() if word.strip(".").isdigit())
        assert said == Counter(f"{number}." for number in range(8))


async def test_8_no_log_line_holds_words_or_tokens(tmp_path: Path) -> None:
    """A conversation with memory, a review, a refusal, and failures of every library."""
    async with running_bot(tmp_path, memory="nudge_interval: 1") as bot:
        logs.setup(bot.home, to_stderr=False, secrets=(bot.telegram.token,))
        try:
            bot.server.calls("memory", action="add", content="Plays the xylophone")
            bot.server.answers("Xylophones are lovely")
            bot.telegram.fail("sendMessage", 400, description="xylophone cannot be parsed")
            await bot.says("I play the xylophone")
            bot.server.says_raw("<html>xylophone</html>")
            bot.server.fails(401, message="xylophone", when=is_review)
            await bot.says("/remember xylophone lessons on Mondays")
            await bot.says("/xylophone")
            await bot.says("xylophone?")
            await bot.run_jobs()
        finally:
            logs.close()

        text = bot.home.log_file.read_text("utf-8").lower()
        assert "turn" in text or "write" in text
        assert "xylophone" not in text
        assert bot.telegram.token.lower() not in text
