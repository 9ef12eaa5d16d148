"""What changes between two texts, as people read it on a phone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.conversation import worddiff
from gateway.conversation.phrases import escape
from gateway.platforms import telegram_markup


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        pytest.param("Lives in Oslo", "Lives in Bergen", "Lives in ~~Oslo~~ **Bergen**", id="words"),
        pytest.param("Likes tea", "Likes tea and cake", "Likes tea **and cake**", id="only-comes"),
        pytest.param("Likes tea and cake", "Likes tea", "Likes tea ~~and cake~~", id="only-goes"),
        pytest.param("東京都に住んでいる", "大阪府に住んでいる", "~~東京都~~**大阪府**に住んでいる", id="japanese"),
        pytest.param("我住在奥斯陆", "我住在卑尔根", "我住在~~奥斯陆~~**卑尔根**", id="chinese"),
        pytest.param("서울에 살아요", "부산에 살아요", "~~서울~~**부산**에 살아요", id="korean"),
        pytest.param("ฉันชอบกินข้าว", "ฉันชอบกินปลา", "ฉันชอบกิน~~ข้าว~~**ปลา**", id="thai"),
        pytest.param("a b c\nd", "a b x\nd", "a b ~~c~~ **x**\nd", id="lines"),
        pytest.param("Runs v1.2 here", "Runs v1.3 here", r"Runs ~~v1\.2~~ **v1\.3** here", id="escaped"),
    ],
)
def test_a_difference_names_what_goes_and_what_comes(old: str, new: str, shown: str) -> None:
    """Word by word, and sign by sign where a script puts no blanks between words."""
    assert worddiff.marked(old, new, escape) == shown


def test_a_mark_beside_punctuation_takes_the_next_sign_along() -> None:
    """`す**！**` in the middle of a line is no bold text to a reader of Markdown."""
    shown = worddiff.marked("今日は晴れです。", "今日は晴れです！", escape)

    assert shown == "今日は晴れで~~す。~~**す！**"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("Lives in Oslo", "Owns a tuba", id="nothing-shared"),
        pytest.param("", "Owns a tuba", id="from-nothing"),
        pytest.param("same", "same", id="no-change"),
        pytest.param("costs ~5 kr today", "costs ~6 kr today", id="holds-the-mark"),
        pytest.param("a " * 3000, "a " * 2999 + "b", id="very-long"),
        pytest.param(
            " ".join(f"w{n} x" for n in range(99)), " ".join(f"w{n} y" for n in range(99)), id="everywhere"
        ),
    ],
)
def test_texts_that_are_better_read_whole_have_no_difference(old: str, new: str) -> None:
    """Two texts that share little, or change in dozens of places, would only be confetti."""
    assert worddiff.marked(old, new, escape) == ""


_TEXTS = st.text(alphabet=st.sampled_from("ab ().*_-`~!\\[]#\n東京、。「」กี👍🏽e\u0301한글"), max_size=24)


@given(before=_TEXTS, middle=_TEXTS, other=_TEXTS, after=_TEXTS)
def test_what_is_struck_is_the_old_text_and_what_is_bold_is_the_new(
    before: str, middle: str, other: str, after: str
) -> None:
    """Whatever people write: read by the reader of Markdown, both texts are there and nothing else."""
    old, new = (" ".join((before, part, "and so on", after)) for part in (middle, other))

    shown = worddiff.marked(old, new, escape)

    if shown:
        assert _without(shown, "strikethrough") == _squeezed(new)
        assert _without(shown, "bold") == _squeezed(old)


def _without(markdown: str, kind: str) -> str:
    """What a reader sees but for what is formatted so, without white space."""
    shown = telegram_markup.render(markdown.replace("\n", "\n\u2028"))
    units = shown.text.encode("utf-16-le")
    kept = bytearray(units)
    for entity in sorted(shown.entities, key=lambda one: -one.offset):
        assert entity.type in ("bold", "strikethrough")
        if entity.type == kind:
            del kept[entity.offset * 2 : entity.end * 2]
    return _squeezed(kept.decode("utf-16-le"))


def _squeezed(text: str) -> str:
    return re.sub(r"[\s\u2028]+", "", text)
