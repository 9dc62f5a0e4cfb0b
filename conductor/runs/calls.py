"""One call to a worker: text into a draft as it comes, silence watched, every failure a WorkerError.

The watch costs nothing per token: one timer per call looks, when it is due, at when the last text came.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from conductor.providers.base import Call, Completion, Delta, Notice, Provider, WorkerError
from conductor.runs.drafts import Draft
from conductor_client._base import utc_now
from conductor_client.errors import StepErrorKind

IDLE_TIMEOUT_S = 300.0
"""Silence after which a call is given up, unless worker or run says otherwise. Models that reason without
showing it are silent for minutes; while a provider says what it waits for, the clock stands still."""
log = logging.getLogger("conductor.runs.calls")


@dataclass(frozen=True)
class Answer:
    """A call that went well, with the moment its first text came (``None``: it came in one piece)."""

    completion: Completion
    first_token_at: datetime | None


async def make_call(
    provider: Provider, call: Call, draft: Draft, *, idle_timeout_s: float | None, timeout_s: float | None
) -> Answer:
    """Runs one call to its end. ``None`` timeouts = no limit of that kind.

    Raises:
        WorkerError: whatever went wrong, with the text so far in ``partial_text``; a mistake of a provider
            is kind ``internal`` and logged. Cancelling closes the provider's stream and raises on.
    """
    name = call.worker.name
    silence = _Silence(idle_timeout_s)
    try:
        async with asyncio.timeout(timeout_s) as whole, silence.watch():
            return await _read(provider, call, draft, silence)
    except TimeoutError:
        if silence.was_too_long:
            said = f"Worker {name} said nothing for {idle_timeout_s:g} s."
            problem = _timed_out(said, "idle_timeout_s", retryable=True)
        elif whole.expired():
            said = f"Worker {name} took longer than {timeout_s:g} s."
            problem = _timed_out(said, "timeout_s", retryable=False)
        else:
            problem = _mistake(name, TimeoutError())
    except WorkerError as error:
        problem = error
    except Exception as error:
        log.exception("worker %s failed by a mistake of ours", name)
        problem = _mistake(name, error)
    problem.partial_text = problem.partial_text or draft.text("output")
    problem.reasoning = problem.reasoning or draft.text("reasoning")
    raise problem


async def _read(provider: Provider, call: Call, draft: Draft, silence: _Silence) -> Answer:
    now = asyncio.get_running_loop().time
    first_token_at: datetime | None = None
    stream = cast(AsyncGenerator[Delta | Notice | Completion, None], provider.stream(call))
    async with contextlib.aclosing(stream) as items:
        async for item in items:
            if type(item) is Delta:
                silence.last_at, silence.is_excused = now(), False
                draft.add(item.channel, item.text)
                if first_token_at is None:
                    first_token_at = utc_now()
            elif isinstance(item, Completion):
                return Answer(_checked(item, call), first_token_at)
            else:
                silence.is_excused = True
                draft.say(item.text)
    raise WorkerError(
        "stream_truncated",
        f"The answer of worker {call.worker.name} stopped before its end.",
        hint="Run the step again.",
        retryable=True,
    )


def _checked(completion: Completion, call: Call) -> Completion:
    if completion.output.strip():
        return completion
    name = call.worker.name
    if completion.finish == "length":
        kind: StepErrorKind = "truncated"
        message = f"Worker {name} reached its output cap before it wrote an answer."
        hint = "Raise the output cap of the step."
    else:
        kind, message = "empty_output", f"Worker {name} returned an empty answer."
        hint = "Rephrase the instruction, or choose another worker."
    raise WorkerError(
        kind,
        message,
        hint=hint,
        reasoning=completion.reasoning,
        usage=completion.usage,
        served_model=completion.served_model,
    )


class _Silence:
    """Notices when nothing has come for too long. ``is_excused``: the provider said what it waits for."""

    def __init__(self, limit_s: float | None) -> None:
        self._limit_s = limit_s
        self.last_at = asyncio.get_running_loop().time()
        self.is_excused = self.was_too_long = False

    @contextlib.asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        if self._limit_s is None:
            yield
            return
        async with asyncio.timeout(None) as block:
            self._look(block, self._limit_s)
            try:
                yield
            finally:
                self._timer.cancel()

    def _look(self, block: asyncio.Timeout, limit_s: float) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self.is_excused:
            self.last_at = now
        if now - self.last_at >= limit_s:
            self.was_too_long = True
            block.reschedule(now)
            return
        self._timer = loop.call_at(self.last_at + limit_s, self._look, block, limit_s)


def _timed_out(message: str, setting: str, *, retryable: bool) -> WorkerError:
    return WorkerError(
        "timeout", message, hint=f"Run it again, or raise the worker's {setting}.", retryable=retryable
    )


def _mistake(name: str, error: Exception) -> WorkerError:
    return WorkerError(
        "internal",
        f"Calling worker {name} failed: {type(error).__name__}.",
        hint="This is a mistake of ours. The server's log has the details.",
    )
