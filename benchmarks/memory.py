"""Resident memory: page and API after a session, and each local model beside its file.

What counts is RSS: every page that a process has in memory, those it shares with others included. Beside it
stand PSS (shared pages divided among their users) and the process's own part of RSS (anonymous), no file's. A
model's weights are read, not mapped, so they are anonymous. Its context counts as far as it is used: 12 to
28 KiB a token, here some 50 tokens.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import MIB, Memory, memory_of
from benchmarks.page import RUN_BUTTON, chromium, opened, running, typed
from benchmarks.rows import Bar, NotHere, Plan, Row, Series
from conductor.local import weights
from conductor.local.catalog import catalog
from conductor.local.runtime import Runtime
from conductor.settings import Settings
from tests.running_app import App

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SAYS = "resident memory: UI + API after a page session and a run; each local model beside its file"
BEYOND_FILE_MIB = 150
BAR = f"≤ 250 MiB; ≤ file + {BEYOND_FILE_MIB} MiB"
QUESTION = [{"role": "user", "content": "Why is the sky blue? Say it in one sentence."}]


def measure(plan: Plan) -> Sequence[Row]:
    """The product without local models first; then each model that is there, after an answer of 20 tokens."""
    return [_ui_and_api(plan), *asyncio.run(_models())]


def _ui_and_api(plan: Plan) -> Row:
    try:
        with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as app, chromium() as browser:
            assert app.process is not None
            empty = memory_of(app.process.pid)
            for _ in range(plan.times(2, 5)):
                _session(app, browser)
            after = memory_of(app.process.pid)
    except NotHere as lacking:
        return Row("memory of UI + API", f"not measured: {lacking}", Bar(250, "MiB"))
    return _row("memory of UI + API", after, 250, f"{empty.rss_mib:.0f} before anybody came")


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
    folder = Settings.from_environment().models_dir
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
            taken = memory_of(pid)
        finally:
            runtime.close()
        file_mib = catalog()[key].size_bytes / MIB
        beside = f"file {file_mib:.0f} + {taken.rss_mib - file_mib:.0f}"
        rows.append(_row(f"memory of {key}", taken, round(file_mib) + BEYOND_FILE_MIB, beside))
    return rows


def _row(what: str, taken: Memory, limit_mib: float, beside: str) -> Row:
    row = Row.of(what, Series((taken.rss_mib,)), Bar(limit_mib, "MiB"), digits=0, beside=f"{beside}; {taken}")
    return row.with_figures(**asdict(taken))
