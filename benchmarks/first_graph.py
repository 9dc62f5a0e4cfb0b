"""From the click on Run to the first card of the run on the screen, in the real page."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import Patience
from benchmarks.page import chromium, clicked_to_painted, opened, running, typed
from benchmarks.rows import Bar, Plan, Row, Series
from conductor_client.api import SaveWorkflowRequest, StepRequest, WorkflowRequest
from conductor_client.client import ConductorClient

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SAYS = "click on Run → first card of the run painted in Chromium, the plan known"
BAR = "≤ 300 ms"
WORKFLOW = "Two views and a merger"
CARD_OF_RUN = ".box:is([data-status=waiting], [data-status=running])"


def measure(plan: Plan) -> Sequence[Row]:
    """Twice: with a conductor that answers at once, and with a saved workflow on the table."""
    patience, rows = Patience(plan.patience_s), []
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as app, chromium() as browser:
        client = app.client()
        _save_workflow(client)
        _once(browser, client, _nothing_on_the_table)  # loads what is loaded once
        for way, prepare in WAYS.items():
            took = []
            for _ in range(plan.times(3, 15)):
                patience.wait()
                took.append(_once(browser, client, prepare))
            what = f"click on Run → first card, {way}"
            rows.append(Row.of(what, Series(tuple(took)), Bar(300, "ms"), digits=0, beside=patience.said()))
        client.close()
    return rows


def _once(browser: Browser, client: ConductorClient, prepare: Callable[[Page], None]) -> float:
    page = opened(browser, client.base_url)
    try:
        prepare(page)
        typed(page, "Why is the sky blue?")
        took_ms = clicked_to_painted(page, CARD_OF_RUN)
        page.wait_for_timeout(300)
    finally:
        page.context.close()
        for run in client.list_runs(limit=5).runs:
            client.cancel(run.run_id)
    return took_ms


def _nothing_on_the_table(page: Page) -> None:
    """The empty Studio."""


def _saved_workflow(page: Page) -> None:
    page.locator(".st-key-library button").first.click()
    page.get_by_role("button", name=WORKFLOW).click()
    page.locator(".box[data-status=draft]").first.wait_for()


WAYS: Mapping[str, Callable[[Page], None]] = {
    "a conductor that answers at once": _nothing_on_the_table,
    "a saved workflow": _saved_workflow,
}


def _save_workflow(client: ConductorClient) -> None:
    steps = tuple(
        StepRequest(worker="writer", instruction=said, access=seen)
        for said, seen in (("Draft it.", ()), ("Check it.", ()), ("Merge both.", (0, 1)))
    )
    client.save_workflow(SaveWorkflowRequest(name=WORKFLOW, workflow=WorkflowRequest(steps=steps)))
