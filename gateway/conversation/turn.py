"""One turn: a question, everything done to answer it, and the answer.

A turn is a chain of think → commit → act. Each round is committed before the next request is sent: the model's
call first, then what its tools said. After a kill the turn goes on from its last committed round with the same
request bytes, and no committed tool call runs twice (its writes have the dedupe key message, round, position).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from gateway import failpoints, policy, transcript, words
from gateway.chat import Chat, Person
from gateway.conversation import (
    ending,
    firstwords,
    freezing,
    gathering,
    joining,
    members,
    offering,
    prompt,
    resetting,
    telling,
    tools,
)
from gateway.conversation.access import Access
from gateway.conversation.beginning import Beginnings
from gateway.conversation.committing import surely, to_its_end
from gateway.conversation.compressing import Compressor
from gateway.conversation.freezing import Freezer
from gateway.conversation.gathering import Hears
from gateway.conversation.language import language_of
from gateway.conversation.shortening import Effort
from gateway.conversation.typing import typing
from gateway.errors import ModelBusy, ModelFull, ModelRefused, Refused, StoreBusy
from gateway.home import Home
from gateway.jobs import ReviewJob
from gateway.memory.forgetting import Forgetting
from gateway.memory.writing import Memory
from gateway.ports import Clock, Model, ModelAnswer, ModelRequest, Tokens
from gateway.records import Done, Message, NewOutgoing, Role, Session, Space, Summary, ToolCall, Usage
from gateway.settings import Settings
from gateway.store import forgets, messages, outbox, people, reviews, sessions, summaries, textfile, turns, usage
from gateway.store.db import Database, Transaction

log = logging.getLogger(__name__)

MODEL_TRIES = 3
MODEL_WAIT_MOST_SECONDS = 20.0
OTHER_PROCESS_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn knows once it has begun: all of it committed."""

    message: Message
    session: Session
    space: Space
    summary: Summary | None
    """What stands for the turns that were compressed away."""
    before: tuple[Message, ...]
    """The transcript up to and including the question, as far as it is still shown."""
    rounds: tuple[Message, ...]
    """What this turn has already committed: the model's calls and the tools' results."""
    epoch: int = 0
    """See `store.forgets`: what was thought before a forget is not committed; the lane begins anew."""

    @property
    def round(self) -> int:
        """The number of the last committed round; 0 before the first."""
        return max((row.round for row in self.rounds), default=0)

    def request(self) -> ModelRequest:
        """The exact request to send now."""
        session = self.session
        return transcript.request(session.system_prompt, session.tools, (*self.before, *self.rounds), self.summary)


@dataclass(frozen=True)
class Turns:
    """Answers messages. Holds what a turn needs from outside, nothing else."""

    db: Database
    home: Home
    settings: Settings
    memory: Memory
    freezer: Freezer
    access: Access
    model: Model
    clock: Clock
    typing: Callable[[Chat], Awaitable[None]]
    said: Callable[[], None]
    """Called when something new lies in the outbox."""
    ring: Callable[[ReviewJob], Awaitable[None]]
    compressor: Compressor
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
        session_id = self._join_session(message_id)
        if session_id is None:
            return None
        lock = textfile.try_lock(self.home.session_lock(session_id))
        if lock is None:
            raise StoreBusy("another process answers in this session", after=OTHER_PROCESS_SECONDS)
        session_lock.callback(lock.discard)
        freezing.freeze_again(self.db, self.freezer, message_id, self.clock.now())
        return self._load(message_id)

    def _join_session(self, message_id: int) -> str | None:
        """Give the message its session and turn; the session's id, or None when it is done already."""
        now = self.clock.now()
        with self.db.read() as rd:
            message = messages.get(rd, message_id)
        if message.done is None and message.turn:
            return message.session
        with self.db.write() as tx:
            message = messages.get(tx, message_id)
            if message.done is not None:
                return None
            if message.turn:
                return message.session  # begun meanwhile in the lane of the chat that this one has become
            message = joining.join(tx, message, now)
            if not message.text.strip():
                self._decline(tx, message, now)
                return None
            session = self._session_for(tx, message, now)
            self._join(tx, message, session, now)
            if self._is_overtaken(tx, message):
                messages.finish(tx, message.id, Done.STOPPED, now)
                return None
        failpoints.reach("turn.begun")
        if session.turns == 0:
            self._notice_hand_edits(message.space)
        return session.id

    def _notice_hand_edits(self, space_id: int) -> None:
        """What a new session reads that a person wrote by hand is a row of the ledger from now on."""
        with self.db.read() as rd:
            space = people.space(rd, space_id)
        with suppress(Refused):
            self.memory.notice_hand_edits(space)

    def begin_at_once(self, tx: Transaction, message: Message, now: datetime) -> bool:
        """Begin the turn of a message that is being kept, in that commit, if nothing has to be waited for or read.

        False: it waits, and its lane begins the turn.
        """
        if joining.may_go_on(message) or not message.text.strip():
            return False
        session = members.in_use(tx, self.settings, message)
        if session is None or session.space != message.space or self._why_reset(tx, session, message):
            return False
        self._join(tx, message, session, now)
        return True

    def _join(self, tx: Transaction, message: Message, session: Session, now: datetime) -> None:
        """Let a message join a session as the question of its next turn."""
        number = sessions.begin_turn(tx, session.id, now, message.at)
        at = self.freezer.stamp_zone(message.at)
        marked = message.pieces or message.speaker
        sent = prompt.sent_form(joining.said_by(message), at, message.speaker) if marked else None
        messages.begin(tx, message.id, session.id, number, session.generation, prompt.stamp(at), sent)

    def _is_overtaken(self, tx: Transaction, message: Message) -> bool:
        """Whether its person has said more, and one answer is to answer both."""
        return self.settings.session.busy == "interrupt" and bool(messages.waiting_behind(tx, message))

    def _decline(self, tx: Transaction, message: Message, now: datetime) -> None:
        """An album without a word: there is nothing in it that we can read. Of its late parts nothing is said."""
        messages.finish(tx, message.id, Done.ANSWERED, now)
        if joining.is_rest_of_album(tx, message):
            return
        outbox.put(
            tx,
            NewOutgoing(
                dedupe=f"unreadable-{message.id}",
                kind="unreadable",
                chat=message.chat,
                space=message.space,
                created_at=now,
                reply_to=message.platform_id,
            ),
        )

    def _session_for(self, tx: Transaction, message: Message, now: datetime) -> Session:
        session = members.in_use(tx, self.settings, message)
        if session is not None and session.space != message.space:
            # The account has become another person's: what was said so far stays in its own space.
            ending.end(tx, self.settings, session, "space", now)
            session = None
        if session is not None and (why := self._why_reset(tx, session, message)):
            resetting.reset(tx, self.settings, session, message, why, now)
            session = None
        return session or self._open(tx, message, now)

    def _why_reset(self, tx: Transaction, session: Session, message: Message) -> str:
        return resetting.why(tx, self.settings, session, message)

    def _open(self, tx: Transaction, message: Message, now: datetime) -> Session:
        member = members.member_of(tx, self.settings, message.chat, message.person)
        resetting.end_of_other_kind(tx, self.settings, message, member, now)
        space = people.space(tx, message.space)
        session = self.freezer.open(tx, message.chat, space, now, member)
        self._warn(tx, message.chat, space, session, now)
        return session

    def _warn(self, tx: Transaction, chat: Chat, space: Space, session: Session, now: datetime) -> None:
        """Tell the person what is wrong with the files of their prompt, when it is frozen."""
        for number, warning in enumerate(self.freezer.warnings(space)):
            outbox.put(
                tx,
                NewOutgoing(
                    dedupe=f"warning-{session.id}-{number}",
                    kind="warning",
                    chat=chat,
                    space=space.id,
                    created_at=now,
                    values={**warning.values, "key": warning.key},
                ),
            )

    def _load(self, message_id: int) -> Turn | None:
        with self.db.read() as rd:
            message = messages.get(rd, message_id)
            if message.erased:
                return None  # taken back, with all that was done to answer it
            session = sessions.get(rd, message.session)
            # A refresh while the turn was interrupted changes nothing for it.
            system, definitions = sessions.prompt_of(rd, session.id, message.generation)
            session = replace(session, system_prompt=system, tools=definitions, generation=message.generation)
            summary = summaries.of(rd, session.id, message.generation)
            rows = messages.shown(rd, session.id, summary, message.turn)
            space = people.space(rd, message.space)
            epoch = forgets.epoch(rd, message.space)
        this_turn = tuple(row for row in rows if row.turn == message.turn and row.id != message.id)
        before = tuple(row for row in rows if row.turn < message.turn or row.id == message.id)
        return Turn(message, session, space, summary, before, this_turn, epoch)

    # -- think -----------------------------------------------------------------------------------------

    async def _think(self, turn: Turn) -> tuple[Turn, ModelAnswer] | None:
        """The answer, and the turn as it was when it came. None: the turn was ended meanwhile, unsaid."""
        turn = await self._unanswered_calls(turn)
        begins = not turn.rounds
        while begins or not await asyncio.to_thread(self._is_over, turn):
            begins = False
            turn, answer = await self._ask_what_fits(turn)
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

    async def _ask_what_fits(self, turn: Turn) -> tuple[Turn, ModelAnswer]:
        """Ask; where the conversation has become too long for the model, shorten it and go on with what is left."""
        for effort in Effort:
            try:
                return turn, await self._ask(turn)
            except ModelFull:
                log.warning("model.full", extra={"effort": effort.value})
            try:
                if not await self.compressor.in_turn(turn.session.id, turn.message.turn, effort):
                    return turn, ModelAnswer(await asyncio.to_thread(self._text, turn, "turn.too_long"))
            except (ModelBusy, ModelRefused):
                return turn, ModelAnswer(await asyncio.to_thread(self._text, turn, "turn.model_silent"))
            loaded = await asyncio.to_thread(self._load, turn.message.id)
            if loaded is None:
                return turn, ModelAnswer("")  # taken back meanwhile: nobody is asked any more, nothing is said
            turn = loaded
        with suppress(ModelFull):
            return turn, await self._ask(turn)
        return turn, ModelAnswer(await asyncio.to_thread(self._text, turn, "turn.too_long"))

    async def _ask(self, turn: Turn) -> ModelAnswer:
        """Ask the model, patiently; what cannot be had becomes an answer that says so. Raises ModelFull."""
        for attempt in range(1, MODEL_TRIES + 1):
            try:
                return await self.model.think(turn.request())
            except ModelBusy as busy:
                log.warning("model.busy", extra={"attempt": attempt, "after": busy.after})
                if attempt < MODEL_TRIES:
                    await asyncio.sleep(min(busy.after, MODEL_WAIT_MOST_SECONDS))
            except ModelFull:
                raise
            except ModelRefused as refused:
                log.error("model.refused", extra={"status": refused.status})
                return ModelAnswer(await asyncio.to_thread(self._refusal, turn, refused))
        return ModelAnswer(await asyncio.to_thread(self._text, turn, "turn.model_silent"))

    def _refusal(self, turn: Turn, refused: ModelRefused) -> str:
        if turn.space.kind == "owner":
            hint = self._text(turn, refused.hint)
            return self._text(turn, "turn.model_refused", status=refused.status, hint=hint)
        return self._text(turn, "turn.model_silent")

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
        return self._with_rounds(turn)

    def _commit_calls(self, turn: Turn, answer: ModelAnswer) -> Turn:
        with self.db.write() as tx:
            forgets.refuse_overtaken(tx, turn.space.id, turn.epoch)
            if messages.get(tx, turn.message.id).done is not None:
                return turn
            row = self._row(turn, Role.ASSISTANT, answer.text, round_number=turn.round + 1)
            messages.keep(tx, replace(row, tool_calls=answer.tool_calls))
            self._count(tx, turn, answer.tokens)
        return self._with_rounds(turn)

    def _with_rounds(self, turn: Turn) -> Turn:
        with self.db.read() as rd:
            rows = messages.of_turn(rd, turn.session.id, turn.message.turn)
        return replace(turn, rounds=tuple(row for row in rows if row.id != turn.message.id))

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
                offering.put(tx, self._forgetting, offered, now)
            due = self._review_due(tx, turn, now)
        failpoints.reach("turn.answer_committed")
        session_lock.close()
        return due

    def _say(self, tx: Transaction, turn: Turn, answer_id: int | None, unheeded: str, now: datetime) -> None:
        message = turn.message
        # Where more has arrived meanwhile, the reply shows which message it answers.
        shows = message.platform_id if messages.count_waiting(tx, message.chat) else ""
        reply = self._outgoing(turn, f"reply-{message.id}", "reply", now)
        outbox.put(tx, replace(reply, message=answer_id, reply_to=shows))
        unsaved = tools.ended_unsaved(turn.rounds)
        telling.put(tx, self.settings, message, now, unsaved=unsaved, unheeded=unheeded)
        firstwords.put(tx, self.access, message.chat, Person.parse(message.person), turn.space, now)

    def _offer(self, turn: Turn, answer: str, now: datetime) -> offering.Offer | None:
        """The plan to show, where the person asked to forget something. Incognito nothing is written down."""
        if turn.session.incognito:
            return None
        return offering.offer(self._forgetting, self.access, turn.space, turn.message, answer, now)

    @property
    def _forgetting(self) -> Forgetting:
        return Forgetting(self.db, self.home, self.clock, self.settings, self.memory)

    def _unheeded(self, turn: Turn, answer: str) -> str:
        """What to say if this turn left no write: "" unless one was asked for, or the answer claims one."""
        if not tools.seems_unheeded(turn.message, turn.rounds, answer):
            return ""
        if turn.session.incognito:
            return "incognito.off"
        return "notice.unheeded" if self.memory.targets(turn.space) else "remember.off"

    def _review_due(self, tx: Transaction, turn: Turn, now: datetime) -> ReviewJob | None:
        interval = self.settings.memory.nudge_interval
        if not policy.reviews_are_automatic(interval, self.settings.auxiliary.background_review.enabled):
            # Said while reviews are off, it is not to be reviewed when they are on again (promise 3).
            sessions.mark_due(tx, turn.session.id, turn.message.turn)
            return None
        span = sessions.unreviewed(tx, turn.session.id)
        if span is None or not policy.review_due(turns.count(tx, turn.session.id, *span), interval):
            return None
        first, last = span
        reviews.make_due(tx, turn.session.id, turn.space.id, last, first, "interval", now)
        return ReviewJob(turn.session.id, last, 0)

    def _count(self, tx: Transaction, turn: Turn, tokens: Tokens) -> None:
        usage.add(
            tx,
            Usage(
                task="chat",
                session=turn.session.id,
                space=turn.space.id,
                model=self.model.name,
                input=tokens.input,
                output=tokens.output,
                cached=tokens.cached,
                at=self.clock.now(),
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

    def _outgoing(self, turn: Turn, dedupe: str, kind: str, now: datetime) -> NewOutgoing:
        return NewOutgoing(dedupe=dedupe, kind=kind, chat=turn.message.chat, space=turn.space.id, created_at=now)

    def _text(self, turn: Turn, key: str, **values: object) -> str:
        """A sentence of ours in the language of the turn's chat."""
        with self.db.read() as rd:
            language = language_of(rd, turn.message.chat, self.settings)
        return words.text(key, language, **values)


def _unanswered(rounds: Sequence[Message]) -> list[tuple[int, ToolCall]]:
    """The calls of the last round without a result, each with its position in the round."""
    asked = [row for row in rounds if row.tool_calls]
    if not asked:
        return []
    answered = {row.tool_call_id for row in rounds if row.role is Role.TOOL and row.round == asked[-1].round}
    return [(at, call) for at, call in enumerate(asked[-1].tool_calls) if call.id not in answered]
