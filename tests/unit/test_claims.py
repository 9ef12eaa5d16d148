"""When it is looked whether memory was changed: where a person asks for it, or the model says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.conversation import claims


@pytest.mark.parametrize(
    "said",
    [
        "remember that I live in Bergen",
        "Please remember: no meetings on Fridays",
        "I moved to Bergen. Can you remember that?",
        "Hi! Keep in mind I'm vegetarian",
        "don’t forget that I am allergic to nuts",
        "make a note: the bins go out on Tuesday",
        "Save this to your memory",
        "add my birthday, May 3rd, to memory please",
        "forget that I live in Oslo",
        "remove the printer from your memory",
        "ベルゲンに住んでいることを覚えておいて",
        "覚えてください。猫が二匹います",
        "電話番号のことは忘れてください",
        "记住我住在上海",
        "請記住我不吃肉",
        "나는 서울에 산다고 기억해 줘",
        "Recuerda que vivo en Madrid",
        "Merk dir bitte, dass ich in Kiel wohne",
        "Souviens-toi que j'habite à Lyon",
        "Запомни: я живу в Омске",
    ],
)
def test_a_wish_is_heard(said: str) -> None:
    """In the languages the scan knows."""
    assert claims.asks(said)


@pytest.mark.parametrize(
    "said",
    [
        "Do you remember when we talked about tubas?",
        "remember when we met?",
        "I remember that film well",
        "I forgot my keys",
        "forget it",
        "What is in your memory?",
        "How much memory does the server have?",
        "What do you remember about me?",
        "覚えていますか",
        "前に話したことを覚えてる？",
        "你记住了吗？",
        "나를 기억해?",
        "¿Qué recuerdas de mí?",
        "Weißt du noch, was ich gesagt habe?",
        "Tu te souviens de moi ?",
        "Ты помнишь меня?",
    ],
)
def test_what_is_no_wish_is_left_alone(said: str) -> None:
    """A line too many would be true, but people stop reading those."""
    assert not claims.asks(said)


@pytest.mark.parametrize(
    "answer",
    [
        "I'll remember that.",
        "I've saved that to my memory!",
        "Got it, noted.",
        "**Noted!** Anything else?",
        "No worries, saved it.",
        "I have added your birthday to my memory.",
        "I’ve forgotten it.",
        "覚えました！",
        "はい、覚えておきますね。",
        "记住了。",
        "好的，我会记住的。",
        "기억할게요.",
        "Anotado.",
        "Lo recordaré.",
        "Ich habe mir das gemerkt.",
        "C'est noté !",
        "Запомнил.",
    ],
)
def test_a_claim_is_heard(answer: str) -> None:
    """What models say, also where a "no" stands beside it (PI-166)."""
    assert claims.claims(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know where you live.",
        "You told me that you live in Bergen.",
        "I remember that you like tea.",
        "As noted above, the file is large.",
        "The variable is stored in memory.",
        "He saved the cat.",
        "ベルゲンにお住まいですね。",
        "你住在上海。",
        "Das hat er gesagt.",
    ],
)
def test_what_claims_nothing_is_left_alone(answer: str) -> None:
    """Talk of memory and notes is no claim."""
    assert not claims.claims(answer)


@pytest.mark.parametrize("said", ["Did you note it?", "覚えましたか", "覚えた？", "got it? "])
def test_who_asks_may_be_told_of_an_earlier_write(said: str) -> None:
    """ "Yes, I noted that" is an answer there."""
    assert claims.is_question(said)


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    """Whatever people and models say."""
    judged = (claims.asks(text), claims.claims(text), claims.is_question(text))

    assert all(isinstance(verdict, bool) for verdict in judged)


def test_of_a_megabyte_only_the_beginning_and_the_end_are_read() -> None:
    """Every turn ends with this, so it must not grow with what was said."""
    padding = "a word that says nothing. " * 40_000

    assert claims.claims("I have noted that. " + padding)
    assert not claims.claims(padding + "I have noted that. " + padding)


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("forget that I live in Bergen", "live in Bergen"),
        ("Please forget about my divorce.", "divorce"),
        ("Can you forget my phone number 555-1234?", "phone number 555-1234"),
        ("forget that Dr. Berg is ill. Thanks!", "Dr. Berg is ill"),
        ("please delete the thing about Oslo from your memory", "thing about Oslo"),
        ("ベルゲンに住んでいることを忘れて", "ベルゲンに住んでいる"),
        ("蜂のことは忘れてください。", "蜂"),
        ("私の電話番号はすべて忘れて！", "電話番号"),
    ],
)
def test_what_is_to_be_forgotten_is_read_from_a_persons_words(said: str, what: str) -> None:
    """It is looked for as it stands: what asks for it is no part of it."""
    assert claims.to_forget(said) == what


@pytest.mark.parametrize(
    "said",
    [
        *("Don't forget the milk", "I forget where it is", "forget it", "Forget everything", "What did I forget?"),
        *("I never forget that day", "忘れないで", "それは忘れて", "鍵を忘れてきた", "もう忘れてしまった"),
    ],
)
def test_words_that_only_speak_of_forgetting_ask_nothing(said: str) -> None:
    """A card that nobody asked for would be a nuisance."""
    assert claims.to_forget(said) == ""
