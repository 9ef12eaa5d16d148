"""The database as a file among processes: one writer, snapshots, refusals, kills."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateway.errors import Broken, StoreBusy
from gateway.home import Home
from gateway.store import locks, messages, people
from gateway.store.db import Database, GaveWay, Unusable
from tests.processes import until
from tests.store import given
from tests.store.given import StillClock


def test_what_was_committed_is_there_after_a_restart(home: Home, clock: StillClock) -> None:
    """The promise everything else stands on."""
    with Database.open(home, clock) as db, db.write() as tx:
        id = given.keep(tx, "I moved to Bergen")

    with Database.open(home, clock) as db, db.read() as rd:
        assert messages.get(rd, id).text == "I moved to Bergen"


def test_an_exception_undoes_the_whole_transaction(db: Database) -> None:
    """Two things in one commit happen both or not at all."""
    with pytest.raises(ZeroDivisionError), db.write() as tx:
        given.space(tx)
        raise ZeroDivisionError

    with db.read() as rd:
        assert rd.rows("SELECT * FROM spaces") == []


def test_a_reader_sees_one_moment(db: Database, other: Database) -> None:
    """A request built from several reads must not mix before and after."""
    with db.read() as rd:
        before = rd.rows("SELECT * FROM spaces")
        with other.write() as tx:
            given.space(tx)
        after = rd.rows("SELECT * FROM spaces")

    assert before == after == []


def test_a_reader_cannot_write(db: Database) -> None:
    """Writes outside the lock are what the lock is there to prevent."""
    with pytest.raises(StoreBusy), db.read() as rd:
        rd.execute("DELETE FROM spaces")


def test_every_connection_is_set_up_alike(db: Database) -> None:
    """Without secure_delete words stay in free pages; without FULL a power cut loses rows."""
    wanted = {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
        "wal_autocheckpoint": 0,
        "temp_store": 2,
        "cache_size": -16384,
        "busy_timeout": 10000,
    }
    with db.write() as tx:
        writer = {name: tx.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted}
    with db.read() as rd:
        reader = {name: rd.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted}

    assert writer == reader == wanted


def test_files_are_closed_to_other_accounts(home: Home, db: Database) -> None:
    """A home holds somebody's life."""
    with db.write() as tx:
        given.space(tx)

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.path.glob("state.db*")}

    assert modes == {"state.db": 0o600, "state.db-wal": 0o600, "state.db-shm": 0o600}
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700


def test_many_threads_write_and_no_count_is_lost(db: Database, other: Database) -> None:
    """Both kinds of fairness at once: threads of one process, and two processes."""
    with db.write() as tx:
        space = given.space(tx)

    def count(database: Database) -> None:
        for _ in range(25):
            with database.write() as tx:
                tx.execute("UPDATE spaces SET last_sequence = last_sequence + 1 WHERE id = ?", (space,))

    given.at_once(*(lambda database=database: count(database) for database in (db, other, db, other)))

    with db.read() as rd:
        assert rd.rows("SELECT last_sequence FROM spaces")[0][0] == 100


def test_transactions_that_share_a_commit_are_undone_each_alone(db: Database, other: Database) -> None:
    """Chats share fsyncs; one that fails must take nobody else's words with it, and none is told too early."""
    ready = threading.Barrier(24)

    def write(number: int) -> bool:
        ready.wait()
        try:
            with db.write() as tx:
                people.ensure_space(tx, f"space-{number}", "person", "", given.NINE)
                if number % 3 == 0:
                    raise LookupError
        except LookupError:
            return False
        with other.read() as rd:  # another connection sees what was said to be committed
            return any(space.name == f"space-{number}" for space in people.spaces(rd))

    with ThreadPoolExecutor(24) as pool:
        told = list(pool.map(write, range(24)))

    assert told == [number % 3 != 0 for number in range(24)]
    with other.read() as rd:
        assert len(people.spaces(rd)) == 16


def test_what_need_not_be_durable_is_committed_alone_without_a_sync(db: Database, other: Database) -> None:
    """A sweep's slices wait for no disk; whoever's words are confirmed meanwhile waits for it as ever."""

    def synchronous() -> int:
        with db.write() as tx:
            found: int = tx.execute("PRAGMA synchronous").fetchone()[0]
        return found

    with db.write(durable=False) as tx:
        given.space(tx)
        inside = tx.execute("PRAGMA synchronous").fetchone()[0]
    after = synchronous()
    with pytest.raises(ZeroDivisionError), db.write(durable=False) as tx:
        given.space(tx, "telegram-5")
        raise ZeroDivisionError

    assert (inside, after, synchronous()) == (1, 2, 2)
    with other.read() as rd:
        assert [space.name for space in people.spaces(rd)] == ["owner"]


def test_nobodys_commit_is_shared_with_one_that_is_not_synced(db: Database) -> None:
    """Whoever shares a commit believes to be on disk."""
    ready = threading.Barrier(12)
    levels: list[tuple[bool, int]] = []

    def write(durable: bool) -> None:
        ready.wait()
        for _ in range(20):
            with db.write(durable=durable) as tx:
                levels.append((durable, tx.execute("PRAGMA synchronous").fetchone()[0]))

    given.at_once(*(lambda durable=number % 3 != 0: write(durable) for number in range(12)))

    assert set(levels) == {(True, 2), (False, 1)}


def test_who_waits_to_write_is_seen_and_let_in(db: Database, other: Database) -> None:
    """Slices follow each other at once: a thread or a process that waits would find no gap."""
    assert not db.give_way()
    for waiting in (db, other):
        done = threading.Event()

        def write(waiting: Database = waiting, done: threading.Event = done) -> None:
            with waiting.write() as tx:
                tx.execute("UPDATE search_state SET version = version")
            done.set()

        with ThreadPoolExecutor(1) as pool:
            with db.write(durable=False):
                written = pool.submit(write)
                until(db.is_waited_for)
                assert not done.is_set()
            while db.is_waited_for():
                db.give_way()
            written.result(10)

        assert (done.is_set(), db.is_waited_for()) == (True, False)


def test_what_yields_is_undone_as_soon_as_somebody_waits(db: Database, other: Database) -> None:
    """Merging a very common word cannot be made shorter, but it can be begun again."""
    count_on = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT max(i) FROM n"
    )

    def keep() -> int:
        with other.write() as tx:
            return given.keep(tx, "we met in Bergen")

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(GaveWay), db.write(durable=False, yields=True) as tx:
            given.space(tx)
            tx.execute("UPDATE spaces SET last_sequence = 700")
            waiting = pool.submit(keep)
            until(db.is_waited_for)
            tx.rows(count_on)
        kept = waiting.result(timeout=10)

    with db.read() as rd:
        assert rd.rows("SELECT last_sequence FROM spaces")[0][0] == kept & 0xFFFFFFFF < 700
    with db.write() as tx:
        assert tx.rows(count_on)[0][0] == 3_000_000


def test_what_yields_shares_no_commit(db: Database) -> None:
    """Where SQLite undoes it, everybody's writes of that commit would go with it."""
    with pytest.raises(Broken, match="yields"), db.write(yields=True) as tx:
        given.space(tx)

    with db.read() as rd:
        assert rd.rows("SELECT * FROM spaces") == []


def test_a_shortened_wal_is_used_again_from_its_beginning(home: Home, db: Database) -> None:
    """While an index is swept it would grow to twice the index."""
    wal = home.path / "state.db-wal"
    sizes = []
    with db.write() as tx:
        given.space(tx)
    for number in range(6):
        with db.write(durable=False) as tx:
            given.keep(tx, f"message {number} " + "x" * 200_000)
        db.shorten()
        sizes.append(wal.stat().st_size)

    assert sizes[-1] < 2 * sizes[0]


def test_shortening_waits_for_the_lock(db: Database, other: Database) -> None:
    """A checkpoint that races a commit can damage the database."""
    with ThreadPoolExecutor(1) as pool:
        with other.write() as tx:
            given.space(tx)
            shortening = pool.submit(db.shorten)
            with pytest.raises(TimeoutError):
                shortening.result(timeout=0.1)
        shortening.result(timeout=10)


def test_on_a_full_disk_everybody_is_told_what_became_of_their_own_write(db: Database) -> None:
    """Where SQLite gives up a shared transaction, all who were in it hear so; nobody believes to be kept."""
    with db.write() as tx:
        pages = tx.execute("PRAGMA page_count").fetchone()[0]
        tx.execute(f"PRAGMA max_page_count = {pages + 30}")
    ready = threading.Barrier(12)

    def write(number: int) -> bool:
        ready.wait()
        try:
            with db.write() as tx:
                people.ensure_space(tx, f"{number}-" + "x" * (9_000 * number), "person", "", given.NINE)
        except StoreBusy:
            return False
        return True

    with ThreadPoolExecutor(12) as pool:
        told = list(pool.map(write, range(12)))

    with db.read() as rd:
        kept = {int(space.name.partition("-")[0]) for space in people.spaces(rd)}
    assert kept == {number for number in range(12) if told[number]}
    assert not all(told)


def test_a_held_lock_is_waited_for_only_so_long(home: Home, clock: StillClock) -> None:
    """A hung process must not hang the bot: the message is not confirmed and comes again."""
    with Database.open(home, clock, wait_seconds=0.05) as db:
        busy = pytest.raises(StoreBusy, match=f"held by process {os.getpid()}")
        with locks.lock(home.state_lock, 0), busy, db.write():
            pass
        with db.write() as tx:
            given.space(tx)


def test_a_full_disk_is_said_and_changes_nothing(db: Database) -> None:
    """The adapter must hear TryLater, not a stranger's exception, so that nothing is confirmed."""
    with db.write() as tx:
        pages = tx.execute("PRAGMA page_count").fetchone()[0]
        tx.execute(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(StoreBusy, match="the disk is full"), db.write() as tx:
        for number in range(1000):
            given.keep(tx, f"message {number} " + "x" * 1000)

    with db.read() as rd:
        assert rd.rows("SELECT * FROM messages") == []
    with db.write() as tx:
        tx.execute(f"PRAGMA max_page_count = {pages + 1000}")
        given.keep(tx, "now there is room")


def test_a_write_inside_a_write_is_our_bug(db: Database) -> None:
    """It would wait for itself."""
    with db.write(), pytest.raises(Broken, match="inside another"), db.write():
        pass


def test_the_version_changes_with_every_commit(db: Database, other: Database) -> None:
    """The gateway looks once a second when the bell was lost."""
    first = db.data_version()
    same = db.data_version()
    with other.write() as tx:
        given.space(tx)
    theirs = db.data_version()
    with db.write() as tx:
        given.space(tx, "telegram-5")
    ours = db.data_version()

    assert first == same
    assert len({first, theirs, ours}) == 3


def test_a_checkpoint_empties_the_wal_when_nobody_reads(home: Home, db: Database) -> None:
    """Erased words live on in the WAL until it is emptied; a reader in the way must be noticed."""
    wal = home.path / "state.db-wal"
    with db.write() as tx:
        given.space(tx)

    with db.read() as rd:
        rd.rows("SELECT * FROM spaces")
        with db.write() as tx:
            given.space(tx, "telegram-5")
        blocked = db.checkpoint()
    done = db.checkpoint()

    assert (blocked, done, wal.stat().st_size) == (False, True, 0)


def test_nothing_is_checkpointed_outside_the_lock(home: Home, clock: StillClock) -> None:
    """SQLite 3.40 can damage a WAL database when a checkpoint races a commit; only the lock keeps them apart."""
    first = Database.open(home, clock)
    second = Database.open(home, clock)
    with first.write() as tx:
        for number in range(2000):
            given.keep(tx, f"message {number}")
    grown = (home.path / "state.db-wal").stat().st_size
    size = home.state_db.stat().st_size

    first.close()

    assert (grown > 100_000, home.state_db.stat().st_size) == (True, size)
    second.close()
    assert not (home.path / "state.db-wal").exists()


def test_closing_waits_for_the_lock(home: Home, clock: StillClock) -> None:
    """The last connection checkpoints as it closes."""
    db = Database.open(home, clock)
    lock = locks.try_lock(home.state_lock)
    assert lock is not None
    with ThreadPoolExecutor(1) as pool:
        closing = pool.submit(db.close)
        with pytest.raises(TimeoutError):
            closing.result(timeout=0.1)
        lock.release()
        closing.result(timeout=10)

    assert not (home.path / "state.db-wal").exists()


def test_reads_that_run_while_it_closes_end_well(db: Database) -> None:
    """Ctrl-C comes in the middle of something."""
    reading, closed = threading.Event(), threading.Event()

    def read() -> int:
        with db.read() as rd:
            rd.rows("SELECT * FROM spaces")
            reading.set()
            closed.wait(10)
            return len(rd.rows("SELECT * FROM spaces"))

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(read)
        reading.wait(10)
        db.close()
        closed.set()

        assert result.result() == 0
    with pytest.raises(Broken, match="after it was closed"), db.read():
        pass


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"this is not a database, it is a note\n" * 100, id="a text"),
        pytest.param(b"SQLite format 3\x00" + b"\xff" * 8000, id="damaged"),
    ],
)
def test_a_file_that_is_no_database_is_refused_untouched(home: Home, clock: StillClock, content: bytes) -> None:
    """What is damaged may still be saved by somebody who knows how, unless we write into it."""
    home.path.mkdir()
    home.state_db.write_bytes(content)

    with pytest.raises(Unusable, match="backups/"):
        Database.open(home, clock)

    assert home.state_db.read_bytes() == content


def test_a_cut_off_database_is_refused_untouched(home: Home, clock: StillClock) -> None:
    """A copy that broke off half way looks like a database at its beginning."""
    with Database.open(home, clock) as db, db.write() as tx:
        given.keep(tx, "I moved to Bergen")
    whole = home.state_db.read_bytes()
    home.state_db.write_bytes(whole[: len(whole) // 2])

    with pytest.raises(Unusable, match="damaged"):
        Database.open(home, clock)

    assert home.state_db.read_bytes() == whole[: len(whole) // 2]


def test_the_database_of_another_program_is_refused_untouched(home: Home, clock: StillClock) -> None:
    """Putting our tables into somebody else's file helps nobody."""
    home.path.mkdir()
    connection = sqlite3.connect(home.state_db)
    connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    content = home.state_db.read_bytes()

    with pytest.raises(Unusable, match="another program"):
        Database.open(home, clock)

    assert home.state_db.read_bytes() == content


def test_a_newer_database_is_refused_untouched(home: Home, clock: StillClock) -> None:
    """An old version does not know what it would destroy."""
    Database.open(home, clock).close()
    connection = sqlite3.connect(home.state_db)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    content = home.state_db.read_bytes()

    with pytest.raises(Unusable, match=r"newer hikae.*99"):
        Database.open(home, clock)

    assert home.state_db.read_bytes() == content


def test_a_database_replaced_under_us_stops_the_writing(home: Home, db: Database) -> None:
    """Rows committed into a file without a name are lost at the next restart, and nobody would know."""
    home.state_db.rename(home.path / "elsewhere.db")

    with pytest.raises(Unusable, match="replaced or deleted"), db.write():
        pass


_OPEN = """
import sys
from pathlib import Path
from gateway.home import Home
from gateway.store.db import Database
from tests.store import given
with Database.open(Home(Path(sys.argv[1])), given.StillClock()) as db, db.write() as tx:
    given.space(tx, f"telegram-{sys.argv[2]}")
"""


def test_processes_that_open_a_new_home_at_once_all_succeed(home: Home, clock: StillClock) -> None:
    """`hikae up` starts a gateway and a worker on a home that neither has seen."""
    processes = [subprocess.Popen([sys.executable, "-c", _OPEN, home.path, str(number)]) for number in range(4)]
    codes = [process.wait(30) for process in processes]

    with Database.open(home, clock) as db, db.read() as rd:
        spaces = rd.rows("SELECT name FROM spaces ORDER BY name")
    assert codes == [0, 0, 0, 0]
    assert [row[0] for row in spaces] == ["telegram-0", "telegram-1", "telegram-2", "telegram-3"]


_WRITE = """
import sys
from pathlib import Path
from gateway.home import Home
from gateway.store.db import Database
from tests.store import given
with Database.open(Home(Path(sys.argv[1])), given.StillClock()) as db:
    while True:
        with db.write() as tx:
            id = given.keep(tx, "I moved to Bergen")
        print(id, flush=True)
"""


def test_a_killed_writer_loses_no_committed_row(home: Home, clock: StillClock) -> None:
    """What was confirmed to a platform is never sent by it again."""
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", _WRITE, home.path], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        with writer.stdout:
            confirmed = [int(writer.stdout.readline()) for _ in range(20)]
            writer.send_signal(signal.SIGKILL)
            confirmed += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
        writer.wait()

        with Database.open(home, clock) as db, db.read() as rd:
            kept = {row[0] for row in rd.rows("SELECT id FROM messages")}
            assert rd.rows("PRAGMA integrity_check")[0][0] == "ok"
        assert set(confirmed) <= kept


def test_the_folder_of_a_home_may_be_anywhere(tmp_path: Path, clock: StillClock) -> None:
    """Odd names are people's right, and `?` or `#` mean something in an SQLite address."""
    home = Home(tmp_path / "my home #1? 100%" / "控え")

    with Database.open(home, clock) as db, db.write() as tx:
        given.space(tx)
    with Database.open(home, clock) as db, db.read() as rd:
        assert len(rd.rows("SELECT * FROM spaces")) == 1
