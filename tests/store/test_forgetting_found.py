"""Words are found where the search index does not hold them."""

import json
from pathlib import Path

import pytest

from gateway.home import Home
from gateway.memory.forgetting import Forgetting, Scope
from gateway.records import Role, ToolCall
from gateway.store import messages, people
from gateway.store.db import Database
from tests.store.given import StillClock, keep, session
from tests.store.remembering import OWNER, Remembering

JAPANESE = "千代田区の鯨の隠れ家"
ACCENTED = "Café Zürich"


@pytest.fixture
def bot(db: Database, home: Home, clock: StillClock) -> Remembering:
    return Remembering(db, home, clock)


def forget(bot: Remembering, text: str) -> None:
    forgetting = Forgetting(bot.db, bot.home, bot.clock, bot.settings, bot.memory)
    assert forgetting.go_on(forgetting.forget(bot.space, Scope((text,)), OWNER))


def everything_in(path: Path) -> bytes:
    return b"".join(one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file())


@pytest.mark.parametrize("words", [JAPANESE, ACCENTED])
def test_what_a_tool_said_in_escapes_is_found(bot: Remembering, words: str) -> None:
    """Many programs write JSON in ASCII: for the index that is other words."""
    call = ToolCall("c1", "weather", "{}")
    with bot.db.write() as tx:
        opened = session(tx).id
        keep(tx, "", role=Role.ASSISTANT, session=opened, turn=1, tool_calls=(call,))
        result = keep(
            tx,
            json.dumps({"at": words, "degrees": 3}),
            role=Role.TOOL,
            session=opened,
            turn=1,
            tool_call_id="c1",
            tool_name="weather",
        )

    forget(bot, words)

    with bot.db.read() as rd:
        assert messages.get(rd, result).text == '{"at": "(forgotten)", "degrees": 3}'
    assert json.dumps(words)[1:-1].encode() not in everything_in(bot.home.path)


@pytest.mark.parametrize("waits", [True, False])
def test_what_is_said_incognito_is_found(bot: Remembering, waits: bool) -> None:
    """It goes when its conversation ends; that may be tomorrow."""
    with bot.db.write() as tx:
        opened = session(tx).id
        tx.execute("UPDATE sessions SET incognito = 1")
        told = {} if waits else {"session": opened, "turn": 1, "done": "answered"}
        said = keep(tx, f"I saw {JAPANESE}です", **told)
        tx.execute("DELETE FROM unindexed")

    forget(bot, JAPANESE)

    with bot.db.read() as rd:
        assert messages.get(rd, said).text == "I saw (forgotten)です"


def test_another_spaces_waiting_words_stay(bot: Remembering) -> None:
    """What is looked at besides the index is looked at in one space only."""
    with bot.db.write() as tx:
        ben = people.ensure_space(tx, "telegram-456", "person", "telegram:456", bot.clock.now())
        said = keep(tx, f"I saw {JAPANESE}", space=ben.id, person="telegram:456")

    forget(bot, JAPANESE)

    with bot.db.read() as rd:
        assert messages.get(rd, said).text == f"I saw {JAPANESE}"
