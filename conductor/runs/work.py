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
from conductor_client.events import PlanFailed, RunCreated
from conductor_client.plan import Plan
from conductor_client.run_state import RunState
from conductor_client.usage import Price, Usage, sum_cost, sum_usage
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


NOTHING_USED = Usage(input_tokens=0, output_tokens=0)


@dataclass
class Planning:
    """The conductor at work: what it writes now, and what its calls took that no event has told yet."""

    round: int = 1
    draft: Draft | None = None
    untold: list[tuple[Usage | None, Decimal | None]] = field(default_factory=list)

    def failed(self, run_id: str, error: StepError, text: str | None = None) -> PlanFailed:
        """The last event of a planning without a plan; ``text`` where it is not the draft's."""
        usage, is_usage_known = sum_usage([NOTHING_USED, *(usage for usage, _ in self.untold)])
        cost, is_cost_known = sum_cost(cost for _, cost in self.untold)
        return PlanFailed(
            run_id=run_id,
            round=self.round,
            error=error,
            partial_text=text if text is not None else self.draft.text() if self.draft else "",
            reasoning=self.draft.text("reasoning") if self.draft else "",
            usage=usage if is_usage_known else None,
            cost_usd=cost if is_cost_known else None,
        )


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
    planning: Planning | None = None
    """The conductor at work, while it is."""
    keeping: list[asyncio.Task[None]] = field(default_factory=list)
    """Answers on their way to where they are found by key; the run is not done before they are there."""
    is_over: bool = False
    """Whether the run's last event has been handed in."""
    workflow: Workflow | None = None
    """Of the round under way, or of the last one."""
    plans: list[Plan] = field(default_factory=list)
    """The plan of each round that has a workflow; empty when a workflow was given."""
    answers: list[str] = field(default_factory=list)
    """The answer of each round that has come to its end."""
    is_settled: bool = False
    """Whether the conductor has had its last word: it kept the answer, or could not plan another round."""

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
