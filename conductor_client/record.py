"""A worker's track record: what came of the runs it had a part in, counted, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from pydantic import Field

from ._base import Moment, Value
from .events import Origin

Grade = Literal["right", "wrong"]
GradedBy = Literal["person", "gold"]
"""A person said so, or the answer was compared with the gold answer. A person's word counts first."""


class Share(Value):
    """How many of ``n`` were right. ``mean`` and the 95 % interval (Wilson) are ``None`` when ``n`` is 0."""

    n: int = Field(ge=0)
    right: int = Field(ge=0)
    mean: float | None = None
    low: float | None = None
    high: float | None = None


class OriginRecord(Value):
    """A worker's record over runs of one origin.

    ``wrote_answer`` and ``took_part`` have no run in common: in the second the worker did some step, and
    another one wrote the final output. Only graded runs are in them. Steps that were reused, and runs made
    for counterfactuals, are in nothing.
    """

    origin: Origin
    wrote_answer: Share
    took_part: Share
    n_runs: int = 0
    """Runs in which it was called at all, graded or not."""
    n_steps: int = 0
    """Steps it was called for that came to an end: well or failed."""
    failures: Mapping[str, int] = Field(default_factory=dict)
    """Failed steps by kind of error."""


class WorkerRecord(Value):
    """Everything that is known of one worker, origins apart. The means are over steps that ended well."""

    worker: str
    by_origin: tuple[OriginRecord, ...] = ()
    """Only origins with a run; empty = no record yet."""
    n_calls: int = 0
    """Steps the means below rest on."""
    mean_output_tokens: float | None = None
    mean_duration_s: float | None = None
    mean_cost_usd: Decimal | None = None
    last_at: Moment | None = None


class NearRun(Value):
    """An earlier run on a like prompt. ``similarity`` is BM25 relative to the prompt itself: 1 = the same."""

    run_id: str
    prompt: str
    """The first 300 characters."""
    similarity: float
    origin: Origin
    grade: Grade | None = None
    graded_by: GradedBy | None = None
    workers: tuple[str, ...] = ()
    created_at: Moment
