"""A plan: the workflow a conductor wrote, with the evidence and the diagnostics of reading it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from ._base import Moment, Value
from .usage import Usage
from .workflow import Workflow

Rejection = Literal[
    "unparsable",
    "length_mismatch",
    "unknown_worker",
    "bad_access",
    "too_many_steps",
    "empty_instruction",
    "no_steps",
]
"""Diagnostic codes that refuse a plan before any money is spent; ``repaired_*`` codes only tell."""


class Diagnostic(Value):
    """One thing the reader noticed: a ``Rejection`` or a ``repaired_*`` code, where, in words."""

    code: str
    where: str
    said: str

    @property
    def rejects(self) -> bool:
        """Whether this diagnostic refuses the plan."""
        return not self.code.startswith("repaired_")


class PlannedStep(Value):
    """One step as a reader understood it: ordinals into the pool and positions, nothing resolved."""

    worker: int
    instruction: str
    access: tuple[int, ...] = ()


class Reading(Value):
    """What a reader made of a conductor's text. ``steps`` is empty when the text was rejected."""

    decision: Literal["new", "keep", "rejected"]
    steps: tuple[PlannedStep, ...] = ()
    reasoning: str = ""
    """What the conductor wrote before its lists: a self-report, not evidence."""
    diagnostics: tuple[Diagnostic, ...] = ()


class Estimate(Value):
    """What a workflow will probably take. ``usd`` is ``None`` when a worker is unpriced."""

    calls: int = Field(ge=0)
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: Decimal | None = None
    seconds: float | None = None
    basis: str
    """In words, what the figures rest on."""


class Fallback(Value):
    """The plan was not the conductor's: this worker answers alone, for this reason."""

    worker: str
    reason: str


class PlanOptions(Value):
    """How a conductor was asked. ``access`` is the paper's binary scheme or lists of positions."""

    max_steps: int = Field(default=5, ge=1, le=32)
    access: Literal["binary", "positions"] = "positions"
    max_rounds: int = Field(default=1, ge=1, le=8)
    temperature: float | None = Field(default=None, ge=0, le=2)


class PlanAttempt(Value):
    """One text the conductor wrote, and what was said of it."""

    raw_text: str
    diagnostics: tuple[Diagnostic, ...] = ()
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    latency_s: float | None = None


class Plan(Value):
    """A conductor's decision for one prompt.

    ``pool`` lists worker names in the order given to the conductor: ordinals mean nothing without it.
    ``choices`` maps a step id to the conductor's distribution over workers where it chose (sums to at
    most 1; the rest is mass outside the pool), or ``None`` when it gave none. ``usage``, ``cost_usd`` and
    ``latency_s`` cover every attempt, rejected ones included.
    """

    plan_id: str
    workflow: Workflow | None
    decision: Literal["new", "keep", "rejected"]
    conductor: str
    pool: tuple[str, ...]
    options: PlanOptions = PlanOptions()
    seed: int | None = None
    raw_text: str = ""
    reasoning: str = ""
    choices: Mapping[str, Mapping[str, float] | None] = Field(default_factory=dict)
    attempts: tuple[PlanAttempt, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    fallback: Fallback | None = None
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    latency_s: float | None = None
    estimate: Estimate | None = None
    model: str | None = None
    created_at: Moment | None = None
    details: Mapping[str, Any] = Field(default_factory=dict)
