"""The machine: how busy it is, and what a process takes of it."""

from __future__ import annotations

import asyncio
import os
import platform
import time
from dataclasses import dataclass

import psutil  # type: ignore[import-untyped]  # it brings no types

QUIET_CORES = 0.35
LOOK_S = 0.4
MIB = 2**20


class Patience:
    """Waits for quiet moments, at most ``seconds`` in all; keeps how many cores were busy each time."""

    def __init__(self, seconds: float) -> None:
        self._left_s = seconds
        self.busy: list[float] = []

    def wait(self) -> None:
        """Returns when less than a third of a core is busy, or the patience has come to its end."""
        while True:
            busy = _busy_cores(LOOK_S)
            self._left_s -= LOOK_S
            if busy < QUIET_CORES or self._left_s <= 0:
                self.busy.append(busy)
                return

    def said(self) -> str:
        """How busy the machine was with other work just before each measurement."""
        if not self.busy:
            return "load unknown"
        return f"else busy {min(self.busy):.1f}–{max(self.busy):.1f} cores"

    async def quiet(self) -> None:
        """The same for an event loop."""
        await asyncio.to_thread(self.wait)


def _busy_cores(seconds: float) -> float:
    before, start = _busy_s(), time.monotonic()
    time.sleep(seconds)
    return max(0.0, (_busy_s() - before) / (time.monotonic() - start))


def _busy_s() -> float:
    times = psutil.cpu_times()._asdict()
    idle = ("idle", "iowait", "guest", "guest_nice")  # guest time is counted in user time already
    return float(sum(value for name, value in times.items() if name not in idle))


def own_cpu_s() -> float:
    """CPU seconds of this process so far, all threads."""
    return time.process_time()


@dataclass(frozen=True)
class Memory:
    """What a process and its children have in memory, in MiB. ``None`` is unknown: only Linux tells."""

    rss_mib: float
    pss_mib: float | None
    anonymous_mib: float | None

    def __str__(self) -> str:
        if self.pss_mib is None or self.anonymous_mib is None:
            return "PSS unknown"
        return f"PSS {self.pss_mib:.0f}, anonymous {self.anonymous_mib:.0f}"


def memory_of(pid: int) -> Memory:
    """The memory of a process and its children now."""
    process = psutil.Process(pid)
    parts = [each.memory_full_info() for each in (process, *process.children(recursive=True))]
    rss = sum(part.rss for part in parts)
    if not all(hasattr(part, "pss") for part in parts):
        return Memory(rss / MIB, None, None)
    pss, files = sum(part.pss for part in parts), sum(part.shared for part in parts)
    return Memory(rss / MIB, pss / MIB, (rss - files) / MIB)


def raise_priority(pid: int) -> None:
    """Lets a process go first, where we may: a clock that is late would be measured as ours."""
    try:
        psutil.Process(pid).nice(-5)
    except (psutil.AccessDenied, OSError):
        return


def said() -> str:
    """The machine in one line."""
    load = ", ".join(f"{each:.2f}" for each in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    memory = psutil.virtual_memory().total / 2**30
    python = platform.python_version()
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {python}, load {load}"
