"""Ctrl-C while people are watching."""

from __future__ import annotations

import contextlib
import signal
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import Patience
from benchmarks.page import chromium, opened, running
from benchmarks.rows import Bar, Plan, Row, Series
from conductor_client.api import RunRequest
from conductor_client.client import ConductorClient
from conductor_client.errors import ConductorError
from tests.running_app import App

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SAYS = "Ctrl-C with the page, its WebSocket and an event stream open, a run under way"
BAR = "≤ 1 s, code 0"


def measure(plan: Plan) -> Sequence[Row]:
    """From the signal until the process is gone."""
    patience = Patience(plan.patience_s)
    took: list[float] = []
    codes: set[int] = set()
    with chromium() as browser:
        for _ in range(plan.times(2, 8)):
            with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as app:
                patience.wait()
                seconds, code = _stop(app, browser)
                took.append(seconds)
                codes.add(code)
    beside = f"exit code {', '.join(map(str, sorted(codes)))}, {patience.said()}"
    row = Row.of("Ctrl-C → gone, streams open", Series(tuple(took)), Bar(1, "s"), digits=2, beside=beside)
    return [replace(row.but_only_if(codes == {0}), bar=BAR)]


def _stop(app: App, browser: Browser) -> tuple[float, int]:
    with app.client() as client:
        steps = {"steps": [{"worker": "endless", "instruction": "Go on."}]}
        request = RunRequest.model_validate({"prompt": "Count.", "workflow": steps})
        run_id = client.start_run(request).run_id
        listener = threading.Thread(target=_listen, args=(client, run_id), daemon=True)
        listener.start()
        page = opened(browser, f"{app.address}/?run={run_id}")
        page.locator(".box[data-status=running] .text").first.wait_for()
        start = time.monotonic()
        code = app.stop(signal.SIGINT)
        seconds = time.monotonic() - start
        page.context.close()
        listener.join(10)
    return seconds, code


def _listen(client: ConductorClient, run_id: str) -> None:
    with contextlib.suppress(ConductorError):
        for _ in client.events_stream(run_id):
            pass
