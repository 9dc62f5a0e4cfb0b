"""When a failed call is made again, after how long, by whom. One policy; the SDKs' own retries are off."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from conductor.providers.base import Worker, WorkerError

_WORKER_IS_AT_FAULT = frozenset({"auth", "quota", "unavailable"})
"""Final for this worker, yet nothing is wrong with the request: another worker may do it."""


@dataclass(frozen=True)
class Next:
    """What follows a failed attempt: who tries, after how many seconds."""

    worker: Worker
    wait_s: float
    first_try: bool
    """Whether this worker has not been tried for this step yet (it is a fallback)."""


@dataclass(frozen=True)
class RetryPolicy:
    """Full jitter between 0 and ``base_s`` doubled per attempt, at most ``cap_s``.

    A server's Retry-After is obeyed instead, up to ``retry_after_cap_s``. ``max_attempts`` counts the tries
    of one worker; after them, or at once when only this worker is at fault (key, quota, not ready), its
    ``fallback`` takes over, each worker once. Errors that are not retryable and lie in the request (400,
    refusal, context too long) end the step. ``deadline_s``: no try begins later than so many seconds after
    the step's first one, whoever would make it.
    """

    max_attempts: int = 4
    base_s: float = 1.0
    cap_s: float = 30.0
    retry_after_cap_s: float = 60.0
    deadline_s: float = 900.0
    draw: Callable[[], float] = field(default=random.random)

    def next(
        self,
        error: WorkerError,
        worker: Worker,
        tries: int,
        pool: Mapping[str, Worker],
        tried: frozenset[str],
        *,
        spent_s: float = 0.0,
    ) -> Next | None:
        """What follows ``error`` after ``tries`` tries of ``worker``; ``None``: the step fails.

        ``tried`` names every worker that had a turn at this step, this one included; ``spent_s``: seconds
        since the step's first try began.
        """
        if spent_s >= self.deadline_s:
            return None
        if error.retryable and tries < self.max_attempts:
            wait_s = self.wait_s(error, tries)
            if spent_s + wait_s < self.deadline_s:
                return Next(worker, wait_s, first_try=False)
        fallback = pool.get(worker.fallback) if worker.fallback else None
        may_pass_on = error.retryable or error.kind in _WORKER_IS_AT_FAULT
        if fallback is None or fallback.name in tried or not may_pass_on:
            return None
        return Next(fallback, 0.0, first_try=True)

    def wait_s(self, error: WorkerError, tries: int) -> float:
        """Seconds until try ``tries + 1``."""
        if error.retry_after_s is not None:
            return min(max(error.retry_after_s, 0.0), self.retry_after_cap_s)
        return min(self.cap_s, self.base_s * 2.0 ** (tries - 1)) * self.draw()
