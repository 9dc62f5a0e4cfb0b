"""From a token to the screen."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.machine import Patience
from benchmarks.rows import Bar, NotHere, Plan, Row, Series
from tests.chromium import chromium_path
from tests.components.measure_pixels import measure as watch

SAYS = "token made → painted in Chromium, 10 streaming cards, the server's 50 ms batches included"
BAR = "p95 ≤ 100 ms"
CARDS = 10


def measure(plan: Plan) -> Sequence[Row]:
    """The component's own harness plays ten streams; each frame carries the time at which it was made."""
    if chromium_path() is None:
        raise NotHere("no Chromium on this machine")
    patience, seen = Patience(plan.patience_s), []
    for _ in range(plan.times(2, 6)):
        patience.wait()
        seen.append(watch(CARDS))
    p50 = Series(tuple(each.part(0.5) for each in seen))
    share = Series(tuple(each.busy_share * 100 for each in seen))
    beside = f"p50 {p50.said(0)}, main thread {share.said(0, '%')}, {patience.said()}"
    p95 = Series(tuple(each.part(0.95) for each in seen))
    return [
        Row.of(f"token → pixels, {CARDS} streaming cards: p95", p95, Bar(100, "ms"), digits=0, beside=beside)
    ]
