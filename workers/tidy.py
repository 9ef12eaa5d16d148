"""A tidy: ask the model how a memory file can be made smaller, and commit what it wants as one write.

Reads, thinks, commits. It changes nothing before the end. What is asked and how the answer is judged is
`memory.tidying`, what becomes of it `memory.tidiness`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway import failpoints, transcript
from gateway.memory import tidying, tool_results
from gateway.memory.tidiness import Committed, Found, Tidies
from gateway.ports import Clock, Model, ModelAnswer
from gateway.records import Space, Tidy, Usage
from gateway.store import tidies
from gateway.store.db import Database


class Useless(Exception):
    """The model's answer cannot be carried out; `reason` is a key of the catalog."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Tidier:
    """Does one tidy. `used` is what it has cost so far, however it ends."""

    db: Database
    tidies: Tidies
    clock: Clock
    job: str
    used: list[Usage] = field(default_factory=list)

    async def tidy(self, model: Model, claimed: Tidy) -> Committed:
        """From the claim to the commit. Raises Useless, and what keeps the model, the store or the file from it."""
        found = self.tidies.look(claimed)
        wanted: tidying.Plan | tidying.Nothing | None = tidying.Nothing()
        if found.basis.offered():
            wanted = await self._think(model, claimed, found)
        failpoints.reach("tidy.thought")
        return Committed.VOID if wanted is None else self.tidies.commit(claimed, found, wanted, self.used)

    async def _think(self, model: Model, claimed: Tidy, found: Found) -> tidying.Plan | tidying.Nothing | None:
        """What the model wants; None when the claim was lost meanwhile."""
        request = tidying.request(found.basis)
        bad = tidying.Bad(tidying.UNREADABLE, "")
        for _ in range(tidying.MOST_TRIES):
            if not self._still_ours(claimed):
                return None
            answer = await model.think(request)
            self._count(model, found.space, answer)
            read = tidying.read(answer, found.basis)
            if not isinstance(read, tidying.Bad):
                return read
            bad = read
            if bad.final:
                break
            request = transcript.next_round(request, answer, _results(answer, bad))
        raise Useless(bad.reason)

    def _still_ours(self, claimed: Tidy) -> bool:
        with self.db.read() as rd:
            now = tidies.find(rd, claimed.id)
        return now is not None and (now.status, now.claim) == ("running", claimed.claim)

    def _count(self, model: Model, space: Space, answer: ModelAnswer) -> None:
        self.used.append(answer.tokens.paid("tidy", model.name, self.clock.now(), space=space.id, job=self.job))


def _results(answer: ModelAnswer, bad: tidying.Bad) -> Sequence[str]:
    return [tool_results.refusal(bad.told) for _ in answer.tool_calls]
