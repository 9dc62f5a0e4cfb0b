"""Why this worker: six kinds of evidence for one step, each with what it is worth (design §7).

A kind that has nothing says whether it could be had (``none_yet``) or not (``unknown``), and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from pydantic import Field

from ._base import Value
from .counterfactuals import CounterfactualTable
from .record import NearRun, WorkerRecord
from .votes import VoteSet

Known = Literal["known", "none_yet", "unknown"]
ChosenBy = Literal["conductor", "fallback", "edit", "given"]
"""Who put this worker at this step: the conductor; nobody, since its text could not be used; an edit of a
plan; or whoever wrote the workflow."""


class Kind(Value):
    """One kind of evidence. ``worth``: in one sentence, what it can show and what it cannot."""

    known: Known
    worth: str
    said: str = ""
    """Why there is nothing, or what to keep in mind; empty when there is nothing to say."""


class SelfReport(Kind):
    """What the conductor wrote before its lists, worker numbers followed by their ``names``."""

    text: str = ""
    names: Mapping[int, str] = Field(default_factory=dict)


class Probabilities(Kind):
    """The conductor's odds at the token where it chose, as a distribution over the pool, in the pool's order.

    ``shares`` sum to 1 over the workers that are told; ``None`` = the server did not tell, so it is small.
    ``outside``: the mass, 0 to 1, that went to no worker of the pool or was not told.
    """

    shares: Mapping[str, float | None] = Field(default_factory=dict)
    chosen: float | None = None
    outside: float | None = None
    named_before: bool = False
    """Whether it had named this worker in its text before: the odds then say how sure it was to repeat it."""


class Votes(Kind):
    """The latest votes for this prompt, conductor and pool. ``shares``: who was chosen at this position."""

    position: int | None = None
    shares: Mapping[str, float] = Field(default_factory=dict)
    votes: VoteSet | None = None


class TrackRecord(Kind):
    """What came of earlier runs on the nearest prompts, a record per worker of the pool, in its order."""

    workers: tuple[WorkerRecord, ...] = ()
    near: tuple[NearRun, ...] = ()
    """The runs it rests on, nearest first."""


class Counterfactuals(Kind):
    """What other workers, or less access, would have given; ``None`` when nothing of it was run."""

    table: CounterfactualTable | None = None


class WorkerPrice(Value):
    """What the same step would take with one worker. ``is_chosen``: what it did take, not an estimate.

    ``usd`` ``None`` = unpriced or unknown. ``basis``: in words, what the figures rest on.
    """

    worker: str
    is_chosen: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: Decimal | None = None
    seconds: float | None = None
    basis: str


class Prices(Kind):
    """The step as it was sent, priced with every worker that could do it; the chosen one first."""

    rows: tuple[WorkerPrice, ...] = ()


class Evidence(Value):
    """All there is about the choice of a worker for one step.

    ``worker``: whom the step was given to. ``planned_worker``: whom the plan gave it to, ``None`` without
    one. ``plan_run``: the run whose plan this step is from: this one, or the one it was forked from.
    """

    run_id: str
    step_id: str
    round: int
    worker: str
    chosen_by: ChosenBy
    conductor: str
    planned_worker: str | None = None
    plan_id: str | None = None
    plan_run: str | None = None
    pool: tuple[str, ...] = ()
    """Worker names in the order in which the conductor was given them: ordinals mean nothing without it."""
    self_report: SelfReport
    probabilities: Probabilities
    votes: Votes
    track_record: TrackRecord
    counterfactuals: Counterfactuals
    prices: Prices
