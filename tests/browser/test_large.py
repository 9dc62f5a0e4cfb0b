"""Runs of a size that nobody planned for: the page stays usable, and what is too long to show is a file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from conductor.store import Store
from conductor_client.events import RunEvent, RunFinished, RunStarted
from conductor_client.workflow import Workflow, workflow_of
from tests.conductor.store.logs import START, called, created
from tests.running_app import App

from .conftest import OpenPage
from .studio import Studio

LINE = "All work and no play makes a dull page. "
HUGE = LINE * 500_000
"""20 MB."""


def _wide(count: int) -> Workflow:
    rows = [
        ("writer", f"Look at part {place}.", [place - 1] if place % 6 else []) for place in range(count - 1)
    ]
    return workflow_of("So many?", [*rows, ("merger", "Merge it all.", list(range(5, count - 1, 6)))])


def _whole(run_id: str, workflow: Workflow, output: str, *, times: int = 1) -> list[RunEvent]:
    """A run in which every step was called, ``times`` over."""
    events: list[RunEvent] = [created(run_id, workflow), RunStarted(run_id=run_id, at=START)]
    for _ in range(times):
        for step in workflow.steps:
            events += called(run_id, workflow, step.step_id, output)
    end = START + timedelta(seconds=60)
    return [*events, RunFinished(run_id=run_id, at=end, final_output=output)]


async def _fill(file: Path) -> None:
    async with Store.open(file) as store:
        await store.append(
            "run_huge", _whole("run_huge", workflow_of("A long one?", [("writer", "Go on.", [])]), HUGE)
        )
        await store.append("run_events", _whole("run_events", _wide(32), "Seen.", times=70))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """An app whose database holds two runs of unusual size."""
    folder = tmp_path_factory.mktemp("large")
    asyncio.run(_fill(folder / "conductor.sqlite"))
    running = App(folder)
    running.start()
    yield running
    code = running.stop()
    assert code == 0


def test_twenty_megabytes_of_output_are_shown_in_part_and_offered_whole(
    large: App, open_page: OpenPage
) -> None:
    """Behaviour row 20: an output of 20 MB; the page stays usable and a download is offered."""
    studio = Studio(open_page(), large.address).open("run_huge")
    studio.expect_ended()
    expect(studio.answer).to_contain_text("The first 100,000 of 20,000,000 characters.")
    began = time.monotonic()
    studio.inspect(1, "Output")
    studio.section("Context")
    expect(studio.inspector.locator("code")).to_have_text("Go on.")
    assert time.monotonic() - began < 8
    with studio.page.expect_download() as waiting:
        studio.answer.get_by_role("button", name="Download the whole text (20.0 MB)").click()
    assert waiting.value.path().stat().st_size == len(HUGE)


def test_a_run_of_6700_events_opens_and_replays(large: App, open_page: OpenPage) -> None:
    """Behaviour row 20: a run with 6,700 events, of as many steps as a workflow may have."""
    with large.client() as client:
        assert client.run("run_events").last_seq > 6_700
    studio = Studio(open_page(), large.address).open("run_events")
    studio.expect_ended()
    expect(studio.cards).to_have_count(32)
    studio.card(32).focus()
    studio.page.keyboard.press("Enter")
    expect(studio.inspector.get_by_role("radio", name="32", exact=True)).to_be_checked()
    studio.section("Output")
    expect(studio.inspector.locator("code")).to_have_text("Seen.")
    studio.instruct("Merge it all once more.")
    expect(studio.draft).to_contain_text("32 steps will run")
    studio.page.goto(f"{large.address}/present?run=run_events")
    expect(studio.cards).to_have_count(32)
    studio.page.get_by_role("button", name="Pause", exact=True).click()
    expect(studio.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
