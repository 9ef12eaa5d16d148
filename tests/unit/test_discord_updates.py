"""Discord's objects as our messages, taps and menus: the small print that the sockets do not show."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.chat import Button, Chat, CommandOption, CommandSpec, Dialog, How, OutgoingMessage, Piece
from gateway.platforms import discord_api, discord_commands, discord_updates, discord_views
from gateway.platforms.discord_updates import Me, Place

ME = Me("900", "901", "hikae")


def said(content: str, **more: Any) -> dict[str, Any]:
    """A message of Ada's as Discord tells it."""
    return {
        "id": "1577400000004194304",
        "channel_id": "5",
        "author": {"id": "123", "username": "ada", "global_name": "Ada"},
        "content": content,
        "timestamp": "2026-11-30T09:00:01.500000+00:00",
        "type": 0,
        **more,
    }


def read(message: dict[str, Any], where: Place = Place()) -> tuple[Piece, ...]:  # noqa: B008 - frozen
    translated = discord_updates.message(message, where, ME)
    return translated.pieces if translated else ()


@pytest.mark.parametrize(
    ("content", "own"),
    [
        ("<@900> /memory pending", "/memory pending"),
        ("<@!900>, are you there?", "are you there?"),
        (" <@900>\nfirst line", "first line"),
        ("ask <@900> about it", "ask @hikae about it"),
        ("<@900>", "@hikae"),
        ("<@77> hello", "<@77> hello"),
        ("<@123> wrote half \ud83d", "@ada wrote half \ufffd"),
    ],
)
def test_its_own_name_in_front_is_no_part_of_what_is_said(content: str, own: str) -> None:
    """A command after the name is a command; inside a sentence the name is a word like any other."""
    mentions = [
        {"id": "900", "username": "hikae", "bot": True},
        {"id": "123", "username": "ada", "global_name": "Ada"},
    ]

    assert read(said(content, mentions=mentions)) == (Piece(How.OWN, "discord:123", own),)


@pytest.mark.parametrize(
    ("called", "own"),
    [
        ({"username": "ben_77", "global_name": "I live in Oslo"}, "@ben_77 is right"),
        ({"username": "ben_77", "member": {"nick": "私の住所は東京です"}}, "@ben_77 is right"),
        ({"username": "Remember that Ada hates tea"}, "<@456> is right"),
        ({"username": ""}, "<@456> is right"),
    ],
)
def test_what_somebody_calls_themselves_is_no_word_of_whoever_mentions_them(
    called: dict[str, Any], own: str
) -> None:
    """A display name can be a sentence, and what is in a person's own words may become memory unasked."""
    mentioned = said("<@456> is right", mentions=[{"id": "456", **called}])

    assert read(mentioned) == (Piece(How.OWN, "discord:123", own),)


def test_the_name_of_the_server_wins() -> None:
    """People are called differently in each server."""
    message = discord_updates.message(said("hi", member={"nick": "Countess"}), Place("7"), ME)

    assert message is not None
    assert (message.speaker, message.server, message.private, message.addressed) == ("Countess", "7", False, False)
    assert message.at == datetime(2026, 11, 30, 9, 0, 1, 500_000, tzinfo=UTC)


def test_an_answer_to_a_deleted_message_quotes_nothing() -> None:
    """Discord then says null."""
    assert read(said("yes", type=19, referenced_message=None)) == (Piece(How.OWN, "discord:123", "yes"),)


def test_a_voice_message_is_no_document() -> None:
    """Its only attachment is an audio file; a flag says that it was spoken."""
    spoken = said("", flags=1 << 13, attachments=[{"id": "1", "content_type": "audio/ogg"}])

    assert read(spoken) == (Piece(How.ATTACHED, "discord:123", "voice"),)


def test_a_group_without_a_server_is_no_place_for_the_bot() -> None:
    """Bots cannot be invited there; an account that has one anyway gets no answer in front of others."""
    assert read(said("hello"), discord_updates.place({"type": 3})) == ()


def test_a_channels_parent_is_its_category_unless_it_is_a_thread() -> None:
    """Every channel has a parent_id; only a thread's is where it belongs."""
    text_channel = discord_updates.place({"type": 0, "parent_id": "1"}, "7")
    thread = discord_updates.place({"type": 11, "parent_id": "5", "guild_id": "7"})

    assert (text_channel, thread) == (Place("7", ""), Place("7", "5"))
    assert discord_updates.chat("6", thread) == Chat("discord", "5", "6")
    assert discord_updates.channel_of(Chat("discord", "5", "6")) == "6"


SKILLS = CommandSpec(
    "skills",
    {"en": "What I have learnt to do"},
    parts=(
        CommandSpec(
            "show",
            {"en": "One of them"},
            (CommandOption("value", {"en": "Its name"}, required=True),),
            private=False,
        ),
        CommandSpec(
            "approval", {"en": "Ask before"}, (CommandOption("value", {"en": "?"}, choices=("on", "off")),)
        ),
    ),
)


def chosen(part: str, **values: str) -> dict[str, Any]:
    options = [{"type": 3, "name": name, "value": value} for name, value in values.items()]
    return {"data": {"name": "skills", "options": [{"type": 1, "name": part, "options": options}]}}


def test_where_a_part_is_called_show_the_bare_command_is_list() -> None:
    """`/skills` lists, `/skills show NAME` shows one (design.md 6.4)."""
    (menu,) = discord_commands.menu([SKILLS])

    assert [part["name"] for part in menu["options"]] == ["list", "show", "approval"]
    assert discord_commands.words([SKILLS], chosen("list")) == "/skills"
    assert discord_commands.words([SKILLS], chosen("show", value="tea")) == "/skills show tea"
    assert menu["options"][2]["options"][0]["choices"] == [
        {"name": "on", "value": "on"},
        {"name": "off", "value": "off"},
    ]


def test_a_bare_command_among_the_parts_is_not_added_again() -> None:
    """The menu's owner may give it a sentence of its own."""
    memory = CommandSpec("memory", {"en": "Memory"}, parts=(CommandSpec("show", {"en": "All of it"}),))
    (menu,) = discord_commands.menu([memory])

    assert [(part["name"], part["description"]) for part in menu["options"]] == [("show", "All of it")]
    shown = {"data": {"name": "memory", "options": [{"type": 1, "name": "show"}]}}
    assert discord_commands.words([memory], shown) == "/memory"


def test_a_command_that_is_not_ours_any_more_is_private() -> None:
    """Discord may show an old menu for an hour."""
    assert not discord_commands.is_private([SKILLS], chosen("show", value="tea"))
    assert discord_commands.is_private([SKILLS], chosen("approval", value="on"))
    assert discord_commands.is_private([], chosen("show", value="tea"))


def test_what_discord_adds_to_a_menu_is_no_difference() -> None:
    """It gives commands back with ids, without defaults and in its own order."""
    menu = discord_commands.menu([SKILLS, CommandSpec("help", {"en": "Help", "ja": "使い方"})])
    theirs = [
        {"id": "1", "application_id": "2", "version": "3", "nsfw": False, **command, "dm_permission": True}
        for command in reversed(menu)
    ]
    changed = [{**theirs[0], "description_localizations": {"ja": "ヘルプ"}}, theirs[1]]

    assert discord_commands.same(menu, theirs)
    assert not discord_commands.same(menu, changed)
    assert not discord_commands.same(menu, theirs[:1])


def test_descriptions_are_as_long_as_discord_lets_them_be() -> None:
    """One that is too long would cost the whole menu."""
    (menu,) = discord_commands.menu([CommandSpec("help", {"en": "a" * 200})])

    assert menu["description"] == "a" * 99 + "…"


def test_seven_buttons_take_two_rows() -> None:
    """A row holds five."""
    rows = discord_views.rows((tuple(Button(str(n), f"x:{n}") for n in range(7)),))

    assert [len(row["components"]) for row in rows] == [5, 2]
    assert discord_views.rows(()) == []


@pytest.mark.parametrize(
    "components",
    [
        [{"type": 1, "components": [{"type": 4, "custom_id": "text", "value": "new words"}]}],
        [{"type": 18, "component": {"type": 4, "custom_id": "text", "value": "new words"}}],
    ],
    ids=["row", "label"],
)
def test_an_answered_dialog_is_read_from_a_row_and_from_a_label(components: list[Any]) -> None:
    """Discord is moving from the one to the other."""
    opened = discord_views.dialog(Dialog("Edit " + "x" * 60, "New text", ""), "edit:17:" + "t" * 56)
    answered = {
        "id": "1577400000004194304",
        "channel_id": "5",
        "user": {"id": "123"},
        "data": {"custom_id": opened["custom_id"], "components": components},
        "message": {"id": "9"},
    }
    tap = discord_views.tap(answered)

    assert tap is not None
    assert (tap.data, tap.text, tap.message_id) == ("edit:17:" + "t" * 56, "new words", "9")
    assert len(opened["title"]) == 45
    assert len(opened["custom_id"]) <= 100


def test_a_component_that_is_not_ours_is_no_tap() -> None:
    """An earlier bot with the same token left its buttons in the chat."""
    assert discord_views.tap({"data": {"custom_id": "poll/yes"}}) is None


def test_a_nonce_is_one_chunks_own_and_the_same_at_each_try() -> None:
    """At most 25 characters, whatever the outbox has counted to."""

    def nonce(name: str, words: str) -> str:
        return discord_api.nonce(OutgoingMessage(Chat("discord", "5"), words, nonce=name))

    assert nonce("17-0", "hello") == nonce("17-0", "hello")
    assert nonce("17-0", "hello").startswith("17-0-")
    assert len({nonce("17-0", "hello"), nonce("17-1", "hello"), nonce("17-0", "hello again")}) == 3
    assert len(nonce("9" * 18 + "-100", "hello")) == 25
