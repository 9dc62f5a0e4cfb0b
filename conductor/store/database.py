"""Opening the file, bringing it up to date, and connections to it.

The only module that knows sqlite-utils, and only when a file has to be made or upgraded: importing it takes a
second, since it brings pandas along.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from . import inspection
from .errors import StoreError, primary_code, translated
from .schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION

if TYPE_CHECKING:
    from sqlite_utils import Database

BUSY_S = 60.0
"""How long a write waits for another process, in seconds, before it gives up."""
_one_at_a_time = Lock()
"""A file just created must not be closed while another thread has it open: see ``inspection``."""
_SETTINGS = (
    "synchronous=FULL",
    "secure_delete=ON",
    "temp_store=MEMORY",
    "trusted_schema=OFF",
    f"journal_size_limit={64 * 2**20}",
)


def prepare(path: Path) -> None:
    """Makes ``path`` a database of ours in the newest form; creates it, and its folder, if need be.

    Several processes may do this at once, on an empty file too.

    Raises:
        StoreError: the file is foreign, newer or corrupt (it is left untouched), or cannot be written.
    """
    with _one_at_a_time:
        _make(path)
        inspection.refuse_unusable(path)
        try:
            with closing(connect(path)) as conn:
                _use_wal(conn)
                _migrate(conn, path)
        except sqlite3.Error as problem:
            raise translated(problem, path) from problem


def connect(path: Path, *, for_reading: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode (transactions are begun by hand), usable from any one thread at a time.

    Every commit is synced to the disk before it returns (``synchronous=FULL``), and what is deleted is
    overwritten. With ``for_reading`` any write is refused.
    """
    address = f"{path.absolute().as_uri()}?mode=rw"
    conn = sqlite3.connect(
        address,
        uri=True,
        timeout=BUSY_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        for setting in (*_SETTINGS, "query_only=ON" if for_reading else "query_only=OFF"):
            conn.execute(f"PRAGMA {setting}")
    except sqlite3.Error:
        conn.close()
        raise
    if for_reading:
        conn.row_factory = sqlite3.Row
    return conn


def upgrade(conn: sqlite3.Connection, *, to: int = SCHEMA_VERSION) -> None:
    """Applies the migrations a file lacks, up to form ``to``; the caller has begun a transaction.

    Each is recorded by name in sqlite-utils' own table, so its command line tool understands the file.
    """
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

    ours = Migrations("conductor_studio")
    for name, change in MIGRATIONS[:to]:
        ours(name=name)(_on_database(change))
    ours.apply(Database(conn, execute_plugins=False))
    conn.execute(f"PRAGMA application_id={APPLICATION_ID}")
    conn.execute(f"PRAGMA user_version={to}")


def _on_database(change: Callable[[sqlite3.Connection], None]) -> Callable[[Database], None]:
    def apply(db: Database, /) -> None:
        change(db.conn)

    return apply


@contextmanager
def immediate(conn: sqlite3.Connection) -> Iterator[None]:
    """One transaction that takes the write lock at once: a later upgrade could fail beside another writer."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield
        conn.execute("COMMIT")
    except BaseException:
        # A full disk may have ended the transaction already.
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise


@contextmanager
def savepoint(conn: sqlite3.Connection) -> Iterator[None]:
    """A part of a transaction that can fail alone."""
    conn.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        # A full disk may have ended the transaction, and the savepoint with it.
        if conn.in_transaction:
            conn.execute("ROLLBACK TO part")
            conn.execute("RELEASE part")
        raise
    conn.execute("RELEASE part")


def _migrate(conn: sqlite3.Connection, path: Path) -> None:
    if inspection.check_ours(conn, path) == SCHEMA_VERSION:
        return
    with immediate(conn):
        if inspection.check_ours(conn, path) < SCHEMA_VERSION:  # unless another process was first
            upgrade(conn)


def _use_wal(conn: sqlite3.Connection) -> None:
    # Changing the journal mode does not wait for others as a write does, so two processes that open an
    # empty file at once must wait by hand.
    give_up = time.monotonic() + BUSY_S
    while True:
        try:
            conn.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as problem:
            is_busy = primary_code(problem) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
            if not is_busy or time.monotonic() > give_up:
                raise
            time.sleep(0.02)


def _make(path: Path) -> None:
    """Creates a missing file, and refuses one that cannot be written. Never opens an existing one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise StoreError(
                "unwritable", f"{path} is a folder, not a file.", hint="Set CONDUCTOR_DB to a file inside it."
            )
        with suppress(FileExistsError):
            # Prompts, answers and the key of share addresses are nobody else's business.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if not (os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as problem:
        raise StoreError(
            "unwritable",
            f"The database {path} cannot be created or written to: {problem.strerror or problem}.",
            hint="Give this user write permission there, or set CONDUCTOR_DB to another place.",
        ) from problem
