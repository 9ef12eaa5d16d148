"""A slip of the finger in a command: what was probably meant is said, in a chat and at the prompt."""

from pathlib import Path

import pytest

from tests.bot import ANNA, BEN, running_bot
from tests.flows.test_cli import Machine, machine  # a fixture

__all__ = ["machine"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/memory pendign", "I do not know this. Did you mean /memory pending?"),
        ("/skills aprove 17", "I do not know this. Did you mean /skills approve?"),
        ("/pair revok telegram:1", "I do not know this. Did you mean /pair revoke?"),
    ],
)
async def test_the_nearest_subcommand_is_named_in_a_chat(tmp_path: Path, typed: str, said: str) -> None:
    """Eleven subcommands in one line help nobody find theirs."""
    async with running_bot(tmp_path) as bot:
        await bot.says(typed)

        assert bot.sees()[-1] == said


async def test_what_is_near_nothing_gets_the_list(tmp_path: Path) -> None:
    """A guess would be wrong."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/memory xyzzy")

        assert bot.sees()[-1].startswith("Use /memory, /memory pending, ")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["memroy"], 'There is no "hikae memroy". Did you mean "hikae memory"?\n'),
        (["memory", "pendign"], 'There is no "hikae memory pendign". Did you mean "hikae memory pending"?\n'),
        (["skills", "aprove", "1"], 'There is no "hikae skills aprove". Did you mean "hikae skills approve"?\n'),
        (["config", "chek"], 'There is no "hikae config chek". Did you mean "hikae config check"?\n'),
        (["xyzzy"], 'There is no "hikae xyzzy". "hikae --help" lists what there is.\n'),
    ],
)
def test_the_nearest_command_is_named_at_the_prompt(machine: Machine, typed: list[str], said: str) -> None:
    """Like an unknown setting."""
    ran = machine.hikae(*typed)

    assert (ran.code, ran.out, ran.err) == (2, "", said)


def test_the_command_line_names_its_own_commands(machine: Machine) -> None:
    """A shell does not know /memory."""
    unknown = machine.hikae("memory", "approve", "999")
    usage = machine.hikae("memory", "log", "newest")

    assert (
        unknown.out == "There is no write 999. `hikae memory pending` and `hikae skills pending` show what waits.\n"
    )
    assert usage.err == "Use `hikae memory log`, or `hikae memory log 17` for what is older than 17.\n"


async def test_help_shows_what_somebody_has_a_use_for(tmp_path: Path) -> None:
    """Only the owner has cards that look for a home, and a model to choose."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/help")
        await bot.says("/help", BEN)

        names = [{line.split(" ")[0] for line in bot.sees(person)[-1].splitlines()} for person in (ANNA, BEN)]
        assert names[0] - names[1] == {"/home", "/model", "/pair"}


async def test_a_word_that_is_near_no_command_gets_no_guess(tmp_path: Path) -> None:
    """ "Did you mean /help? /help lists …" says one thing twice."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/xyz")

        assert bot.sees()[-1] == "I do not know this command. /help lists all of them."


async def test_what_cannot_be_is_answered_and_no_fault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An operator who reads the log looks for our bugs, not for slips of the finger."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/pair revoke 42")
        await bot.says("/pair revoke telegram:42")

        assert bot.sees()[-2:] == [
            "Say which account, e.g. telegram:123. /pair lists them.",
            "telegram:42 is not let in.",
        ]
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_start_welcomes_before_it_asks(tmp_path: Path) -> None:
    """A question before the first hello is odd."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/start")

        welcome, question = bot.sees()
        assert welcome.startswith("Hello! I am hikae.")
        assert question.startswith("Ask me before I remember?")


async def test_what_is_decided_is_not_asked(tmp_path: Path) -> None:
    """Whoever wrote `write_approval: true` has answered the first question."""
    async with running_bot(tmp_path, memory="write_approval: true") as bot:
        await bot.says("/start")

        (welcome,) = bot.sees()
        assert "I ask you before I remember something." in welcome


async def test_a_command_may_begin_as_japanese_keyboards_write_it(tmp_path: Path) -> None:
    """`／help` would go to the model, which cannot help."""
    async with running_bot(tmp_path) as bot:
        await bot.says("/help")
        await bot.says("\uff0fhelp")

        assert bot.sees()[-1] == bot.sees()[-2]
        assert not bot.server.chats
