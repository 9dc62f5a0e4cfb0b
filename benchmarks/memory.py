"""Resident memory: page and API after a session, and each local model beside its file."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import MIB, rss_mib
from benchmarks.page import RUN_BUTTON, chromium, opened, running, typed
from benchmarks.rows import Bar, NotHere, Plan, Row, Series
from conductor.local import weights
from conductor.local.catalog import catalog, default_models_dir
from conductor.local.runtime import Runtime
from tests.running_app import App

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SAYS = "resident memory: UI + API after a page session and a run; each local model beside its file"
BAR = "≤ 250 MiB; about the file's size"
QUESTION = [{"role": "user", "content": "Why is the sky blue? Say it in one sentence."}]


def measure(plan: Plan) -> Sequence[Row]:
    """The product without local models first; then each model that is there, after an answer of 20 tokens."""
    return [_ui_and_api(plan), *asyncio.run(_models())]


def _ui_and_api(plan: Plan) -> Row:
    try:
        with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as app, chromium() as browser:
            assert app.process is not None
            empty = rss_mib(app.process.pid)
            for _ in range(plan.times(2, 5)):
                _session(app, browser)
            after = rss_mib(app.process.pid)
    except NotHere as lacking:
        return Row("memory of UI + API", f"not measured: {lacking}", Bar(250, "MiB"))
    beside = f"{empty:.0f} before anybody came"
    return Row.of("memory of UI + API", Series((after,)), Bar(250, "MiB"), digits=0, beside=beside)


def _session(app: App, browser: Browser) -> None:
    page = opened(browser, app.address)
    typed(page, "Why is the sky blue?")
    page.locator(RUN_BUTTON).click()
    page.locator(".st-key-run-again").wait_for()
    for name in ("History", "Workers"):
        page.get_by_role("link", name=name).first.click()
        page.wait_for_timeout(1000)
    page.context.close()


async def _models() -> list[Row]:
    folder = default_models_dir()
    rows = []
    for key, state in weights.state(folder).items():
        if state.status != "ready":
            continue
        runtime = Runtime(folder)
        try:
            async for _ in runtime.generate(key, QUESTION, max_output_tokens=20):
                pass
            pid = runtime.engine_pid(key)
            assert pid is not None
            taken = rss_mib(pid)
        finally:
            runtime.close()
        size = catalog()[key].size_bytes / MIB
        said = f"{taken:.0f} MiB, file {size:.0f} MiB: {taken / size:.2f} ×"
        rows.append(Row(f"memory of {key}", said, figures={"rss_mib": taken, "file_mib": size}))
    return rows
