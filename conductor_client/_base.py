"""What every value that crosses a process has in common: frozen, equal by content, strict about keys."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer
from pydantic.types import AwareDatetime


class Value(BaseModel):
    """A frozen value; unknown keys are refused so that a typo in a request never passes silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Moment = Annotated[AwareDatetime, PlainSerializer(_iso, return_type=str, when_used="json")]
"""A point in time; UTC, ISO 8601 with milliseconds in JSON."""


def utc_now() -> datetime:
    """The present moment in UTC, whole milliseconds, so that a value equals itself after JSON."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def seconds_between(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds from one moment to a later one; ``None`` = unknown, as when the clock was put back."""
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds()


def new_id(prefix: str) -> str:
    """An opaque id such as ``run_3f9c…``: the prefix says what it names, 96 random bits follow."""
    return f"{prefix}_{secrets.token_hex(12)}"
