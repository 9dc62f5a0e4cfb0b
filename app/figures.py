"""Numbers as a person reads them, with their unit. Pure. Unknown is said, never shown as zero."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from conductor_client.catalogue import counted, text
from conductor_client.run_state import GIVEN, RunState
from conductor_client.step_state import StepState
from conductor_client.usage import Usage


def tokens(count: int | None, *, is_complete: bool = True) -> str:
    """A count of tokens; ``≥`` when something is missing from it."""
    if count is None or (not is_complete and count == 0):
        return text("common.unknown")
    return f"{'' if is_complete else '≥ '}{count:,}"


def total_tokens(usage: Usage, *, is_complete: bool) -> str:
    """Input and output together. A sum of what is known counts as incomplete when either is missing."""
    known = [part for part in (usage.input_tokens, usage.output_tokens) if part is not None]
    if not known:
        return tokens(0) if is_complete else text("common.unknown")
    return tokens(sum(known), is_complete=is_complete and len(known) == 2)


def usd(amount: Decimal | None, *, is_complete: bool = True) -> str:
    """An amount of US dollars with as many digits as it needs; ``None`` or nothing known is "unpriced"."""
    if amount is None or (not is_complete and amount == 0):
        return text("common.unpriced")
    sign = "" if is_complete else "≥ "
    if amount == 0:
        return f"{sign}$0"
    if amount >= Decimal("0.01"):
        return f"{sign}${amount:,.{3 if amount < 1 else 2}f}"
    digits = max(4, 2 - amount.adjusted() - 1)
    return f"{sign}${amount:.{digits}f}"


def step_cost(step: StepState) -> str:
    """What a step cost; else "unpriced" when its worker has no price, "unknown" when it has one."""
    if step.cost_usd is None and not _is_unpriced(step):
        return text("common.unknown")
    return usd(step.cost_usd)


def run_cost(run: RunState) -> str:
    """Workers and conductor together. With nothing known, "unpriced" only when no step has a price."""
    total = run.cost_usd + run.orchestration_cost_usd
    without = [step for step in run.steps.values() if step.attempts and step.cost_usd is None]
    if total == 0 and not run.complete.cost and not all(map(_is_unpriced, without)):
        return text("common.unknown")
    return usd(total, is_complete=run.complete.cost)


def _is_unpriced(step: StepState) -> bool:
    return step.status == "succeeded" and step.price is None


def seconds(amount: float | None) -> str:
    """A duration: milliseconds below one second, minutes above one hundred seconds."""
    if amount is None:
        return text("common.unknown")
    if amount < 1:
        return f"{amount * 1000:.0f} ms"
    if amount < 100:
        return f"{amount:.1f} s"
    minutes, rest = divmod(round(amount), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


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
