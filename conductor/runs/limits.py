"""Limits act before the spend: each call reserves what it may take at most, and settles when it is over.

A run has a ``Budget``; all runs of an installation share a ``DayBudget`` in USD. A call that does not fit
while others are under way waits for them to settle, since most take less than they reserved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from conductor_client._base import utc_now
from conductor_client.errors import StepError
from conductor_client.events import Limits
from conductor_client.usage import Price, Usage

ASSUMED_OUTPUT_TOKENS = 4096
"""Output cap of a call under a token or USD limit when neither worker nor run sets one."""
_MILLION = Decimal(1_000_000)


class LimitReached(Exception):
    """A limit forbids the next call, or ended a running one."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.error = StepError(kind="limit_reached", message=message, hint=hint)


def estimate_tokens(text: str) -> int:
    """A careful guess for any tokenizer: one token per 3 bytes of UTF-8, at least one."""
    return len(text.encode("utf-8", "replace")) // 3 + 1


def output_cap(limits: Limits, worker_cap: int | None) -> int | None:
    """The cap to send: the smaller of run's and worker's. Under a token or USD limit never ``None``."""
    caps = [cap for cap in (limits.max_output_tokens, worker_cap) if cap is not None]
    if not caps and (limits.max_tokens is not None or limits.max_usd is not None):
        return ASSUMED_OUTPUT_TOKENS
    return min(caps, default=None)


def highest_cost(price: Price | None, input_tokens: int, output_tokens: int) -> Decimal | None:
    """USD of a call that takes so many tokens, no cache discount; ``None`` when unpriced."""
    if price is None:
        return None
    return (price.input_usd_per_mtok * input_tokens + price.output_usd_per_mtok * output_tokens) / _MILLION


@dataclass
class Reservation:
    """What one call may take. ``usd`` is ``None`` for an unpriced worker.

    ``is_sent``: whether a provider was asked and may charge for it; whoever makes the call says so.
    """

    tokens: int
    usd: Decimal | None
    input_tokens: int
    price: Price | None
    is_sent: bool = False


class DayBudget:
    """US dollars of this installation per UTC day. ``limit`` ``None`` = no limit."""

    def __init__(
        self, limit: Decimal | None, *, spent: Decimal = Decimal(0), now: Callable[[], datetime] = utc_now
    ) -> None:
        self.limit, self._now = limit, now
        self._day, self._spent = now().date(), spent
        self.held = Decimal(0)

    @property
    def spent(self) -> Decimal:
        """Settled so far today."""
        today = self._now().date()
        if today != self._day:
            self._day, self._spent = today, Decimal(0)
        return self._spent

    def add(self, usd: Decimal | None) -> None:
        """Counts what a call has cost; unknown costs cannot be counted."""
        self._spent = self.spent + (usd or Decimal(0))


class Budget:
    """The limits of one run. ``tokens`` and ``usd`` say what was spent before (a resumed run)."""

    def __init__(
        self,
        limits: Limits,
        *,
        day: DayBudget | None = None,
        tokens: int = 0,
        usd: Decimal = Decimal(0),
        steps: int = 0,
    ) -> None:
        self.limits = limits
        self._day = day or DayBudget(None)
        self._tokens, self._usd, self._steps = tokens, usd, steps
        self._held_tokens, self._held_usd = 0, Decimal(0)
        self._settled = asyncio.Event()

    def check_steps(self, count: int) -> None:
        """Refuses a workflow that cannot be run whole, before anything is spent on it.

        Raises:
            LimitReached: it has more steps than ``max_steps``.
        """
        allowed = self.limits.max_steps
        if allowed is not None and count > allowed:
            raise LimitReached(
                f"The workflow has {count} steps, and the run may take {allowed}.",
                "Raise the limit of steps, or remove steps.",
            )

    def count_step(self) -> None:
        """Counts a step that will be called (not one that is reused).

        Raises:
            LimitReached: it would be one more than ``max_steps``.
        """
        allowed = self.limits.max_steps
        if allowed is not None and self._steps >= allowed:
            raise LimitReached(
                f"The run may take {allowed} steps, and this would be one more.",
                "Raise the limit of steps, or remove steps.",
            )
        self._steps += 1

    async def reserve(
        self, *, worker: str, input_tokens: int, output_tokens: int | None, price: Price | None
    ) -> Reservation:
        """Sets aside what a call may take, waiting for calls under way when it does not fit beside them.

        Raises:
            LimitReached: it does not fit even alone, or the worker is unpriced under a USD limit.
        """
        cap = ASSUMED_OUTPUT_TOKENS if output_tokens is None else output_tokens
        usd = highest_cost(price, input_tokens, cap)
        self._refuse_unpriced(worker, usd)
        while True:
            problem = self._problem(input_tokens + cap, usd or Decimal(0))
            if problem is None:
                break
            if not (self._held_tokens or self._held_usd or (self._day.held and problem.is_of_day)):
                raise LimitReached(problem.message, problem.hint)
            await self._next_settlement()
        self._held_tokens += input_tokens + cap
        self._held_usd += usd or Decimal(0)
        self._day.held += usd or Decimal(0)
        return Reservation(input_tokens + cap, usd, input_tokens, price)

    def settle(self, reservation: Reservation, usage: Usage | None, cost: Decimal | None, text: str) -> None:
        """Replaces a reservation by what the call took; what is unknown is estimated from ``text``.

        A call that was never sent took nothing.
        """
        self._held_tokens -= reservation.tokens
        self._held_usd -= reservation.usd or Decimal(0)
        self._day.held -= reservation.usd or Decimal(0)
        self._settled.set()
        if not reservation.is_sent:
            return
        used_in = usage.input_tokens if usage and usage.input_tokens is not None else reservation.input_tokens
        used_out = usage.output_tokens if usage and usage.output_tokens is not None else estimate_tokens(text)
        usd = cost if cost is not None else highest_cost(reservation.price, used_in, used_out)
        self._tokens += used_in + used_out
        self._usd += usd or Decimal(0)
        self._day.add(usd)

    async def _next_settlement(self) -> None:
        self._settled.clear()
        try:
            # Another run may settle against the day; that run's event is not ours, so look again soon.
            async with asyncio.timeout(0.5):
                await self._settled.wait()
        except TimeoutError:
            return

    def _refuse_unpriced(self, worker: str, usd: Decimal | None) -> None:
        limited = self.limits.max_usd is not None or self._day.limit is not None
        if usd is None and limited and not self.limits.allow_unpriced:
            raise LimitReached(
                f"The price of worker {worker} is unknown, so the limit in USD cannot be kept.",
                "Give it a price in the pool file, or allow unpriced workers for this run.",
            )

    def _problem(self, tokens: int, usd: Decimal) -> _Problem | None:
        limits, day = self.limits, self._day
        if limits.max_tokens is not None and self._tokens + self._held_tokens + tokens > limits.max_tokens:
            return _Problem(
                f"The run may take {limits.max_tokens} tokens; {self._tokens} are used and the next call may "
                f"take {tokens}.",
                "Raise the limit of tokens, or lower the output cap of the steps.",
            )
        if limits.max_usd is not None and self._usd + self._held_usd + usd > limits.max_usd:
            return _Problem(
                f"The run may cost {limits.max_usd} USD; {self._usd:.6f} are spent and the next call may "
                f"cost {usd:.6f}.",
                "Raise the limit in USD, lower the output cap, or choose a cheaper worker.",
            )
        if day.limit is not None and day.spent + day.held + usd > day.limit:
            return _Problem(
                f"This installation may spend {day.limit} USD a day; {day.spent:.6f} are spent today and the "
                f"next call may cost {usd:.6f}.",
                "Raise CONDUCTOR_DAILY_USD, or wait for the next day (UTC).",
                is_of_day=True,
            )
        return None


@dataclass(frozen=True)
class _Problem:
    message: str
    hint: str
    is_of_day: bool = False
