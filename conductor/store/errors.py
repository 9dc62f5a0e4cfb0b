"""What can go wrong with the file, each with what to do about it.

StoreError      the file cannot be opened, read or written; ``reason`` says which
NameTaken       a saved workflow of that name exists already
KeyTaken        an idempotency key came with another request before

A run, plan or workflow that is not there is a plain ``KeyError``.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Literal

from conductor.folders import without_folders
from conductor_client.errors import ConductorError, StepError

Reason = Literal["foreign", "newer", "corrupt", "unwritable", "disk", "busy", "closed", "failed"]


class StoreError(ConductorError):
    """The database file could not be used. Nothing that was stored before is lost by it."""

    kind: Literal["store"] = "store"

    def __init__(self, reason: Reason, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason: Reason = reason

    def as_data(self) -> StepError:
        """The same as a value for events, which others may read: without the folder.

        A full disk or a busy file may be tried again.
        """
        passing, said = self.reason in {"disk", "busy"}, without_folders(self.message)
        return StepError(kind=self.kind, message=said, hint=self.hint, retryable=passing)


class NameTaken(ConductorError):
    """There is a saved workflow of that name; nothing was changed."""


class KeyTaken(ConductorError):
    """That idempotency key came with another request before; nothing was stored."""


def closed() -> StoreError:
    """The error of any call after ``close``."""
    return StoreError("closed", "The store has been closed.", hint="Open it again, or restart the backend.")


RESCUE = "Put a backup in its place, or move it away and start with an empty one. It was left as it is."
_BY_CODE: dict[int, tuple[Reason, str, str]] = {
    sqlite3.SQLITE_FULL: (
        "disk",
        "There is no space left on the disk of {path}; the last change was not stored, all earlier ones are.",
        "Free some space; a running backend goes on by itself.",
    ),
    sqlite3.SQLITE_IOERR: (
        "disk",
        "The disk of {path} refused to write or read; the last change was not stored, all earlier ones are.",
        "Check that the disk has space and is healthy; a running backend goes on by itself.",
    ),
    sqlite3.SQLITE_READONLY: (
        "unwritable",
        "{path} cannot be written to.",
        "Give this user write permission for the file and its folder, or set CONDUCTOR_DB to another place.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "unwritable",
        "{path} cannot be opened.",
        "Check that its folder exists and may be written to, or set CONDUCTOR_DB to another place.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "corrupt",
        "{path} is damaged.",
        RESCUE,
    ),
    sqlite3.SQLITE_BUSY: (
        "busy",
        "Another process kept {path} to itself for a minute.",
        "Close other programs that write to it (a second backend, a database browser), then try again.",
    ),
}
_BY_CODE[sqlite3.SQLITE_LOCKED] = _BY_CODE[sqlite3.SQLITE_BUSY]
_BY_CODE[sqlite3.SQLITE_PERM] = _BY_CODE[sqlite3.SQLITE_READONLY]
_BY_CODE[sqlite3.SQLITE_NOTADB] = _BY_CODE[sqlite3.SQLITE_CORRUPT]


def primary_code(problem: sqlite3.Error) -> int | None:
    """SQLite's result code without its details; ``None`` when the error is Python's own."""
    code: int | None = getattr(problem, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def translated(problem: sqlite3.Error, path: Path) -> StoreError:
    """SQLite's error in words that say what to do."""
    known = _BY_CODE.get(primary_code(problem) or 0)
    if known is None:
        return StoreError(
            "failed", f"{path} could not be used: {problem}.", hint="See the log of the backend."
        )
    reason, message, hint = known
    return StoreError(reason, message.format(path=path), hint=hint)
