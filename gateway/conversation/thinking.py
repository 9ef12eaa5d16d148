"""Asks the model what a turn goes on with: patiently, and with what fits into its window.

Of a model that stays silent or refuses the person hears in an answer of ours: a question is never left without one.
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass

from gateway.conversation import begun, language
from gateway.conversation.begun import Turn
from gateway.conversation.compressing import Compressor
from gateway.conversation.shortening import Effort
from gateway.errors import ModelBusy, ModelFull, ModelRefused
from gateway.ports import Model, ModelAnswer
from gateway.settings import Settings
from gateway.store.db import Database

log = logging.getLogger(__name__)

MODEL_TRIES = 3
MODEL_WAIT_MOST_SECONDS = 20.0


@dataclass(frozen=True)
class Thinker:
    """Thinks for turns. Commits nothing but what a compression commits."""

    db: Database
    settings: Settings
    model: Model
    compressor: Compressor

    async def think(self, turn: Turn) -> tuple[Turn, ModelAnswer]:
        """The next answer, and the turn that it answers.

        Where the conversation has become too long for the model it is shortened, and the turn read anew.
        """
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
            loaded = await asyncio.to_thread(begun.load, self.db, turn.message.id)
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

    def _text(self, turn: Turn, key: str, **values: object) -> str:
        """A sentence of ours in the language of the turn's chat."""
        return language.sentence(self.db, turn.message.chat, self.settings, key, **values)
