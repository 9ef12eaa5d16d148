"""What is wrong with the person's files is said in the chat, and keeps nobody from talking."""

from pathlib import Path

from tests.bot import running_bot


async def test_a_memory_file_that_cannot_be_read_is_named_beside_the_answer(tmp_path: Path) -> None:
    """A bot that silently forgot everything would be worse than one that says why (PI-020, PI-021)."""
    async with running_bot(tmp_path) as bot:
        path = bot.home.memory_file("owner", "memory")
        path.mkdir(parents=True)
        bot.server.answers("Hello!")

        await bot.says("hello")

        assert bot.sees()[:2] == [
            f"{path} cannot be read: Is a directory (mode 0755). Nothing was changed. Give me read access to it.",
            "Hello!",
        ]


async def test_bytes_that_are_no_text_are_said(tmp_path: Path) -> None:
    """They stay in the file; the person should know why the bot sees a sign in their place (PI-004)."""
    async with running_bot(tmp_path) as bot:
        bot.home.memory_file("owner", "memory").write_bytes(b"caf\xe9\n")

        await bot.says("hello")

        assert bot.sees()[0] == "MEMORY.md holds a byte that is no UTF-8. It stays in the file; I see � instead."
