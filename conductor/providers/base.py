"""The one seam every call to a model or tool goes through.

A provider turns a ``Call`` into a stream of ``Delta`` and ``Notice``, ended by exactly one ``Completion``,
or raises ``WorkerError``. It never retries, never prices, never stores: those live in the runner.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from conductor_client.errors import StepError, StepErrorKind
from conductor_client.usage import Usage
from conductor_client.workflow import Message


@dataclass(frozen=True)
class Worker:
    """One entry of a pool file, as the backend needs it. ``api_key_env`` is a name, never a key."""

    name: str
    provider: Literal["openai", "anthropic", "local", "tool", "scripted"]
    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    max_output_tokens: int | None = None
    concurrency: int = 4
    tags: tuple[str, ...] = ()
    description: str = ""
    system: str = ""
    """What it is told before every task, as the system message."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    price: Mapping[str, str] | None = None
    fallback: str | None = None
    timeout_s: float | None = None
    idle_timeout_s: float | None = None
    from_operator: bool = True
    """Whether it comes from the operator's pool file: only then may it live on a private address."""


@dataclass(frozen=True)
class VisibleStep:
    """What a tool worker sees of an earlier step."""

    label: str
    instruction: str
    output: str


@dataclass(frozen=True)
class Call:
    """One request. ``messages`` are sent as they are; the tool-only fields say the same in parts."""

    worker: Worker
    messages: tuple[Message, ...]
    max_output_tokens: int | None = None
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The worker's settings, overridden by the call's (temperature, reasoning_effort, …)."""
    grammar: str | None = None
    """GBNF, for providers that can constrain decoding; others ignore it."""
    json_schema: Mapping[str, Any] | None = None
    top_logprobs: int = 0
    question: str = ""
    instruction: str = ""
    visible: tuple[VisibleStep, ...] = ()


@dataclass(frozen=True)
class Delta:
    """Text as it arrives."""

    channel: Literal["output", "reasoning"]
    text: str


@dataclass(frozen=True)
class Notice:
    """What a silent call waits for ("loading qwen-0.5b"); shown, never stored."""

    text: str


@dataclass(frozen=True)
class TokenLogprob:
    """One generated token with the log-probabilities of its alternatives (itself included)."""

    token: str
    logprob: float
    top: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Completion:
    """The end of a call that went well. ``output`` is the whole text, reasoning apart."""

    output: str
    reasoning: str = ""
    finish: Literal["stop", "length", "tool", "other"] = "stop"
    usage: Usage | None = None
    served_model: str | None = None
    logprobs: tuple[TokenLogprob, ...] = ()
    reported_cost_usd: str | None = None
    notes: tuple[str, ...] = ()
    prompt_cut: bool = False
    """Whether the counts look as if the server had dropped a part of the prompt; a note says so in words."""


_TURNED_AWAY: frozenset[StepErrorKind] = frozenset(
    {
        "auth",
        "bad_input",
        "bad_request",
        "context_overflow",
        "overloaded",
        "quota",
        "rate_limited",
        "unavailable",
    }
)


class WorkerError(Exception):
    """A call that failed. ``retry_after_s``: what the server asked for, in seconds.

    ``usage``: what the failed call is known to have used; ``None`` is unknown.
    """

    def __init__(
        self,
        kind: StepErrorKind,
        message: str,
        *,
        hint: str = "",
        retryable: bool = False,
        retry_after_s: float | None = None,
        partial_text: str = "",
        reasoning: str = "",
        usage: Usage | None = None,
        served_model: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: StepErrorKind = kind
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.partial_text = partial_text
        self.reasoning = reasoning
        self.usage = usage
        self.served_model = served_model

    @property
    def was_turned_away(self) -> bool:
        """Whether nothing was worked on and so charged: no text, no usage, and a kind that says so."""
        has_begun = bool(self.partial_text or self.reasoning) or self.usage is not None
        return self.kind in _TURNED_AWAY and not has_begun

    def as_data(self) -> StepError:
        """The same as a value for events."""
        return StepError(kind=self.kind, message=self.message, hint=self.hint, retryable=self.retryable)


class Provider(Protocol):
    """A kind of worker. One instance per process; ``stream`` may run many times at once."""

    def stream(self, call: Call) -> AsyncIterator[Delta | Notice | Completion]:
        """Runs one call. Cancelling the task that iterates closes the socket. Raises WorkerError."""
        ...

    async def close(self) -> None:
        """Frees sockets and processes."""
        ...
