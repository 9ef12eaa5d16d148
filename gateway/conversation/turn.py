"""One turn: a question, everything done to answer it, and the answer.

A turn is a chain of think → commit → act. Each round is committed before the next request is sent: the model's
call first, then what its tools said. After a kill the turn goes on from its last committed round with the same
request bytes, and no committed tool call runs twice (its writes have the dedupe key message, round, position).
Its session is chosen in `opening`, the model is asked in `thinking`; what is known of a begun turn is `begun`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime

from gateway import failpoints, policy
from gateway.chat import Chat, Person
from gateway.conversation import begun, firstwords, freezing, gathering, language, offering, telling, tools
from gateway.conversation.access import Access
from gateway.conversation.beginning import Beginnings
from gateway.conversation.begun import Turn
from gateway.conversation.committing import surely, to_its_end
from gateway.conversation.compressing import Compressor
from gateway.conversation.gathering import Hears
from gateway.conversation.opening import Opener
from gateway.conversation.thinking import Thinker
from gateway.conversation.typing import typing
from gateway.errors import StoreBusy
from gateway.home import Home
from gateway.jobs import ReviewJob
from gateway.memory.forgetting import Forgetting
from gateway.memory.writing import Memory
from gateway.ports import Clock, ModelAnswer, Tokens
from gateway.records import Done, Message, NewOutgoing, Role, ToolCall
from gateway.settings import Settings
from gateway.store import forgets, messages, outbox, reviews, sessions, textfile, turns, unanswered, usage
from gateway.store.db import Database, Transaction

OTHER_PROCESS_SECONDS = 0.2


@dataclass(frozen=True)
class Turns:
    """Answers messages. Holds what a turn needs from outside, nothing else."""

    db: Database
    home: Home
    settings: Settings
    memory: Memory
    forgetting: Forgetting
    access: Access
    clock: Clock
    opener: Opener
    thinker: Thinker
    compressor: Compressor
    typing: Callable[[Chat], Awaitable[None]]
    said: Callable[[], None]
    """Called when something new lies in the outbox."""
    ring: Callable[[ReviewJob], Awaitable[None]]
    answered: Callable[[str], None] = lambda _: None
    """Called with the session in which something was answered."""
    hears: Hears = lambda _: True
    beginnings: Beginnings = field(default_factory=Beginnings)

    async def answer(self, message: Message) -> None:
        """Answer one waiting message. Raises TryLater when it cannot be done now; nothing is lost then."""
        await gathering.until_whole(self.db, message, self.hears)
        with ExitStack() as session_lock:
            async with self.beginnings.one(message.chat):
                turn = await to_its_end(self._begin, message.id, session_lock)  # commit: session open, turn begun
            if turn is None:
                return
            async with typing(self.typing, message.chat):
                thought = await self._think(turn)  # slow; commits each round as it ends
            if thought is None:
                return
            due = await surely(self._finish, *thought, session_lock)  # commit: answer, outbox, review due
        self.said()
        self.answered(thought[0].session.id)
        if due is not None:
            await self.ring(due)
        await self.compressor.after_turn(thought[0].session.id, thought[1], thought[0].request)

    # -- begin -----------------------------------------------------------------------------------------

    def _begin(self, message_id: int, session_lock: ExitStack) -> Turn | None:
        """The begun turn, with the lock of its session in `session_lock`; None when the message is done already."""
        session_id = self.opener.join(message_id)
        if session_id is None:
            return None
        lock = textfile.try_lock(self.home.session_lock(session_id))
        if lock is None:
            raise StoreBusy("another process answers in this session", after=OTHER_PROCESS_SECONDS)
        session_lock.callback(lock.discard)
        freezing.freeze_again(self.db, self.opener.freezer, message_id, self.clock.now())
        return begun.load(self.db, message_id)

    # -- think -----------------------------------------------------------------------------------------

    async def _think(self, turn: Turn) -> tuple[Turn, ModelAnswer] | None:
        """The answer, and the turn as it was when it came. None: the turn was ended meanwhile, unsaid."""
        turn = await self._unanswered_calls(turn)
        begins = not turn.rounds
        while begins or not await asyncio.to_thread(self._is_over, turn):
            begins = False
            turn, answer = await self.thinker.think(turn)
            if not answer.tool_calls:
                return turn, answer
            if turn.round >= self.settings.agent.max_tool_rounds:
                stopped = await asyncio.to_thread(self._text, turn, "turn.too_many_rounds")
                return turn, replace(answer, text=answer.text or stopped)
            turn = await surely(self._commit_calls, turn, answer)
            failpoints.reach("turn.calls_committed")
            turn = await self._unanswered_calls(turn)
        return None

    def _is_over(self, turn: Turn) -> bool:
        """Whether somebody ended it: `/stop`, `/new`, or another process that answered it before us."""
        with self.db.read() as rd:
            return messages.get(rd, turn.message.id).done is not None

    async def _unanswered_calls(self, turn: Turn) -> Turn:
        """Run the calls of the last round that have no result yet, and commit their results."""
        calls = _unanswered(turn.rounds)
        if not calls:
            return turn
        return await surely(self._run_calls, turn, calls)

    def _run_calls(self, turn: Turn, calls: Sequence[tuple[int, ToolCall]]) -> Turn:
        toolbox = self._toolbox(turn)
        results = []
        for position, call in calls:
            if self._is_over(turn):
                break
            results.append((call, toolbox.run(call, turn.round, position)))
        failpoints.reach("turn.tools_run")
        with self.db.write() as tx:
            forgets.refuse_overtaken(tx, turn.space.id, turn.epoch)
            asked = messages.get(tx, turn.message.id)
            for call, result in () if asked.erased else results:
                messages.keep(tx, self._row(turn, Role.TOOL, result, call=call))
            if asked.done is not None:
                # What it wrote while it was being ended.
                telling.put(tx, self.settings, turn.message, self.clock.now())
        failpoints.reach("turn.results_committed")
        return turn.with_rounds(self.db)

    def _commit_calls(self, turn: Turn, answer: ModelAnswer) -> Turn:
        with self.db.write() as tx:
            forgets.refuse_overtaken(tx, turn.space.id, turn.epoch)
            if messages.get(tx, turn.message.id).done is not None:
                return turn
            row = self._row(turn, Role.ASSISTANT, answer.text, round_number=turn.round + 1)
            messages.keep(tx, replace(row, tool_calls=answer.tool_calls))
            self._count(tx, turn, answer.tokens)
        return turn.with_rounds(self.db)

    def _toolbox(self, turn: Turn) -> tools.Toolbox:
        with self.db.read() as rd:
            people_of_space = self.access.owners(rd) if turn.space.kind == "group" else None
        return tools.Toolbox(
            db=self.db,
            settings=self.settings,
            memory=self.memory,
            space=turn.space,
            session=turn.session,
            summary=turn.summary,
            message=turn.message,
            epoch=turn.epoch,
            seen=tuple(row for row in turn.before if row.role is Role.USER),
            whose=people_of_space,
            targets=self.memory.targets(turn.space),
            disabled=self.settings.agent.disabled_toolsets,
            results=[tools.ToolResult(row.tool_name, row.text) for row in turn.rounds if row.role is Role.TOOL],
        )

    # -- finish ----------------------------------------------------------------------------------------

    def _finish(self, turn: Turn, answer: ModelAnswer, session_lock: ExitStack) -> ReviewJob | None:
        """Commit the answer with all that follows from it, and let go of the session.

        Returns the review to ring for, if one is due.
        """
        now = self.clock.now()
        text = answer.text + (self._text(turn, "turn.cut") if answer.truncated else "")
        offered = self._offer(turn, text, now)
        unheeded = "" if offered else self._unheeded(turn, answer.text)
        due: ReviewJob | None = None
        with self.db.write() as tx:
            forgets.refuse_overtaken(tx, turn.space.id, turn.epoch)
            if not messages.finish(tx, turn.message.id, Done.ANSWERED, now):
                return None  # stopped meanwhile: it ends unsaid
            row = self._row(turn, Role.ASSISTANT, text, round_number=turn.round + 1)
            answer_id = messages.keep(tx, replace(row, answers=turn.message.id))
            self._count(tx, turn, answer.tokens)
            self._say(tx, turn, answer_id, unheeded, now)
            if offered is not None:
                offering.put(tx, self.forgetting, offered, now)
            due = self._review_due(tx, turn, now)
        failpoints.reach("turn.answer_committed")
        session_lock.close()
        return due

    def _say(self, tx: Transaction, turn: Turn, answer_id: int | None, unheeded: str, now: datetime) -> None:
        message = turn.message
        # Where more has arrived meanwhile, the reply shows which message it answers.
        shows = message.platform_id if unanswered.count(tx, message.chat) else ""
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"reply-{message.id}",
                kind="reply",
                chat=message.chat,
                space=turn.space.id,
                created_at=now,
                message=answer_id,
                reply_to=shows,
            ),
        )
        unsaved = not turn.session.incognito and tools.ended_unsaved(turn.rounds)
        telling.put(tx, self.settings, message, now, unsaved=unsaved, unheeded=unheeded)
        firstwords.put(tx, self.access, message.chat, Person.parse(message.person), turn.space, now)

    def _offer(self, turn: Turn, answer: str, now: datetime) -> offering.Offer | None:
        """The plan to show, where the person asked to forget something. Incognito nothing is written down."""
        if turn.session.incognito:
            return None
        return offering.offer(self.forgetting, self.access, turn.space, turn.message, answer, now)

    def _unheeded(self, turn: Turn, answer: str) -> str:
        """What to say if this turn left no write: "" unless one was asked for, or the answer claims one."""
        if turn.session.incognito and tools.ended_unsaved(turn.rounds):
            return "incognito.off"
        if not tools.seems_unheeded(turn.message, turn.rounds, answer):
            return ""
        if turn.session.incognito:
            return "incognito.off"
        return "notice.unheeded" if self.memory.targets(turn.space) else "remember.off"

    def _review_due(self, tx: Transaction, turn: Turn, now: datetime) -> ReviewJob | None:
        if not self.settings.reviews_are_automatic:
            # Said while reviews are off, it is not to be reviewed when they are on again (promise 3).
            sessions.mark_due(tx, turn.session.id, turn.message.turn)
            return None
        span = sessions.unreviewed(tx, turn.session.id)
        interval = self.settings.memory.nudge_interval
        if span is None or not policy.review_due(turns.count(tx, turn.session.id, *span), interval):
            return None
        first, last = span
        reviews.make_due(tx, turn.session.id, turn.space.id, last, first, "interval", now)
        return ReviewJob(turn.session.id, last, 0)

    def _count(self, tx: Transaction, turn: Turn, tokens: Tokens) -> None:
        usage.add(
            tx,
            tokens.paid(
                "chat", self.thinker.model.name, self.clock.now(), space=turn.space.id, session=turn.session.id
            ),
        )

    def _row(
        self,
        turn: Turn,
        role: Role,
        text: str,
        *,
        round_number: int | None = None,
        call: ToolCall | None = None,
    ) -> messages.NewMessage:
        return messages.NewMessage(
            space=turn.space.id,
            chat=turn.message.chat,
            person="",
            role=role,
            text=text,
            at=self.clock.now(),
            session=turn.session.id,
            turn=turn.message.turn,
            round=turn.round if round_number is None else round_number,
            generation=turn.session.generation,
            tool_call_id=call.id if call else "",
            tool_name=call.name if call else "",
        )

    def _text(self, turn: Turn, key: str, **values: object) -> str:
        """A sentence of ours in the language of the turn's chat."""
        return language.sentence(self.db, turn.message.chat, self.settings, key, **values)


def _unanswered(rounds: Sequence[Message]) -> list[tuple[int, ToolCall]]:
    """The calls of the last round without a result, each with its position in the round."""
    asked = [row for row in rounds if row.tool_calls]
    if not asked:
        return []
    answered = {row.tool_call_id for row in rounds if row.role is Role.TOOL and row.round == asked[-1].round}
    return [(at, call) for at, call in enumerate(asked[-1].tool_calls) if call.id not in answered]
