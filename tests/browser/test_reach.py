"""Every screen and every way in: 390 px, dark and light, the keyboard alone, a screen reader's names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.running_app import App

from .conftest import OpenPage
from .studio import SKY, Studio, finished, state

CONTRAST = (Path(__file__).parents[1] / "components" / "contrast.js").read_text(encoding="utf-8")
SIDEWAYS = """() => Math.max(...[document.documentElement, document.querySelector("[data-testid=stMain]")]
  .map((each) => each.scrollWidth - each.clientWidth))"""
OUTSIDE = """(HIDDEN) => [...document.querySelectorAll("button, a, input, textarea, [role=combobox]")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest(HIDDEN))
  .map((each) => [each.ariaLabel || each.textContent || each.tagName, each.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1 && (box.left < -1 || box.right > innerWidth + 1))
  .map(([name]) => name)"""
HIDDEN = "[data-testid=stDataFrame], [data-testid=stSidebar][data-collapsed=true]"
"""A table scrolls in itself; a closed menu lies beside the screen."""
NAMELESS = re.compile(
    r"^\s*- (button|link|textbox|combobox|switch|radio|slider|checkbox|spinbutton)(?: \[|:|$)", re.M
)


@pytest.fixture(scope="module")
def run_id(app: App) -> str:
    """A run that has ended."""
    return finished(app.address)


def _fits(page: Page) -> None:
    assert page.evaluate(SIDEWAYS) <= 0, "the page scrolls sideways"
    assert page.evaluate(OUTSIDE, HIDDEN) == [], "controls lie outside the screen"


def test_at_390_px_a_prompt_is_run_inspected_and_edited(open_page: OpenPage, app: App) -> None:
    """Behaviour row 24: at 390 px everything is reachable and nothing scrolls sideways."""
    studio = Studio(open_page(width=390, height=844, has_touch=True, is_mobile=True), app.address).open()
    page = studio.page
    _fits(page)
    studio.write(f"{SKY} (at once)")
    studio.go.tap()
    expect(studio.cards).to_have_count(3)
    studio.expect_ended()
    _fits(page)
    studio.card(2).tap()
    studio.section("Context")
    expect(studio.inspector).to_contain_text("Withheld: Step 1")
    _fits(page)
    studio.box(2).get_by_role("button", name="Step 2", exact=True).tap()
    _fits(page)
    page.get_by_role("menuitemcheckbox", name="Step 1: writer").tap()
    expect(studio.draft).to_contain_text("Step 2: sees Step 1")
    _fits(page)
    for name in ("Share", "Export", "More"):
        studio.button(name).tap()
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        _fits(page)
        page.keyboard.press("Escape")
    for panel in ("Conductor", "Versions", "As a table"):
        studio.panel(panel)
        _fits(page)
    studio.run_again()
    studio.expect_ended()


def test_at_390_px_every_page_fits(open_page: OpenPage, app: App, run_id: str) -> None:
    """Behaviour row 24: the other pages at 390 px, and the way between them."""
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True)
    for path, words in (
        ("/history", "History"),
        ("/workers", "Local models"),
        (f"/present?run={run_id}", "Done"),
        (f"/?run={run_id}", "Both agree"),
    ):
        page.goto(app.address + path)
        expect(page.get_by_text(words, exact=words == "Done").first).to_be_visible()
        _fits(page)
    with app.client() as client:
        page.goto(app.address + client.share(run_id).path)
    expect(page.locator("[data-box]")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(app.address)
    page.get_by_test_id("stExpandSidebarButton").tap()
    page.get_by_role("link", name="Workers").tap()
    expect(page.get_by_role("heading", name="Workers")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_both_readable(open_page: OpenPage, app: App, run_id: str, scheme: str) -> None:
    studio = Studio(open_page(color_scheme=scheme), app.address).open(run_id)
    studio.expect_ended()
    expect(studio.page.locator(".wfg")).to_have_attribute("data-theme", scheme)
    found = studio.page.locator("[data-testid=stApp]").evaluate(
        "(app) => getComputedStyle(app).backgroundColor"
    )
    assert (max if scheme == "dark" else min)(map(int, re.findall(r"\d+", found)[:3])) in (
        range(60) if scheme == "dark" else range(240, 256)
    )
    studio.inspect(3)
    for section in ("Context", "Usage", "Edit"):
        studio.section(section)
        _is_readable(studio.page)
    studio.panel("Versions")
    studio.instruct("Merge both in one sentence.")
    _is_readable(studio.page)
    for path, words in (("/history", "History"), ("/workers", "Local models")):
        studio.page.goto(app.address + path)
        expect(studio.page.get_by_role("heading", name=words)).to_be_visible()
        _is_readable(studio.page)


def _is_readable(page: Page) -> None:
    page.mouse.move(2, 2)  # what the pointer is on looks different
    page.wait_for_timeout(250)  # and fades back
    assert page.evaluate(CONTRAST, "[data-testid=stApp] *") == []


def test_from_an_empty_page_to_a_forked_run_by_keyboard_alone(studio: Studio, app: App) -> None:
    """Behaviour row 24: keyboard only, from the empty page to a run that was edited and run again."""
    studio.open()
    keys = studio.page.keyboard
    _tab_to(studio, "Prompt")
    keys.type(f"{SKY} (at once)")
    keys.press("Control+Enter")
    expect(studio.cards).to_have_count(3)
    studio.expect_ended()
    first = studio.run_id
    assert first
    _tab_to(studio, "Step 1, writer")
    keys.press("ArrowDown")
    expect(studio.card(2)).to_be_focused()
    keys.press("Enter")
    expect(studio.inspector.get_by_role("radio", name="Step 2")).to_be_checked()
    keys.press("i")
    area = studio.page.get_by_role("dialog").get_by_role("textbox", name="Instruction")
    expect(area).to_be_focused()
    keys.press("Control+a")
    keys.type("Check it by keyboard.")
    _tab_to(studio, "Save")
    keys.press("Enter")
    expect(studio.draft).to_contain_text("Check it by keyboard.")
    expect(studio.card(2)).to_be_focused()
    keys.press("ArrowUp")
    keys.press("l")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(studio.draft).to_contain_text("Step 2: sees Step 1")
    _tab_to(studio, "Run again")
    keys.press("Enter")
    studio.page.wait_for_function("(run) => !location.search.includes(run)", arg=first)
    studio.expect_ended()
    assert studio.run_id
    fork = state(app.address, studio.run_id)
    assert fork.parent_run == first and fork.workflow is not None
    assert fork.workflow.steps[1].instruction == "Check it by keyboard."
    assert fork.workflow.steps[1].access == (fork.workflow.steps[0].step_id,)


def test_the_keyboard_keeps_its_place_over_drawings(studio: Studio, app: App) -> None:
    """What has the focus is drawn anew, or goes: the focus is on what stands there now, or near it."""
    studio.open(finished(app.address)).expect_ended()
    keys, page = studio.page.keyboard, studio.page
    studio.inspect(1, "Edit")
    area = studio.inspector.get_by_role("textbox", name="Instruction")
    area.fill("Draft it by keyboard.")
    area.press("Tab")
    _tab_to(studio, "editApply")
    keys.press("Enter")
    expect(studio.draft).to_contain_text("Draft it by keyboard.")
    expect(studio.inspector.get_by_role("button", name="Apply", exact=True)).to_be_focused()
    again = studio.draft.get_by_role("button", name="Run again")
    again.focus()
    keys.press("Enter")
    expect(studio.draft).to_have_count(0)
    expect(page.locator(".st-key-run_bar button").first).to_be_focused()
    studio.button("Export").focus()
    keys.press("Enter")
    expect(page.get_by_role("link", name="Report (HTML, one file)")).to_be_focused()
    keys.press("Shift+Tab")
    expect(studio.button("Export")).to_be_focused()
    page.goto(f"{app.address}/history")
    page.get_by_role("button", name="Delete").first.focus()
    keys.press("Enter")
    expect(page.get_by_role("button", name=re.compile("^Undo"))).to_be_focused()


def _tab_to(studio: Studio, name: str, *, most: int = 80) -> None:
    """Presses Tab until what has the focus is called that."""
    focused = """() => { let at = document.activeElement;
      while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
      return at?.ariaLabel || at?.labels?.[0]?.textContent || at?.textContent || ""; }"""
    seen = []
    for _ in range(most):
        studio.page.keyboard.press("Tab")
        held = str(studio.page.evaluate(focused)).strip()
        if held.removeprefix("play_arrow").strip().startswith(name):
            return
        seen.append(held[:30])
    raise AssertionError(f"Tab does not come to {name!r}; it came to {seen}")


def test_everything_that_can_be_used_has_a_name(open_page: OpenPage, app: App, run_id: str) -> None:
    """Behaviour row 24: a screen reader's names; status changes are announced."""
    studio = Studio(open_page(), app.address).open(run_id)
    studio.inspect(2, "Edit")
    _is_named(studio.page)
    assert studio.card(2).get_attribute("aria-label") == "Step 2, checker, Done, sees only the prompt"
    expect(studio.page.locator(".wfg [aria-live=polite]")).to_have_count(1)
    for path, words in (("/history", "History"), ("/workers", "Local models")):
        studio.page.goto(app.address + path)
        expect(studio.page.get_by_role("heading", name=words)).to_be_visible()
        _is_named(studio.page)


def _is_named(page: Page) -> None:
    tree = page.locator("body").aria_snapshot()
    assert "button" in tree
    assert [line.group(0).strip() for line in NAMELESS.finditer(tree)] == []
