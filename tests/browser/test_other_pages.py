"""History and Workers, and addresses that lead nowhere."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.running_app import App

from .conftest import OpenPage
from .studio import Studio, finished, start, state


def _history(page: Page, app: App) -> Page:
    page.goto(f"{app.address}/history")
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    return page


def test_history_finds_opens_deletes_and_brings_back(open_page: OpenPage, app: App) -> None:
    run_id = finished(app.address, "Where do the wild herons nest, at once?")
    finished(app.address, "Something else, at once.")
    page = _history(open_page(), app)
    search = page.get_by_role("textbox", name="Search")
    search.fill("herons")
    expect(page.get_by_text("1 run", exact=True)).to_be_visible()
    line = page.locator(f".st-key-line-{run_id}")
    expect(line).to_contain_text("3 steps")
    expect(line).to_contain_text("writer, checker, merger")
    line.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted: Where do the wild herons nest")).to_be_visible()
    expect(page.get_by_text("No run fits")).to_be_visible()
    page.get_by_role("button", name=re.compile(r"Undo \(\d+ s\)")).click()
    expect(line).to_be_visible()
    expect(page.get_by_text("Deleted: ")).to_have_count(0)
    line.get_by_role("link").click()
    page.wait_for_url(re.compile(run_id))
    opened = Studio(page, app.address)
    opened.expect_ended()
    expect(opened.prompt).to_have_value("Where do the wild herons nest, at once?")
    page.go_back()
    expect(page.get_by_role("heading", name="History")).to_be_visible()


def test_history_is_filtered_by_status_and_tells_when_nothing_fits(open_page: OpenPage, app: App) -> None:
    kept = finished(app.address, "A run that fails, at once.", [("broken", "Refuse.", [])])
    page = _history(open_page(), app)
    page.get_by_role("radiogroup").get_by_text("Failed", exact=True).click()
    expect(page.locator(f".st-key-line-{kept}")).to_be_visible()
    lines = page.locator("[class*=st-key-line-]")
    expect(lines.get_by_text("Done", exact=True)).to_have_count(0)
    page.get_by_role("textbox", name="Search").fill("no such word anywhere")
    expect(page.get_by_text("No run fits")).to_be_visible()


def test_a_running_run_is_reached_through_the_history(open_page: OpenPage, app: App) -> None:
    run_id = start(app.address, "Count for the herons.", [("slow", "Count for a long time.", [])])
    page = _history(open_page(), app)
    line = page.locator(f".st-key-line-{run_id}")
    expect(line).to_contain_text("In progress")
    line.get_by_role("link").click()
    opened = Studio(page, app.address)
    expect(opened.text(1)).to_contain_text("green")
    opened.button("Stop").click()
    opened.expect_ended("Stopped")
    assert state(app.address, run_id).status == "cancelled"


def test_workers_are_listed_tested_and_missing_models_say_how_to_get_them(
    open_page: OpenPage, app: App
) -> None:
    page = open_page()
    page.goto(f"{app.address}/workers")
    expect(page.get_by_role("heading", name="Workers")).to_be_visible()
    expect(page.get_by_text("7 of 7 workers ready")).to_be_visible()
    # The last part of the page: while Streamlit's placeholders stand there, rows still move.
    expect(page.get_by_role("heading", name="Local models")).to_be_visible()
    page.locator(".st-key-test-writer").get_by_role("button").click()
    expect(page.get_by_text("Answered in")).to_be_visible()
    expect(page.get_by_text("The first draft says")).to_be_visible()
    expect(page.locator(".st-key-test-writer").get_by_role("button")).to_be_enabled()
    expect(page.get_by_text("conductor-studio models fetch smollm2-135m")).to_be_visible()
    page.get_by_role("combobox", name="Pool").click()
    page.get_by_role("option", name="frontier").click()
    expect(page.get_by_text("2 of 5 workers ready")).to_be_visible()
    expect(page.get_by_text(re.compile("_API_KEY")).first).to_be_visible()


def test_an_address_of_no_run_leads_on(open_page: OpenPage, app: App) -> None:
    page = open_page()
    page.goto(f"{app.address}/?run=run_nowhere")
    expect(page.get_by_text("There is no run run_nowhere.")).to_be_visible()
    page.get_by_role("link", name="All stored runs").click()
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    page.goto(f"{app.address}/present")
    expect(page.get_by_text("Open a run and choose")).to_be_visible()
