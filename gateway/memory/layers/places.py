"""Which layer claims which place in the home and which key in Redis, as `store.columns` does for the database.

A test walks `Home` and the kinds of jobs and fails on one that nobody claims.
"""

from collections.abc import Mapping

NO_WORDS = ""
"""It never holds anything that a person said (design.md, promise 8)."""
OWN = "left"
"""The person's own: listed with a plan and on the receipt, never changed."""
OTHERS = "others"
"""Homes of their own, which forget for themselves."""
COLUMNS = "columns"
"""See `store.columns`."""

FILES: Mapping[str, str] = {
    "agents": OWN,
    "backups": "backups",  # and `copies`, made before the database was brought up to date
    "config": OWN,
    "env_file": OWN,
    "exports": "files",
    "import_scratch": "files",
    "memory_file": "entries",
    "profiles": OTHERS,
    "skills": "skills",
    "skills_dir": "skills",
    "soul": OWN,
    "space_dir": "files",  # what was set aside, and half-written copies
    "state_db": COLUMNS,
    "terminal_history": "files",
    **dict.fromkeys(
        (
            "burst_lock",
            "chat_lock",
            "forget_lock",
            "gateway_lock",
            "gateway_socket",
            "health",
            "import_lock",
            "job_lock",
            "log_file",
            "logs",
            "owner_code",
            "redis_dir",
            "redis_lock",
            "redis_socket",
            "restoring",
            "run",
            "session_lock",
            "space_lock",
            "state_lock",
            "state_waiting",
            "worker_lock",
        ),
        NO_WORDS,
    ),
}
"""Attribute of `Home` -> the layer that erases what lies there, or what else it is."""

KEYS: Mapping[str, str] = {
    "ReviewJob": NO_WORDS,
    "TidyJob": NO_WORDS,
    "ForgetJob": NO_WORDS,
}
"""Kind of job -> what of it lies in Redis: ids and numbers."""
