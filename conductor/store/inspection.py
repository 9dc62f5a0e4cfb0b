"""Whose file it is and whether it is whole, found out without changing it or leaving anything beside it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from .errors import RESCUE, StoreError, primary_code, translated
from .schema import APPLICATION_ID, SCHEMA_VERSION

WHOLE_CHECK_BYTES = 32 * 2**20
"""Up to this size every page is checked on opening; a bigger file shows damage when it is met."""
OTHER_PROGRAM = "it is a database of another program"
_MAGIC = b"SQLite format 3\0"
_HEAD = 105
"""Bytes of the file's header and of its first page's, where the number of tables stands."""


def refuse_unusable(path: Path) -> None:
    """Returns when the file is empty, or ours and readable by this release.

    Raises:
        StoreError: foreign, newer or corrupt. The file stays byte for byte as it was.
    """
    _refuse_foreign_or_newer(path)
    _refuse_damaged(path)


def _refuse_foreign_or_newer(path: Path) -> None:
    """Looks at the header itself: SQLite would leave files of its own beside a stranger's database."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        return
    if not head.startswith(_MAGIC):
        raise foreign(path, "it is no SQLite database, or its beginning is damaged")
    if len(head) < _HEAD:
        raise StoreError("corrupt", f"{path} is damaged: it ends in its header.", hint=RESCUE)
    application, version = int.from_bytes(head[68:72], "big"), int.from_bytes(head[60:64], "big")
    n_tables = int.from_bytes(head[103:105], "big")
    if application != APPLICATION_ID and (application or n_tables):
        raise foreign(path, OTHER_PROGRAM)
    if application == APPLICATION_ID and version > SCHEMA_VERSION:
        raise newer(path, version)


def _refuse_damaged(path: Path) -> None:
    size = path.stat().st_size
    if size and not _log_of(path).exists() and size < _promised_bytes(path):
        raise StoreError("corrupt", f"{path} is damaged: its end is missing.", hint=RESCUE)
    if not 0 < size <= WHOLE_CHECK_BYTES:
        return
    said = _quick_check(path)
    if said is not None and _log_of(path).exists():
        said = _quick_check(path)  # another process may have been writing while we looked
    if said is not None:
        raise StoreError("corrupt", f"{path} is damaged ({said}).", hint=RESCUE)


def _promised_bytes(path: Path) -> int:
    """How long the file is by its own header."""
    with path.open("rb") as file:
        head = file.read(32)
    page_bytes = int.from_bytes(head[16:18], "big")
    return (2**16 if page_bytes == 1 else page_bytes) * int.from_bytes(head[28:32], "big")


def _quick_check(path: Path) -> str | None:
    """What is wrong with the pages of a file, or ``None``. Reads only."""
    # Without a log nobody has the file open; "immutable" then keeps SQLite from leaving one behind.
    alone = "" if _log_of(path).exists() else "&immutable=1"
    try:
        address = f"{path.absolute().as_uri()}?mode=ro{alone}"
        with closing(sqlite3.connect(address, uri=True, timeout=10.0)) as conn:
            said = str(conn.execute("PRAGMA quick_check(1)").fetchone()[0])
            return None if said == "ok" else said.splitlines()[0]
    except sqlite3.OperationalError as problem:
        if primary_code(problem) == sqlite3.SQLITE_CANTOPEN:
            return None  # the log went away between the two looks; opening for real tells
        raise translated(problem, path) from problem
    except sqlite3.DatabaseError as problem:
        return str(problem)


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def foreign(path: Path, why: str) -> StoreError:
    """The error for a file that is not ours."""
    return StoreError(
        "foreign",
        f"{path} does not belong to Conductor Studio: {why}.",
        hint="Set CONDUCTOR_DB to another place; a new file is created there. This one was left as it is.",
    )


def newer(path: Path, version: int) -> StoreError:
    """The error for a file of a later release."""
    return StoreError(
        "newer",
        f"{path} was written by a newer Conductor Studio (form {version}; this one knows {SCHEMA_VERSION}).",
        hint="Update Conductor Studio, or set CONDUCTOR_DB to another file. This one was left as it is.",
    )
