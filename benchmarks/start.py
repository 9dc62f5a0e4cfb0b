"""From the command to the prompt box on the screen."""

from __future__ import annotations

import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import Patience
from benchmarks.page import POOL, PROMPT_BOX, chromium, tab
from benchmarks.rows import Bar, Plan, Row, Series
from tests.running_app import App

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SAYS = "warm start of `python -m app serve` → /healthz → prompt box painted in Chromium"
BAR = "≤ 3 s"


def measure(plan: Plan) -> Sequence[Row]:
    """Warm: the first start is not counted, so that bytecode is compiled and files are in memory."""
    patience = Patience(plan.patience_s)
    healthy: list[float] = []
    painted: list[float] = []
    with chromium() as browser:
        _start(browser)
        for _ in range(plan.times(3, 10)):
            patience.wait()
            health_s, paint_s = _start(browser)
            healthy.append(health_s)
            painted.append(paint_s)
    beside = f"/healthz after {Series(tuple(healthy)).said(2, 's')}, {patience.said()}"
    row = Row.of(
        "warm start → prompt box painted", Series(tuple(painted)), Bar(3, "s"), digits=2, beside=beside
    )
    return [row.with_figures(healthz_s=healthy)]


def _start(browser: Browser) -> tuple[float, float]:
    """Seconds until /healthz answers, and until the prompt box is on the screen."""
    page = tab(browser)
    with tempfile.TemporaryDirectory() as folder:
        app = App(Path(folder), POOL)
        start = time.monotonic()
        app.launch()
        try:
            _await_health(app)
            health_s = time.monotonic() - start
            page.goto(app.address, wait_until="commit")
            page.evaluate("selector => firstPaint(selector)", PROMPT_BOX)
            return health_s, time.monotonic() - start
        finally:
            page.context.close()
            app.stop()


def _await_health(app: App) -> None:
    while True:
        try:
            urllib.request.urlopen(f"{app.address}/healthz", timeout=5).close()
            return
        except OSError:
            assert app.process is not None and app.process.poll() is None, app.log()
            time.sleep(0.01)
