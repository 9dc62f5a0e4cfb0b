"""What a conductor is: something that writes a plan for a prompt, given the workers there are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from conductor.providers.base import Call, Completion, Delta, Notice, Worker, WorkerError
from conductor_client.errors import quoted
from conductor_client.plan import Diagnostic, PlanOptions, Reading
from conductor_client.usage import Usage
from conductor_client.workflow import Message

CallModel = Callable[[Call], AsyncIterator[Delta | Notice | Completion]]
"""Makes one call to a model: a provider's ``stream``, or a runner's wrapper that adds limits and retries."""


class UnknownConductor(WorkerError):
    """There is no conductor of that id."""

    def __init__(self, conductor_id: str, known: list[str]) -> None:
        super().__init__(
            "bad_input",
            f"There is no conductor {quoted(conductor_id)}.",
            hint=f"Choose one of {', '.join(known[:30])}." if known else "The pool has no usable worker.",
        )


class ConductorNotReady(WorkerError):
    """The conductor exists and cannot be used now."""

    def __init__(self, conductor_id: str, missing: str, how_to_get: str) -> None:
        super().__init__(
            "unavailable",
            f"The conductor {conductor_id} cannot be used: {missing}",
            hint=how_to_get or "Choose another conductor.",
        )


@dataclass(frozen=True)
class Refusal:
    """A text of this conductor that could not be used, quoted back to it once."""

    raw_text: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class EarlierRound:
    """What a conductor sees of a round before: its own text and the answer that came of it."""

    raw_text: str
    final_output: str


@dataclass(frozen=True)
class ConductorRequest:
    """One question to a conductor. ``workers`` in the order that gives them their ordinals."""

    prompt: str
    workers: tuple[Worker, ...]
    messages: tuple[Message, ...] = ()
    options: PlanOptions = field(default_factory=PlanOptions)
    seed: int | None = None
    round: int = 1
    refusal: Refusal | None = None
    earlier: tuple[EarlierRound, ...] = ()


@dataclass(frozen=True)
class Written:
    """What a conductor wrote and how it was read.

    ``choices``: per step the probability of each worker ordinal where the conductor chose, or ``None``; sums
    to at most 1. ``usage`` ``None`` = unknown.
    """

    raw_text: str
    reading: Reading
    choices: tuple[Mapping[int, float] | None, ...] = ()
    usage: Usage | None = None
    served_model: str | None = None
    reported_cost_usd: str | None = None


class Conductor(Protocol):
    """Writes plans. ``worker`` is the model behind it, ``None`` when none is asked."""

    conductor_id: str
    options: PlanOptions
    can_revise: bool
    """Whether it can be shown its answer and plan another round."""

    @property
    def kind(self) -> Literal["local", "prompted", "router", "generator"]:
        """What sort it is."""
        ...

    @property
    def worker(self) -> Worker | None:
        """The model behind it."""
        ...

    def write(
        self, request: ConductorRequest, call_model: CallModel
    ) -> AsyncIterator[Delta | Notice | Written]:
        """Streams its text, ended by one ``Written``. Raises ``WorkerError`` when its model fails."""
        ...
