"""The gates with the real rates and a clock that a test moves."""

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.platforms.gates import OPEN, TELEGRAM_RATES, Gates, Limit, Meter, Pause, Pauses, Place, Rates, Schedule

ADA, BEN, GROUP = "123", "456", "-100200"


@dataclass
class Alarm:
    """An entry of FakeTime's list."""

    callback: Callable[[], None]
    called_off: bool = False

    def cancel(self) -> None:
        self.called_off = True


@dataclass
class FakeTime:
    """A time that stands still until a test moves it."""

    now: float = 1000.0
    _alarms: list[tuple[float, int, Alarm]] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=count)

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], None], /) -> Alarm:
        alarm = Alarm(callback)
        heapq.heappush(self._alarms, (self.now + delay, next(self._numbers), alarm))
        return alarm

    async def pass_seconds(self, seconds: float) -> None:
        """Ring every alarm on the way, and let whoever it woke do what they do."""
        end = self.now + seconds
        await settled()
        while self._alarms and self._alarms[0][0] <= end:
            self.now, _, alarm = heapq.heappop(self._alarms)
            if not alarm.called_off:
                alarm.callback()
            await settled()
        self.now = end


async def settled() -> None:
    """Until every task that could run has run."""
    for _ in range(5):
        await asyncio.sleep(0)


@dataclass
class Speakers:
    """Tasks that wait at the gates and note when they were let through."""

    gates: Gates
    time: FakeTime
    went: list[tuple[float, str]] = field(default_factory=list)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def say(self, key: str, times: int = 1) -> None:
        self.tasks += [asyncio.create_task(self._say(key)) for _ in range(times)]

    async def _say(self, key: str) -> None:
        await self.gates.wait(key)
        self.went.append((self.time.now - 1000, key))

    def times(self, key: str) -> list[float]:
        return [at for at, who in self.went if who == key]


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def speakers(time: FakeTime) -> Speakers:
    return Speakers(Gates(TELEGRAM_RATES, time), time)


async def test_a_chat_hears_three_at_once_and_then_one_a_second(speakers: Speakers, time: FakeTime) -> None:
    """An answer of three parts comes at once; more than one a second for long would be refused by Telegram."""
    speakers.say(ADA, 7)
    await time.pass_seconds(10)

    assert speakers.times(ADA) == [0, 0, 0, 3, 3, 3, 6]


async def test_a_group_hears_twenty_a_minute(speakers: Speakers, time: FakeTime) -> None:
    """Telegram counts groups more strictly; in no minute may there be a twenty-first."""
    speakers.say(GROUP, 45)
    await time.pass_seconds(200)

    heard = speakers.times(GROUP)
    assert len(heard) == 45
    assert all(later - earlier > 60 for earlier, later in zip(heard, heard[20:], strict=False))
    assert heard[19] < 20


async def test_the_bot_says_thirty_a_second(speakers: Speakers, time: FakeTime) -> None:
    """All chats together have a bound too."""
    for number in range(100):
        speakers.say(str(1 + number))
    await time.pass_seconds(4)

    assert Counter(int(at) for at, _ in speakers.went) == {0: 30, 1: 30, 2: 30, 3: 10}


async def test_a_flood_delays_no_other_chat(speakers: Speakers, time: FakeTime) -> None:
    """Twenty messages to each of fifty chats wait; somebody who was quiet is answered at once all the same."""
    for number in range(50):
        speakers.say(str(1000 + number), 20)
    await time.pass_seconds(5.5)
    speakers.say(ADA)
    await time.pass_seconds(1)

    (answered,) = speakers.times(ADA)
    assert answered - 5.5 <= 1
    await time.pass_seconds(40)
    assert len(speakers.went) == 1001
    assert speakers.went[-1][0] == pytest.approx(33, abs=1)


async def test_whoever_comes_into_a_flood_waits_for_a_place_and_not_for_a_window(
    speakers: Speakers, time: FakeTime
) -> None:
    """A window whose places all go where it begins keeps a quiet chat waiting for nearly a second, every second."""
    for number in range(50):
        speakers.say(str(1000 + number), 20)
    await time.pass_seconds(6)
    for number in range(20):
        speakers.say(str(1 + number))
        await time.pass_seconds(0.31)

    waits = [speakers.times(str(1 + number))[0] - 6 - 0.31 * number for number in range(20)]
    assert max(waits) < 0.3


async def test_after_a_flood_thirty_go_at_once_again(speakers: Speakers, time: FakeTime) -> None:
    """Where there is room nobody waits for the sake of others that do not come."""
    for number in range(100):
        speakers.say(str(1000 + number))
    await time.pass_seconds(15)
    for number in range(30):
        speakers.say(str(1 + number))
    await time.pass_seconds(0)

    assert len(speakers.went) == 130


async def test_chats_take_turns(speakers: Speakers, time: FakeTime) -> None:
    """Whoever was served longest ago goes first, whoever asked first within a chat."""
    gates = Gates(TELEGRAM_RATES, time)
    order: list[str] = []

    async def say(key: str, name: str) -> None:
        await gates.wait(key)
        order.append(name)

    await asyncio.gather(*(say(str(1 + number), "filler") for number in range(30)))
    waiting = [asyncio.create_task(say(ADA, f"ada {number}")) for number in range(3)]
    waiting.append(asyncio.create_task(say(BEN, "ben 0")))
    await time.pass_seconds(2)
    await asyncio.gather(*waiting)

    assert order[30:] == ["ada 0", "ben 0", "ada 1", "ada 2"]


def test_a_stream_of_new_chats_keeps_nobody_waiting_for_ever() -> None:
    """A chat that was served a while ago counts like one that never was."""
    schedule = Schedule(Rates(chat=(Limit(1, 5.0),), bot=(Limit(2, 1.0),)))
    went: list[str] = []
    schedule.enter(Place(ADA, 0.0, lambda: None))
    schedule.next(0.0)
    schedule.enter(Place(ADA, 0.1, lambda: None))
    for second in range(6, 30):
        for number in range(3):
            schedule.enter(Place(f"{1 + second}{number}", second, lambda: None))
        while isinstance(place := schedule.next(second), Place):
            went.append(place.key)

    assert ADA in went


async def test_whoever_gives_up_frees_the_place(speakers: Speakers, time: FakeTime) -> None:
    """A cancelled turn must not use up what the next one needs."""
    speakers.say(ADA, 4)
    await time.pass_seconds(0)
    speakers.say(ADA)
    await settled()
    speakers.tasks[3].cancel()
    await time.pass_seconds(3)

    assert speakers.times(ADA) == [0, 0, 0, 3]
    assert speakers.tasks[4].done() and speakers.tasks[3].cancelled()


async def test_typing_is_left_out_when_it_would_wait(speakers: Speakers, time: FakeTime) -> None:
    """It says nothing that is worth a message's place."""
    gates = speakers.gates
    assert gates.take_if_free(ADA)
    speakers.say(ADA, 4)
    await time.pass_seconds(0)

    assert not gates.take_if_free(ADA)
    assert gates.take_if_free(BEN)
    assert speakers.times(ADA) == [0, 0, 0]


async def test_typing_counts_for_the_bot(time: FakeTime) -> None:
    """It is a call like any other."""
    gates = Gates(TELEGRAM_RATES, time)

    assert [gates.take_if_free(str(1 + number)) for number in range(31)] == [True] * 30 + [False]


async def test_an_acknowledgement_takes_no_place_of_a_chat(speakers: Speakers, time: FakeTime) -> None:
    """Thirty people who tap in one group are all answered at once."""
    speakers.say("", 30)
    await time.pass_seconds(0)

    assert speakers.times("") == [0] * 30


async def test_idle_chats_are_forgotten(time: FakeTime) -> None:
    """A bot that talks to many must not grow for ever."""
    gates = Gates(TELEGRAM_RATES, time)
    for number in range(1000):
        await gates.wait(str(1 + number))
        await time.pass_seconds(1)

    assert len(gates._schedule) <= 2 * 64


async def test_open_gates_let_everything_through(time: FakeTime) -> None:
    """Benchmarks measure us, not the bounds."""
    gates = Gates(OPEN, time)
    for _ in range(1000):
        await gates.wait(ADA)

    assert gates.take_if_free(ADA)


@given(st.lists(st.floats(0, 3), max_size=60), st.integers(1, 5), st.floats(0.5, 10))
def test_a_meter_never_lets_more_through_than_its_limit(gaps: list[float], most: int, seconds: float) -> None:
    """Whatever comes when: in no stretch of that length are there more."""
    meter, now, went = Meter((Limit(most, seconds),)), 0.0, []
    for gap in gaps:
        now += gap
        now += max(meter.wait(now), 0.0)
        meter.count(now)
        went.append(now)

    pairs = zip(went, went[most:], strict=False)
    assert all(later - earlier >= seconds - 1e-6 for earlier, later in pairs)


def test_a_pause_is_the_chats_until_several_are_told() -> None:
    """Telegram does not say what a 429 is for. One busy chat must not silence the others; three mean the bot."""
    pauses = Pauses()

    assert not pauses.told(ADA, 20, now=100)
    assert pauses.left(ADA, 105) == Pause(15, everywhere=False)
    assert pauses.left(BEN, 105) == Pause(0, everywhere=False)
    assert not pauses.told(ADA, 5, now=106)
    assert pauses.left(ADA, 106).seconds == 14
    assert not pauses.told(BEN, 5, now=107)
    assert pauses.told(GROUP, 30, now=108)
    assert pauses.left("789", 110) == Pause(28, everywhere=True)
    assert pauses.left("789", 139) == Pause(0, everywhere=False)


def test_old_refusals_do_not_add_up() -> None:
    """Three chats in an hour are three busy chats."""
    pauses = Pauses()

    assert not any(pauses.told(str(number), 1, now=100.0 + 20 * number) for number in range(10))
