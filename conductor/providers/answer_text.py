"""The text of one answer while it comes: thoughts told from the output, characters cut in two made whole."""

from __future__ import annotations

from typing import Literal

from conductor.characters import whole
from conductor.providers.base import Delta
from conductor.thoughts import ThoughtSplitter, unopened_thought

Channel = Literal["output", "reasoning"]
CHANNELS: tuple[Channel, ...] = ("output", "reasoning")


class AnswerText:
    """Collects both channels. ``think_tags``: whether a leading ``<think>`` block is a thought."""

    def __init__(self, *, think_tags: bool) -> None:
        self._splitter = ThoughtSplitter() if think_tags else None
        self._parts: dict[Channel, list[str]] = {channel: [] for channel in CHANNELS}
        self._half: dict[Channel, str] = {}

    @property
    def output(self) -> str:
        """The output so far."""
        return "".join(self._parts["output"])

    @property
    def reasoning(self) -> str:
        """The thoughts so far."""
        return "".join(self._parts["reasoning"])

    def say(self, text: str, deltas: list[Delta]) -> None:
        """Takes a piece of the output, in which thoughts may stand in tags."""
        if self._splitter is None:
            self.add("output", text, deltas)
            return
        thought, answer = self._splitter.feed(text)
        if thought:
            self.add("reasoning", thought, deltas)
        self.add("output", answer, deltas)

    def add(self, channel: Channel, text: str, deltas: list[Delta]) -> None:
        """Takes a piece that belongs to one channel."""
        if self._half or not text.isascii():
            text = self._whole(channel, text)
        if text:
            self._parts[channel].append(text)
            deltas.append(Delta(channel, text))

    def close(self) -> list[Delta]:
        """Gives what was held back, once nothing more will come. Calling it again gives nothing."""
        deltas: list[Delta] = []
        if self._splitter is not None:
            thought, answer = self._splitter.flush()
            self.add("reasoning", thought, deltas)
            self.add("output", answer, deltas)
        for channel in CHANNELS:
            self.add(channel, whole(self._half.pop(channel, "")), deltas)
        return deltas

    def settle(self) -> None:
        """Takes a thought that was closed without having been opened out of the output; after ``close``."""
        output = self.output
        if self._splitter is not None and "</think" in output.lower():
            thought, output = unopened_thought(output)
            reasoning = "\n".join(filter(None, [self.reasoning, thought]))
            self._parts = {"output": [output], "reasoning": [reasoning]}

    def _whole(self, channel: Channel, text: str) -> str:
        """Text without half characters: the first half of one waits for the second, in the next piece."""
        text = self._half.pop(channel, "") + text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._half[channel] = text[-1]
            text = text[:-1]
        return whole(text)
