"""Showing a run to others: the replay, files to take away, and the address that only reads."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Download, Page, Request, expect

from tests.running_app import App

from .conftest import OpenPage
from .studio import DRAFT, SKY, TREE, Studio, count_runs, finished, start, state

FILES = {
    "Report (HTML, one file)": ("html", "<!doctype html>"),
    "JSON": ("json", "{"),
    "The three lists": ("txt", "model_id"),
    "Python": ("py", "import"),
    "Mermaid": ("mmd", "flowchart"),
    "DOT (Graphviz)": ("dot", "digraph"),
    "SVG picture": ("svg", "<svg"),
}


def _content(download: Download) -> bytes:
    return download.path().read_bytes()


def _calls(page: Page) -> list[Request]:
    """Requests that could change anything, from now on."""
    seen: list[Request] = []
    page.on("request", lambda asked: seen.append(asked) if asked.method not in {"GET", "HEAD"} else None)
    return seen


def test_presenting_plays_a_stored_run_without_a_call(open_page: OpenPage, app: App) -> None:
    run_id = finished(app.address, SKY)
    before, page = count_runs(app.address), open_page()
    calls = _calls(page)
    page.goto(f"{app.address}/present?run={run_id}")
    cards = page.locator("[data-box]")
    expect(cards).to_have_count(3)
    asked = page.get_by_role("button", name=SKY)
    asked.click()  # a long prompt is cut until somebody wants it whole
    expect(asked).to_have_attribute("aria-expanded", "true")
    expect(cards.nth(0).locator(".text")).to_contain_text("The first")
    expect(cards.nth(2)).to_contain_text("Waits for steps 1 and 2")
    expect(page.get_by_role("button", name="Speed 1")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Speed 5").click()
    expect(page.get_by_role("button", name="Speed 5")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".state .run")).to_have_text("Done")
    expect(cards.nth(0).locator(".text")).to_have_text(DRAFT)
    expect(page.locator("strong", has_text="Both agree")).to_be_visible()
    page.locator(".wfg").press("2")
    expect(page.get_by_role("button", name="Speed 2")).to_have_attribute("aria-pressed", "true")
    page.locator(".wfg").press(" ")
    expect(page.locator(".state .run")).not_to_have_text("Done")
    page.locator(".wfg").press(" ")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    for name in ("Run", "Stop", "Run again", "Add a step", "Export"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    assert [each.url for each in calls] == []
    assert count_runs(app.address) == before


@pytest.fixture(scope="module")
def run_id(app: App) -> str:
    """A run that has ended, for the tests that only look."""
    return finished(app.address)


def test_every_export_is_a_real_file(studio: Studio, run_id: str) -> None:
    studio.open(run_id)
    studio.button("Export").click()
    for name, (ending, beginning) in FILES.items():
        with studio.page.expect_download() as waiting:
            studio.page.get_by_role("link", name=name, exact=True).click()
        content = _content(waiting.value).decode()
        assert waiting.value.suggested_filename.endswith(f".{ending}")
        assert content.lstrip().lower().startswith(beginning.lower()) or beginning in content
        assert "Draft an answer to the question." in content or ending == "svg"
    report = _content_of_report(studio)
    assert "http://" not in report.replace("http://www.w3.org/", "")


def _content_of_report(studio: Studio) -> str:
    with studio.page.expect_download() as waiting:
        studio.page.get_by_role("link", name="Report (HTML, one file)", exact=True).click()
    return _content(waiting.value).decode()


@pytest.mark.parametrize(
    ("item", "beginning"), [("SVG, light", b"<svg"), ("PNG, dark", b"\x89PNG\r\n\x1a\n")]
)
def test_the_drawing_is_saved_as_a_picture(studio: Studio, run_id: str, item: str, beginning: bytes) -> None:
    studio.open(run_id)
    studio.page.get_by_role("button", name="Save as picture").click()
    with studio.page.expect_download() as waiting:
        studio.page.get_by_role("menuitem", name=item).click()
    content = _content(waiting.value)
    assert content.startswith(beginning) and len(content) > 2000


def test_the_same_run_is_drawn_the_same_each_time(
    studio: Studio, open_page: OpenPage, app: App, run_id: str
) -> None:
    """Behaviour row 21: the same run opened three times is the same drawing."""
    second = Studio(open_page(), app.address)
    drawn = []
    for tab in (studio, second, second):
        tab.open(run_id)
        tab.expect_ended()
        layer = tab.page.locator(".layer")
        places = layer.locator("[data-box]").evaluate_all("(boxes) => boxes.map((box) => box.style.cssText)")
        lines = layer.locator("path.line").evaluate_all(
            "(paths) => paths.map((path) => path.getAttribute('d'))"
        )
        drawn.append((places, lines))
    assert drawn[0] == drawn[1] == drawn[2]


def test_the_read_only_address_shows_the_run_live_and_changes_nothing(
    studio: Studio, open_page: OpenPage, app: App
) -> None:
    """Behaviour row 25: a share link shows one run and offers nothing that starts, edits or deletes."""
    run_id = start(app.address, SKY, TREE)
    studio.open(run_id)
    studio.button("Share").click()
    path = studio.page.get_by_role("link", name="Open the read-only page").get_attribute("href")
    assert path
    page = open_page()
    calls = _calls(page)
    page.goto(app.address + path)
    cards = page.locator("[data-box]")
    expect(cards.nth(0).locator(".text")).to_contain_text("The first")
    expect(page.get_by_text("Both agree").first).to_be_visible()
    expect(page.locator(".state .run")).to_have_text("Done")
    cards.nth(1).locator("[data-step]").click()
    expect(page.locator(".step.shown")).to_contain_text("Check the physics on your own.")
    expect(page.locator("input, textarea, select, form, [contenteditable]")).to_have_count(0)
    named = page.get_by_role("button").evaluate_all(
        "(all) => all.map((each) => each.ariaLabel || each.textContent)"
    )
    assert not [name for name in named if re.search("Run|Stop|Add|Delete|Edit|Undo", name or "")]
    for more in ("&delete=1", "&cancel=1", "&edits=[]", "&run=other", "&mode=edit"):
        page.goto(app.address + path + more)
        expect(page.locator("[data-box]")).to_have_count(3)
        expect(page.get_by_role("button", name="Add a step")).to_have_count(0)
    assert [each.url for each in calls] == []
    _refuses_to_write(app, run_id, path)
    assert state(app.address, run_id).status == "succeeded"


def _refuses_to_write(app: App, run_id: str, path: str) -> None:
    before = count_runs(app.address)
    key = parse_qs(urlsplit(path).query)["key"][0]
    run = f"{app.address}/api/runs/{run_id}"
    with httpx.Client(params={"share": key}) as guest:
        tries = [
            guest.post(f"{app.address}/api/runs", json={"prompt": "x"}),
            guest.post(f"{run}/fork", json={"edits": []}),
            guest.post(f"{run}/cancel"),
            guest.patch(run, json={"note": "x"}),
            guest.delete(run),
        ]
    assert {reply.status_code for reply in tries} == {403}
    assert httpx.get(app.address + path.replace(key, key[::-1])).status_code in {403, 404}
    assert count_runs(app.address) == before


def test_the_exported_json_opens_again(studio: Studio, app: App, run_id: str) -> None:
    exported = httpx.get(f"{app.address}/api/runs/{run_id}/export", params={"format": "json"}).text
    assert json.loads(exported)
    studio.open()
    studio.button("New workflow").click()
    studio.page.get_by_role("radio", name="Import").click()
    studio.page.locator("input[type=file]").set_input_files(
        {"name": "run.json", "mimeType": "application/json", "buffer": exported.encode()}
    )
    expect(studio.page.get_by_text("run.json")).to_be_visible()
    studio.button("Import").click()
    expect(studio.cards).to_have_count(3)
    expect(studio.box(3)).to_contain_text("Will see steps 1 and 2")
