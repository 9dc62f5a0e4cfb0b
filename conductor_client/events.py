"""Run events: append-only facts, the only truth about a run. Each is a few lines; the union is at the end.

``seq`` is given by the store, from 1 within a run; 0 means not stored yet. Tokens are no events: they
travel as ``Frame`` and end up in ``step_finished``.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from ._base import Moment, Value, utc_now
from .edits import Edit
from .errors import StepError
from .plan import Diagnostic, Plan
from .pool import WorkerInfo
from .usage import Price, Usage
from .workflow import Message, Workflow

Origin = Literal["page", "api", "evaluation", "training", "counterfactual"]


class Limits(Value):
    """What a run may take. ``None`` = no limit. Tokens count input and output, planning included."""

    max_steps: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_usd: Decimal | None = Field(default=None, ge=0)
    max_wall_s: float | None = Field(default=None, gt=0)
    max_output_tokens: int | None = Field(default=None, ge=1)
    """Output cap of each step, in tokens."""
    idle_timeout_s: float | None = Field(default=None, gt=0)
    """How long a step may stay silent, in seconds."""
    allow_unpriced: bool = False


class ReusedFrom(Value):
    """Where a reused output was first produced. ``duration_s`` is what it took then."""

    run_id: str
    step_id: str
    duration_s: float | None = None
    usage: Usage | None = None
    cost_usd: Decimal | None = None


class _Event(Value):
    run_id: str
    seq: int = Field(default=0, ge=0)
    at: Moment = Field(default_factory=utc_now)


class RunCreated(_Event):
    kind: Literal["run_created"] = "run_created"
    prompt: str
    messages: tuple[Message, ...] = ()
    """Earlier turns of the conversation, oldest first, without the prompt."""
    conductor: str
    pool: str | None = None
    pool_snapshot: tuple[WorkerInfo, ...] = ()
    limits: Limits = Limits()
    workflow: Workflow | None = None
    """Given when nothing is to be planned."""
    plan: Plan | None = None
    """The stored plan this run executes, when one was named."""
    parent_run: str | None = None
    edits: tuple[Edit, ...] = ()
    fresh: bool | tuple[str, ...] = False
    """``True`` or the step ids that must not be reused."""
    reuse: bool = False
    """Whether answers of the whole store may stand for calls; a fork looks up its lineage in any case."""
    origin: Origin = "page"
    seed: int | None = None
    request_options: Mapping[str, Any] = Field(default_factory=dict)
    plan_options: Mapping[str, Any] = Field(default_factory=dict)


class RunStarted(_Event):
    kind: Literal["run_started"] = "run_started"


class PlanStarted(_Event):
    kind: Literal["plan_started"] = "plan_started"
    conductor: str
    round: int = 1


class PlanRejected(_Event):
    kind: Literal["plan_rejected"] = "plan_rejected"
    attempt: int
    raw_text: str
    diagnostics: tuple[Diagnostic, ...] = ()
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    latency_s: float | None = None
    round: int = 1


class PlanCreated(_Event):
    kind: Literal["plan_created"] = "plan_created"
    plan: Plan
    round: int = 1


class PlanFailed(_Event):
    """No plan came of it. ``usage`` and ``cost_usd``: of the calls that no rejected plan has told."""

    kind: Literal["plan_failed"] = "plan_failed"
    error: StepError
    partial_text: str = ""
    reasoning: str = ""
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    round: int = 1


class RoundStarted(_Event):
    kind: Literal["round_started"] = "round_started"
    round: int
    workflow: Workflow


class StepQueued(_Event):
    """The step is ready: everything it may see is there. Carries what will be sent, byte for byte."""

    kind: Literal["step_queued"] = "step_queued"
    step_id: str
    attempt: int
    worker: str
    messages: tuple[Message, ...]
    visible: tuple[str, ...]
    withheld: tuple[str, ...]


class StepStarted(_Event):
    """The call left the queue. ``waited_s``: how long it stood in the worker's queue."""

    kind: Literal["step_started"] = "step_started"
    step_id: str
    attempt: int
    worker: str
    waited_s: float = 0.0


class StepRetried(_Event):
    """An attempt failed and another follows after ``wait_s`` seconds, perhaps by another worker."""

    kind: Literal["step_retried"] = "step_retried"
    step_id: str
    attempt: int
    worker: str
    error: StepError
    wait_s: float
    next_worker: str
    partial_text: str = ""
    usage: Usage | None = None
    cost_usd: Decimal | None = None


class StepFinished(_Event):
    kind: Literal["step_finished"] = "step_finished"
    step_id: str
    attempt: int
    worker: str
    output: str
    reasoning: str = ""
    finish: str = "stop"
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    price: Price | None = None
    served_model: str | None = None
    first_token_at: Moment | None = None
    notes: tuple[str, ...] = ()
    """What was adapted or looks doubtful, in words."""
    prompt_cut: bool = False
    """Whether the server seems to have dropped a part of the prompt; a note says why one may think so."""


class StepFailed(_Event):
    kind: Literal["step_failed"] = "step_failed"
    step_id: str
    attempt: int
    worker: str
    error: StepError
    partial_text: str = ""
    reasoning: str = ""
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    served_model: str | None = None


class StepCancelled(_Event):
    kind: Literal["step_cancelled"] = "step_cancelled"
    step_id: str
    attempt: int
    partial_text: str = ""
    reasoning: str = ""
    cost_usd: Decimal | None = None
    """Known only of a worker that costs nothing whatever it wrote."""


class StepSkipped(_Event):
    """Never started, because of ``cause``: the failed, skipped or cancelled step it needed."""

    kind: Literal["step_skipped"] = "step_skipped"
    step_id: str
    cause: str | None
    said: str


class StepReused(_Event):
    kind: Literal["step_reused"] = "step_reused"
    step_id: str
    worker: str
    output: str
    reasoning: str = ""
    served_model: str | None = None
    messages: tuple[Message, ...]
    visible: tuple[str, ...]
    withheld: tuple[str, ...]
    reused_from: ReusedFrom


class RunResumed(_Event):
    """A new process took the run up after the old one ended."""

    kind: Literal["run_resumed"] = "run_resumed"


class RunFinished(_Event):
    kind: Literal["run_finished"] = "run_finished"
    final_output: str


class RunFailed(_Event):
    """Not every step succeeded. ``final_output`` may still hold a last step's text; ``partial`` marks it."""

    kind: Literal["run_failed"] = "run_failed"
    error: StepError
    final_output: str | None = None
    partial: bool = False


class RunCancelled(_Event):
    kind: Literal["run_cancelled"] = "run_cancelled"
    final_output: str | None = None
    partial: bool = False


RunEvent = (
    RunCreated
    | RunStarted
    | PlanStarted
    | PlanRejected
    | PlanCreated
    | PlanFailed
    | RoundStarted
    | StepQueued
    | StepStarted
    | StepRetried
    | StepFinished
    | StepFailed
    | StepCancelled
    | StepSkipped
    | StepReused
    | RunResumed
    | RunFinished
    | RunFailed
    | RunCancelled
)

_decoder: TypeAdapter[RunEvent] = TypeAdapter(Annotated[RunEvent, Field(discriminator="kind")])


def event_from_json(text: str | bytes) -> RunEvent:
    """Decodes one stored event. Raises ``pydantic.ValidationError`` when it is none."""
    return _decoder.validate_json(text)


def event_from_dict(data: Mapping[str, Any]) -> RunEvent:
    """Decodes one event from parsed JSON."""
    return _decoder.validate_python(data)


class Frame(Value):
    """Text that is being written now. Never stored, no ``seq``.

    ``offset`` counts the characters (code points) of this channel and attempt that came before ``text``.
    ``step_id`` is a step's id or ``"plan"``. A ``notice`` says what a silent step waits for.
    """

    run_id: str
    step_id: str
    attempt: int
    channel: Literal["output", "reasoning", "notice"]
    offset: int
    text: str
