"""The errors of the house, sorted by what their catcher can do.

An adapter turns the errors of its library into these at its own door, without their text: foreign
texts hold people's words and tokens (design.md, promise 8).
"""

from collections.abc import Sequence

from gateway import words


class GatewayError(Exception):
    """Every error we raise on purpose."""


class ConfigError(GatewayError):
    """The operator must change something. Printed whole, exit code 2.

    `problems` are complete sentences, each with the value, what would do, and where it stands.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class Refused(GatewayError):
    """The person asked for what cannot be. Said in the chat's language from `key` and `values`."""

    def __init__(self, key: str, **values: object) -> None:
        self.key = key
        self.values = values
        super().__init__(words.text(key, "en", **values))


class NotAllowed(Refused):
    """This person may not do this."""


class NotFound(Refused):
    """There is no such thing (or not for this person)."""


class AlreadyDecided(Refused):
    """Somebody was first."""


class OverBudget(Refused):
    """A memory file has no room for it."""


class Ambiguous(Refused):
    """It could mean several things."""


class TryLater(GatewayError):
    """The world is busy. Back off for `after` seconds and do it again."""

    def __init__(self, reason: str, *, after: float = 1.0) -> None:
        self.after = after
        super().__init__(reason)


class PlatformBusy(TryLater):
    """A chat network asks us to wait, or did not answer.

    `everywhere`: the whole network asks, not one chat. `unsure`: what was sent may have arrived all the same.
    """

    def __init__(self, reason: str, *, after: float = 1.0, everywhere: bool = False, unsure: bool = False) -> None:
        self.everywhere = everywhere
        self.unsure = unsure
        super().__init__(reason, after=after)


class ModelBusy(TryLater):
    """The model asks us to wait, or did not answer."""


class ProviderBusy(TryLater):
    """An external memory service asks us to wait, or did not answer."""


class StoreBusy(TryLater):
    """The database or a file is locked, or the disk is full."""


class Overtaken(TryLater):
    """A forget was begun after this was thought: nothing of it may be committed. Read anew and think again."""

    def __init__(self) -> None:
        super().__init__("something is being forgotten", after=0.1)


class Broken(GatewayError):
    """Our bug or damaged data. Traceback in the log, an apology with a reference in the chat."""


class ChatGone(GatewayError):
    """A platform will never deliver to this chat again (blocked, deleted, never opened)."""


class ChatMoved(GatewayError):
    """The chat has another id from now on: a Telegram group became a supergroup."""

    def __init__(self, to: str) -> None:
        self.to = to
        super().__init__("the chat has another id now")


class WayClosed(GatewayError):
    """The way on which a private command had to be answered has run out; its answer goes nowhere else."""


class ModelRefused(GatewayError):
    """The model's server says no and will say it again: wrong key, unknown model, bad request.

    `status` is the HTTP status, `hint` what to check: a key of the catalog under `hint.`, never the server's text.
    """

    def __init__(self, status: int, hint: str) -> None:
        self.status = status
        self.hint = hint
        super().__init__(f"the model's server answered {status}: {words.text(hint, 'en')}")


class ModelFull(ModelRefused):
    """The request is longer than the model's window: a shorter one may be answered."""

    def __init__(self, status: int) -> None:
        super().__init__(status, "hint.too_long")
