"""A provider that plays a script: answers, timing and failures are data. Used by tests, docs and the demo.

Two ways to say what a worker does. A model name like ``fake-50-200-1`` means: first token after 50 ms, then
200 tokens, one each millisecond. Or the worker's ``profile`` holds ``script``, a list of lines; the first one
whose ``match`` is found in the messages, and that is not used up, is played:

    profile = { script = [
        { match = "capital of France", text = "Paris" },
        { fail = "rate_limited", retry_after_s = 2, times = 1 },
        { text = "I do not know.", reasoning = "Nothing fits.", first_token_ms = 300, token_ms = 20 },
    ] }
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

from pydantic import Field, ValidationError

from conductor.providers.base import Call, Completion, Delta, Notice, Worker, WorkerError
from conductor_client._base import Value
from conductor_client.errors import StepErrorKind
from conductor_client.usage import Usage

FAKE_MODEL = re.compile(r"fake-(\d+(?:\.\d+)?)-(\d+)-(\d+(?:\.\d+)?)")
_WORDS = ("red ", "orange ", "yellow ", "green ", "blue ", "indigo ", "violet ")
_PIECE = re.compile(r"\s*\S+\s?|\s+")
_RETRYABLE = frozenset(
    {"rate_limited", "overloaded", "connection", "timeout", "provider_error", "stream_truncated"}
)


class Line(Value):
    """One line of a script. Times in milliseconds; unset ones come from the model name or are 0."""

    match: str = ""
    """Regular expression searched in all messages; empty matches everything."""
    times: int | None = Field(default=None, ge=1)
    """How often this line may be played in this process; ``None`` = always."""
    text: str | None = None
    """``None`` = as many words as ``tokens`` says; ``""`` = an empty answer."""
    tokens: int = Field(default=20, ge=0)
    reasoning: str = ""
    notice: str = ""
    first_token_ms: float | None = Field(default=None, ge=0)
    token_ms: float | None = Field(default=None, ge=0)
    fail: StepErrorKind | None = None
    """The call fails with this kind, after ``fail_after`` tokens of the text."""
    fail_after: int = Field(default=0, ge=0)
    fail_message: str = ""
    retry_after_s: float | None = None
    finish: Literal["stop", "length"] = "stop"
    usage: bool = True
    """``False``: the provider does not say what it used."""
    served_model: str | None = None


class ScriptedProvider:
    """Plays scripts. ``calls`` counts calls by worker name, ``open_calls`` those under way."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.open_calls = 0
        self._played: Counter[tuple[str, int]] = Counter()

    async def stream(self, call: Call) -> AsyncIterator[Delta | Notice | Completion]:
        """Plays the line that fits. Raises ``WorkerError`` as the script says, or when it is no script."""
        line = self._line(call)
        self.calls[call.worker.name] += 1
        self.open_calls += 1
        try:
            async for item in _play(line, call):
                yield item
        finally:
            self.open_calls -= 1

    async def close(self) -> None:
        """Nothing to free."""

    def _line(self, call: Call) -> Line:
        said = "\n".join(message.content for message in call.messages)
        for number, line in enumerate(_script(call.worker)):
            used_up = line.times is not None and self._played[call.worker.name, number] >= line.times
            if not used_up and re.search(line.match, said):
                self._played[call.worker.name, number] += 1
                return line
        raise WorkerError(
            "bad_request",
            f"The script of worker {call.worker.name} has no line for this prompt.",
            hint="Add a line without `match` at its end.",
        )


async def _play(line: Line, call: Call) -> AsyncIterator[Delta | Notice | Completion]:
    if line.notice:
        yield Notice(line.notice)
    cap = call.max_output_tokens
    answer, is_cut = _capped(_answer(line), cap)
    stops_at = line.fail_after if line.fail else len(answer)
    clock = _Clock(line.first_token_ms or 0.0, line.token_ms or 0.0)
    await clock.tick()
    for piece in _PIECE.findall(line.reasoning):
        yield Delta("reasoning", piece)
        await clock.tick()
    written: list[str] = []
    for piece in itertools.islice(answer, stops_at):
        written.append(piece)
        yield Delta("output", piece)
        await clock.tick()
    text, usage = "".join(written), _usage(line, call, len(written))
    if line.fail is not None:
        raise _failure(line, text, usage)
    finish: Literal["stop", "length"] = "length" if is_cut else line.finish
    yield Completion(text, line.reasoning, finish, usage, line.served_model or call.worker.model)


class _Clock:
    """Waits until the next token is due, counted from the start, so that delays do not add up."""

    def __init__(self, first_ms: float, each_ms: float) -> None:
        self._due = asyncio.get_running_loop().time() + first_ms / 1000
        self._each_s = each_ms / 1000

    async def tick(self) -> None:
        wait = self._due - asyncio.get_running_loop().time()
        self._due += self._each_s
        if wait > 0 or not self._each_s:
            await asyncio.sleep(max(0.0, wait))


def _script(worker: Worker) -> Iterator[Line]:
    if fake := FAKE_MODEL.fullmatch(worker.model):
        first, tokens, each = fake.groups()
        yield Line(first_token_ms=float(first), tokens=int(tokens), token_ms=float(each))
        return
    lines: Any = worker.profile.get("script", ())
    for number, line in enumerate(lines, 1):
        try:
            yield Line.model_validate(line)
        except ValidationError as problem:
            wrong = problem.errors()[0]
            place = ".".join(map(str, wrong["loc"]))
            raise WorkerError(
                "bad_request",
                f"Line {number} of the script of worker {worker.name}: {place}: {wrong['msg']}.",
                hint=f"A line may hold {', '.join(Line.model_fields)}.",
            ) from problem


def _answer(line: Line) -> list[str]:
    if line.text is None:
        return list(itertools.islice(itertools.cycle(_WORDS), line.tokens))
    return _PIECE.findall(line.text)


def _capped(answer: list[str], cap: int | None) -> tuple[list[str], bool]:
    return (answer, False) if cap is None or len(answer) <= cap else (answer[:cap], True)


def _usage(line: Line, call: Call, output_tokens: int) -> Usage | None:
    if not line.usage:
        return None
    reasoning = len(_PIECE.findall(line.reasoning))
    sent = sum(len(message.content) for message in call.messages)
    return Usage(
        input_tokens=sent // 4 + 1, output_tokens=output_tokens + reasoning, reasoning_tokens=reasoning
    )


def _failure(line: Line, text: str, usage: Usage | None) -> WorkerError:
    assert line.fail is not None
    return WorkerError(
        line.fail,
        line.fail_message or f"The script says: {line.fail}.",
        retryable=line.fail in _RETRYABLE,
        retry_after_s=line.retry_after_s,
        partial_text=text,
        reasoning=line.reasoning if text else "",
        usage=usage,
    )
