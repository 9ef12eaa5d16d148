"""What tools said: JSON, as it came."""

import json

import pytest

from gateway.home import Home
from gateway.memory.forgetting import Forgetting, Scope
from gateway.records import Role
from gateway.store import messages
from gateway.store.db import Database
from tests.store.given import StillClock, keep, session
from tests.store.remembering import OWNER, Remembering


@pytest.mark.parametrize("before", ["\n", "tea\n\n", "\t", "tea\r\n", ""])
@pytest.mark.parametrize("words", ["Quillfeather bakery", "Quillfeather\nbakery", "千代田区の鯨"])
def test_a_line_of_a_tools_result_is_cut(
    home: Home, db: Database, clock: StillClock, before: str, words: str
) -> None:
    """In JSON a word that begins a line has a letter before it: the index knows it as another word."""
    kept = Remembering(db, home, clock)
    said = json.dumps({"success": True, "text": f"{before}{words} opens at six"}, ensure_ascii=False)
    with db.write() as tx:
        opened = session(tx, turns=1)
        keep(tx, "what does the skill say?", session=opened.id, turn=1)
        id = keep(tx, said, role=Role.TOOL, session=opened.id, turn=1, tool_call_id="c1", tool_name="skill")
    forgetting = Forgetting(db, home, clock, kept.settings, kept.memory)

    assert forgetting.go_on(forgetting.forget(kept.space, Scope((words,)), OWNER))

    with db.read() as rd:
        assert json.loads(messages.get(rd, id).text) == {
            "success": True,
            "text": f"{before}(forgotten) opens at six",
        }
