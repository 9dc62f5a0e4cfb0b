"""Labels that are code somewhere: drawn, exported and read back without harm."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from conductor_client.api import ImportRequest
from tests.running_app import App

from .studio import Studio, finished, state

CASES = json.loads((Path(__file__).parents[1] / "cases" / "labels.json").read_text(encoding="utf-8"))
LABELS = [case["label"] for case in CASES if case["label"].strip()][:32]


@pytest.fixture(scope="module")
def run_id(app: App) -> str:
    """A run whose prompt and instructions are those labels."""
    return finished(
        app.address, "<b>end</b> graph [x](y) at once", [("writer", label, []) for label in LABELS]
    )


def test_labels_are_drawn_as_they_are(studio: Studio, app: App, run_id: str) -> None:
    """Behaviour row 14: labels that could be code are shown as text, in the graph and around it."""
    studio.open(run_id)
    studio.expect_ended()
    shown = studio.page.locator("[data-box] .instruction").all_text_contents()
    assert shown == [label.strip() for label in LABELS]
    place = next(at for at, label in enumerate(LABELS, 1) if "<img" in label)
    studio.card(place).focus()
    studio.page.keyboard.press("Enter")
    studio.section("Edit")
    expect(studio.inspector.get_by_role("textbox", name="Instruction")).to_have_value(LABELS[place - 1])
    studio.panel("Conductor")
    studio.panel("Versions")
    expect(studio.page.locator("main img[src=x], .wfg img")).to_have_count(0)


@pytest.mark.parametrize("format", ["dot", "mermaid", "json", "lists"])
def test_labels_come_back_from_an_export(app: App, run_id: str, format: str) -> None:
    """Behaviour row 14: labels are exported and read back unharmed."""
    text = httpx.get(f"{app.address}/api/runs/{run_id}/export", params={"format": format}).text
    with app.client() as client:
        reply = client.import_workflow(ImportRequest(text=text))
    kept = state(app.address, run_id).workflow
    assert kept is not None and reply.workflow is not None
    assert [step.instruction for step in reply.workflow.steps] == [step.instruction for step in kept.steps]
