"""Many decisions at once, by buttons, by commands and by other processes: on a real home, without a platform."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from gateway import cli
from gateway.chat import Chat, Person, Tap
from gateway.conversation import buttons, suggesting, taps
from gateway.conversation.access import Standing, owner_space
from gateway.conversation.commands import memory as commands
from gateway.conversation.commands.call import Call, Services
from gateway.conversation.rendering import Renderer
from gateway.core import Core, open_core, services_of
from gateway.errors import NotAllowed, StoreBusy
from gateway.home import Home
from gateway.housekeeping import Housekeeping
from gateway.memory import entries, files
from gateway.memory.writing import Proposal
from gateway.records import Message, NewOutgoing, Operation, Origin, Outgoing, Role, Space, Status, Target, Write
from gateway.store import cardrows, messages, outbox, people, textfile, writes
from tests.bot import NoQueue
from tests.processes import Machine
from tests.store.given import NINE, StillClock, at_once
from tests.store.remembering import add, swap

ANNA = Person("telegram", "123")
BEN = Person("telegram", "456")
CHAT = Chat("telegram", "123")
BENS = Chat("telegram", "456")
NOON = NINE + timedelta(hours=3)


class House:
    """A home with a space for Anna and one for Ben, and what a test does in it."""

    def __init__(self, path: Path) -> None:
        self.machine = Machine(Home(path / "home"))
        self.machine.home.path.mkdir(mode=0o700)
        self.machine.configure(
            access="owners: ['telegram:123'], allowed: ['telegram:456'], groups: {allowed: ['telegram:-100200']}",
            session="timezone: Europe/Oslo",
        )
        self.clock = StillClock(NOON)
        self.core = open_core(self.machine.home, self.clock)
        self.spaces = {chat: self._meet(self.core, chat, person) for chat, person in ((CHAT, ANNA), (BENS, BEN))}
        self._proposed = 0

    def _meet(self, core: Core, chat: Chat, person: Person) -> Space:
        with core.db.write() as tx:
            owner_space(tx, NINE)
            space = self.services().access.space_of(tx, person, NINE)
            people.keep_chat(tx, chat, private=True, person=person.key, space=space.id, language="en", at=NINE)
        return space

    def services(self) -> Services:
        return services_of(self.core, "fake")

    def stage(self, operation: Operation, chat: Chat = CHAT, *, shown: bool = True) -> int:
        """Propose something; its card is on the screen unless `shown` says otherwise. The write's id."""
        self._proposed += 1
        outcome = self.core.memory.propose(
            Proposal(
                space=self.spaces[chat],
                target=Target.MEMORY,
                operations=(operation,),
                origin=Origin.FOREGROUND,
                dedupe=f"test-{self._proposed}",
                approval_required=True,
                card_chat=chat,
            )
        )
        assert outcome.write is not None
        if shown:
            self.say_all()
        return outcome.write

    def say_all(self) -> None:
        """Let everything that waits arrive."""
        with self.core.db.write() as tx:
            for (id,) in tx.rows("SELECT id FROM outbox WHERE status = 'waiting' ORDER BY id"):
                outbox.keep_chunks(tx, id, ("",))
                outbox.chunk_delivered(tx, id, 0, f"m{id}", NOON)
                outbox.delivered(tx, id, NOON)

    def card(self, write: int) -> Outgoing:
        with self.core.db.read() as rd:
            return cardrows.cards_of(rd, write)[0]

    def tap(self, action: str, row: Outgoing, **fields: object) -> Tap:
        values = {"chat": row.chat, "person": ANNA, "message_id": f"m{row.drawn_on}", **fields}
        return Tap(id="t", data=f"{action}:{row.id}:{row.token}", at=NOON, **values)  # type: ignore[arg-type]

    def checked(self, tap: Tap) -> Outgoing:
        with self.core.db.read() as rd:
            return buttons.check(rd, self.services().access, tap)

    def keep(self, text: str, role: Role, person: Person = ANNA) -> Message:
        """A command or tap as it waits in its lane."""
        with self.core.db.write() as tx:
            new = messages.NewMessage(
                space=self.spaces[CHAT].id, chat=CHAT, person=person.key, role=role, text=text, at=NOON
            )
            id = messages.keep(tx, new)
            assert id is not None
            return messages.get(tx, id)

    def again(self, message: Message) -> Message:
        with self.core.db.read() as rd:
            return messages.get(rd, message.id)

    def press(self, action: str, row: Outgoing) -> Message:
        """A tap that was let in and kept."""
        return self.keep(f"{action}:{row.id}:{row.token}", Role.TAP)

    def command(self, message: Message) -> list[list[object]]:
        """Do `/memory approve …`; what it answers: write, key and values."""
        name, *said = message.text.removeprefix("/").partition("\x1f")[0].split()
        call = Call(message, ANNA, Standing.OWNER, self.spaces[CHAT], name, tuple(said), " ".join(said))
        return commands.memory(self.services(), call).values["results"]  # type: ignore[return-value]

    def rendered(self, row: Outgoing) -> str:
        shown = Renderer(self.services())(row)
        return "" if shown is None else shown.text

    def answers(self) -> list[str]:
        """What the answers in the outbox say."""
        with self.core.db.read() as rd:
            ids = [id for (id,) in rd.rows("SELECT id FROM outbox WHERE kind = 'answer' ORDER BY id")]
            rows = [outbox.get(rd, id) for id in ids]
        return [self.rendered(row) for row in rows]

    def statuses(self) -> list[Status]:
        return [write.status for write in self.ledger()]

    def ledger(self) -> list[Write]:
        with self.core.db.read() as rd:
            return sorted(writes.log(rd, None, 1000), key=lambda write: write.id)

    def memory_file(self, chat: Chat = CHAT) -> str:
        path = self.core.home.memory_file(self.spaces[chat].name, Target.MEMORY)
        return path.read_text("utf-8") if path.exists() else ""

    def updates(self) -> list[str]:
        with self.core.db.read() as rd:
            return [key for (key,) in rd.rows("SELECT dedupe FROM outbox WHERE kind = 'card_update' ORDER BY id")]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    one = House(tmp_path)
    yield one
    one.machine.end_all()
    one.core.close()


# -- all at once ---------------------------------------------------------------------------------------------


def test_a_button_for_all_decides_each_and_answers_for_each(house: House) -> None:
    """One tap for a whole review; the answer names every id."""
    first, second = house.stage(add("Lives in Bergen")), house.stage(add("Owns a tuba"))

    taps.act(house.services(), house.press("approve_all", house.card(second)))

    assert house.statuses() == [Status.APPLIED, Status.APPLIED]
    assert house.answers() == [f'{first} ✓ remembered: "Lives in Bergen"\n{second} ✓ remembered: "Owns a tuba"']


def test_a_button_for_all_rejects_without_the_words(house: House) -> None:
    """A no leaves nothing behind in the chat."""
    first, second = house.stage(add("Lives in Bergen")), house.stage(add("Owns a tuba"))

    taps.act(house.services(), house.press("reject_all", house.card(second)))

    assert house.statuses() == [Status.REJECTED, Status.REJECTED]
    assert house.answers() == [f"{first} ✗ rejected\n{second} ✗ rejected"]


def test_a_button_for_all_leaves_what_was_redrawn_or_never_shown(house: House) -> None:
    """A yes is to what was on the screen, also when it is a yes to many things."""
    house.core.memory.approve(house.stage(add("Lives in Oslo")), ANNA.key)
    redrawn = house.stage(swap("Oslo", "Lives in Bergen"))
    path = house.core.home.memory_file("owner", Target.MEMORY)
    path.write_text("Lives in Oslo, Grünerløkka\n", "utf-8")
    house.core.memory.approve(redrawn, ANNA.key)
    tapped, unseen = house.card(house.stage(add("Owns a tuba"), shown=False)), house.stage(add("Cat"), shown=False)

    taps.act(house.services(), house.press("approve_all", tapped))

    ended = {write.id: write.status for write in house.ledger()}
    assert (ended[redrawn], ended[unseen]) == (Status.STAGED, Status.STAGED)
    assert house.answers() == [
        f"{redrawn} still waits: The entry it would change reads differently now. Look again before you approve.\n"
        f'{tapped.write} ✓ remembered: "Owns a tuba"'
    ]


def test_a_button_for_all_covers_one_space(house: House) -> None:
    """Ben's waiting write is not Anna's, whoever may decide it."""
    house.stage(add("Plays chess"), BENS)
    mine = house.stage(add("Owns a tuba"))

    taps.act(house.services(), house.press("approve_all", house.card(mine)))

    assert house.statuses() == [Status.STAGED, Status.APPLIED]


def test_everybody_at_once_decides_each_write_once(house: House) -> None:
    """A button for all, a command for all, `hikae` in another process and single taps: one decision each."""
    ids = [house.stage(add(f"Knows song {number}")) for number in range(6)]
    button = house.press("approve_all", house.card(ids[-1]))
    command = house.keep("/memory approve all", Role.COMMAND)
    single = [house.press(action, house.card(id)) for id in ids[:3] for action in ("approve", "reject")]

    at_once(
        partial(taps.act, house.services(), button),
        partial(house.command, command),
        partial(house.machine.run, "memory", "approve", "all"),
        *(partial(taps.act, house.services(), tap) for tap in single),
    )

    ended = house.statuses()
    assert set(ended[:3]) <= {Status.APPLIED, Status.REJECTED}
    assert set(ended[3:]) == {Status.APPLIED}
    approved = [f"Knows song {number}" for number, status in enumerate(ended) if status is Status.APPLIED]
    assert sorted(entries.parse(house.memory_file()).texts) == approved
    assert len([key for key in house.updates() if "again" not in key]) == len(ids)


# -- done again ----------------------------------------------------------------------------------------------


def test_a_busy_memory_in_the_middle_of_all_is_waited_for_and_answered_alike(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each decision is a commit of its own; the answer has what came before it and nothing later."""
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.1)
    mine, bens = house.stage(add("Owns a tuba")), house.stage(add("Plays chess"), BENS)
    message = house.keep("/memory approve all", Role.COMMAND)

    with textfile.lock(house.core.home.space_lock(house.spaces[BENS].name), 1), pytest.raises(StoreBusy):
        house.command(message)
    assert house.statuses() == [Status.APPLIED, Status.STAGED]
    house.stage(add("Came later"))

    expected = [[mine, "decision.applied", {}], [bens, "decision.applied", {}]]
    assert house.command(house.again(message)) == expected
    assert house.command(house.again(message)) == expected
    assert house.statuses() == [Status.APPLIED, Status.APPLIED, Status.STAGED]


def test_the_command_line_says_what_it_did_before_the_memory_was_busy(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody should have to guess which of five ids were decided."""
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.1)
    mine, bens = house.stage(add("Owns a tuba")), house.stage(add("Plays chess"), BENS)

    with textfile.lock(house.core.home.space_lock(house.spaces[BENS].name), 1):
        code = cli.main(["--home", str(house.core.home.path), "memory", "approve", "all"])

    assert code == 1
    assert capsys.readouterr().out.splitlines() == [
        f'{mine} ✓ remembered: "Owns a tuba"',
        f"{bens} still waits: the memory is busy right now. Say it again.",
    ]


def test_a_command_done_again_approves_no_newer_drawing(house: House) -> None:
    """The kill came after the card was redrawn: the repetition is no yes to what it shows by now."""
    house.core.memory.approve(house.stage(add("Lives in Oslo")), ANNA.key)
    id = house.stage(swap("Oslo", "Lives in Bergen"))
    house.core.home.memory_file("owner", Target.MEMORY).write_text("Lives in Oslo, Grünerløkka\n", "utf-8")
    message = house.keep(f"/memory approve {id}", Role.COMMAND)

    first = house.command(message)
    house.say_all()

    assert house.command(house.again(message)) == first == [[id, "decision.redrawn", {}]]
    assert house.memory_file() == "Lives in Oslo, Grünerløkka\n"


# -- buttons are bound ---------------------------------------------------------------------------------------


def test_a_token_decides_its_own_card_in_its_own_chat_and_message(house: House) -> None:
    """Copied, forwarded and made-up buttons do nothing (PI-077)."""
    mine, other = house.card(house.stage(add("Owns a tuba"))), house.card(house.stage(add("Plays chess")))
    good = house.tap("approve", mine)

    assert house.checked(good) == mine
    for forged in (
        house.tap("approve", mine, chat=BENS),
        house.tap("approve", mine, message_id=f"m{other.id}"),
        Tap(CHAT, ANNA, "t", f"approve:{other.id}:{mine.token}", NOON, f"m{other.id}"),
        Tap(CHAT, ANNA, "t", f"approve:{mine.id}:{mine.token[:-1]}", NOON, f"m{mine.id}"),
        house.tap("approve", mine, person=BEN),
    ):
        with pytest.raises(NotAllowed):
            house.checked(forged)


def test_a_tap_counts_before_the_message_id_is_stored(house: House) -> None:
    """A thumb is faster than a commit: the platform showed the card, and we do not know yet under which id."""
    card = house.card(house.stage(add("Owns a tuba"), shown=False))

    assert house.checked(house.tap("approve", card, message_id="4711")) == card


def test_a_tap_on_either_of_two_copies_counts(house: House) -> None:
    """Where we cannot know whether the first copy arrived, both are on the screen and both are the card."""
    card = house.card(house.stage(add("Owns a tuba"), shown=False))
    with house.core.db.write() as tx:
        outbox.keep_chunks(tx, card.id, ("",))
        outbox.chunk_unsure(tx, card.id, 0)
    house.say_all()

    assert house.checked(house.tap("approve", card, message_id="the first copy")).id == card.id


def test_an_old_drawing_of_a_card_is_shown_again_and_decides_nothing(house: House) -> None:
    """The change of the card had got lost; the tap brings it, once."""
    house.core.memory.approve(house.stage(add("Lives in Oslo")), ANNA.key)
    id = house.stage(swap("Oslo", "Lives in Bergen"))
    house.core.home.memory_file("owner", Target.MEMORY).write_text("Lives in Oslo, Grünerløkka\n", "utf-8")
    house.core.memory.approve(id, ANNA.key)
    with house.core.db.write() as tx:
        lost = cardrows.newest_update(tx, id, house.card(id).id)
        assert lost is not None
        outbox.drop(tx, lost.id, NOON)

    taps.act(house.services(), house.press("approve", house.card(id)))
    taps.act(house.services(), house.press("approve", house.card(id)))

    assert house.memory_file() == "Lives in Oslo, Grünerløkka\n"
    assert house.updates()[-2:] == [lost.dedupe, f"write-{id}-again-{house.card(id).id}-{lost.id}"]


# -- who hears what ------------------------------------------------------------------------------------------


def test_a_notice_shows_no_words_of_another_space(house: House) -> None:
    """The account joined somebody else since: what its former space learns is none of the new one's business."""
    told = house.core.memory.propose(
        Proposal(
            space=house.spaces[CHAT],
            target=Target.MEMORY,
            operations=(add("Lives in Bergen"),),
            origin=Origin.PERSON,
            dedupe="x",
            by=ANNA.key,
            message=house.keep("/remember", Role.COMMAND).id,
        )
    )
    assert told.write is not None
    message = house.ledger()[0].message
    house.machine.configure(
        display="memory_notifications: verbose", access="owners: ['telegram:123'], allowed: ['telegram:456']"
    )
    house.core.close()
    house.core = open_core(house.machine.home, house.clock)

    def notice(chat: Chat) -> str:
        new = NewOutgoing(f"n-{chat.id}", "notice", chat, house.spaces[CHAT].id, NOON, message=message)
        with house.core.db.write() as tx:
            id = outbox.put(tx, new)
            assert id is not None
            return house.rendered(outbox.get(tx, id))

    assert notice(CHAT) == "💾 Memory ➕ Lives in Bergen"
    assert notice(BENS) == "💾 Memory updated"


def test_a_card_is_shown_only_to_who_may_decide(house: House) -> None:
    """Whatever put it there: the words of Anna's memory are not for Ben."""
    house.stage(add("Owns a tuba"), shown=False)
    with house.core.db.write() as tx:
        new = NewOutgoing("astray", "card", BENS, house.spaces[CHAT].id, NOON, write=house.ledger()[0].id)
        id = outbox.put(tx, new)
        assert id is not None
        astray = outbox.get(tx, id)

    assert house.rendered(astray) == ""


# -- reminders -----------------------------------------------------------------------------------------------


def test_what_waits_is_reminded_of_once_a_day_where_its_card_is(house: House) -> None:
    """Seventy proposals can wait unseen for weeks (PI-178); and nobody wants to hear of them every minute."""
    house.stage(add("Owns a tuba"))
    house.stage(add("Plays the tuba"))
    house.stage(add("Plays chess"), BENS)

    said = []
    for hours in (0, 23, 24, 25, 44, 48, 49):
        house.clock.at = NOON + timedelta(hours=hours)
        said.append(_reminders(house))

    two, one = (
        "🗂 2 proposals still wait for your yes. /memory pending shows them.",
        "🗂 One proposal still waits for your yes. /memory pending shows it.",
    )
    assert said == [[], [], [two, one], [], [two, one], [], []]


def test_nobody_is_woken_by_a_reminder(house: House) -> None:
    """The day begins at nine where people live (one hour before UTC)."""
    house.stage(add("Owns a tuba"))
    tomorrow = NOON.replace(hour=0, minute=0, second=0) + timedelta(days=2)

    house.clock.at = tomorrow + timedelta(hours=7, minutes=59)
    early = _reminders(house)
    house.clock.at = tomorrow + timedelta(hours=8)

    assert (early, len(_reminders(house))) == ([], 1)


def test_a_decided_write_is_not_reminded_of(house: House) -> None:
    """Decided between the row and its delivery: nothing is said."""
    id = house.stage(add("Owns a tuba"))
    house.clock.at = NOON + timedelta(days=1)
    _keep_house(house)
    house.core.memory.reject(id, ANNA.key)

    assert _new_reminders(house) == [""]


def _reminders(house: House) -> list[str]:
    """Keep house for a minute and let people read."""
    _keep_house(house)
    said = _new_reminders(house)
    house.say_all()
    return said


def _keep_house(house: House) -> None:
    core = house.core
    settings = core.loaded.settings
    keeping = Housekeeping(core.db, core.memory, settings, NoQueue(), house.clock, lambda: None, core.home)
    keeping.tidy()


def _new_reminders(house: House) -> list[str]:
    with house.core.db.read() as rd:
        ids = [
            id
            for (id,) in rd.rows("SELECT id FROM outbox WHERE kind = 'reminder' AND status = 'waiting' ORDER BY id")
        ]
        rows = [outbox.get(rd, id) for id in ids]
    return [house.rendered(row) for row in rows]


def test_a_list_in_a_group_shows_only_how_much_waits(house: House) -> None:
    """Others read along."""
    group = Chat("telegram", "-100200")
    house.stage(add("Owns a tuba"))
    with house.core.db.write() as tx:
        people.keep_chat(tx, group, private=False, person="", space=house.spaces[CHAT].id, language="en", at=NINE)
        id = outbox.put(
            tx, NewOutgoing("p", "answer", group, house.spaces[CHAT].id, NOON, values={"say": "pending"})
        )
        assert id is not None
        row = outbox.get(tx, id)

    assert house.rendered(row) == "Waiting for your yes: 1\nThey are shown in the owner's private chat."


# -- autocompletion ------------------------------------------------------------------------------------------


def test_who_types_an_id_is_shown_what_they_may_decide_about_here(house: House) -> None:
    """The owner in private sees every space, somebody else their own, a group that is not served nothing."""
    mine, bens = house.stage(add("Has a dog")), house.stage(add("Owns a boat"), BENS)
    unserved = Chat("discord", "77")
    with house.core.db.write() as tx:
        space = people.ensure_space(tx, "discord-channel-77", "group", "discord:77", NINE)
        people.keep_chat(tx, unserved, private=False, person="", space=space.id, language="", at=NINE, server="5")

    def offered(person: Person, chat: Chat, server: str = "") -> list[str]:
        found = suggesting.suggest(
            house.core.db, house.services().access, person, chat, server, "memory approve", ""
        )
        return [one.value for one in found]

    assert offered(ANNA, CHAT) == [str(mine), str(bens)]
    assert offered(BEN, BENS) == [str(bens)]
    assert offered(BEN, CHAT) == []
    assert offered(Person("telegram", "999"), CHAT) == []
    assert offered(ANNA, unserved, "5") == []
