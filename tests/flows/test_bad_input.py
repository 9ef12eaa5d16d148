"""Whatever comes in, from the model, the disk, the settings or a person: a clear error, nothing lost, and an answer
to the next message.

What is tried nearer to its part is there: contract/test_openai, store/test_db, unit/test_settings, test_cli.
"""

import json
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from gateway import app, settings
from gateway.conversation import intake, thinking
from gateway.errors import ConfigError
from gateway.home import Home
from gateway.memory import entries
from gateway.store import migrating
from tests.bot import ANNA, Bot, running_bot
from tests.fakes.model import ModelServer
from tests.fakes.telegram import FakeTelegram
from tests.processes import machine, until

NAUGHTY: list[str] = json.loads((Path(__file__).parents[1] / "cases" / "naughty-strings.json").read_text("utf-8"))
SILENT = "The model does not answer right now. Please say it again in a while."


async def answers_still(bot: Bot) -> None:
    """The bot is well: the next message gets the model's answer."""
    bot.server.forget_script()
    bot.server.answers("All is well.")
    await bot.says("are you there?")
    assert "All is well." in bot.sees()
    assert bot.server.complaints == []


def results(bot: Bot) -> list[dict[str, object]]:
    """What tools said in the last request, oldest first."""
    said = [message for message in bot.server.last.messages if message["role"] == "tool"]
    return [json.loads(message["content"]) for message in said]


# -- the model -------------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinking, "MODEL_WAIT_MOST_SECONDS", 0.0)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("body", ["<html>Bad gateway</html>", "{}", '{"choices": [{"message": null}]}', ""])
async def test_a_model_that_answers_garbage_is_said_and_forgiven(tmp_path: Path, body: str) -> None:
    """A proxy in trouble says 200 to everything; its words must not become the answer."""
    async with running_bot(tmp_path) as bot:
        for _ in range(20):
            bot.server.says_raw(body)

        await bot.says("hello")

        assert bot.sees()[0] == SILENT
        await answers_still(bot)


@pytest.mark.usefixtures("impatient")
async def test_a_model_that_cannot_be_reached_is_said(tmp_path: Path) -> None:
    """Nobody listens at the address: each message is answered all the same, none is lost."""
    async with running_bot(tmp_path) as bot:
        await bot.stop()
        bot.configure(model="provider: openai, name: fake-1, base_url: 'http://127.0.0.1:9/v1'")
        await bot.start()

        await bot.says("hello")

        assert bot.sees()[0] == SILENT
        await bot.stop()
        bot.configure()
        await bot.start()
        await answers_still(bot)


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("memory", '{"action": "add", "content": "Lives in Ber', "action"),
        ("memory", "", "action"),
        ("memory", "[1, 2]", ""),
        ("memory", '{"action": "add", "content": {"text": "Lives in Bergen"}}', "content"),
        ("memory", '{"action": "add", "content": 5, "target": ["memory"]}', ""),
        ("memory", '{"action": 7}', "action"),
        ("memory", '{"operations": "add Bergen"}', "operations"),
        ("memory", '{"operations": [null, 3, "x"]}', ""),
        ("session_search", '{"query": ["Bergen"]}', "query"),
        ("session_search", '{"query": "Bergen", "limit": "many"}', "limit"),
        ("launch_rocket", "{}", "no tool named 'launch_rocket'"),
        ("memory\ud800", "{}", "no tool named"),
        ("x" * 5000, "{}", "no tool named"),
    ],
)
async def test_a_bad_tool_call_is_answered_with_an_error(
    tmp_path: Path, tool: str, arguments: str, error: str
) -> None:
    """Half a call, an unknown tool, wrong types: the model hears what is wrong, and memory stays as it is."""
    async with running_bot(tmp_path) as bot:
        bot.server.calls_many((tool, arguments))
        bot.server.answers("Never mind.")

        await bot.says("I moved to Bergen")

        [result] = results(bot)
        assert result["success"] is False
        assert error in str(result["error"])
        assert "Never mind." in bot.sees()
        assert bot.memory_file() == ""
        await answers_still(bot)


async def test_a_model_that_never_stops_calling_is_stopped(tmp_path: Path) -> None:
    """50 tool rounds in one turn: it ends at the bound with an answer, and each round was kept once."""
    async with running_bot(tmp_path) as bot:
        for _ in range(50):
            bot.server.calls("session_search", query="Bergen")

        await bot.says("look for Bergen")

        bound = bot.core.loaded.settings.agent.max_tool_rounds
        assert len(bot.server.chats) == bound + 1
        assert bot.sees()[0] == "I stopped: this took too many steps. Ask again with a smaller question."
        await answers_still(bot)


# -- memory files ----------------------------------------------------------------------------------------

MEGABYTES = 6_000_000
ENTRIES = b"".join(
    b"Note %d: %s\n\xc2\xa7\n" % (number, b"about Bergen. " * 20) for number in range(MEGABYTES // 290)
)
BINARY = random.Random(7).randbytes(MEGABYTES // 2) + b"hello there\n" * (MEGABYTES // 24)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(ENTRIES, "MEMORY.md is over twice its budget", id="many entries"),
        pytest.param(b"A line about Bergen.\n" * (MEGABYTES // 21), "MEMORY.md is over twice", id="one entry"),
        pytest.param(BINARY, "bytes that are no UTF-8", id="half binary"),
    ],
)
async def test_a_huge_memory_file_is_said_and_kept_byte_for_byte(tmp_path: Path, content: bytes, said: str) -> None:
    """Six megabytes that somebody's script left there: the prompt stays small, the chat quick, the file whole."""
    async with running_bot(tmp_path) as bot:
        path = bot.home.memory_file("owner", "memory")
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(content)
        bot.server.calls("memory", action="add", content="Lives in Bergen")
        bot.server.answers("I could not.")

        await bot.says("I live in Bergen")
        await bot.says("/memory")

        assert said in bot.sees()[0]
        assert "left out" in str(results(bot)[0]["current_entries"])
        assert len(bot.server.last.messages[0]["content"]) < 20_000
        assert path.read_bytes() == content
        assert len(bot.sees()) < 12
        assert any("hikae memory show prints all" in text for text in bot.sees())
        await answers_still(bot)


def _directory(path: Path) -> None:
    path.mkdir()


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "gone.md")


def _loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("spoil", [_directory, _dangling, _loop])
async def test_a_memory_file_that_is_none_is_said_and_left(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    """It is never taken for an empty one: what the model wants to keep is refused, by every way in."""
    async with running_bot(tmp_path) as bot:
        path = bot.home.memory_file("owner", "memory")
        path.parent.mkdir(mode=0o700, exist_ok=True)
        spoil(path)
        bot.server.calls("memory", action="add", content="Lives in Bergen")
        bot.server.answers("Noted!")

        await bot.says("I live in Bergen")
        await bot.says("/remember The printer is in the cellar.")
        await bot.says("/memory")

        assert sum(str(path) in text for text in bot.sees()) >= 3
        assert results(bot)[0]["success"] is False
        assert not path.is_file()
        assert bot.ledger() == []
        await answers_still(bot)


async def test_context_files_of_megabytes_are_left_out_and_said(tmp_path: Path) -> None:
    """They would fill the model's window and hold up every chat while they are scanned."""
    async with running_bot(tmp_path) as bot:
        bot.home.soul.write_text("word " * (MEGABYTES // 5), "utf-8")

        await bot.says("hello")

        assert bot.sees()[0].startswith("SOUL.md is left out of the prompt: it has 5999999 characters")
        assert len(bot.server.last.messages[0]["content"]) < 20_000
        await answers_still(bot)


# -- the database ----------------------------------------------------------------------------------------


async def test_a_database_that_is_replaced_under_the_bot_loses_no_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be kept any more, so nothing is confirmed: Telegram has it for the next start."""
    monkeypatch.setattr(intake, "UNUSABLE_WAIT_SECONDS", 0.0)
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        aside = bot.home.state_db.rename(bot.home.path / "aside.db")
        bot.home.state_db.write_bytes(b"")
        asked = len(bot.telegram.called("getUpdates"))

        bot.telegram.says(ANNA, "are you there?")
        await bot.until(lambda: len(bot.telegram.called("getUpdates")) > asked + 5)

        assert len(bot.telegram.unconfirmed) == 1
        aside.rename(bot.home.state_db)
        await bot.restart()
        await answers_still(bot)
        assert [request.messages[-1]["content"].endswith("there?") for request in bot.server.chats] == [
            False, True, True,
        ]  # fmt: skip


# -- messages --------------------------------------------------------------------------------------------


async def test_a_message_of_a_megabyte_is_answered(tmp_path: Path) -> None:
    """A log file pasted whole (a local Bot API server has other limits) is a message like any other."""
    async with running_bot(tmp_path) as bot:
        text = "A line of a log about Bergen. " * 35_000
        bot.server.answers("That was long.")

        await bot.says(text)
        await bot.says("/remember " + text)

        assert "That was long." in bot.sees()
        assert bot.server.last.messages[-1]["content"].endswith("] " + text)
        assert "No room" in bot.sees()[-1]
        assert text[:60] not in json.dumps([write.operations[0].content for write in bot.ledger()])
        assert bot.memory_file() == ""
        await answers_still(bot)


@pytest.mark.parametrize("text", [" ", "\n\n", "\u3000"])
async def test_a_message_without_words_is_answered_without_the_model(tmp_path: Path, text: str) -> None:
    """There is nothing to ask the model; the person should not wait for nothing."""
    async with running_bot(tmp_path) as bot:
        await bot.says(text)

        assert bot.sees() == [
            "I can only read text so far: no pictures, voice messages or files. Please write it to me."
        ]
        assert bot.server.requests == ()
        await answers_still(bot)


async def test_naughty_strings_are_said_and_answered_word_for_word(tmp_path: Path) -> None:
    """Each goes through the chat, the database, the request and back into the chat; eight people say them."""
    people = [ANNA, *range(1001, 1008)]
    listed = ", ".join(f"'telegram:{person}'" for person in people[1:])
    async with running_bot(tmp_path, access=f"owners: ['telegram:{ANNA}'], allowed: [{listed}]") as bot:
        words = [text for text in NAUGHTY if text.strip() and not text.startswith("/")]
        for text in words:
            bot.server.answers(text)

        for start in range(0, len(words), 128):
            for number, text in enumerate(words[start : start + 128]):
                bot.telegram.says(people[number % len(people)], text)
            await bot.settles()

        with bot.core.db.read() as rd:
            kept = [row["text"] for row in rd.rows("SELECT text FROM messages WHERE role = 'user'")]
            answers = [row["text"] for row in rd.rows("SELECT text FROM messages WHERE role = 'assistant'")]
        assert sorted(kept) == sorted(answers) == sorted(words)
        assert bot.outbox_is_empty()
        await answers_still(bot)


async def test_naughty_strings_are_remembered_word_for_word_or_refused(tmp_path: Path) -> None:
    """None is changed on its way into the file, and what is not there was refused or waits, never lost."""
    whole = "enabled: false"  # every result of the session is looked at
    async with running_bot(tmp_path, memory="memory_char_limit: 20000", compression=whole) as bot:
        path = bot.home.memory_file("owner", "memory")
        words = [text for text in NAUGHTY if text.strip()]
        for start in range(0, len(words), 32):
            batch = words[start : start + 32]
            bot.server.calls_many(*(("memory", {"action": "add", "content": text}) for text in batch))
            bot.server.answers("Done.")

            await bot.says("\n".join(f"- {text}" for text in batch))

            there = entries.parse(path.read_bytes()).texts
            assert set(there) <= {entries.clean(text) for text in batch}
            for text, result in zip(batch, results(bot)[-len(batch) :], strict=True):
                kept = entries.clean(text) in there
                assert kept or result.get("staged") or result.get("error"), text
            path.write_bytes(b"")
        await answers_still(bot)


def test_naughty_strings_in_the_settings_are_read_as_they_are_or_reported(tmp_path: Path) -> None:
    """As a value each is what it says; unquoted, or as the whole file, each is read or reported."""
    home = Home(tmp_path)
    for text in NAUGHTY:
        home.config.write_text(yaml.safe_dump({"agent": {"system_message": text}}, allow_unicode=True), "utf-8")
        assert settings.load(home).settings.agent.system_message == text
        for broken in (text, f"model: {{name: {text}}}\n"):
            home.config.write_bytes(broken.encode("utf-8", "surrogatepass"))
            try:
                settings.load(home)
            except ConfigError as error:
                assert str(error)


# -- real processes --------------------------------------------------------------------------------------


@pytest.mark.processes
def test_a_wrong_token_is_said_with_what_to_do(tmp_path: Path) -> None:
    """Nothing is left to talk on, so the gateway ends; the token itself is printed nowhere."""
    with FakeTelegram() as telegram, machine(tmp_path) as here:
        wrong = telegram.token[:-4] + "xxxx"
        here.configure(access=f"owners: ['telegram:{ANNA}']")

        ended = here.run("gateway", TELEGRAM_BOT_TOKEN=wrong, HIKAE_TELEGRAM_BASE_URL=telegram.url)

        assert ended.returncode == 2
        assert "Telegram refused the token (401). Check TELEGRAM_BOT_TOKEN" in ended.stderr + ended.stdout
        assert wrong not in ended.stderr + ended.stdout + here.home.log_file.read_text("utf-8")


@pytest.mark.processes
def test_a_gateway_refuses_a_database_of_a_newer_hikae(tmp_path: Path) -> None:
    """It says which version to install and touches nothing; with the old file it answers again."""
    with FakeTelegram() as telegram, ModelServer() as server, machine(tmp_path) as here:
        here.configure(
            model=f"provider: openai, name: fake-1, base_url: '{server.url}'", access=f"owners: ['telegram:{ANNA}']"
        )
        version = len(migrating.steps())
        app.open_core(here.home).close()
        _set_version(here.home, 999)
        content = here.home.state_db.read_bytes()

        telegram.says(ANNA, "are you there?")
        ended = here.run("gateway", TELEGRAM_BOT_TOKEN=telegram.token, HIKAE_TELEGRAM_BASE_URL=telegram.url)

        assert ended.returncode == 1
        assert "Install that version again, or restore an older copy from backups/" in ended.stderr
        assert here.home.state_db.read_bytes() == content
        assert len(telegram.unconfirmed) == 1
        _set_version(here.home, version)
        here.start("gateway", TELEGRAM_BOT_TOKEN=telegram.token, HIKAE_TELEGRAM_BASE_URL=telegram.url)
        telegram.wait_until(lambda: any(shown.text == server.otherwise for shown in telegram.screen(ANNA)), 30)


@pytest.mark.processes
def test_a_home_too_deep_for_a_socket_answers_and_says_that_reviews_wait(tmp_path: Path) -> None:
    """Redis cannot listen there; the bell has no socket either. The chat goes on without both."""
    with FakeTelegram() as telegram, ModelServer() as server, machine(tmp_path / ("long" * 30)) as here:
        here.configure(
            model=f"provider: openai, name: fake-1, base_url: '{server.url}'", access=f"owners: ['telegram:{ANNA}']"
        )
        up = here.start("up", TELEGRAM_BOT_TOKEN=telegram.token, HIKAE_TELEGRAM_BASE_URL=telegram.url)

        telegram.says(ANNA, "are you there?")
        telegram.wait_until(lambda: any(shown.text == server.otherwise for shown in telegram.screen(ANNA)), 30)
        until(lambda: "too long for a socket" in here.output(up) + here.home.log_file.read_text("utf-8"))

        assert here.end(up) == 0


def _set_version(home: Home, version: int) -> None:
    connection = sqlite3.connect(home.state_db)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
