"""What a card says: the whole of a proposal where it fits, honestly cut where not, and what became of it."""

from dataclasses import replace

import pytest

from gateway import words
from gateway.chat import Chat
from gateway.conversation import cardtext
from gateway.conversation.cardtext import Around, Budget, Decider
from gateway.memory.conflicts import Conflict
from gateway.platforms import telegram_markup, text
from gateway.records import Action, Evidence, Operation, Origin, Outgoing, Status, Target, Write
from tests.store.given import NINE

PHONE = Chat("telegram", "123")
DISCORD = Chat("discord", "77")
YOU = Decider("card.by_you", "", "2026-11-30 10:02")


def row(chat: Chat = PHONE) -> Outgoing:
    return Outgoing(
        id=5, dedupe="write-17-card", kind="card", chat=chat, space=1, token="tok", message=None, write=17,
        review=None, edits=None, values={"redrawn": 0}, reply_to="", via="", status="waiting", attempts=0,
        due_at=NINE, created_at=NINE,
    )  # fmt: skip


def write(*operations: Operation, **fields: object) -> Write:
    born = Write(
        id=17, space=1, space_name="owner", kind="memory", about=Target.USER.value,
        operations=operations or (Operation(Action.ADD, "Lives in Bergen"),), origin=Origin.FOREGROUND,
        evidence=Evidence(412, "telegram:123", ""), flags=(), status=Status.STAGED, reason="", reason_values={},
        message=412, session="", review_turn=None, base_hash="", before_hash="", after_hash="", before="",
        after="", created_at=NINE, expires_at=None, decided_by="", decided_at=None, decided_in=None,
    )  # fmt: skip
    return replace(born, **fields)  # type: ignore[arg-type]  # test data by name


def swap(old: str, new: str) -> Operation:
    return Operation(Action.REPLACE, new, old)


def lines(one: Write, around: Around = Around(), chat: Chat = PHONE) -> list[str]:  # noqa: B008  # frozen
    return cardtext.card(one, row(chat), around, "en").text.split("\n")


def test_a_card_says_what_where_from_why_and_what_it_costs() -> None:
    """One look on a phone is enough for a yes or a no."""
    proposed = write(origin=Origin.REVIEW, evidence=Evidence(412, "telegram:123", "I moved to Bergen"))

    assert lines(proposed, Around(Budget(921, 1031, 1375))) == [
        r"🗂 May I remember this? 17 · add to USER \[auto\]",
        '➕ "Lives in Bergen"',
        'Because you said: "I moved to Bergen"',
        "USER: 66% → 74% — 1,031/1,375 chars",
    ]


def test_a_replacement_shows_what_goes_and_what_comes() -> None:
    """A phone has no room for two long texts that differ in a word. The whole entry is compared, not `old_text`."""
    proposed = write(swap("Oslo", "Lives in Bergen"), before="Lives in Oslo")

    assert lines(proposed)[1] == "✏️ Lives in ~~Oslo~~ **Bergen**"


def test_texts_that_share_little_are_shown_whole() -> None:
    """Confetti of single words is harder to read than two sentences."""
    proposed = write(swap("Oslo", "Owns a tuba"), before="Lives in Oslo")

    assert lines(proposed)[1:3] == ['➖ "Lives in Oslo"', '➕ "Owns a tuba"']


def test_a_batch_shows_each_entry_whole() -> None:
    """`old_text` may be three letters of an entry; a yes is to the entry."""
    proposed = write(swap("Oslo", "Lives in Bergen"), Operation(Action.REMOVE, "", "tuba"),
                     before="Lives in Oslo\n§\nOwns a tuba and a cat")  # fmt: skip

    assert lines(proposed)[1:3] == ["✏️ Lives in ~~Oslo~~ **Bergen**", '➖ "Owns a tuba and a cat"']


def test_what_is_odd_about_it_is_said() -> None:
    """A flag, a file that changed and a file that is full: seen before the yes, not after it."""
    odd = write(flags=("flag.foreign",), reason="reason.entry_changed")

    assert lines(odd, Around(Budget(1370, None, 1375), OTHERWISE))[2:] == [
        'Replaces "Lives in Oslo"? (it says something other than what you have)',
        "⚠️ it rests on words that are not yours",
        "⚠️ The entry it would change reads differently now. Look again before you approve.",
        "USER is at 99% — 1,370/1,375 chars",
    ]


@pytest.mark.parametrize(
    ("content", "entry"),
    [
        ("Lives in Bergen", "Lives in Oslo"),
        ("大阪に住んでいる", "東京に住んでいる"),
        ("Likes tea", None),
    ],
)
def test_an_entry_that_says_otherwise_is_found(content: str, entry: str | None) -> None:
    """It may be contradicted or be said twice: the person sees both."""
    found = cardtext.conflict(
        write(Operation(Action.ADD, content)),
        ("Lives in Oslo" if content.isascii() else "東京に住んでいる", "Owns a tuba"),
    )

    assert (found.entry if found else None) == entry


def test_what_a_write_replaces_itself_is_no_conflict() -> None:
    """A replacement always says otherwise than what it replaces."""
    replaced = write(swap("Lives in Oslo", "Lives in Bergen"), before="Lives in Oslo")

    assert cardtext.conflict(replaced, ("Lives in Oslo",)) is None


def test_a_card_shown_elsewhere_names_its_space() -> None:
    """The owner sees the cards of groups in private and must know whose memory it is."""
    foreign = write(space_name="telegram-group-100200")

    assert lines(foreign, Around(elsewhere=True))[1] == r"For the space telegram\-group\-100200"


def test_buttons_for_all_come_with_several() -> None:
    """One waiting write needs no second row."""
    alone = cardtext.card(write(), row(), Around(), "en").buttons
    among = cardtext.card(write(), row(), Around(several=True), "en").buttons

    assert [[button.label for button in each] for each in alone] == [["Approve", "Reject", "Edit"]]
    assert [[button.data for button in each] for each in among] == [
        ["approve:5:tok", "reject:5:tok", "edit:5:tok"],
        ["approve_all:5:tok", "reject_all:5:tok"],
    ]


OTHERWISE = Conflict("contradiction", "Lives in Oslo", "flag.contradicts")
LONG = [
    pytest.param((Operation(Action.ADD, "Bergen and the rain. " * 400),), id="long"),
    pytest.param((Operation(Action.ADD, "*_[](~`>#+-=|{}.!" * 300),), id="all-escaped"),
    pytest.param((Operation(Action.ADD, "👩‍👩‍👧‍👦👍🏽" * 500),), id="emoji"),
    pytest.param((swap("雨が降る。" * 900, "雪が降る！" * 900),), id="two-long"),
    pytest.param(tuple(Operation(Action.ADD, f"Entry {n} of many " * 9) for n in range(80)), id="batch"),
    pytest.param(tuple(swap(f"a {n} b c", f"a {n} b d") for n in range(80)), id="many-differences"),
]


@pytest.mark.parametrize("operations", LONG)
@pytest.mark.parametrize("language", words.LANGUAGES)
def test_a_card_is_always_one_message(operations: tuple[Operation, ...], language: str) -> None:
    """A card in two parts could not be taken back whole, and its buttons would stand under the second."""
    proposed = write(*operations, before="\n§\n".join(op.old_text for op in operations if op.old_text))
    around = Around(Budget(1, 2, 3), Conflict("repeat", "like " * 60, "flag.repeats"), elsewhere=True)

    on_telegram = cardtext.card(proposed, row(), around, language).text
    on_discord = cardtext.card(proposed, row(DISCORD), around, language).text

    assert len(telegram_markup.chunks(on_telegram)) == 1
    assert text.utf16_length(telegram_markup.render(on_telegram).text) > 2_000
    assert 1_200 < text.utf16_length(on_discord) <= 2_000


def test_what_is_cut_is_counted_and_both_texts_are_cut_alike() -> None:
    """Nobody approves what they take for the whole."""
    proposed = write(swap("a" * 5_000, "b" * 5_000), before="a" * 5_000)

    old, new, more = lines(proposed)[1:4]

    assert old.count("a") == new.count("b")
    left = 10_000 - old.count("a") - new.count("b")
    assert more == f"… ({left:,} characters more; `hikae memory pending` shows all)"


def test_operations_without_room_are_counted() -> None:
    """Eighty changes at once are possible, and a card cannot show them."""
    many = write(*(Operation(Action.ADD, f"Entry {n} " * 20) for n in range(80)))

    shown = lines(many, chat=DISCORD)

    count = sum(line.startswith("➕") for line in shown)
    assert 0 < count < 80
    assert f"… ({80 - count} changes more; `hikae memory pending` shows all)" in shown


def test_a_terminal_shows_all() -> None:
    """It has no bound."""
    whole = "Bergen and the rain " * 1_000

    assert lines(write(Operation(Action.ADD, whole)), chat=Chat("terminal", "1"))[1] == f'➕ "{whole}"'


def test_lines_of_an_entry_stay_text() -> None:
    """Indented lines and gaps would be code and paragraphs to a reader of Markdown."""
    entry = "Recipe:\n\n    1. water\n\n\n# tea"

    shown = telegram_markup.render("\n".join(lines(write(Operation(Action.ADD, entry)))))

    assert shown.entities == ()
    assert shown.text.replace("\u00a0", " ").split("\n")[1:] == [
        '➕ "Recipe:', " ", "    1. water", " ", " ", '# tea"',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (Status.APPLIED, '✓ Remembered: "Lives in Bergen" (by you, 2026-11-30 10:02)'),
        (Status.REJECTED, "✗ 17 was rejected (by you, 2026-11-30 10:02)."),
        (Status.EXPIRED, "17 expired without a decision, 2026-11-30 10:02. Nothing was changed."),
        (
            Status.FAILED,
            "17 could not be remembered (by you, 2026-11-30 10:02): The entry it would change is gone.",
        ),
    ],
)
def test_after_the_decision_a_card_says_who_and_when(status: Status, said: str) -> None:
    """And no words where nothing was remembered."""
    ended = cardtext.decided(write(status=status, reason="reason.gone"), row(), YOU, "en")

    assert ended.text.split("\n")[0] == said
    labels = [button.label for each in ended.buttons for button in each]
    assert labels == (["Use now", "Undo"] if status is Status.APPLIED else [])


def test_a_removal_is_not_called_remembered() -> None:
    """What went is named, since its text is still on the card above."""
    gone = write(Operation(Action.REMOVE, "", "Oslo"), before="Lives in Oslo", status=Status.APPLIED)

    assert cardtext.decided(gone, row(), YOU, "en").text.startswith('✓ Removed: "Lives in Oslo" (by you')
