"""How long a server asks us to wait, in every form it is said: seconds, dates, durations, body fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_duration = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def retry_after_s(
    headers: Mapping[str, str], body: Any = None, *, now: datetime | None = None
) -> float | None:
    """Seconds to wait from now, never negative; ``None`` when the server does not say.

    ``headers``: names in any case. Looked at in order: ``retry-after-ms``, ``retry-after``, Gemini's
    ``retryDelay`` in the body, then the reset times of exhausted limits.
    """
    said = {name.lower(): value.strip() for name, value in headers.items()}
    moment = now or datetime.now(UTC)
    if (wait := _number(said.get("retry-after-ms"))) is not None:
        return wait / 1000
    if (value := said.get("retry-after")) is not None:
        wait = _number(value)
        return wait if wait is not None else _until(value, moment)
    waits = [*_delays_in(body), *_resets(said, moment)]
    return max(waits, default=None)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None


def _until(value: str, now: datetime) -> float | None:
    try:
        moment = datetime.fromisoformat(value) if value[:1].isdigit() else parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _length(value: str) -> float | None:
    if not re.fullmatch(rf"(?:{_duration.pattern})+", value):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _duration.findall(value))


def _resets(said: Mapping[str, str], now: datetime) -> Iterator[float]:
    """Reset times of limits of which nothing remains; a limit with something left is not the reason."""
    for name, value in said.items():
        if "ratelimit" not in name or "reset" not in name:
            continue
        if _number(said.get(name.replace("reset", "remaining"))) not in (0, None):
            continue
        wait = _length(value)
        if wait is None:
            wait = _until(value, now) if "T" in value else _number(value)
        if wait is not None and wait < 1e8:
            yield wait


def _delays_in(body: Any) -> Iterator[float]:
    """Every ``retryDelay`` of a Google error body."""
    details = body.get("details") if isinstance(body, Mapping) else None
    for each in details if isinstance(details, list) else ():
        delay = each.get("retryDelay") if isinstance(each, Mapping) else None
        if isinstance(delay, str) and (wait := _length(delay)) is not None:
            yield wait
