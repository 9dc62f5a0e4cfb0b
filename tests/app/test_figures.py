"""Numbers with their unit; unknown is said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app import figures


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
