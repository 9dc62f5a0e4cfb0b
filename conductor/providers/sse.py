"""Server-sent events out of raw bytes. No I/O: pieces in, whole events out, whatever way they were cut."""

from __future__ import annotations

Event = tuple[str, bytes]
"""The event's name (empty when it has none) and its data."""
LONGEST_EVENT = 64 * 2**20
"""Bytes of one event; a server that sends more without an end is given up before it fills the memory."""
UNREADABLE = (ValueError, RecursionError)
"""What reading foreign bytes as JSON may raise, an endless event included."""
_BOM = b"\xef\xbb\xbf"


class SseDecoder:
    """Collects pieces and gives each event once it is complete. Comments (keep-alives) are left out.

    Lines end in LF, CR LF or CR, as the standard has it, wherever the pieces are cut.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._name = ""
        self._data: list[bytes] = []
        self._held = 0
        self._head: bytes | None = b""
        self._is_after_cr = False

    def feed(self, piece: bytes) -> list[Event]:
        """Takes the next piece; returns the events that ended in it.

        Raises:
            ValueError: one event is longer than ``LONGEST_EVENT``.
        """
        if self._head is not None:
            piece, self._head = self._head + piece, None
            if _BOM.startswith(piece):
                self._head = piece
                return []
            piece = piece.removeprefix(_BOM)
        if self._is_after_cr and piece:
            self._is_after_cr = False
            piece = piece.removeprefix(b"\n")
        if b"\r" in piece:
            self._is_after_cr = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._held += len(piece)
        if self._held > LONGEST_EVENT:
            raise ValueError("an event without an end")
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
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                self._end(events)
            elif line.startswith(b"event:"):
                self._name = line[6:].strip().decode("utf-8", "replace")
        return events

    def flush(self) -> list[Event]:
        """The event that was under way when the stream ended, if its data line was whole."""
        head, self._head, self._is_after_cr = self._head or b"", None, False
        events = self.feed(head + b"\n\n") if head or any(self._rest) or self._data else []
        self._end(events)
        return events

    def _end(self, events: list[Event]) -> None:
        if self._data:
            events.append((self._name, self._data[0] if len(self._data) == 1 else b"\n".join(self._data)))
            self._data = []
        self._name, self._held = "", 0
