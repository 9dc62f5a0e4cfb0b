"""Requests and answers of the HTTP API that are not already words of their own."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from ._base import Moment, Value
from .edits import Edit
from .events import Limits, Origin
from .plan import Diagnostic, Estimate, PlanOptions
from .run_state import RunStatus
from .usage import Usage
from .workflow import Message, Workflow

MAX_PROMPT_BYTES = 2_000_000
"""A longer prompt is refused with a clear error; 1 MB passes."""


class StepRequest(Value):
    """A step of a workflow in a request. ``access``: 0-based positions or given step ids, not both."""

    instruction: str
    worker: str
    access: tuple[int | str, ...] = ()
    step_id: str | None = None


class WorkflowRequest(Value):
    """A workflow in a request: only ``steps`` is needed, the rest is filled in or ignored."""

    steps: tuple[StepRequest, ...]


class PlanRequest(Value):
    prompt: str
    messages: tuple[Message, ...] = ()
    conductor: str | None = None
    pool: str | None = None
    workers: tuple[str, ...] | None = None
    """Only these workers of the pool, in this order; ``None`` = every ready one."""
    seed: int | None = None
    options: PlanOptions | None = None


class RunRequest(PlanRequest):
    """Starts a run. With ``workflow`` nothing is planned; ``plan_id`` executes a stored plan."""

    request_options: Mapping[str, Any] = Field(default_factory=dict)
    limits: Limits | None = None
    plan_id: str | None = None
    workflow: WorkflowRequest | None = None
    parent_run: str | None = None
    fresh: bool | tuple[str, ...] = False
    reuse: bool = False
    """Whether results of the whole store may be reused; a new run reuses nothing unless asked."""
    idempotency_key: str | None = None
    origin: Origin = "page"
    tags: tuple[str, ...] = ()


class RunStartedReply(Value):
    run_id: str
    url: str
    """Address of the run in the Studio."""


class ForkRequest(Value):
    edits: tuple[Edit, ...] = ()
    fresh: bool | tuple[str, ...] = False
    round: int | None = None
    """Whose workflow is edited and run; ``None`` = that of the steps which the edits name, else the last."""
    limits: Limits | None = None
    dry_run: bool = False
    idempotency_key: str | None = None
    origin: Origin = "page"


class ForkPreview(Value):
    """What a fork would do: step ids that will run (in order), that are reused, and an estimate."""

    workflow: Workflow
    will_run: tuple[str, ...]
    reused: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...] = ()
    """Access edges ``(seen, by)`` that a removal took with it."""
    estimate: Estimate


class RunPatch(Value):
    """Changes of what people say about a run; a key left out stays as it is, ``None`` takes it back.

    Blanks around tags, note and gold answer go, and so do empty ones.
    """

    rating: int | None = Field(default=None, ge=1, le=5)
    grade: Literal["right", "wrong"] | None = None
    gold: str | None = Field(default=None, max_length=20_000)
    """The answer that would be right; it is compared with what the run and its counterfactuals answered."""
    tags: tuple[Annotated[str, Field(max_length=100)], ...] | None = Field(default=None, max_length=50)
    note: str | None = Field(default=None, max_length=20_000)

    @field_validator("gold", "note")
    @classmethod
    def _says_something(cls, said: str | None) -> str | None:
        return (said.strip() or None) if said is not None else None

    @field_validator("tags")
    @classmethod
    def _without_blanks(cls, tags: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if tags is None else tuple(tag.strip() for tag in tags if tag.strip())


class RunSummary(Value):
    """One line of the history."""

    run_id: str
    status: RunStatus
    prompt: str
    """The first 300 characters."""
    conductor: str
    workers: tuple[str, ...] = ()
    n_steps: int = 0
    topology: str | None = None
    cost_usd: Decimal | None = None
    """Workers and conductor together; ``None`` when nothing is known."""
    cost_complete: bool = True
    total_tokens: int | None = None
    tokens_complete: bool = True
    wall_s: float | None = None
    created_at: Moment
    parent_run: str | None = None
    origin: Origin = "page"
    tags: tuple[str, ...] = ()
    rating: int | None = None
    grade: Literal["right", "wrong"] | None = None
    gold: str | None = None
    note: str | None = None
    """The first 300 characters."""
    snippet: str | None = None
    """Where the search words were found, with them between ``⟦`` and ``⟧``."""


class RunPage(Value):
    runs: tuple[RunSummary, ...]
    next_cursor: str | None = None
    total: int | None = None


class RunFacets(Value):
    """What the history can be filtered by, each with how many runs have it, the most frequent first."""

    tags: Mapping[str, int] = Field(default_factory=dict)
    conductors: Mapping[str, int] = Field(default_factory=dict)
    workers: Mapping[str, int] = Field(default_factory=dict)
    origins: Mapping[str, int] = Field(default_factory=dict)


class RunsExportRequest(Value):
    """Runs to put into one file: ``csv`` has a line per run, ``json`` holds them whole, in this order."""

    run_ids: tuple[str, ...] = Field(min_length=1, max_length=500)
    format: Literal["csv", "json"] = "csv"


class BranchReply(Value):
    """The runs that were deleted or brought back together, the one asked for first."""

    run_ids: tuple[str, ...]


class LineageNode(Value):
    """One run of a lineage; ``edits`` is what changed since ``parent_run``."""

    run_id: str
    parent_run: str | None
    status: RunStatus
    edits: tuple[Edit, ...] = ()
    created_at: Moment
    final_output: str | None = None
    n_steps: int = 0
    cost_usd: Decimal | None = None
    """Workers and conductor together; ``None`` when nothing is known."""
    cost_complete: bool = True
    wall_s: float | None = None
    origin: Origin = "page"
    rating: int | None = None
    grade: Literal["right", "wrong"] | None = None


class Lineage(Value):
    """Every run that shares an ancestor with the one asked for, oldest first."""

    root: str
    runs: tuple[LineageNode, ...]


class SavedWorkflow(Value):
    """A workflow kept under a name, to be used on other prompts."""

    name: str
    workflow: Workflow
    created_at: Moment


class SaveWorkflowRequest(Value):
    name: str = Field(min_length=1, max_length=120)
    run_id: str | None = None
    workflow: WorkflowRequest | None = None
    replace: bool = False


class ImportRequest(Value):
    """Text that holds a workflow: our JSON, the three lists, Mermaid or DOT. ``format`` None = find out."""

    text: str
    format: Literal["json", "lists", "mermaid", "dot"] | None = None
    pool: str | None = None
    prompt: str = ""


class ImportReply(Value):
    format: str | None
    workflow: Workflow | None
    diagnostics: tuple[Diagnostic, ...] = ()
    unknown_workers: tuple[str, ...] = ()


class Health(Value):
    version: str
    engine: str
    pool_size: int
    store_writable: bool
    problems: tuple[str, ...] = ()


class WorkerTestReply(Value):
    """One tiny real call. ``latency_s`` and ``first_token_s`` are seconds since it began; never holds a key.

    ``running``: it has not answered yet, and only ``began_at`` is known. ``first_token_s`` is ``None`` when
    the answer came in one piece. ``notes``: what was left out or renamed because the server does not take it.
    ``retry_after_s``: the pause the server asked for, in seconds.
    """

    worker: str
    ok: bool
    running: bool = False
    began_at: Moment | None = None
    latency_s: float | None = None
    first_token_s: float | None = None
    served_model: str | None = None
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    notes: tuple[str, ...] = ()
    output: str = ""
    message: str = ""
    hint: str = ""
    retry_after_s: float | None = None


class ShareReply(Value):
    """The read-only address of a run: path and key, without scheme and host."""

    path: str


class ExamplePrompt(Value):
    """A prompt to start from; ``title`` is a few words."""

    title: str
    prompt: str


class ErrorBody(Value):
    type: str
    message: str
    hint: str = ""
    details: Mapping[str, Any] | None = None


class ErrorReply(Value):
    error: ErrorBody
