"""Ctrl-C while a server is on its way up or down."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def at_once() -> Iterator[None]:
    """Ctrl-C inside the block ends the process at once, with exit code 0 and without a word.

    For commands that serve, until they do: a stop that was asked for is no failure, loading libraries takes a
    second or two, and nothing has begun that would have to be brought to an end. What the database is in the
    middle of is settled by whoever opens it next, as after a crash. A server puts its own handling in place
    of this while it serves.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(0)
