"""What a person does on the Studio page and what they see there, in the words of the page."""

from __future__ import annotations

import re
from collections.abc import Sequence

import httpx
from playwright.sync_api import Locator, Page, expect

from conductor_client.api import RunRequest, StepRequest, WorkflowRequest
from conductor_client.catalogue import text
from conductor_client.client import ConductorClient
from conductor_client.run_state import RunState

MAIN_BUTTON = re.compile(f"^({'|'.join(text(f'studio.{key}') for key in ('run', 'plan', 'run_sketch'))})$")
SKY = "Why is the sky blue?"
DRAFT = "The first draft says that the sky is blue because short waves scatter more than long ones."
OPINION = "The second opinion agrees, adds that sunsets are red, and finds nothing wrong with the draft."
Rows = Sequence[tuple[str, str, Sequence[int]]]
TREE: Rows = [
    ("writer", "Draft an answer to the question.", []),
    ("checker", "Check the physics on your own.", []),
    ("merger", "Merge both into one short answer.", [0, 1]),
]


def start(address: str, prompt: str, rows: Rows) -> str:
    """Starts a run of these steps through the API and gives its id."""
    steps = tuple(
        StepRequest(worker=worker, instruction=said, access=tuple(access)) for worker, said, access in rows
    )
    with ConductorClient(address) as client:
        wanted = RunRequest(prompt=prompt, workflow=WorkflowRequest(steps=steps))
        return client.start_run(wanted).run_id


def state(address: str, run_id: str) -> RunState:
    """The run as the backend has it."""
    with ConductorClient(address) as client:
        return client.run(run_id)


def finished(address: str, prompt: str = f"{SKY} (at once)", rows: Rows = TREE) -> str:
    """A run that has ended; gives its id."""
    run_id = start(address, prompt, rows)
    with ConductorClient(address) as client:
        for _ in client.events_stream(run_id):
            pass
    return run_id


def count_runs(address: str) -> int:
    """How many runs there are."""
    total = httpx.get(f"{address}/api/runs", params={"limit": 1}).json()["total"]
    return int(total)


class Studio:
    """One tab with the Studio in it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address

    def open(self, run_id: str | None = None) -> Studio:
        """Opens the empty Studio, or a run by its address, and waits until it is drawn."""
        self.page.goto(f"{self.address}/" + (f"?run={run_id}" if run_id else ""))
        expect(self.prompt).to_be_visible()
        if run_id:
            expect(self.cards.first).to_be_visible()
        else:
            expect(self.go).to_be_visible()
        return self

    # The form

    @property
    def prompt(self) -> Locator:
        return self.page.get_by_role("textbox", name="Prompt")

    def expect_go(self, key: str) -> None:
        """Waits until the main button says what it should, by its key in the catalogue."""
        expect(self.page.get_by_role("button", name=text(f"studio.{key}"), exact=True)).to_be_visible()

    @property
    def go(self) -> Locator:
        """The main button, whatever it says: Run, Plan, Run this workflow."""
        return self.page.get_by_role("button", name=MAIN_BUTTON)

    def write(self, prompt: str) -> None:
        """Types a prompt."""
        self.prompt.fill(prompt)

    def run(self, prompt: str) -> str:
        """Types a prompt, presses Run and gives the id of the run that opened."""
        before = self.run_id
        self.write(prompt)
        self.go.click()
        self.page.wait_for_function(
            "(before) => { const run = new URLSearchParams(location.search).get('run');"
            " return run && run !== before; }",
            arg=before,
        )
        expect(self.cards.first).to_be_visible()
        assert self.run_id is not None
        return self.run_id

    @property
    def run_id(self) -> str | None:
        """The run in the page's address."""
        found = re.search(r"[?&]run=([\w-]+)", self.page.url)
        return found.group(1) if found else None

    def button(self, name: str) -> Locator:
        """A button by its exact name."""
        return self.page.get_by_role("button", name=name, exact=True)

    # The graph

    @property
    def cards(self) -> Locator:
        return self.page.locator("[data-step]")

    def box(self, number: int) -> Locator:
        """The card of a step with everything on it."""
        return self.page.locator("[data-box]").nth(number - 1)

    def card(self, number: int) -> Locator:
        """The part of a card that is pressed to select it."""
        return self.box(number).locator("[data-step]")

    def text(self, number: int) -> Locator:
        """What a card shows of its step's text."""
        return self.box(number).locator(".text")

    def expect_status(self, number: int, status: str, *, timeout: float | None = None) -> None:
        """Waits until a card shows that status."""
        expect(self.box(number)).to_have_attribute("data-status", status, timeout=timeout)

    def expect_ended(self, status: str = "Done", *, timeout: float | None = None) -> None:
        """Waits until the whole page says how the run ended."""
        expect(self.page.locator(".state .run")).to_have_text(status, timeout=timeout)
        expect(self.button("Stop")).to_have_count(0)

    # Beside and below it

    @property
    def inspector(self) -> Locator:
        return self.page.locator(".st-key-inspector")

    @property
    def answer(self) -> Locator:
        return self.page.locator(".st-key-answer")

    @property
    def draft(self) -> Locator:
        """The summary of a draft: what changed, what would run."""
        return self.page.locator(".st-key-edit_bar")

    def inspect(self, number: int, section: str | None = None) -> None:
        """Selects a step in the graph, unless it is selected already, and a section of the inspector."""
        if self.card(number).get_attribute("aria-pressed") != "true":
            self.card(number).click()
        expect(self.inspector.get_by_role("radio", name=f"Step {number}")).to_be_checked()
        if section:
            self.section(section)

    def section(self, name: str) -> None:
        """Opens a section of the inspector."""
        self.inspector.get_by_role("radio", name=name).click()
        expect(self.inspector.get_by_role("radio", name=name)).to_be_checked()

    def panel(self, name: str) -> None:
        """Opens one of the panels below the graph."""
        self.page.get_by_role("radio", name=name).click()
        expect(self.page.get_by_role("radio", name=name)).to_be_checked()

    def instruct(self, instruction: str) -> None:
        """Rewrites the selected step's instruction in the inspector."""
        self.section("Edit")
        self.inspector.get_by_role("textbox", name="Instruction").fill(instruction)
        self.inspector.get_by_role("button", name="Apply", exact=True).click()
        expect(self.draft).to_contain_text(instruction)

    def run_again(self) -> str:
        """Runs the draft and gives the id of the fork."""
        before = self.run_id
        self.draft.get_by_role("button", name="Run again").click()
        self.page.wait_for_function(
            "(before) => new URLSearchParams(location.search).get('run') !== before", arg=before
        )
        expect(self.draft).to_have_count(0)
        assert self.run_id is not None
        return self.run_id
