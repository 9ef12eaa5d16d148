"""What a person sees who talks in a terminal, as real processes: each thing once, and no bare marks."""

import os
import pty
import re
import select
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fakes.model import ModelServer
from tests.processes import Machine, machine, until

pytestmark = pytest.mark.processes

_MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""What moves the cursor or changes colours."""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Machine]:
    with machine(tmp_path) as one:
        one.configure(model="provider: offline", memory="nudge_interval: 0")
        yield one


def piped(here: Machine, *lines: str) -> str:
    """Everything that these lines bring about."""
    done = here.run("chat", "--no-review", given="".join(f"{line}\n" for line in lines))
    return done.stdout + done.stderr


def test_what_is_taken_back_by_a_command_is_said_once(here: Machine) -> None:
    """The notice would change on a phone; here it would be a second line that says the same."""
    shown = piped(here, "remember that I live in Bergen", "/memory undo")

    assert '↩ 1 taken back: "Lives in Bergen"' in shown
    assert "Taken back" not in shown


def test_why_a_secret_is_not_kept_is_said_once(here: Machine) -> None:
    """By the house, in the language of the chat; the model says only that it did not."""
    shown = piped(here, "remember my API key is sk-abcdefghijklmnopqrstuvwxyz123456", "/memory log")

    assert shown.count("It holds a key, a password or a card number.") == 1
    assert "I have not saved it.\n" in shown
    assert "1 ✗ refused: add to USER (owner) (a secret; not kept)" in shown


def test_a_terminal_is_no_home(here: Machine) -> None:
    """Cards would go where nobody looks any more; help does not offer it."""
    shown = piped(here, "/home", "/help")

    assert "A terminal comes and goes, so it cannot be your home." in shown
    assert "/home —" not in shown


def test_somebody_at_a_screen_reads_plain_words_in_their_language(here: Machine) -> None:
    """Asterisks and fences are for apps that show them; the prompt follows display.language."""
    with ModelServer() as server:
        server.answers("**Lovely**:\n\n```sh\nls -l\n```\n\nDone.")
        here.configure(
            model=f"provider: openai, name: fake-1, base_url: '{server.url}'", display="language: ja", memory=""
        )
        with Screen(here) as screen:
            screen.waits_for("あなた>")
            screen.types("hello")
            screen.waits_for("Done.")

            assert "モデル fake-1" in screen.shown
            assert "Lovely:" in screen.shown and "ls -l" in screen.shown
            assert "**" not in screen.shown and "```" not in screen.shown


def test_the_questions_of_a_terminal_follow_the_language_of_its_chat(here: Machine) -> None:
    """Chosen a line before: a card in Japanese over a question in English looks broken."""
    here.configure(memory="write_approval: true")
    with Screen(here) as screen:
        screen.waits_for("you>")
        screen.types("/language ja")
        screen.waits_for("display.language: ja")
        screen.waits_for("あなた>")
        screen.types("ベルゲンに住んでいることを覚えて")
        screen.waits_for("承認 [y]、却下 [n]、編集 [e]、あとで [l]")
        screen.types("e")
        screen.waits_for("新しい内容>")
        screen.types("")

        assert "[y]es" not in screen.shown


def test_what_leaves_at_once_names_commands_of_the_shell(here: Machine) -> None:
    """After `hikae chat -q` the next thing typed is read by a shell, which knows no /memory."""
    here.configure(memory="write_approval: true")
    done = here.run("chat", "--no-review", "-q", "remember that I live in Bergen")

    assert "hikae memory approve 1 · hikae memory reject 1" in done.stderr
    assert "/memory" not in done.stdout + done.stderr
    assert "/memory approve 2 · /memory reject 2" in piped(here, "remember that I live in Oslo")


def test_who_starts_a_terminal_is_not_greeted_with_what_was_forgotten(here: Machine) -> None:
    """The cards it was on were in a terminal that has gone: there is nothing left to change."""
    here.configure(memory="write_approval: true")
    piped(here, "remember that I play the cello")
    forgotten = here.run("forget", "play the cello", "--yes")
    greeted = piped(here, "hello")

    assert "✓ Forgotten" in forgotten.stdout
    assert "forgotten" not in greeted


def test_an_export_says_where_it_lies(here: Machine) -> None:
    """Not everybody knows where the home is."""
    folder = here.home.exports / "owner"

    assert f"Written to {folder}/hikae-owner-" in piped(here, "hello", "/export")


def test_a_hit_is_left_out_of_a_forget_by_its_number(here: Machine) -> None:
    """Hits are numbered: "1" must never be the yes that erases them all, and a plan that changed is asked again."""
    here.configure(memory="")
    piped(here, "/remember Has a boat in Lysekil", "/remember Knows Per of Lysekil")
    with Screen(here) as screen:
        screen.waits_for("you>")
        screen.types("/forget Lysekil")
        screen.waits_for("numbers leave out")
        screen.types("1")
        screen.waits_for("☐ 1")
        assert "Lysekil" in piped(here, "/memory")

        screen.types("y")
        screen.waits_for("✓ Forgotten (receipt 1).")

    assert "Has a boat in Lysekil" in piped(here, "/memory")
    left = piped(here, "/memory", "/memory log")
    assert "Knows Per" not in left
    assert "add to MEMORY (owner) (forgotten)" in left
    assert "a secret" not in left


class Screen:
    """`hikae chat` in a terminal of its own, and somebody who looks at it and types."""

    def __init__(self, here: Machine) -> None:
        self.shown = ""
        self._bytes = b""
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            here._command(("chat", "--no-review")),
            env={**here._environment({}), "TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, *_: object) -> None:
        until(self._has_left)
        os.close(self._ours)

    def types(self, line: str) -> None:
        os.write(self._ours, line.encode() + b"\r")

    def waits_for(self, text: str) -> None:
        def is_there() -> bool:
            self._read()
            return text in self.shown

        until(is_there)

    def _has_left(self) -> bool:
        """Ctrl-D at every question."""
        with suppress(OSError):
            os.write(self._ours, b"\x04")
        self._read()
        return self._process.poll() is not None

    def _read(self) -> None:
        while select.select([self._ours], [], [], 0)[0]:
            try:
                found = os.read(self._ours, 65536)
            except OSError:  # the other end is closed
                return
            if b"\x1b[6n" in found:
                os.write(self._ours, b"\x1b[1;1R")  # where the cursor is
            self._bytes += found
            self.shown = _MOVES.sub("", self._bytes.decode("utf-8", "ignore"))
