"""How values look in the file: moments, JSON, counts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any


def iso(moment: datetime) -> str:
    """A moment as in our JSON: UTC with milliseconds, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_json(value: Any) -> str:
    """Compact JSON with every character as itself."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def counted(count: int | None) -> int | None:
    """A count that fits SQLite's integers, whatever a provider claims."""
    return None if count is None else min(count, 2**63 - 1)
