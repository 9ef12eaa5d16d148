"""The language of a chat: guessed once, chosen by a command, and used for everything that is said there."""

import re
from pathlib import Path

from tests.bot import ANNA, BEN, MALLORY, Bot, running_bot
from tests.fakes.telegram import Shown

NAMES = re.compile(r"(?<!\w)/\w+|telegram[:-]\d+|\d{8}_\w+|config\.yaml|model\.name|fake-1")
"""Commands, ids, files and settings, which stay as they are in every language."""
GROUP = -100200
COMMAND_WORDS = set(
    re.findall(
        r"\w+",
        "all ID pending approve reject edit undo why log tidy approval on off refresh revoke code CODE PLATFORM "
        "show list delete NAME diff after before role me "
        "ja en",
    )
)
"""What is typed behind a command."""
KEPT_WORDS = COMMAND_WORDS | {"hikae", "AI", "USER", "MEMORY", "auto", "owner"}


def english_in(texts: list[str]) -> list[str]:
    """The English words in what somebody reads."""
    found = [word for text in texts for word in re.findall("[A-Za-z]{2,}", NAMES.sub("", text))]
    return [word for word in found if word not in KEPT_WORDS]


async def says(bot: Bot, text: str, language: str, person: int = ANNA) -> None:
    """A person whose Telegram is in this language writes."""
    bot.telegram.says(person, text, language=language)
    await bot.settles()


async def taps_again(bot: Bot, card: Shown) -> str:
    """A tap on a button that is no longer there; returns the toast."""
    shown = {"message_id": card.message_id, "chat": {"id": card.chat, "type": "private"}, "date": 1_796_000_000}
    tap = bot.telegram.press(card.chat, shown, card.buttons[0][0][1])
    await bot.until(lambda: tap in bot.telegram.toasts)
    await bot.settles()
    return bot.telegram.toasts[tap]


async def test_who_has_telegram_in_japanese_reads_no_english(tmp_path: Path) -> None:
    """From the welcome to the toast of a button pressed too late: one forgotten sentence spoils the rest."""
    async with running_bot(tmp_path) as bot:
        bot.server.answers("こんにちは！")
        await says(bot, "こんにちは", "ja")
        await bot.taps("先に確認する")
        bot.server.calls("memory", action="add", content="ベルゲンに住んでいる", target="user")
        bot.server.answers("覚えてもいいですか？")
        await says(bot, "ベルゲンに住んでいます", "ja")
        card = bot.card_with("承認")
        toast = await bot.taps("承認")
        await says(bot, "/memory approval off", "ja")
        bot.server.calls("memory", action="add", content="猫を飼っている")
        bot.server.answers("分かりました。")
        await says(bot, "猫を飼っています", "ja")
        for command in (
            "/status",
            "/memory",
            "/memory pending",
            "/memory approve 1",
            "/memory approve",
            "/remember",
            "/remember 傘は玄関にある",
            "/statsu",
            "/forget 猫",
            "/whoami",
            "/model",
            "/home",
            "/help",
            "/stop",
            "/refine",
            "/new",
            "/language",
            "/language de",
        ):
            await says(bot, command, "ja")
        stale = await taps_again(bot, card)

        screen = bot.sees()
        assert card.labels == ("承認", "却下", "編集")
        assert "💾 メモリを更新しました" in screen
        assert any(text.startswith("✓ 覚えました：「ベルゲンに住んでいる」（あなた、") for text in screen)
        assert "そのコマンドは分かりません。 /status のことですか？ /help で一覧を確認できます。" in screen
        assert toast == ""
        assert stale.startswith("すでに承認済みです（あなた、")
        assert english_in([*screen, stale, *card.labels, *bot.card_with("すぐに使う").labels]) == []


async def test_a_choice_holds_from_the_next_thing_said_on(tmp_path: Path) -> None:
    """The answer itself is read in the language chosen, and no later guess or restart takes it back."""
    async with running_bot(tmp_path) as bot:
        await says(bot, "/language", "en")
        await says(bot, "/language 日本語", "en")
        await bot.restart()
        await says(bot, "/stop", "en")
        await says(bot, "/language en", "ja")
        await says(bot, "/stop", "ja")

        assert bot.sees() == [
            "I speak English in this chat. /language ja changes it.",
            "✓ これからこのチャットでは日本語で話します。",
            "いま作成中の回答はありません。",
            "✓ I speak English in this chat from now on.",
            "Nothing is being answered right now.",
        ]


async def test_each_chat_has_its_own_language(tmp_path: Path) -> None:
    """What one person chooses changes nothing for another; who has Telegram in neither gets the setting's."""
    async with running_bot(tmp_path, display="language: ja") as bot:
        await says(bot, "/stop", "en-GB", ANNA)
        await says(bot, "/stop", "de", BEN)

        assert bot.sees(ANNA) == ["Nothing is being answered right now."]
        assert bot.sees(BEN) == ["いま作成中の回答はありません。"]


async def test_what_a_model_that_is_down_makes_us_say_is_in_the_language_of_the_chat(tmp_path: Path) -> None:
    """It becomes the turn's answer in the transcript, and is a sentence of ours all the same."""
    async with running_bot(tmp_path) as bot:
        await says(bot, "/language ja", "en")
        bot.server.fails(401)
        await says(bot, "こんにちは", "en")

        assert bot.sees()[1].startswith("AI モデルのサーバーがリクエストを受け付けませんでした（401）。キー（")


async def test_a_stranger_is_answered_in_the_language_of_their_phone(tmp_path: Path) -> None:
    """Nothing is kept of them, so the guess goes with the answer; once let in, it is their chat's."""
    async with running_bot(tmp_path, access="owners: [], allowed: []") as bot:
        await says(bot, "/start AAAAAAA1", "ja", MALLORY)
        code = bot.gateway.intake.access.new_owner_code(bot.core.clock.now()).code
        await says(bot, f"/start {code}", "ja", MALLORY)

        assert bot.sees(MALLORY)[1] == "✓ あなたがこのボットのオーナーになりました。"
        assert english_in([text.replace("hikae pair code", "") for text in bot.sees(MALLORY)]) == []


async def test_who_is_let_in_by_a_code_is_welcomed_in_the_language_they_asked_in(tmp_path: Path) -> None:
    """Between the code and the yes they say nothing: the guess is kept with the code."""
    async with running_bot(tmp_path) as bot:
        await bot.says("hello")
        await says(bot, "入れてください", "ja", MALLORY)
        await bot.taps("Allow")

        assert any(text.startswith("✓ 利用が許可されました") for text in bot.sees(MALLORY))
        assert english_in([re.sub(r"コード.*", "", text) for text in bot.sees(MALLORY)]) == []


async def test_a_group_has_the_language_of_the_setting_until_its_owner_chooses(tmp_path: Path) -> None:
    """One member's phone says nothing about the others."""
    access = f"owners: ['telegram:{ANNA}'], groups: {{allowed: ['telegram:{GROUP}']}}"
    async with running_bot(tmp_path, access=access) as bot:
        for text, person in (("/stop", BEN), ("/language ja", BEN), ("/language ja", ANNA), ("/stop", BEN)):
            name, _, rest = text.partition(" ")
            bot.telegram.says(person, f"{name}@{bot.telegram.username} {rest}", chat=GROUP, language="ja")
            await bot.settles()

        assert [shown.text for shown in bot.telegram.screen(GROUP)] == [
            "Nothing is being answered right now.",
            "In a group only my owner may use /language. Everybody may use /help, /status and /stop.",
            "✓ これからこのチャットでは日本語で話します。",
            "いま作成中の回答はありません。",
        ]
