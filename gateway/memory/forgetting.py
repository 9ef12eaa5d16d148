"""Forgetting: from what somebody wants forgotten to the receipt.

`propose` keeps a plan that waits for a yes, `begin` commits the yes: the steps, the marks, and that everything
that is being thought about the space is void. Then `go_on` erases layer by layer. It may be killed at any point
and called again by whoever comes next (the gateway once a minute and at its start, a command of the terminal):
every step may be repeated, and only one process works at a time. The words stand in the row of the request until
nothing else holds them. Where memory lives is `layers`, what a person is shown before is `forgetplan`.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

from gateway import failpoints
from gateway.errors import NotFound, Refused, TryLater
from gateway.home import Home
from gateway.memory import caches, forgetplan, marking
from gateway.memory.forgeterasing import Erasing
from gateway.memory.forgetplan import Left as Left
from gateway.memory.forgetplan import Near as Near
from gateway.memory.forgetplan import Plan as Plan
from gateway.memory.layers import LAYERS
from gateway.memory.layers.layer import Ground, Kind
from gateway.memory.layers.layer import Item as Item
from gateway.memory.layers.layer import LayerPlan as LayerPlan
from gateway.memory.layers.layer import Scope as Scope
from gateway.memory.writing import Memory
from gateway.ports import Clock
from gateway.records import Forget, NewOutgoing, Space
from gateway.settings import Settings
from gateway.store import forgets, messages, outbox, people, textfile
from gateway.store.db import Database
from gateway.store.transaction import Reader, Transaction

log = logging.getLogger(__name__)

PLANNED_FOR = timedelta(hours=24)
"""So long a plan waits for a yes; then its words are erased."""

PLAN_CARD = "forget_plan"
PLAN_UPDATE = "forget_plan_update"
RECEIPT = "forgotten"


def _nobody() -> None: ...


@dataclass(frozen=True)
class Forgetting:
    """Forgets, for all spaces of a home. Synchronous and slow: call it in a thread."""

    db: Database
    home: Home
    clock: Clock
    settings: Settings
    memory: Memory
    redis: Callable[[], Sequence[tuple[str, bytes]]] = tuple
    """What Redis holds, for the proof that it holds nothing: given by whoever may talk to it."""
    said: Callable[[], None] = _nobody
    """Called when something new lies in the outbox."""

    # -- before the yes ----------------------------------------------------------------------------------

    def plan(self, space: Space, scope: Scope) -> Plan:
        """What would be forgotten. Raises Refused for words that would be found everywhere or nowhere."""
        return forgetplan.plan(self._ground(space), scope, self._others(space))

    def propose(
        self,
        tx: Transaction,
        space: Space,
        scope: Scope,
        by: str,
        *,
        message: int | None = None,
        marks: bool = True,
    ) -> int:
        """Keep a plan that waits for a yes. `message` is the one that asked: of it nothing stays."""
        forgetplan.sought_of(scope)
        now = self.clock.now()
        return forgets.plan(
            tx,
            space.id,
            scope.kind.value,
            by=by,
            passages=scope.passages,
            rows=scope.rows,
            message=message,
            marks=marks,
            at=now,
            expires_at=now + PLANNED_FOR,
        )

    def scope(self, rd: Reader, id: int) -> Scope:
        """What a plan is about. Raises NotFound."""
        forget = forgets.get(rd, id)
        return Scope(forgets.passages(rd, id), forget.rows, forget.kind == Kind.EVERYTHING)

    def widen(self, tx: Transaction, id: int, also: Sequence[str]) -> bool:
        """More parts of the same fact. False: it does not wait for a yes any more."""
        known = forgets.passages(tx, id)
        forgetplan.sought_of(Scope(tuple(also)))
        return forgets.set_passages(tx, id, tuple(dict.fromkeys((*known, *also))))

    def leave_out(self, tx: Transaction, id: int, refs: Sequence[str]) -> bool:
        """What is not to be erased, instead of what was left out before."""
        return forgets.set_left_out(tx, id, refs)

    def cancel(self, tx: Transaction, id: int, status: str = "cancelled") -> bool:
        """Nothing is forgotten, and the plan's words go."""
        if not forgets.end_planned(tx, id, status, self.clock.now()):
            return False
        self._redraw_card(tx, id, status)
        return True

    def expire(self) -> int:
        """End the plans that nobody said yes to in time."""
        with self.db.read() as rd:
            overdue = forgets.overdue(rd, self.clock.now())
        for id in overdue:
            with self.db.write() as tx:
                self.cancel(tx, id, "expired")
        return len(overdue)

    # -- the yes -----------------------------------------------------------------------------------------

    def begin(self, tx: Transaction, id: int, by: str, *, through: int | None = None) -> bool:
        """Commit the yes. True if this call was the one. Nothing is erased yet: `go_on` does, after the commit."""
        forget = forgets.get(tx, id)
        scope = self.scope(tx, id)
        layers = [layer.name for layer in LAYERS if scope.kind in layer.kinds]
        now = self.clock.now()
        if not forgets.begin(tx, id, by, through, layers, now):
            return False
        if not self._has_provider():
            forgets.outside_done(tx, id, 0, now)
        if forget.marks and scope.passages:
            ground = self._ground(people.space(tx, forget.space), forget)
            marking.mark(tx, ground, forgetplan.sought_of(scope, frozenset(forget.left_out)), id)
        forgets.next_epoch(tx, forget.space)
        self._redraw_card(tx, id, "begun")
        self._cancel_others(tx, forget.space, scope)
        return True

    def _cancel_others(self, tx: Transaction, space: int, scope: Scope) -> None:
        """Other plans that say it, too: their cards must not stay as they are."""
        sought = forgetplan.sought_of(scope)
        for other, texts in forgets.planned_holding(tx, space):
            if scope.everything or any(map(sought.holds, texts)):
                self.cancel(tx, other)

    def forget(
        self,
        space: Space,
        scope: Scope,
        by: str,
        *,
        message: int | None = None,
        left_out: Sequence[str] = (),
        marks: bool = True,
    ) -> int:
        """Plan and yes in one commit: for commands that have asked already. Then call `go_on`."""
        with self.db.write() as tx:
            id = self.propose(tx, space, scope, by, message=message, marks=marks)
            self.leave_out(tx, id, left_out)
            self.begin(tx, id, by)
        failpoints.reach("forget.begun")
        return id

    # -- erasing -----------------------------------------------------------------------------------------

    def resume(self) -> int:
        """Go on with everything that was begun and is not done; how many are done now."""
        with self.db.read() as rd:
            waiting = forgets.erasing(rd)
        return sum(self.go_on(id) for id in waiting)

    def go_on(self, id: int) -> bool:
        """Erase, as far as it can be done now. True: it is done, and there is a receipt. False: later again."""
        with ExitStack() as alone:
            lock = textfile.try_lock(self.home.forget_lock)
            if lock is None:
                return False
            alone.callback(lock.release)
            with self.db.read() as rd:
                forget = forgets.get(rd, id)
            if forget.status == "done":
                return True
            if forget.status != "erasing":
                return False
            try:
                return self._go_on(forget)
            except (TryLater, Refused) as why:  # busy, or a file that is closed to us: it stays to be done
                log.warning("forget.waits", extra={"forget": id, "reason": type(why).__name__})
                return False

    def _go_on(self, forget: Forget) -> bool:
        with self.db.read() as rd:
            ground = self._ground(people.space(rd, forget.space), forget)
            scope = self.scope(rd, forget.id)

        def tell(tx: Transaction) -> None:
            self._redraw_card(tx, forget.id, "done")
            self._tell(tx, forget)

        erasing = Erasing(ground, forget, scope, self.redis, tell)
        done = erasing.erase()
        if done:
            caches.clear()
            self.said()
        return done

    def _has_provider(self) -> bool:
        return self.settings.memory.provider != "none"

    # -- what is said ------------------------------------------------------------------------------------

    def _tell(self, tx: Transaction, forget: Forget) -> None:
        """The receipt, where it was asked for."""
        if forget.message is None:
            return
        try:
            asked = messages.get(tx, forget.message)
        except NotFound:
            return
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"forget-{forget.id}-done",
                kind=RECEIPT,
                chat=people.where_now(tx, asked.chat),
                space=forget.space,
                created_at=self.clock.now(),
                values={"forget": forget.id},
            ),
        )

    def _redraw_card(self, tx: Transaction, id: int, word: str) -> None:
        """Change the cards that show the plan: what they say may not stay."""
        for card in outbox.of_forget(tx, PLAN_CARD, id):
            outbox.put(
                tx,
                NewOutgoing(
                    dedupe=f"forget-{id}-{word}-{card.id}",
                    kind=PLAN_UPDATE,
                    chat=card.chat,
                    space=card.space,
                    created_at=self.clock.now(),
                    edits=card.id,
                    values={"forget": id, "is": word},
                ),
            )

    # -- where -------------------------------------------------------------------------------------------

    def _ground(self, space: Space, forget: Forget | None = None) -> Ground:
        def note(tx: Transaction, kind: str, values: Sequence[str]) -> None:
            if forget is None:
                return
            if kind == "row":
                marking.note_rows(tx, space.id, forget.id, values, self.clock.now())
            elif forget.marks:
                marking.note_entries(tx, space.id, forget.id, values, self.clock.now())

        return Ground(self.db, self.home, self.clock, self.settings, self.memory, space, note)

    def _others(self, space: Space) -> tuple[Ground, ...]:
        if space.kind != "owner":
            return ()
        with self.db.read() as rd:
            return tuple(self._ground(other) for other in people.spaces(rd) if other.id != space.id)
