"""Signs and moments of a report; what a run took is said in ``conductor_client.figures``."""

from __future__ import annotations

from datetime import UTC, datetime

from conductor_client import figures

ICONS = {
    "waiting": "○",
    "queued": "○",
    "planning": "◔",
    "running": "▶",
    "succeeded": "✓",
    "failed": "✕",
    "skipped": "↷",
    "reused": "↺",
    "cancelled": "■",
}
"""A sign for each status of a run or step, so that its colour is never needed."""


def seconds(duration_s: float | None) -> str:
    """A duration; an en dash in a table where there is none."""
    return "–" if duration_s is None else figures.seconds(duration_s)


def moment(at: datetime | None) -> str:
    """``2026-01-31 14:05:09 UTC``; an en dash when there is none."""
    return "–" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def percent(share: float) -> str:
    """``97 %``, ``< 1 %``."""
    return "< 1 %" if 0 < share < 0.005 else f"{share * 100:.0f} %"
