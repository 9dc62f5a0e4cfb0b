"""Numbers as a person reads them. Pure. What a run took is said in ``conductor_client.figures``."""

from __future__ import annotations

from datetime import UTC, datetime

from conductor_client.catalogue import counted, text
from conductor_client.run_state import GIVEN


def share(part: float) -> str:
    """A share of one as whole percent; what is above zero never shows as zero."""
    return "<1 %" if 0 < part <= 0.005 else f"{part:.0%}".replace("%", " %")


def size(count: int) -> str:
    """A number of bytes in decimal units."""
    amount, unit = float(count), "B"
    for bigger in ("kB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, bigger
    return f"{amount:.0f} {unit}" if amount >= 100 or unit == "B" else f"{amount:.1f} {unit}"


def conductor_name(conductor: str) -> str:
    """Who wrote the workflow, in words: a conductor's id, or that it was given."""
    return text("common.given") if conductor == GIVEN else conductor


def ago(moment: datetime, *, now: datetime | None = None) -> str:
    """How long ago, coarsely; the date when more than a week."""
    passed = ((now or datetime.now(UTC)) - moment).total_seconds()
    if passed < 60:
        return text("common.just_now")
    if passed < 3600:
        return counted("common.minutes_ago", int(passed // 60))
    if passed < 86_400:
        return counted("common.hours_ago", int(passed // 3600))
    if passed < 7 * 86_400:
        return counted("common.days_ago", int(passed // 86_400))
    return moment.astimezone(UTC).date().isoformat()


def clock(moment: datetime | None) -> str:
    """The time of day in UTC, with milliseconds."""
    return text("common.unknown") if moment is None else moment.astimezone(UTC).strftime("%H:%M:%S.%f")[:-3]


def shortened(said: str, limit: int) -> str:
    """One line of at most ``limit`` characters."""
    line = " ".join(said.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
