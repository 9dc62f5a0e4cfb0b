"""Votes: the conductor asked again and again for the same prompt, and how its plans are spread."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from pydantic import Field

from ._base import Moment, Value
from .events import Limits
from .plan import Estimate
from .usage import Usage

MAX_VOTES = 64
VoteStatus = Literal["running", "finished", "stopped", "interrupted", "failed"]
"""``interrupted``: its process ended before all votes were in. ``failed``: a limit, or no call succeeded."""


class VotesRequest(Value):
    """``n`` more plans for a run's prompt; none of them is executed. ``dry_run`` only says the price.

    ``temperature`` must be above 0, or every vote would be the same. 1 samples the model's own distribution.
    ``limits`` are for all votes together.
    """

    n: int = Field(default=8, ge=1, le=MAX_VOTES)
    temperature: float = Field(default=1.0, gt=0, le=2)
    dry_run: bool = False
    limits: Limits | None = None


class Vote(Value):
    """One sampled plan. ``workers`` by position; empty when it could not be used, and ``said`` tells why.

    ``rejected``: the conductor wrote something that is no plan. ``failed``: no text came at all.
    """

    number: int
    status: Literal["planned", "rejected", "failed"]
    seed: int | None = None
    workers: tuple[str, ...] = ()
    topology: str | None = None
    said: str = ""
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    latency_s: float | None = None


class PositionVotes(Value):
    """Who was chosen at one position (from 0). ``shares`` are of all readable plans, those too short for the
    position included, so they sum to at most 1."""

    position: int
    n: int
    """Plans that have a step here."""
    counts: Mapping[str, int]
    shares: Mapping[str, float]


class VoteTally(Value):
    """Votes counted. ``planned`` is what every share is a share of."""

    planned: int = 0
    rejected: int = 0
    failed: int = 0
    positions: tuple[PositionVotes, ...] = ()
    step_counts: Mapping[int, int] = Field(default_factory=dict)
    topologies: Mapping[str, int] = Field(default_factory=dict)


class VoteSet(Value):
    """The votes for one prompt, conductor and pool, as far as they have come.

    ``usage`` and ``cost_usd`` sum what is known; the flags say whether that is all.
    """

    vote_id: str
    run_id: str
    """The run they were asked for; other runs of the same prompt, conductor and pool see them too."""
    status: VoteStatus
    asked: int
    temperature: float
    conductor: str
    pool: tuple[str, ...]
    votes: tuple[Vote, ...] = ()
    tally: VoteTally = VoteTally()
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    usage_complete: bool = True
    cost_complete: bool = True
    said: str = ""
    """Why it ended early, or what is to be kept in mind; empty when there is nothing to say."""
    created_at: Moment
    finished_at: Moment | None = None


class VotesPreview(Value):
    """What ``n`` votes would take."""

    n: int
    conductor: str
    estimate: Estimate
