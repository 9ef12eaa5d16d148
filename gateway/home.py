"""Where each thing is in a home. Path arithmetic only: finding the home is `settings`, making it `store/`."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Home:
    """The directory that holds one bot's state, and where each thing is in it. Touches no disk."""

    path: Path

    @property
    def config(self) -> Path:
        return self.path / "config.yaml"

    @property
    def env_file(self) -> Path:
        return self.path / ".env"

    @property
    def soul(self) -> Path:
        return self.path / "SOUL.md"

    @property
    def agents(self) -> Path:
        return self.path / "AGENTS.md"

    @property
    def state_db(self) -> Path:
        return self.path / "state.db"

    @property
    def backups(self) -> Path:
        return self.path / "backups"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def log_file(self) -> Path:
        return self.logs / "agent.log"

    @property
    def exports(self) -> Path:
        return self.path / "exports"

    @property
    def skills(self) -> Path:
        return self.path / "skills"

    @property
    def profiles(self) -> Path:
        """Homes of their own, which lie in the default one (`--profile`): nothing in them is this home's."""
        return self.path / "profiles"

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def gateway_lock(self) -> Path:
        return self.run / "gateway.lock"

    @property
    def gateway_socket(self) -> Path:
        return self.run / "gateway.sock"

    @property
    def state_lock(self) -> Path:
        return self.run / "state.lock"

    @property
    def state_waiting(self) -> Path:
        """Says that a process waits for `state_lock`."""
        return self.run / "state-waiting.lock"

    @property
    def forget_lock(self) -> Path:
        """Held by the one process that erases."""
        return self.run / "forget.lock"

    @property
    def redis_lock(self) -> Path:
        return self.run / "redis.lock"

    @property
    def redis_socket(self) -> Path:
        return self.run / "redis.sock"

    @property
    def redis_dir(self) -> Path:
        return self.run / "redis"

    @property
    def worker_lock(self) -> Path:
        return self.run / "worker.lock"

    @property
    def burst_lock(self) -> Path:
        return self.run / "burst.lock"

    @property
    def restoring(self) -> Path:
        """There while a restored home is being put in the place of this one."""
        return self.run / "restoring"

    @property
    def owner_code(self) -> Path:
        return self.run / "owner-code"

    @property
    def health(self) -> Path:
        return self.run / "health.json"

    @property
    def terminal_history(self) -> Path:
        return self.run / "terminal-history"

    @property
    def import_lock(self) -> Path:
        return self.run / "import.lock"

    @property
    def import_scratch(self) -> Path:
        """Where another bot's database is copied to while it is read."""
        return self.run / "import"

    def space_dir(self, space: str) -> Path:
        """The folder of a space: `memories/` for the owner's, `spaces/<name>/` for every other."""
        return self.path / "memories" if space == "owner" else self.path / "spaces" / _one_part(space)

    def skills_dir(self, space: str) -> Path:
        """The skills of a space: `skills/` for the owner's, `spaces/<name>/skills/` for every other."""
        return self.skills if space == "owner" else self.space_dir(space) / "skills"

    def memory_file(self, space: str, target: str) -> Path:
        """MEMORY.md or USER.md of a space. `target` is a `records.Target`, which lives above this module."""
        return self.space_dir(space) / f"{_one_part(target).upper()}.md"

    def space_lock(self, space: str) -> Path:
        return self.run / f"space-{_one_part(space)}.lock"

    def session_lock(self, session: str) -> Path:
        return self.run / f"session-{_one_part(session)}.lock"

    def job_lock(self, job_id: str) -> Path:
        """The lock of one run of a job: the id carries the attempt."""
        return self.run / f"job-{_one_part(job_id)}.lock"

    def chat_lock(self, chat_id: str) -> Path:
        """Held while a terminal chat is open."""
        return self.run / f"chat-{_one_part(chat_id)}.lock"


def _one_part(name: str) -> str:
    """A name that stays inside its folder. Ids are looked up before they get here; this is the last fence."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise ValueError(f"{name!r} cannot be part of a path")
    return name
