"""How values look in the file: moments, JSON, and text that UTF-8 can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


def whole(text: str) -> str:
    """Text without halves of UTF-16 pairs: two that belong together are joined, a lone one becomes ``�``.

    A provider that cuts its JSON between the halves of an emoji produces them, and no UTF-8 file holds them.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole_all(value: Any) -> Any:
    """The same for every text in nested data."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, Mapping):
        return {whole_all(key): whole_all(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [whole_all(each) for each in value]
    return value
