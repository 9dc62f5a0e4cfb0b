"""Which living process executes which run: one byte of a lock file per run, locked while it does.

The operating system gives a lock back when its process ends, however it ends, so a killed process leaves
nothing to clean up and nothing to time out. Without file locks (Windows) one process per database is assumed.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - not on this platform
    fcntl = None  # type: ignore[assignment]  # the module is missing on Windows

_SLOTS = 256
"""Bytes at the beginning of the file that number the processes; runs lie behind them."""


class Claims:
    """The locks this process holds in one lock file. Not for several instances on one file in a process."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._held: set[str] = set()
        self.slot = next(number for number in range(_SLOTS) if self._lock(number))
        """A small number no other living process of this file has; the only one gets 0 each time."""

    def take(self, run_id: str) -> bool:
        """Whether the run is now, or was already, this process's own."""
        if run_id not in self._held and self._lock(_place(run_id)):
            self._held.add(run_id)
        return run_id in self._held

    def give_back(self, run_id: str) -> None:
        """Lets others take the run."""
        if run_id in self._held:
            self._held.discard(run_id)
            if fcntl is not None:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(run_id))

    def close(self) -> None:
        """Gives everything back."""
        self._held.clear()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _lock(self, place: int) -> bool:
        if fcntl is None:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError:
            return False
        return True


def _place(run_id: str) -> int:
    """A byte of its own for every run; files may be sparse up to 2⁶³ bytes, locks need no bytes at all."""
    return _SLOTS + int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:7], "big")
