"""What people are told of changes, as loudly as they like, and nothing that is not theirs."""

import pytest

from gateway.conversation import notices, phrases
from gateway.records import Action, Operation, Status
from tests.unit.test_cardtext import swap, write

BATCH = write(
    swap("Oslo", "Lives in Bergen"),
    Operation(Action.REMOVE, "", "tuba"),
    Operation(Action.ADD, "Likes *rain*"),
    before="Lives in Oslo\n§\nOwns a tuba and a cat",
    status=Status.APPLIED,
)


@pytest.mark.parametrize(
    ("verbosity", "said"),
    [
        ("off", None),
        ("on", "💾 Memory updated"),
        (
            "verbose",
            '💾 Memory ✏️ "Lives in Oslo" → "Lives in Bergen"\n'
            "💾 Memory ➖ Owns a tuba and a cat\n"
            "💾 Memory ➕ Likes \\*rain\\*",
        ),
    ],
)
def test_a_notice_is_as_loud_as_configured(verbosity: str, said: str | None) -> None:
    """Verbose is one line per change, each with the whole entry, not the fragment that named it."""
    told = notices.notice([BATCH], verbosity, "en")

    assert (told.text if told else None) == said


def test_what_could_not_be_saved_is_said_even_when_notices_are_off() -> None:
    """Nothing fails silently (design.md 7.7)."""
    told = notices.notice([write(status=Status.REFUSED, reason="reason.secret")], "off", "en")

    assert told is not None
    assert told.text.startswith("⚠️ Not saved to memory: It holds a key")


def test_an_excerpt_is_one_short_line() -> None:
    """A notice is read in passing."""
    long = phrases.excerpt("line one\nline two " + "x" * 200)

    assert "\n" not in long
    assert len(long) == 120


def test_an_address_is_no_link_and_comes_back_as_it_was() -> None:
    """Discord makes a link of everything behind `https:`, backslashes included."""
    address = "see https://a_b.example/x-y"

    assert phrases.escape(address) == r"see https\://a\_b\.example/x\-y"
    assert phrases.unescape(phrases.escape(address)) == address


def test_the_list_shows_a_removal_by_its_entry() -> None:
    """ "remove: to" says nothing."""
    gone = write(Operation(Action.REMOVE, "", "to"), before="Lives in Oslo, next to the tower")

    line = phrases.pending_line(gone, with_space=False, language="en")

    assert line == '17 remove from USER: "Lives in Oslo, next to the tower"'


def test_a_gist_of_many_changes_stays_short() -> None:
    """A card that was approved is one message, however much it did."""
    many = write(*(Operation(Action.ADD, "x" * 300) for _ in range(50)))

    assert len(phrases.gist(many, "en")) < 1_000
    assert phrases.gist(many, "en").endswith("45 more")
