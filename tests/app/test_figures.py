"""Numbers with their unit; unknown is said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from app import figures
from conductor_client.usage import Usage


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


@pytest.mark.parametrize(("part", "said"), [(0.0, "0 %"), (0.001, "<1 %"), (0.756, "76 %"), (1.0, "100 %")])
def test_share(part: float, said: str) -> None:
    assert figures.share(part) == said


@pytest.mark.parametrize(
    ("count", "said"), [(5, "5 B"), (1500, "1.5 kB"), (98_362_432, "98.4 MB"), (1_117_320_768, "1.1 GB")]
)
def test_size(count: int, said: str) -> None:
    assert figures.size(count) == said


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        (5, "just now"),
        (60, "1 minute ago"),
        (7200, "2 hours ago"),
        (90_000, "1 day ago"),
        (86_400 * 30, "2026-10-30"),
    ],
)
def test_ago(passed: int, said: str) -> None:
    now = datetime(2026, 11, 29, tzinfo=UTC)
    assert figures.ago(now - timedelta(seconds=passed), now=now) == said


def test_shortened_is_one_line_with_an_ellipsis() -> None:
    assert figures.shortened("a\n b", 10) == "a b"
    assert figures.shortened("abcdefgh", 5) == "abcd…"


def test_clock_is_utc_with_milliseconds() -> None:
    assert figures.clock(datetime(2026, 11, 29, 1, 2, 3, 45_000, tzinfo=UTC)) == "01:02:03.045"
    assert figures.clock(None) == "unknown"
