"""Telling a model's thoughts from its answer by think tags: whole texts here, streams in ``ThoughtSplitter``.

A thought opens at the start of the text or of a line and ends at its close tag; one that is never closed
lasts to the end. A close tag without an open one ends a thought that began with the text, as models whose
chat template opens the tag for them write it.
"""

from __future__ import annotations

import re

_tag = re.compile(r"(?m:^[ \t]*)<think(?:ing)?>|</think(?:ing)?>", re.IGNORECASE)


def split_thoughts(text: str, *, unopened: bool = True) -> tuple[str, str]:
    """``(thoughts, the rest)``. Without ``unopened`` a close tag that was never opened is plain text."""
    thoughts: list[str] = []
    rest: list[str] = []
    at, inside = 0, False
    for tag in _tag.finditer(text):
        is_close = tag[0].startswith("</")
        if inside and is_close:
            thoughts.append(text[at : tag.start()])
            at, inside = tag.end(), False
        elif not inside and not is_close:
            rest.append(text[at : tag.start()])
            at, inside = tag.end(), True
        elif is_close and unopened:
            thoughts += [*rest, text[at : tag.start()]]
            rest, at = [], tag.end()
    (thoughts if inside else rest).append(text[at:])
    return "\n".join(each.strip() for each in thoughts if each.strip()), "".join(rest)


class ThoughtSplitter:
    """Splits a stream as it comes: ``feed`` gives ``(thought, answer)`` parts of what is sure by now.

    Only a block at the very start is told apart on the way. A close tag that was never opened is found by
    ``whole`` once the text is complete, since until then nobody can know that a thought was going on.
    """

    def __init__(self) -> None:
        self._state = "start"
        self._held = ""

    @property
    def is_open(self) -> bool:
        """Whether a thought has begun and not ended."""
        return self._state == "thought"

    def feed(self, text: str) -> tuple[str, str]:
        """Takes the next piece; either part may be empty."""
        if self._state == "answer":
            return "", text
        if self._state == "gap":
            return "", self._begin(text)
        text, self._held = self._held + text, ""
        if self._state == "start":
            begun = text.lstrip()
            if any(tag.startswith(begun.lower()) for tag in _OPEN_TAGS):
                self._held = text
                return "", ""
            opened = next((tag for tag in _OPEN_TAGS if begun.lower().startswith(tag)), None)
            if opened is None:
                self._state = "answer"
                return "", text
            self._state, text = "thought", begun[len(opened) :]
        closed = _close_tag.search(text)
        if closed is None:
            kept = _partial_close.search(text)
            cut = kept.start() if kept else len(text)
            self._held = text[cut:]
            return text[:cut], ""
        return text[: closed.start()], self._begin(text[closed.end() :])

    def _begin(self, text: str) -> str:
        """The answer without the blank lines between it and the thought."""
        text = text.lstrip()
        self._state = "answer" if text else "gap"
        return text

    def flush(self) -> tuple[str, str]:
        """What was held back when the stream ended."""
        held, self._held = self._held, ""
        return (held, "") if self._state == "thought" else ("", held)


def unopened_thought(answer: str) -> tuple[str, str]:
    """Splits a complete answer at a close tag without an open one: ``(thought, answer)``.

    A tag in backticks or quotation marks is being talked about and splits nothing.
    """
    for closed in _close_tag.finditer(answer):
        if answer[: closed.start()].rstrip(" ")[-1:] not in {"`", '"', "'", "“"}:
            return answer[: closed.start()].strip(), answer[closed.end() :].lstrip()
    return "", answer


_OPEN_TAGS = ("<think>", "<thinking>")
_close_tag = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_partial_close = re.compile(r"<(?:/(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?$", re.IGNORECASE)
