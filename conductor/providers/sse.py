"""Server-sent events out of raw bytes. No I/O: pieces in, whole events out, whatever way they were cut."""

from __future__ import annotations

Event = tuple[str, bytes]
"""The event's name (empty when it has none) and its data."""


class SseDecoder:
    """Collects pieces and gives each event once it is complete. Comments (keep-alives) are left out."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._name = ""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[Event]:
        """Takes the next piece; returns the events that ended in it."""
        if b"\n" not in piece:
            # Kept apart until a line ends, so that one long line in many pieces is not copied each time.
            self._rest.append(piece)
            return []
        if self._rest:
            self._rest.append(piece)
            piece = b"".join(self._rest)
        lines = piece.split(b"\n")
        self._rest = [lines.pop()]
        events: list[Event] = []
        for line in lines:
            if line.startswith(b"data:"):
                value = line[6:] if line[5:6] == b" " else line[5:]
                self._data.append(value[:-1] if value[-1:] == b"\r" else value)
            elif not line or line == b"\r":
                self._end(events)
            elif line.startswith(b"event:"):
                self._name = line[6:].strip().decode("utf-8", "replace")
        return events

    def flush(self) -> list[Event]:
        """The event that was under way when the stream ended, if its data line was whole."""
        events = self.feed(b"\n\n") if any(self._rest) or self._data else []
        self._end(events)
        return events

    def _end(self, events: list[Event]) -> None:
        if self._data:
            events.append((self._name, self._data[0] if len(self._data) == 1 else b"\n".join(self._data)))
            self._data = []
        self._name = ""
