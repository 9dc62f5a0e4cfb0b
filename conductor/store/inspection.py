"""Whose file it is and whether it is whole, found out without changing it or leaving anything beside it.

Only ever through SQLite. A process that opens and closes the file by other means lets go of every lock that
SQLite holds on it in that process, and another process may then damage it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import RESCUE, StoreError, primary_code, translated
from .schema import APPLICATION_ID, SCHEMA_VERSION

WHOLE_CHECK_BYTES = 32 * 2**20
"""Up to this size every page is checked on opening; a bigger file shows damage when it is met."""


@dataclass(frozen=True)
class _Look:
    """What a file says of itself. ``damage`` in SQLite's words, ``None`` when none was found."""

    application: int
    version: int
    n_tables: int
    damage: str | None = None


def refuse_unusable(path: Path) -> None:
    """Returns when the file is empty, or ours and readable by this release.

    Raises:
        StoreError: foreign, newer or corrupt. The file stays byte for byte as it was.
    """
    if path.stat().st_size == 0:
        return
    try:
        _judge(path, _look(path))
    except StoreError:
        # Another process may have been writing while we looked; it has a log by now, or is done.
        _judge(path, _look(path))


def check_ours(conn: sqlite3.Connection, path: Path) -> int:
    """The form of an open file, 0 for an empty one. Raises ``StoreError`` like ``refuse_unusable``."""
    look = _read(conn)
    _judge(path, look)
    return look.version


def _look(path: Path) -> _Look:
    # Without a log nobody has the file open; "immutable" then keeps SQLite from leaving one behind.
    alone = "" if _log_of(path).exists() else "&immutable=1"
    address = f"{path.absolute().as_uri()}?mode=ro{alone}"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=10.0)) as conn:
            look = _read(conn)
            if look.application != APPLICATION_ID or path.stat().st_size > WHOLE_CHECK_BYTES:
                return look
            said = str(conn.execute("PRAGMA quick_check(1)").fetchone()[0])
            return look if said == "ok" else replace(look, damage=said.splitlines()[0])
    except sqlite3.DatabaseError as problem:
        match primary_code(problem):
            case sqlite3.SQLITE_NOTADB:
                raise _foreign(path, "it is no SQLite database, or its beginning is damaged") from problem
            case sqlite3.SQLITE_CORRUPT:
                raise _corrupt(path, str(problem)) from problem
            case _:
                raise translated(problem, path) from problem


def _read(conn: sqlite3.Connection) -> _Look:
    application, version, n_tables = (
        int(conn.execute(question).fetchone()[0])
        for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    )
    return _Look(application, version, n_tables)


def _judge(path: Path, look: _Look) -> None:
    if look.application != APPLICATION_ID:
        if look.application or look.n_tables:
            raise _foreign(path, "it is a database of another program")
    elif look.version > SCHEMA_VERSION:
        raise StoreError(
            "newer",
            f"{path} was written by a newer Conductor Studio"
            f" (form {look.version}; this one knows {SCHEMA_VERSION}).",
            hint="Update Conductor Studio, or set CONDUCTOR_DB to another file. This one was left as it is.",
        )
    elif look.damage is not None:
        raise _corrupt(path, look.damage)


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _corrupt(path: Path, how: str) -> StoreError:
    return StoreError("corrupt", f"{path} is damaged ({how}).", hint=RESCUE)


def _foreign(path: Path, why: str) -> StoreError:
    return StoreError(
        "foreign",
        f"{path} does not belong to Conductor Studio: {why}.",
        hint="Set CONDUCTOR_DB to another place; a new file is created there. This one was left as it is.",
    )
