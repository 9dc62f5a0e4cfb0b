"""What a run took, in words: unknown is said, a gap is marked, a missing price is not a gap."""

from __future__ import annotations

from decimal import Decimal

import pytest

from conductor_client import figures
from conductor_client.errors import StepError
from conductor_client.step_state import Attempt, StepState
from conductor_client.usage import Price, Usage


@pytest.mark.parametrize(
    ("count", "is_complete", "said"),
    [
        (1234, True, "1,234"),
        (1234, False, "≥ 1,234"),
        (0, True, "0"),
        (0, False, "unknown"),
        (None, True, "unknown"),
    ],
)
def test_tokens(count: int | None, is_complete: bool, said: str) -> None:
    assert figures.tokens(count, is_complete=is_complete) == said


def test_total_tokens_counts_what_is_known_and_says_when_something_is_not() -> None:
    assert figures.total_tokens(Usage(input_tokens=10, output_tokens=5), is_complete=True) == "15"
    assert figures.total_tokens(Usage(input_tokens=10), is_complete=True) == "≥ 10"
    assert figures.total_tokens(Usage(), is_complete=False) == "unknown"
    assert figures.total_tokens(Usage(), is_complete=True) == "0"


@pytest.mark.parametrize(
    ("amount", "is_complete", "said"),
    [
        ("0", True, "$0"),
        ("0", False, "unpriced"),
        (None, True, "unpriced"),
        ("1234.5", True, "$1,234.50"),
        ("0.0123", True, "$0.012"),
        ("0.00123", True, "$0.0012"),
        ("0.0000123", False, "≥ $0.000012"),
    ],
)
def test_usd(amount: str | None, is_complete: bool, said: str) -> None:
    assert figures.usd(None if amount is None else Decimal(amount), is_complete=is_complete) == said


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        (None, "unknown"),
        (0.0123, "12 ms"),
        (1.26, "1.3 s"),
        (99.9, "99.9 s"),
        (125.4, "2 min 05 s"),
        (7322, "2 h 02 min"),
    ],
)
def test_seconds(amount: float | None, said: str) -> None:
    assert figures.seconds(amount) == said


FREE = StepState(status="succeeded", worker="small", attempts=(Attempt(attempt=1, worker="small"),))
PRICE = Price(input_usd_per_mtok=Decimal(1), output_usd_per_mtok=Decimal(2), source="pool file")


def test_a_missing_cost_is_unpriced_without_a_price_and_unknown_with_one() -> None:
    priced = FREE.model_copy(update={"price": PRICE})
    failed = FREE.model_copy(update={"status": "failed"})
    assert [figures.step_cost(each) for each in (FREE, priced, failed)] == ["unpriced", "unknown", "unknown"]
    broke_off = Attempt(attempt=1, worker="small", error=StepError(kind="overloaded", message="busy"))
    assert figures.attempt_cost(FREE.attempts[0], FREE) == "unpriced"
    assert figures.attempt_cost(broke_off, FREE) == "unknown"
