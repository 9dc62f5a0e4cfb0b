"""Text that is being written: what has come so far, and what of it has not been shown yet.

Adding a token is two list appends; frames are built when a batch goes out, never per token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from conductor_client.events import Frame

Channel = Literal["output", "reasoning"]
CHANNELS: tuple[Channel, ...] = ("output", "reasoning")


class _Text:
    """One channel. ``shown`` counts the code points that went out in frames."""

    __slots__ = ("_new", "_parts", "length", "saved", "shown")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._new: list[str] = []
        self.length = self.shown = self.saved = 0

    def add(self, text: str) -> None:
        self._parts.append(text)
        self._new.append(text)
        self.length += len(text)

    def whole(self) -> str:
        text = "".join(self._parts)
        self._parts = [text]
        return text

    def take_new(self) -> tuple[int, str]:
        offset, text = self.shown, "".join(self._new)
        self._new.clear()
        self.shown = self.length
        return offset, text


@dataclass(frozen=True)
class Saving:
    """Text so far of one channel that has grown since it was last saved."""

    run_id: str
    step_id: str
    attempt: int
    channel: Channel
    text: str


class Draft:
    """What one attempt of a step (or of the plan) has written so far, both channels, and its notice."""

    def __init__(self, run_id: str, step_id: str, attempt: int, on_change: Callable[[Draft], None]) -> None:
        self.run_id, self.step_id, self.attempt = run_id, step_id, attempt
        self._texts: dict[str, _Text] = {channel: _Text() for channel in CHANNELS}
        self._notice = ""
        self._notice_is_new = False
        self._on_change = on_change
        self.is_dirty = False

    def add(self, channel: Channel, text: str) -> None:
        """Appends text as it arrives. A notice ends with the first text."""
        self._texts[channel].add(text)
        if self._notice:
            self._notice, self._notice_is_new = "", True
        if not self.is_dirty:
            self.is_dirty = True
            self._on_change(self)

    def say(self, notice: str) -> None:
        """Shows what a silent call waits for; replaces the notice before. Empty takes it away."""
        if notice == self._notice:
            return
        self._notice, self._notice_is_new = notice, True
        if not self.is_dirty:
            self.is_dirty = True
            self._on_change(self)

    def text(self, channel: Channel = "output") -> str:
        """All the text of a channel so far."""
        return self._texts[channel].whole()

    def everything(self) -> str:
        """The text of all channels: what a worker wrote, and may charge for."""
        return "".join(map(self.text, CHANNELS))

    def new_frames(self) -> Iterator[Frame]:
        """What has come since the last call, one frame per channel at most."""
        self.is_dirty = False
        for channel, text in self._texts.items():
            if text.shown < text.length:
                offset, new = text.take_new()
                yield self._frame(channel, offset, new)
        if self._notice_is_new:
            self._notice_is_new = False
            yield self._frame("notice", 0, self._notice)

    def mark_shown(self) -> None:
        """Counts all text so far as shown: whoever asks now gets it whole."""
        self.is_dirty = self._notice_is_new = False
        for text in self._texts.values():
            text.take_new()

    def whole_frames(self) -> Iterator[Frame]:
        """All text so far, one frame per channel that has any, each from its beginning."""
        for channel, text in self._texts.items():
            if text.length:
                yield self._frame(channel, 0, text.whole())
        if self._notice:
            yield self._frame("notice", 0, self._notice)

    def unsaved(self) -> Iterator[Saving]:
        """The channels that have grown since this was last asked."""
        for channel in CHANNELS:
            text = self._texts[channel]
            if text.saved < text.length:
                text.saved = text.length
                yield Saving(self.run_id, self.step_id, self.attempt, channel, text.whole())

    def _frame(self, channel: str, offset: int, text: str) -> Frame:
        return Frame.model_validate(
            {
                "run_id": self.run_id,
                "step_id": self.step_id,
                "attempt": self.attempt,
                "channel": channel,
                "offset": offset,
                "text": text,
            }
        )
