"""Server-sent events from bytes: pure, knows neither HTTP nor runs.

Lines are cut at LF only. Text decoders that also cut at U+2028 or form feeds would tear JSON apart, because
model output may hold those characters unescaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class ServerSentEvent(NamedTuple):
    """One event. ``event`` is ``"message"`` when the stream named none; ``last_id`` may be empty."""

    event: str
    data: str
    last_id: str


def read_events(chunks: Iterable[bytes]) -> Iterator[ServerSentEvent]:
    """Yields events as soon as their empty line is there; comments and an unfinished tail yield nothing."""
    name, last_id = "", ""
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            if data:
                yield ServerSentEvent(name or "message", "\n".join(data), last_id)
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            last_id = value


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    unfinished: list[bytes] = []  # joined once per line, so that one line of many megabytes costs linear time
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        unfinished.append(first)
        for part in others:
            yield b"".join(unfinished).removesuffix(b"\r").decode("utf-8", errors="replace")
            unfinished = [part]
