"""One run while it is executed: what every part of the execution needs to know of it, and where it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal

from conductor.providers.base import Provider, Worker
from conductor.runs.drafts import Channel, Draft
from conductor.runs.journal import Journal
from conductor.runs.lanes import Lanes
from conductor.runs.limits import Budget
from conductor.runs.live import Hub
from conductor.runs.retry import RetryPolicy
from conductor.runs.terms import Terms
from conductor.store import Store, StoredResult
from conductor_client.errors import StepError
from conductor_client.events import RunCreated
from conductor_client.run_state import RunState
from conductor_client.usage import Price, Usage
from conductor_client.workflow import Message, Step, Workflow


@dataclass(frozen=True)
class Charge:
    """What a call cost. ``None`` = unknown; ``price`` is the one it was priced by."""

    cost_usd: Decimal | None = None
    price: Price | None = None


Find = Callable[[str, Step, tuple[Message, ...]], Awaitable[StoredResult | None]]
"""Looks for an earlier answer by key; the step and its messages tell which of several equal ones is meant."""
ChargeFor = Callable[[Worker, Price | None, Usage | None, str | None, str | None], Charge]
"""From worker, frozen price, usage, served model and the cost a provider reported."""


@dataclass(frozen=True)
class Means:
    """What executing needs and all runs of a process share."""

    store: Store
    hub: Hub
    provider_for: Callable[[Worker], Provider]
    charge_for: ChargeFor
    lanes: Lanes = field(default_factory=Lanes)
    retry: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass
class UnderWay:
    """A step that has been queued and has not ended: what is left of it when it is interrupted."""

    attempt: int
    worker: str
    draft: Draft | None = None
    saved: str = ""
    """Output that an earlier process saved, when this one has not begun to call."""

    def text(self, channel: Channel = "output") -> str:
        """What the attempt has written so far."""
        if self.draft is not None:
            return self.draft.text(channel)
        return self.saved if channel == "output" else ""


@dataclass
class Work:
    """One run in execution. ``before``: its state when this process took it up."""

    terms: Terms
    before: RunState
    journal: Journal
    budget: Budget
    find: Find | None = None
    """``None``: nothing is reused."""
    outputs: dict[str, str] = field(default_factory=dict)
    errors: dict[str, StepError] = field(default_factory=dict)
    under_way: dict[str, UnderWay] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    """Steps whose last event has been handed in: nothing more may be said about them."""
    partial_texts: dict[str, str] = field(default_factory=dict)
    """Text of steps that did not end well, by step id."""
    planning: Draft | None = None
    """What the conductor writes, while it does."""
    keeping: list[asyncio.Task[None]] = field(default_factory=list)
    """Answers on their way to where they are found by key; the run is not done before they are there."""
    is_over: bool = False
    """Whether the run's last event has been handed in."""
    workflow: Workflow | None = None

    @property
    def created(self) -> RunCreated:
        """The run's first event."""
        return self.terms.created

    @property
    def run_id(self) -> str:
        """Id of the run."""
        return self.created.run_id

    def end(self, step_id: str, output: str | None = None) -> None:
        """Notes that a step's last event is being handed in."""
        self.under_way.pop(step_id, None)
        self.ended.add(step_id)
        if output is not None:
            self.outputs[step_id] = output
