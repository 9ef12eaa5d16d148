"""/skills and `hikae skills`, on a real home (design.md 6.3, 6.4, 6.7, 6.8)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway import cli, words
from gateway.chat import Chat, Person
from gateway.conversation import commands, notices, skillcard
from gateway.conversation.access import Standing
from gateway.conversation.cardtext import Around, Decider
from gateway.conversation.commands import shapes
from gateway.conversation.commands.call import Call, Said, Services
from gateway.core import Core, open_core, services_of
from gateway.errors import NotFound, Refused
from gateway.home import Home
from gateway.records import Message, Outgoing, Role, Space, Status
from gateway.store import messages, writes
from tests.store import given
from tests.store.given import NINE, StillClock
from tests.store.remembering import Remembering, add
from tests.store.skilful import DELETE, OWNER, PRINTER, Skilful, create, main_file, patch

ANNA, BEN = Person("telegram", "123"), Person("telegram", "7")
HERE, GROUP = Chat("telegram", "123"), Chat("telegram", "-100200")


class Owner:
    """Somebody who types commands into a chat."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.services: Services = services_of(core, "offline")
        self.bot = Skilful(core.db, core.home, StillClock(), core.loaded.settings)

    def says(
        self,
        text: str,
        *,
        chat: Chat = HERE,
        person: Person = ANNA,
        space: Space | None = None,
        private: bool = True,
    ) -> str:
        """Run a command and render its answer."""
        standing = Standing.OWNER if person == ANNA else Standing.ALLOWED
        where = space or self.bot.space
        with self.core.db.write() as tx:
            id = messages.keep(
                tx,
                messages.NewMessage(
                    space=where.id, chat=chat, person=person.key, role=Role.COMMAND, text=text, at=NINE
                ),
            )
            assert id is not None
            message: Message = messages.get(tx, id)
        name, rest = commands.parse(text) or ("", "")
        call = Call(message, person, standing, where, name, tuple(rest.split()), rest, private)
        said = commands.TABLE[name].act(self.services, call)
        if said.commit:
            with self.core.db.write() as tx:
                said.commit(tx)
        return self._rendered(said, chat, where)

    def _rendered(self, said: Said, chat: Chat, space: Space) -> str:
        row = Outgoing(
            1, "d", "answer", chat, space.id, "t", None, said.write, None, None, said.values, "", "", "waiting", 0,
            NINE, NINE,
        )  # fmt: skip
        self.kept = repr(said.values)
        if said.key in commands.VIEWS:
            return commands.VIEWS[said.key](self.services, row, "en")
        return words.text(said.key, "en", **said.values)


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    home = Home(tmp_path / "home")
    home.path.mkdir(mode=0o700)
    home.config.write_text("access: {owners: ['telegram:123'], allowed: ['telegram:7']}\n")
    core = open_core(home, StillClock())
    try:
        yield Owner(core)
    finally:
        core.close()


# -- in a chat ---------------------------------------------------------------------------------------------


def test_the_list_names_each_skill_and_what_is_wrong(owner: Owner) -> None:
    """Escaped: a description is somebody's words."""
    assert owner.says("/skills") == "There are no skills yet."
    owner.bot.by_hand("printer", PRINTER.replace("restart", "*restart*"))
    owner.bot.by_hand("empty", "x", "a.md")
    assert owner.says("/skills").split("\n") == [
        "Skills: 2",
        "• empty",
        "⚠️ it has no SKILL.md",
        r"• printer: How to \*restart\* the printer\.",
    ]


def test_a_skill_is_shown_as_it_is_and_its_name_is_kept_nowhere(owner: Owner) -> None:
    """An outbox row holds no words; a long one is cut and says so."""
    owner.bot.by_hand("printer", main_file("printer", body="# Title\n    code"))
    owner.bot.by_hand("printer", "x", "refs/a.md")
    said = owner.says("/skills show printer")
    assert "\n\\# Title\n\u00a0\u00a0\u00a0\u00a0code\nFurther files: refs/a\\.md" in said
    assert "printer" not in owner.kept
    owner.bot.by_hand("printer", main_file("printer", body="x" * 5000))
    assert "`hikae skills show` prints all" in owner.says("/skills show printer")
    with pytest.raises(NotFound):
        owner.says("/skills show scanner")
    with pytest.raises(NotFound):
        owner.says("/skills show ../skills/printer")


def test_what_waits_is_listed_shown_and_decided(owner: Owner) -> None:
    """From the list to the file."""
    owner.bot.done("printer", create())
    id = owner.bot.stage("printer", patch("2. Wait.", "2. Wait ten seconds."), None)
    assert owner.says("/skills pending").split("\n") == [
        "Waiting for your yes: 1",
        rf'{id} patch printer: "2\. Wait\." → "2\. Wait ten seconds\."',
        "/skills diff ID · /skills approve ID…|all · /skills reject ID…|all",
    ]
    assert r"\-2\. Wait\." in owner.says(f"/skills diff {id}")
    assert owner.says(f"/skills approve {id}").startswith(f"{id} ✓ done: patch printer")
    assert "ten seconds" in (owner.bot.file("printer") or "")
    with pytest.raises(Refused, match="No change to a skill"):
        owner.says("/skills approve all")


@pytest.mark.parametrize(
    "odd",
    [
        {"operations": '[{"action":"add","content":"x"}]'},
        {"operations": '[{"action":"batch"}]'},
        {"operations": '[{"action":"delete"},{"action":"delete"}]'},
        {"flags": '["flag.of_tomorrow"]'},
        {"created_at": "yesterday", "expires_at": "", "places": "[1e400]"},
    ],
)
def test_an_odd_row_hides_nothing_and_is_shown_as_far_as_it_can_be(owner: Owner, odd: dict[str, str]) -> None:
    """A row of another version, whatever it says."""
    odd_one = owner.bot.stage("printer", create(), None)
    good = owner.bot.stage("scanner", create(main_file("scanner")), None)
    with owner.core.db.write() as tx:
        for column, value in odd.items():
            tx.execute(f"UPDATE writes SET {column} = ? WHERE id = ?", (value, odd_one))
    assert owner.says("/skills pending").startswith("Waiting for your yes: 2")
    owner.says(f"/skills diff {odd_one}")
    owner.says("/memory log")
    skillcard.card(owner.bot.row(odd_one), shown_on("telegram"), Around(), "en")
    owner.says("/skills approve all")
    assert owner.bot.status(good) is Status.APPLIED


def test_a_long_list_is_cut_and_says_so(owner: Owner) -> None:
    """Thousands that wait are no reason to send a hundred messages."""
    with owner.core.db.write() as tx:
        for number in range(300):
            new = given.proposal(
                tx, kind="skill", target=f"skill:s{number}", dedupe=str(number),
                operations=(create(main_file(f"s{number}")),), space=owner.bot.space.id,
            )  # fmt: skip
            writes.born(tx, new)
    lines = owner.says("/skills pending").split("\n")
    assert len(lines) == notices.MOST_LISTED + 3
    assert lines[0] == "Waiting for your yes: 300"
    assert lines[-2].startswith("… and 260 more")


def test_all_means_skills_here_and_memory_there(owner: Owner) -> None:
    """Nobody says yes to what the list did not show."""
    memory = Remembering(owner.core.db, owner.core.home, StillClock()).stage(add("Lives in Bergen"))
    skill = owner.bot.stage("printer", create(), None)

    assert owner.says("/memory pending").count("\n") == 2 and "Bergen" in owner.says("/memory pending")
    owner.says("/skills reject all")
    assert (owner.bot.status(skill), owner.bot.status(memory)) == (Status.REJECTED, Status.STAGED)

    other = owner.bot.stage("scanner", create(main_file("scanner")), None)
    owner.says("/memory approve all")
    assert (owner.bot.status(other), owner.bot.status(memory)) == (Status.STAGED, Status.APPLIED)
    with pytest.raises(NotFound, match="is about memory"):
        owner.says(f"/skills diff {memory}")


def test_another_person_sees_and_decides_only_their_own(owner: Owner) -> None:
    """Forged ids: what is of another space is unknown."""
    mine = owner.bot.stage("printer", create(), None)
    ben: dict[str, Any] = {"person": BEN, "chat": Chat("telegram", "7"), "space": owner.bot.other}
    for command in (f"/skills diff {mine}", f"/skills approve {mine}", f"/skills reject {mine}"):
        try:
            said = owner.says(command, **ben)
        except NotFound as refused:
            said = str(refused)
        assert said.startswith(f"There is no write {mine}.")
    assert owner.says("/skills pending", **ben) == "No change to a skill waits for your yes."
    assert owner.says("/skills", **ben) == "There are no skills yet."
    assert owner.bot.status(mine) is Status.STAGED


def test_the_owner_in_private_sees_and_decides_in_every_space(owner: Owner) -> None:
    """7.1; each is named."""
    id = owner.bot.stage("printer", create(), None, space=owner.bot.other)
    assert r"(telegram\-7)" in owner.says("/skills pending")
    assert owner.says(f"/skills approve {id}").startswith(f"{id} ✓ done")
    assert owner.bot.file("printer", space=owner.bot.other) == PRINTER


@pytest.mark.parametrize("text", ["/skills dance", "/skills show", "/skills show a b"])
def test_a_slip_is_answered_with_what_there_is(owner: Owner, text: str) -> None:
    """Nobody reads a manual."""
    with pytest.raises(Refused, match="Use /skills"):
        owner.says(text)


@pytest.mark.parametrize("text", ["/skills approve", "/skills approve x", "/skills diff 1 2", "/skills diff"])
def test_ids_are_numbers(owner: Owner, text: str) -> None:
    """With the commands of skills in the hint."""
    with pytest.raises(Refused, match=r"(a number such as 17|/skills diff 17).*/skills pending"):
        owner.says(text)


def test_approval_is_switched_for_this_space(owner: Owner) -> None:
    """And said."""
    assert owner.says("/skills approval").startswith("Skills are changed without asking")
    assert owner.says("/skills approval on").startswith("Changes of skills wait for your yes")
    assert owner.says("/skills approval").startswith("Changes of skills wait for your yes")
    with pytest.raises(Refused):
        owner.says("/skills approval maybe")


def test_the_menu_shows_the_parts(owner: Owner) -> None:
    """On Discord a command with parts has `list`."""
    parts = [part.name for part in shapes.SHAPES["skills"].parts]
    assert parts == ["list", "show", "pending", "diff", "approve", "reject", "approval"]


def test_the_notice_names_the_skill(owner: Owner) -> None:
    """At `verbose` with what changed; words are cut and escaped."""
    owner.bot.done("printer", create())
    write = owner.bot.row(owner.bot.done("printer", patch("2. Wait.", "2. *Wait* " + "x" * 200)))
    on, verbose = (notices.notice([write], verbosity, "en") for verbosity in ("on", "verbose"))
    assert on is not None and on.text == "💾 Skill 'printer' patched"
    assert verbose is not None
    assert verbose.text.startswith(r"""💾 Skill 'printer' patched: "2\. Wait\." → "2\. \*Wait\* xxx""")
    assert verbose.text.endswith('x…"')


# -- on the command line -----------------------------------------------------------------------------------


class Shell:
    def __init__(self, home: Home, captured: pytest.CaptureFixture[str]) -> None:
        self.home, self.captured = home, captured

    def hikae(self, *arguments: str) -> tuple[int, str]:
        self.captured.readouterr()
        code = cli.main(["--home", str(self.home.path), "skills", *arguments])
        said = self.captured.readouterr()
        return code, said.out or said.err

    def json(self, *arguments: str) -> Any:
        return json.loads(self.hikae(*arguments, "--json")[1])


@pytest.fixture
def shell(owner: Owner, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(owner.core.home, capsys)


def test_the_command_line_lists_shows_decides_and_restores(owner: Owner, shell: Shell) -> None:
    """The same functions as in the chat."""
    id = owner.bot.stage("printer", create(), None)
    assert shell.hikae("list") == (0, "There are no skills yet.\n")
    assert shell.hikae("pending")[1].split("\n")[1] == f'{id} create printer: "How to restart the printer."'
    code, shown = shell.hikae("diff", str(id))
    assert (code, shown.split("\n")[1:4]) == (0, ["--- /dev/null", "+++ printer/SKILL.md", "@@ -0,0 +1,7 @@"])
    assert shell.hikae("approve", str(id)) == (0, f'{id} ✓ done: create printer: "How to restart the printer."\n')
    assert shell.hikae("show", "printer") == (0, PRINTER)
    assert "printer  How to restart the printer." in shell.hikae("list")[1]
    owner.bot.done("printer", DELETE)
    assert shell.hikae("show", "printer")[0] == 1
    assert shell.hikae("restore", "printer")[0] == 0
    assert owner.bot.file("printer") == PRINTER
    assert shell.hikae("restore", "printer") == (1, "There is no such skill in the archive (skills/.archive).\n")


def test_every_listing_has_json(owner: Owner, shell: Shell) -> None:
    """One JSON value and nothing else."""
    assert shell.json("list") == shell.json("pending") == []
    owner.bot.done("printer", create())
    id = owner.bot.stage("printer", patch("Wait", "Go"), None)
    assert shell.json("list") == [
        {
            "name": "printer",
            "space": "owner",
            "description": "How to restart the printer.",
            "offered": True,
            "problems": [],
        }
    ]
    assert shell.json("show", "printer")["files"] == [{"path": "SKILL.md", "bytes": len(PRINTER)}]
    [row] = shell.json("pending")
    assert (row["id"], row["kind"], row["target"], row["action"], row["content"], row["old_text"]) == (
        id, "skill", "printer", "patch", "Go", "Wait",
    )  # fmt: skip
    assert shell.json("diff", str(id))["diff"].endswith("\n-2. Wait.\n+2. Go.")
    assert shell.json("reject", str(id))[0]["done"] is True
    assert shell.json("approve", str(id))["error"]["kind"] == "AlreadyDecided"
    assert shell.json("show", "scanner")["error"]["kind"] == "NotFound"
    assert shell.json("approval", "on") == {"space": "owner", "approval": True}


@pytest.mark.parametrize("id", ["0", "-1", str(10**20), "１７", "17; drop"])
@pytest.mark.parametrize("command", ["diff", "approve", "reject"])
def test_a_forged_number_is_refused(shell: Shell, command: str, id: str) -> None:
    """Whatever somebody types, there is an answer and no traceback."""
    code, said = shell.hikae(command, "--", id)
    assert (code, said.count("\n")) == (1, 1)
    assert said.startswith(("There is no write 0.", "Say which: "))


def test_what_a_terminal_would_obey_is_shown_as_a_sign(owner: Owner, shell: Shell) -> None:
    """A skill by hand may hold escapes that move the cursor."""
    owner.bot.by_hand("printer", PRINTER + "\x1b[2Jgone\n")
    assert "\x1b" not in shell.hikae("show", "printer")[1]


def test_every_word_is_said_in_a_group_only_as_a_count(owner: Owner) -> None:
    """The words of what waits go to the owner's private chat."""
    with owner.core.db.write() as tx:
        given.space(tx)
        tx.execute(
            "INSERT INTO chats (platform, id, space, private) VALUES ('telegram', '-100200', ?, 0)",
            (owner.bot.space.id,),
        )
    id = owner.bot.stage("printer", create(), None)
    said = owner.says("/skills pending", chat=GROUP, private=False)
    assert said == "Waiting for your yes: 1\nThey are shown in the owner's private chat."
    assert (
        owner.says(f"/skills diff {id}", chat=GROUP, private=False) == "They are shown in the owner's private chat."
    )


def test_who_decided_is_kept(owner: Owner) -> None:
    """The ledger says who and through what."""
    id = owner.bot.stage("printer", create(), None)
    owner.says(f"/skills approve {id}")
    assert owner.bot.row(id).decided_by == OWNER
    assert owner.bot.row(id).decided_in is not None


# -- cards -------------------------------------------------------------------------------------------------


def shown_on(platform: str) -> Outgoing:
    return Outgoing(
        1, "d", "card", Chat(platform, "1"), 1, "tok", None, 1, None, None, {"redrawn": 0}, "", "", "waiting", 0,
        NINE, NINE,
    )  # fmt: skip


def test_a_card_shows_the_diff_the_reason_and_the_buttons(owner: Owner) -> None:
    """The diff shown is the diff applied."""
    owner.bot.done("printer", create())
    id = owner.bot.stage("printer", patch("2. Wait.", "2. *Go*."), None, foreign=("2. *Go*.",))
    card = skillcard.card(owner.bot.row(id), shown_on("telegram"), Around(elsewhere=True, several=True), "en")
    lines = card.text.split("\n")
    assert lines[:2] == [f"🗂 May I change a skill? {id} · patch the skill printer", "For the space owner"]
    assert lines[-4:-2] == [r"\-2\. Wait\.", r"\+2\. \*Go\*\."]
    assert lines[-1] == "⚠️ it does not say whether it rests on your words or on somebody else's"
    assert [[each.label for each in row] for row in card.buttons] == [
        ["Approve", "Reject"],
        ["Approve all", "Reject all"],
    ]


@pytest.mark.parametrize(("platform", "most"), [("telegram", 4096), ("discord", 2000)])
def test_a_card_is_one_message_however_long_the_diff(owner: Owner, platform: str, most: int) -> None:
    """What has no room is counted, and where to see it is said."""
    id = owner.bot.stage("printer", create(main_file("printer", body="*_[]\n    😀\n" * 3000)), None)
    card = skillcard.card(owner.bot.row(id), shown_on(platform), Around(), "en")
    assert len(card.text.encode("utf-16-le")) // 2 <= most
    assert f"`hikae skills diff {id}` prints all)" in card.text


def test_a_decided_card_says_what_became_of_it(owner: Owner) -> None:
    """A rejected one without the words."""
    nobody = Decider("", "", "")
    row = shown_on("telegram")
    rejected = owner.bot.stage("printer", create(), None)
    owner.bot.skills.reject(rejected, OWNER)
    assert skillcard.decided(owner.bot.row(rejected), row, nobody, "en").text == f"✗ {rejected} was rejected."
    done = owner.bot.stage("printer", create(), None, dedupe="again")
    owner.bot.skills.approve(done, OWNER)
    said = skillcard.decided(owner.bot.row(done), row, nobody, "en")
    assert said.text.startswith('✓ create printer: "How to restart the printer\\."')
    owner.bot.skills.undo(done, OWNER)
    assert skillcard.decided(owner.bot.row(done), row, nobody, "en").text.startswith("↩ Taken back: create printer")
    failed = owner.bot.stage("printer", create(), None, dedupe="third")
    owner.bot.by_hand("printer", "mine")
    owner.bot.skills.approve(failed, OWNER)
    said = skillcard.decided(owner.bot.row(failed), row, nobody, "en")
    assert said.text.startswith(f"{failed} could not be done: There is something with this name already.")
