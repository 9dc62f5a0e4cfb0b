"""Which living process executes which run: one byte of a lock file per run, locked while it does.

The operating system gives a lock back when its process ends, however it ends, so a killed process leaves
nothing to clean up and nothing to time out. Without file locks (Windows) one process per database is assumed.
"""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - not on this platform
    fcntl = None  # type: ignore[assignment]  # the module is missing on Windows

_SLOTS = 256
"""Bytes at the beginning of the file that number the processes; runs lie behind them."""


class Claims:
    """The locks held through one open lock file."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._held: set[str] = set()
        self.slot = next(number for number in range(_SLOTS) if _lock(self._file, number))
        """A small number that nobody else who has the file open has; the only one gets 0 each time."""

    def take(self, run_id: str) -> bool:
        """Whether the run is now, or was already, held here."""
        if run_id not in self._held and _lock(self._file, _place(run_id)):
            self._held.add(run_id)
        return run_id in self._held

    def give_back(self, run_id: str) -> None:
        """Lets others take the run."""
        if run_id in self._held:
            self._held.discard(run_id)
            _unlock(self._file, _place(run_id))

    def close(self) -> None:
        """Gives everything back."""
        self._held.clear()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _place(run_id: str) -> int:
    """A byte of its own for every run; files may be sparse up to 2⁶³ bytes, locks need no bytes at all."""
    return _SLOTS + int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:7], "big")


def _lock(file: int, place: int) -> bool:
    if fcntl is None:
        return True
    try:
        if hasattr(fcntl, "F_OFD_SETLK"):
            # Locks of the open file, not of the process: two backends in one process exclude each other too.
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, _flock(fcntl.F_WRLCK, place))
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except OSError:
        return False
    return True


def _unlock(file: int, place: int) -> None:
    if fcntl is None:
        return
    if hasattr(fcntl, "F_OFD_SETLK"):
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, _flock(fcntl.F_UNLCK, place))
    else:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


def _flock(kind: int, place: int) -> bytes:
    """Linux's ``struct flock``: type, whence, start, length, process (0 for locks of an open file)."""
    return struct.pack("@hhqqi0q", kind, os.SEEK_SET, place, 1, 0)
