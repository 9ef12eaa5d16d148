"""The story of a skill: learnt in a talk or by a review, asked for, kept, shown, followed."""

from pathlib import Path

from tests.bot import Bot, running_bot

PRINTER = "---\nname: printer\ndescription: How to restart the printer.\n---\n1. Off.\n2. On.\n"


def skill_file(bot: Bot) -> str:
    path = bot.home.skills / "printer" / "SKILL.md"
    return path.read_text() if path.exists() else ""


async def test_a_skill_that_the_model_writes_is_kept_told_and_in_the_next_prompt(tmp_path: Path) -> None:
    """Created in a turn, named in the prompt of the next conversation, read and patched on demand."""
    async with running_bot(tmp_path) as bot:
        bot.server.calls("skill", action="create", name="printer", content=PRINTER)
        bot.server.answers("I keep that.")
        await bot.says("Keep how we restart the printer: off, then on")
        assert skill_file(bot) == PRINTER
        assert "💾 Skill 'printer' created" in bot.sees()

        await bot.says("/new")
        bot.server.calls("skill", action="view", name="printer")
        bot.server.calls("skill", action="patch", name="printer", old_text="1. Off.", new_text="1. Off, wait.")
        bot.server.answers("Done.")
        await bot.says("Add to the printer skill that one waits")

        assert "wait" in skill_file(bot)
        assert "💾 Skill 'printer' patched" in bot.sees()
        prompt = bot.server.requests[-1].json["messages"][0]["content"]
        assert "- printer: How to restart the printer." in prompt


async def test_a_skill_waits_for_a_yes_on_a_card(tmp_path: Path) -> None:
    """The diff is on the card; the tap does what it showed, also after a restart."""
    async with running_bot(tmp_path, skills="write_approval: true") as bot:
        bot.server.calls("skill", action="create", name="printer", content=PRINTER)
        bot.server.answers("May I?")
        await bot.says("Keep how we restart the printer: off, then on")
        card = bot.card_with("Approve")
        assert "create the skill printer" in card.text and "+1. Off." in card.text
        assert skill_file(bot) == ""

        await bot.restart()
        await bot.taps("Approve")

        assert skill_file(bot) == PRINTER
        await bot.says("/skills")
        assert bot.sees()[-1] == "Skills: 1\n• printer: How to restart the printer."


async def test_a_review_keeps_a_skill_and_says_so(tmp_path: Path) -> None:
    """Quoted: kept, with one notice for memory and skills; unquoted: a card."""
    async with running_bot(tmp_path) as bot:
        bot.server.answers("I see.")
        await bot.says("To restart the printer I switch it off and on. I live in Bergen.")
        await bot.says("/refine")
        bot.server.calls("memory", action="add", content="Lives in Bergen", evidence="I live in Bergen")
        quote = "To restart the printer I switch it off and on"
        bot.server.calls("skill", action="create", name="printer", content=PRINTER, evidence=quote)
        bot.server.calls("skill", action="write_file", name="printer", path="a.md", content="x")
        bot.server.answers("done")
        await bot.run_jobs()
        await bot.settles()

        assert skill_file(bot) == PRINTER
        assert "💾 Memory updated · Skill 'printer' created" in bot.sees()
        assert "write a file of the skill printer" in bot.card_with("Approve").text
