"""`hikae …` under `display.language: ja`: nobody who reads Japanese meets a sentence of English."""

import re
from dataclasses import dataclass

import pytest

from gateway import app, broker
from gateway.cli.cells import cells
from gateway.conversation.access import owner_space
from gateway.memory import backup
from gateway.store import reviews
from tests.flows.test_cli import AT, Machine, Ran, add, machine, stage
from tests.flows.test_cli_sessions import learnt, talk

__all__ = ["machine"]

SENTENCE = re.compile(
    r"\b(?:is|are|was|were|the|there|it|no|not|of|to|with|and|this|that|you|runs?|has|have|in)\b", re.I
)
"""Words that a sentence of English does not do without."""
NAMED = re.compile(
    r"This conversation began.*|`[^`]*`|/tmp/\S*|\S+\.\S+|--\w[\w-]*|\b[A-Z_]{4,}\b|HIKAE\S*|chmod \d+"
)
"""Commands, files, settings and ids, which stay as they are in every language."""
HALF = re.compile("[\u3040-\u30ff\u4e00-\u9fff][,:;?!](?!//)|[,:;?!][\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True)
class Lived:
    """A home somebody has lived in, and the first conversation there."""

    machine: Machine
    session: str

    def hikae(self, command: str) -> Ran:
        return self.machine.hikae(*(word.replace("SESSION", self.session) for word in command.split(" ")))


@pytest.fixture
def home(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Lived:
    """A home in which there is something of everything."""
    monkeypatch.setattr(broker, "find_server", lambda: "/usr/bin/redis-server")
    monkeypatch.setattr(broker, "own_problem", lambda _: "")
    machine.configure("display: {language: ja}\nauxiliary: {background_review: {daily_tokens: 1000}}\n")
    core = app.open_core(machine.home)
    session = talk(core, "リューセシルで蜂を飼っている", "いいですね")
    learnt(core, session, "リューセシルで蜂を飼っている")
    talk(core, "お茶が好き", "分かりました", title="お茶の話")
    stage(core, add("犬の名前はルーファス"))
    with core.db.write() as tx:
        reviews.make_due(tx, session.id, owner_space(tx, AT).id, 1, 1, "asked", AT)
    backup.create(core.db, machine.home, core.clock, 3)
    core.close()
    return Lived(machine, session.id)


def english_in(ran: Ran) -> list[str]:
    """The lines that read like English, or in which Japanese has the marks of English."""
    lines = (ran.out + ran.err).splitlines()
    return [line for line in lines if SENTENCE.search(NAMED.sub("", line)) or HALF.search(NAMED.sub("", line))]


@pytest.mark.parametrize(
    "command",
    [
        "status",
        "doctor",
        "usage",
        "usage --days 1",
        "sessions list",
        "sessions show SESSION",
        "sessions search 蜂",
        "sessions search 象",
        "sessions title SESSION 蜂の話",
        "sessions title SESSION ",
        "sessions export SESSION --format markdown",
        "sessions delete SESSION --dry-run",
        "sessions delete SESSION --with-entries --dry-run",
        "sessions delete SESSION --yes",
        "sessions prune --containing 象",
        "reviews list",
        "reviews retry",
        "backup list",
        "backup create",
        "backup verify",
        "backup verify nowhere",
        "config check",
        "prompt-size",
        "pair list",
        "pair code",
        "memory show",
        "memory pending",
        "memory log",
        "memory approve 2",
        "memory undo",
        "memory edit 2 犬の名前はレックス",
        "receipts",
        "forget 蜂を飼っている --dry-run",
        "forget 蜂を飼っている --yes",
        "forget 蜂を飼っている --verify",
        "forget 象を飼っている --verify",
        "forget --everything --dry-run",
        "journey",
        "skills list",
    ],
)
def test_no_command_answers_half_in_english(home: Lived, command: str) -> None:
    """A table of English heads over Japanese rows, or an English sentence beside a Japanese one."""
    ran = home.hikae(command)

    assert ran.out + ran.err
    assert english_in(ran) == []


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("sessions delete SESSION", "会話1件（メッセージ2件）を削除しますか？"),
        ("forget 蜂を飼っている", "忘れますか？"),
        ("forget --everything", "スペース owner のすべてを消しますか？"),
    ],
)
def test_what_cannot_be_taken_back_is_asked_in_japanese(home: Lived, command: str, asks: str) -> None:
    """Nobody should say yes to what they cannot read."""
    ran = home.hikae(command)

    assert (ran.code, asks in ran.err) == (1, True)


def test_what_machines_read_is_the_same_in_every_language(home: Lived) -> None:
    """A script that looks for a state or a problem must not depend on who reads along."""
    japanese = {name: home.hikae(f"{name} --json").json for name in ("status", "doctor", "usage")}
    home.machine.configure("display: {language: en}\nauxiliary: {background_review: {daily_tokens: 1000}}\n")

    english = {name: home.hikae(f"{name} --json").json for name in ("status", "doctor", "usage")}

    assert japanese["status"]["problems"] == english["status"]["problems"] != []
    assert [one["message"] for one in japanese["doctor"] if one["check"] not in ("disk", "database")] == [
        one["message"] for one in english["doctor"] if one["check"] not in ("disk", "database")
    ]


def test_a_table_stands_under_its_heads(home: Lived) -> None:
    """Japanese takes two cells of a terminal: counted in characters, nothing stands under its head."""
    head, *rows = home.hikae("sessions list").out.splitlines()

    before = cells(head[: head.index("題名")])
    assert [cells(re.split("お茶|「", row)[0]) for row in rows] == [before] * 2
