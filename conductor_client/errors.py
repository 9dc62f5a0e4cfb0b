"""Errors a person meets. Each says what was attempted, with which value, and what to try.

ConductorError
├── ConnectionFailed        the backend did not answer
├── TimedOut                it took longer than allowed
├── StatusError             it answered with an error
│   ├── Unauthorized
│   ├── NotFound
│   ├── Conflict
│   └── InvalidRequest
└── InvalidEdit             an edit that cannot be applied to this workflow
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ._base import Value

SHOWN = 80
"""Characters of a value that an error repeats, at most."""


def brief(text: str, most: int = SHOWN) -> str:
    """The text, or the beginning of a longer one with how long it is."""
    return text if len(text) <= most else f"{text[: most - 20]}… ({len(text):,} characters)"


def quoted(name: object) -> str:
    """A name or value as an error repeats it: in quotation marks, a long one cut."""
    return repr(brief(name)) if isinstance(name, str) else brief(repr(name))


StepErrorKind = Literal[
    "auth",
    "bad_request",
    "context_overflow",
    "connection",
    "empty_output",
    "limit_reached",
    "overloaded",
    "provider_error",
    "quota",
    "rate_limited",
    "refused",
    "stream_truncated",
    "timeout",
    "tool_error",
    "bad_input",
    "truncated",
    "unavailable",
    "plan_failed",
    "interrupted",
    "internal",
    "step_failed",
    "store",
]


class StepError(Value):
    """Why a step, a plan or a run failed: data, not an exception."""

    kind: StepErrorKind
    message: str
    hint: str = ""
    retryable: bool = False


class ConductorError(Exception):
    """Base of every error this package raises."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConnectionFailed(ConductorError):
    """The backend could not be reached."""


class TimedOut(ConductorError):
    """The backend did not answer in time."""


class StatusError(ConductorError):
    """The backend answered with an error status."""

    def __init__(
        self,
        message: str,
        *,
        status_code: int,
        kind: str,
        hint: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status_code = status_code
        self.kind = kind
        self.details = dict(details or {})


class Unauthorized(StatusError):
    """401 or 403: no valid token, or the address is not allowed to do this."""


class NotFound(StatusError):
    """404: no such run, step, worker or workflow."""


class Conflict(StatusError):
    """409: the edit does not fit the workflow as it stands."""


class InvalidRequest(StatusError):
    """400 or 422: a value is missing or wrong."""


class InvalidEdit(ConductorError):
    """An edit does not fit the workflow; ``details`` names the step and the edge."""

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.details = dict(details or {})
