"""What a run took, as a person reads it: one wording for page, cards, exports and terminal. Pure.

Unknown is said in a word, never shown as zero; a sum with a gap reads "≥". A missing cost is "unpriced" where
the worker has no price, and "unknown" where it has one and nobody told what the call took.
"""

from __future__ import annotations

from decimal import Decimal

from .catalogue import text
from .run_state import RunState
from .step_state import Attempt, StepState
from .usage import Usage


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
    if step.cost_usd is None and not is_unpriced(step):
        return text("common.unknown")
    return usd(step.cost_usd)


def attempt_cost(attempt: Attempt, step: StepState) -> str:
    """What one attempt of a step cost, in the same words."""
    if attempt.cost_usd is None and not (attempt.error is None and is_unpriced(step)):
        return text("common.unknown")
    return usd(attempt.cost_usd)


def run_cost(run: RunState) -> str:
    """Workers and conductor together. With nothing known, "unpriced" only when no step has a price, and no
    planning was cut short."""
    total = run.cost_usd + run.orchestration_cost_usd
    without = [step for step in run.steps.values() if step.attempts and step.cost_usd is None]
    is_priceless = all(map(is_unpriced, without)) and (bool(without) or run.complete.usage)
    if total == 0 and not run.complete.cost and not is_priceless:
        return text("common.unknown")
    return usd(total, is_complete=run.complete.cost)


def is_unpriced(step: StepState) -> bool:
    """Whether a missing cost is for want of a price: then it is no gap in what is known."""
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
