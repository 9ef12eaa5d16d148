"""The message catalog fills sentences with values that come from elsewhere, and says the same in each language."""

import re
from string import Formatter

import pytest

from gateway import words
from gateway.catalog import en, ja

JAPANESE = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
HALF_WIDTH = re.compile("[\u3040-\u30ff\u4e00-\u9fff][,.:;?!()]|[,.:;?!()][\u3040-\u30ff\u4e00-\u9fff]")
WITHOUT_WORDS = {
    "reset.said",
    "check.home",
    "check.line",
    "check.memory",
    "check.other",
    "check.python",
    "check.sqlite",
    "cli.and",
    "import.behind",
    "import.counts",
    "state.platform",
    "notice.done",
    "skills.commands",
    "journey.line",
    "journey.commands",
    "usage.line",
    "usage.task",
    "sessions.first_words",
    "sessions.line",
    "skills.line",
    "skills.problem",
    "search.assistant",
    "card.skill_commands",
    "card.add",
    "card.change",
    "card.flag",
    "card.usage",
    "card.commands",
    "card.remove",
    "card.replace",
    "gist.joint",
    "gist.one",
    "log.applied",
    "log.approved",
    "log.at",
    "log.choice",
    "log.memory_approval",
    "log.place",
    "start.why",
    "takeback.line",
    "log.skills_approval",
    "log.staged",
    "memory.memory",
    "memory.user",
    "pair.usage",
    "pending.commands",
    "pending.line",
    "card.by",
    "why.candidate",
    "why.entry",
}
"""Sentences that are signs, commands and values only."""


@pytest.mark.parametrize("name", ["key", "language"])
def test_a_value_may_have_any_name(name: str) -> None:
    """Values are what rows hold; one named like a parameter once kept every file warning from being said."""
    values: dict[str, object] = {"file": "MEMORY.md", "count": 2, name: "x"}

    assert words.text("memory.bad_bytes", "en", **values).startswith("MEMORY.md holds 2 bytes")


@pytest.mark.parametrize(("count", "said"), [(1, "holds a byte"), ("1", "holds a byte"), (21, "holds 21 bytes")])
def test_one_is_said_in_other_words_than_several(count: object, said: str) -> None:
    """`1 messages` is what a machine says."""
    assert said in words.text("memory.bad_bytes", "en", file="MEMORY.md", count=count)


def test_a_language_without_plural_says_one_like_several() -> None:
    """Japanese counts without changing the words."""
    assert "1バイト" in words.text("memory.bad_bytes", "ja", file="MEMORY.md", count=1)


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("ja", "ja"),
        ("en-GB", "en"),
        ("ja_JP", "ja"),
        ("EN", "en"),
        ("日本語", "ja"),
        ("English", "en"),
        ("de", ""),
        ("jam", ""),
        ("", ""),
    ],
)
def test_a_locale_means_a_language_that_we_speak_or_none(tag: str, language: str) -> None:
    """Telegram and Discord tell locales; people type names."""
    assert words.spoken(tag) == language


@pytest.mark.parametrize(
    ("key", "language", "said"),
    [
        ("log.more", "en", "Older ones: `hikae memory log 17`"),
        ("log.more", "ja", "これより古いもの： `hikae memory log 17`"),
        ("why.none", "en", "No entry of this memory says that. `hikae memory show` shows them all."),
        ("skill.unknown", "en", "There is no such skill here. `hikae skills list` lists them."),
        (
            "pair.usage",
            "en",
            "hikae pair approve CODE [--as NAME] · hikae pair revoke PLATFORM:ID · hikae pair code",
        ),
        ("edit.usage", "en", "Say which: `hikae memory edit 17`. It opens the text in your editor."),
        ("remember.usage", "en", "Say what: /remember The printer is in the cellar."),
    ],
)
def test_who_types_hikae_is_told_what_to_type_there(key: str, language: str, said: str) -> None:
    """A shell knows no /memory; what only a chat has keeps its name."""
    assert words.text(key, words.at_the_prompt(language), id=17) == said
    assert words.text(key, language, id=17) != said or "hikae" not in said


def test_a_sentence_keeps_its_blanks_at_the_prompt() -> None:
    """What is joined to others begins or ends with one: without it words run into each other."""
    for language, catalog in (("en", en.SENTENCES), ("ja", ja.SENTENCES)):
        for key, sentence in catalog.items():
            if not key.endswith(("_prompt", "_one")):
                assert _ends(_at_the_prompt(key, language)) == _ends(sentence), key


def _ends(sentence: str) -> tuple[str, str]:
    """The blanks before and behind."""
    bare = sentence.strip(" ")
    return sentence[: sentence.index(bare)], sentence[sentence.index(bare) + len(bare) :]


def test_values_are_not_read_as_commands() -> None:
    """Somebody's words may name a command, and stay theirs."""
    prompt = words.at_the_prompt("en")

    assert words.text("gist.one", prompt, text="type /memory log") == '"type /memory log"'


def test_no_sentence_names_a_chat_command_at_the_prompt_that_hikae_has() -> None:
    """One that the pattern overlooks would send people to a command that their shell does not know."""
    named = re.compile(r"(?<![\w/`])/(memory|skills|pair|journey)\b")
    for catalog, language in ((en.SENTENCES, "en"), (ja.SENTENCES, "ja")):
        left = {key for key in catalog if named.search(_at_the_prompt(key, language))}
        assert {key for key in left if not key.startswith(("help.", "option.", "start."))} == set()


def _at_the_prompt(key: str, language: str) -> str:
    catalog = en.SENTENCES if language == "en" else ja.SENTENCES
    return words.text(
        key, words.at_the_prompt(language), **{name.strip("{}"): name for name in _named(catalog[key])}
    )


def test_every_sentence_is_there_in_both_languages() -> None:
    """Whoever reads Japanese meets no English, and no sentence is translated that nobody says."""
    assert sorted(ja.SENTENCES) == sorted(key for key in en.SENTENCES if not key.endswith("_one"))


def test_a_sentence_for_one_stands_beside_the_one_for_several() -> None:
    """Alone it would never be looked up."""
    ones = [key for key in en.SENTENCES if key.endswith("_one")]

    assert ones
    assert [key for key in ones if not {"{count}", "{turns}"} & set(_named(en.SENTENCES[key[:-4]]))] == []


def test_both_languages_name_the_same_values() -> None:
    """A value that is left out is a fact that nobody is told; one too many is an error in the middle of a chat."""
    shared = en.SENTENCES.keys() & ja.SENTENCES.keys()
    differing = [key for key in shared if _named(en.SENTENCES[key]) != _named(ja.SENTENCES[key])]

    assert differing == []


def test_every_japanese_sentence_is_japanese() -> None:
    """A copied English sentence would pass for a translation."""
    plain = {key for key, sentence in ja.SENTENCES.items() if not JAPANESE.search(sentence)}

    assert plain == WITHOUT_WORDS


def test_japanese_has_its_own_punctuation() -> None:
    """Half-width signs between Japanese words look like a program's."""
    assert {key: sentence for key, sentence in ja.SENTENCES.items() if HALF_WIDTH.search(sentence)} == {}


def test_japanese_counts_in_one_way() -> None:
    """`1件` and `1 件` beside each other look like two programs."""
    apart = re.compile(r"[}\d] (?:件|か所|個|回|文字|ページ|バイト|日間)")

    assert {key: sentence for key, sentence in ja.SENTENCES.items() if apart.search(sentence)} == {}


def test_a_command_in_a_japanese_sentence_can_be_tapped() -> None:
    """Telegram makes a link of a command only where no letter touches it."""
    touched = re.compile(
        r"(?:[\u3040-\u30ff\u4e00-\u9fff。、])/[a-z{]|(?<![\w/])/[a-z_]+[\u3040-\u30ff\u4e00-\u9fff]"
    )

    assert {key: sentence for key, sentence in ja.SENTENCES.items() if touched.search(sentence)} == {}


def test_the_words_on_buttons_and_the_notice_are_the_contract() -> None:
    """design.md 6.7 gives these to the letter."""
    notice = words.text("notice.done", "ja", parts=words.text("notice.memory", "ja"))
    buttons = [words.text(f"button.{name}", "ja") for name in ("approve", "reject", "edit", "undo")]

    assert (notice, buttons) == ("💾 メモリを更新しました", ["承認", "却下", "編集", "元に戻す"])


def _named(sentence: str) -> list[str]:
    return sorted(f"{{{name}}}" for _, name, _, _ in Formatter().parse(sentence) if name)
