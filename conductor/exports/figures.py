"""Numbers as a person reads them. Unknown is said in a word, never as 0; a sum with a gap reads "≥"."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from conductor_client.catalogue import text

AT_LEAST = "≥ "
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


def usd(amount: Decimal | None, *, complete: bool = True) -> str:
    """``$0.012``, ``$0.000056``; ``unpriced`` when unknown; ``≥ $0.01`` when parts are missing."""
    if amount is None or (not complete and not amount):
        return text("report.unpriced")
    if amount == 0:
        shown = "$0"
    elif amount < Decimal("0.01"):
        shown = f"${amount:.{max(4, 1 - amount.adjusted())}f}"
    else:
        shown = f"${amount:,.{3 if amount < 1 else 2}f}"
    return shown if complete else AT_LEAST + shown


def tokens(count: int | None, *, complete: bool = True) -> str:
    """``1,234``; ``unknown`` when nothing is known; ``≥ 1,234`` when parts are missing."""
    if count is None:
        return text("report.unknown")
    return f"{count:,}" if complete else f"{AT_LEAST}{count:,}"


def seconds(duration_s: float | None) -> str:
    """``41 ms``, ``12.3 s``, ``2 min 05 s``, as in the live graph; an en dash when there is none."""
    if duration_s is None:
        return "–"
    if duration_s < 1:
        return f"{duration_s * 1000:.0f} ms"
    if duration_s < 100:
        return f"{duration_s:.1f} s"
    whole = round(duration_s)
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60:02} min"


def moment(at: datetime | None) -> str:
    """``2026-01-31 14:05:09 UTC``; an en dash when there is none."""
    return "–" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def percent(share: float) -> str:
    """``97 %``, ``< 1 %``."""
    return "< 1 %" if 0 < share < 0.005 else f"{share * 100:.0f} %"
