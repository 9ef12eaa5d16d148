"""The database: one file, one writer at a time, snapshots for readers.

Every write transaction of every process happens under the lock `run/state.lock`, and so does every
checkpoint: SQLite up to 3.51.2 can damage a WAL database when the two race, and its own waiting is unfair.
So checkpoints never happen by themselves: nobody may close the last connection without the lock. What the
tables mean is in the modules beside this one; their making is `migrating`.
"""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from gateway.errors import Broken, StoreBusy
from gateway.home import Home
from gateway.ports import Clock
from gateway.store import givingway, migrating, opening, textfile
from gateway.store.migrating import Step
from gateway.store.opening import Unusable as Unusable
from gateway.store.transaction import Reader as Reader
from gateway.store.transaction import Transaction as Transaction

WAIT_SECONDS = 10.0
MOST_IN_A_COMMIT = 32
"""After so many the lock is given up for a moment, so that other processes come to their turn."""
PATIENCE_SECONDS = 1.0
CALM_SECONDS = 0.02
"""Who gives way waits until nobody has written for so long."""
WAY_SECONDS = 0.05
"""At most so long is given way at a time."""
_GLANCE_SECONDS = 0.001
_INSTRUCTIONS = 50
"""Of SQLite's machine, between two looks whether to yield: a small part of a millisecond."""
_IDLE_READERS = 16


class _Group:
    """Transactions that share one commit. Lives from the first one's begin to the commit."""

    def __init__(self) -> None:
        self.lock = contextlib.ExitStack()
        self.members = 0
        self.done = threading.Event()
        self.error: Exception | None = None


class GaveWay(StoreBusy):
    """A transaction that yields was undone, for somebody else waits to write."""


class Database:
    """state.db of one home, for all threads of one process. Open it after a fork, never before."""

    def __init__(self, home: Home, writer: sqlite3.Connection, wait_seconds: float) -> None:
        """Use `open`."""
        self._home = home
        self._wait_seconds = wait_seconds
        self._writer = writer
        self._writing = threading.Lock()
        self._writing_thread = 0
        self._waiting = 0
        self._group: _Group | None = None
        self._idle: list[sqlite3.Connection] = []
        self._idle_guard = threading.Lock()
        self._watcher: sqlite3.Connection | None = None
        self._closed = False
        self._files = _identity(home.state_db)

    @staticmethod
    def open(
        home: Home, clock: Clock, *, wait_seconds: float = WAIT_SECONDS, steps: Sequence[Step] | None = None
    ) -> "Database":
        """Open the home's database; make it, or bring it up to date, where that is due.

        Raises Unusable for one that is too new, damaged or not ours, with nothing touched.
        """
        opening.refuse_old_sqlite()
        steps = migrating.steps() if steps is None else steps
        textfile.prepare_home(home)
        with givingway.lock(home, wait_seconds), opening.translated():
            opening.refuse_unusable(home.state_db, steps)
            textfile.create_private(home.state_db)
            writer = opening.connect(home.state_db)
            try:
                opening.bring_up(writer, home, clock, steps)
                return Database(home, writer, wait_seconds)
            except BaseException:
                writer.close()
                raise

    @contextlib.contextmanager
    def write(self, *, durable: bool = True, yields: bool = False) -> Iterator[Transaction]:
        """A write transaction: committed when the block has ended, undone by any exception in it.

        Transactions of threads that wait for each other share one commit, and with it one fsync: each is
        undone alone, and each returns only when all of them are on disk. Raises StoreBusy when the lock is
        not free in time or the disk is full: nothing was changed then.

        One that is not `durable` is committed alone and not waited for: a power cut may undo it (never a kill),
        until the next commit that is durable, or a checkpoint. For work that is done again then. Such a one may
        also yield: it is undone as soon as somebody else waits to write, and raises GaveWay.
        """
        if yields and durable:
            raise Broken("a write transaction that yields would undo those that share its commit")
        with opening.translated():
            with self._turn():
                if not durable:
                    self._end_group()
                group = self._group or self._open_group(durable=durable)
                try:
                    yield from self._member(group, yields=yields)
                finally:
                    alone = group.error or not self._waiting or not durable
                    if alone or group.members >= MOST_IN_A_COMMIT:
                        self._end_group()
            self._until_committed(group)

    def _member(self, group: "_Group", *, yields: bool) -> Iterator[Transaction]:
        group.members += 1
        self._writer.execute("SAVEPOINT one")
        try:
            with self._yielding() if yields else contextlib.nullcontext():
                yield Transaction(self._writer)
            self._writer.execute("RELEASE one")
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK TO one")
                self._writer.execute("RELEASE one")
            else:  # SQLite gave up the whole transaction, as on a full disk
                group.error = StoreBusy("state.db could not be written.")
            raise

    @contextlib.contextmanager
    def _yielding(self) -> Iterator[None]:
        """SQLite asks while it works whether it is to go on; where not, it undoes the whole transaction."""
        self._writer.set_progress_handler(self.is_waited_for, _INSTRUCTIONS)
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            raise GaveWay("somebody else waits to write state.db. Nothing was changed.") from error
        finally:
            self._writer.set_progress_handler(None, 0)

    @contextlib.contextmanager
    def read(self) -> Iterator[Reader]:
        """A snapshot: what is read in the block is of one moment, whatever is written meanwhile."""
        with opening.translated():
            connection = self._borrow()
            try:
                connection.execute("BEGIN")
                yield Reader(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._give_back(connection)

    def is_waited_for(self) -> bool:
        """Whether another thread or process waits for its turn to write."""
        return self._waiting > 0 or givingway.somebody_waits(self._home)

    def give_way(self) -> bool:
        """Where somebody waits to write (True), let them, and what comes after: a turn commits more than once."""
        if not self.is_waited_for():
            return False
        seen = -1
        now = time.monotonic()
        end, calm = now + WAY_SECONDS, now + CALM_SECONDS
        while now < min(end, calm):
            time.sleep(_GLANCE_SECONDS)
            now = time.monotonic()
            if self.is_waited_for() or self.data_version() != seen:
                seen, calm = self.data_version(), now + CALM_SECONDS
        return True

    def shorten(self) -> None:
        """Move what can be moved of the WAL into the database, so that it does not grow. It is not emptied.

        Under the lock, though SQLite does not ask for it: a checkpoint that races a commit can damage the file.
        """
        with self._alone(), opening.translated():
            self._refuse_closed()
            self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def checkpoint(self) -> bool:
        """Move the WAL into the database and empty it. False: a reader was in the way, try again later."""
        with self._alone(), opening.translated():
            self._refuse_closed()
            self._writer.execute("PRAGMA busy_timeout = 0")
            try:
                busy: int = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                self._writer.execute("PRAGMA busy_timeout = 10000")
        return not busy

    def rewrite(self) -> bool:
        """Write the whole file anew, so that nothing lies in it but rows. False as for `checkpoint`.

        When SQLite shares out the rows of a full page, it leaves copies of those that moved in the old page, beyond
        the reach of `secure_delete`. Everybody who writes waits meanwhile, about a second for each 100 MB.
        """
        with self._alone(), opening.translated():
            self._refuse_closed()
            self._writer.execute("VACUUM")
        return self.checkpoint()

    def data_version(self) -> int:
        """A number that changes with each commit, by whatever thread or process."""
        with self._idle_guard, opening.translated():
            self._refuse_closed()
            if self._watcher is None:
                self._watcher = opening.connect(self._home.state_db)
            version: int = self._watcher.execute("PRAGMA data_version").fetchone()[0]
        return version

    def close(self) -> None:
        """Close every connection. The last one of all processes checkpoints, which is why the lock is held.

        When the lock is not free in time, its holder is connected too, and we are not the last.
        """
        with contextlib.ExitStack() as alone:
            with contextlib.suppress(StoreBusy):
                alone.enter_context(self._alone())
            with self._idle_guard:
                closing = [*self._idle, *([self._watcher] if self._watcher else []), self._writer]
                self._closed, self._idle, self._watcher = True, [], None
            for connection in closing:
                connection.close()

    def __enter__(self) -> "Database":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Be the only one who touches the database, in any process."""
        with self._turn():
            self._end_group()
            with givingway.lock(self._home, self._wait_seconds):
                yield

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Be the only writing thread of this process."""
        if self._writing_thread == threading.get_ident():
            raise Broken("a write transaction was begun inside another one of the same thread")
        with self._idle_guard:
            self._waiting += 1
        taken = self._writing.acquire(timeout=self._wait_seconds)
        with self._idle_guard:
            self._waiting -= 1
        if not taken:
            raise StoreBusy("state.db is being written by another thread of this process.")
        try:
            self._writing_thread = threading.get_ident()
            yield
        finally:
            self._writing_thread = 0
            self._writing.release()

    # -- commits that several transactions share; called by the thread whose turn it is ----------------------

    def _open_group(self, *, durable: bool) -> "_Group":
        group = _Group()
        with contextlib.ExitStack() as lock:
            lock.enter_context(givingway.lock(self._home, self._wait_seconds))
            self._refuse_closed()
            self._refuse_replaced_files()
            if not durable:
                lock.callback(self._writer.execute, "PRAGMA synchronous = FULL")
                self._writer.execute("PRAGMA synchronous = NORMAL")
            self._writer.execute("BEGIN IMMEDIATE")
            group.lock = lock.pop_all()
        self._group = group
        return group

    def _end_group(self) -> None:
        """Commit what has been left open, and let its threads go. What went wrong is raised by each of them."""
        group, self._group = self._group, None
        if group is None:
            return
        try:
            if group.error is None:
                self._writer.execute("COMMIT")
        except sqlite3.Error as error:
            group.error = error
        finally:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            group.lock.close()
            group.done.set()

    def _until_committed(self, group: "_Group") -> None:
        while not group.done.wait(PATIENCE_SECONDS):
            # Whoever was to end it gave up waiting for its turn: any member may.
            with self._turn():
                if self._group is group:
                    self._end_group()
        if group.error is not None:
            raise group.error

    def _borrow(self) -> sqlite3.Connection:
        with self._idle_guard:
            self._refuse_closed()
            if self._idle:
                return self._idle.pop()
        connection = opening.connect(self._home.state_db)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._idle_guard:
            if not self._closed and len(self._idle) < _IDLE_READERS:
                self._idle.append(connection)
                return
        with contextlib.ExitStack() as alone:
            with contextlib.suppress(StoreBusy):
                alone.enter_context(self._alone())
            connection.close()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise Broken("state.db was used after it was closed")

    def _refuse_replaced_files(self) -> None:
        # Committing into a file that has no name any more would lose everything said from now on.
        if _identity(self._home.state_db) != self._files:
            raise Unusable(
                f"{self._home.state_db} or its -wal file was replaced or deleted while in use. Nothing more is "
                "written. Stop every hikae process of this home, see that the right state.db is in place, "
                "and start again."
            )


def _identity(path: Path) -> tuple[tuple[int, int], ...]:
    """Which files these are, by number: names can be given to other files."""
    found = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            status = os.stat(file)
        except FileNotFoundError:
            found.append((0, 0))
        else:
            found.append((status.st_dev, status.st_ino))
    return tuple(found)
