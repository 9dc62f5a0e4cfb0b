"""Counterfactuals: the same run with one thing changed at one step, executed, and put side by side."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from ._base import Moment, Value
from .edits import Edit
from .events import Limits
from .plan import Estimate
from .record import Grade, GradedBy
from .run_state import RunStatus

Verdict = Literal["decisive", "not_decisive", "unknown"]
"""Whether the change changes how the answer is graded; without a grade only equal answers can be judged."""
Change = Literal["as_it_is", "swap", "drop", "alone"]
"""``swap``: another worker does the step. ``drop``: the step does not see one earlier step. ``alone``: one
worker gets the prompt as it is, in a single step."""


class CounterfactualsRequest(Value):
    """Which alternatives of a step to run, as forks.

    ``swap``: every other ready worker, or those named. ``drop_access``: every access edge of the step, or
    those to the steps named. ``alone``: every ready model by itself, or those named. ``limits`` are for all
    forks together: tokens and USD are divided evenly among them, and time is each fork's own.
    """

    swap: Literal["all"] | tuple[str, ...] = "all"
    drop_access: bool | tuple[str, ...] = False
    alone: Literal["all"] | tuple[str, ...] = ()
    dry_run: bool = False
    limits: Limits | None = None


class PlannedFork(Value):
    """One alternative before it runs. With ``run_id`` it has been run, or is running, and is not run again.

    ``refused`` says why it cannot be run; the others are not held up by it.
    """

    change: Change
    worker: str | None = None
    dropped: str | None = None
    edits: tuple[Edit, ...]
    will_run: tuple[str, ...] = ()
    reused: tuple[str, ...] = ()
    estimate: Estimate | None = None
    run_id: str | None = None
    refused: str = ""


class CounterfactualsPreview(Value):
    """What would be run. ``total`` sums the forks that would be started; its seconds are the longest's."""

    run_id: str
    step_id: str
    forks: tuple[PlannedFork, ...]
    total: Estimate


class CounterfactualsStarted(Value):
    """The forks that were started, in the order of the preview."""

    run_ids: tuple[str, ...]


class Alternative(Value):
    """One row of the table: a run and how it differs. The first row is the run itself, ``as_it_is``.

    Sums are of the whole row's run: a fork calls only what the change touches. ``step_…`` are of the step in
    question, when it was called there. ``None`` = unknown or not there yet.
    """

    change: Change
    worker: str | None = None
    """Who does the step (of ``alone``: everything)."""
    dropped: str | None = None
    run_id: str
    status: RunStatus
    final_output: str | None = None
    partial: bool = False
    error: str | None = None
    grade: Grade | None = None
    graded_by: GradedBy | None = None
    rating: int | None = None
    same_answer: bool | None = None
    """Whether its answer equals that of the run itself, after normalising."""
    verdict: Verdict = "unknown"
    called: tuple[str, ...] = ()
    """Steps that were called, not reused."""
    total_tokens: int | None = None
    tokens_complete: bool = True
    cost_usd: Decimal | None = None
    cost_complete: bool = True
    wall_s: float | None = None
    step_output: str | None = None
    step_tokens: int | None = None
    step_cost_usd: Decimal | None = None
    step_duration_s: float | None = None
    created_at: Moment | None = None


Cause = Literal["routing", "decomposition", "worker", "unknown"]


class Diagnosis(Value):
    """Why a wrong answer is wrong, as far as runs prove it; see design §7.

    ``routing``: with another worker at this step the answer is right. ``decomposition``: one worker alone,
    or the step with other access, gets it right. ``worker``: everything was tried and nobody does. Each is
    proved by the runs named; ``missing`` says in words what would have to be run first.
    """

    cause: Cause
    routing_runs: tuple[str, ...] = ()
    decomposition_runs: tuple[str, ...] = ()
    wrong_runs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    said: str


class CounterfactualTable(Value):
    """Every alternative of one step that was run. ``verdict`` is over those that have an answer."""

    run_id: str
    step_id: str
    gold: str | None = None
    rows: tuple[Alternative, ...]
    verdict: Verdict
    compared: int
    """Alternatives that have an answer."""
    under_way: int
    without_answer: int
    """Alternatives that ended without an answer: they say nothing."""
    said: str
    diagnosis: Diagnosis | None = None
    """Only of a run whose answer is wrong."""
