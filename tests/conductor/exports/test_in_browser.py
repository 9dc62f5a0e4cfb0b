"""Reports, drawings, Mermaid and the shared page in a real browser, with labels that play code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from conductor.exports import export
from conductor.exports.escaping import visible
from conductor.exports.mermaid import JOINER, workflow_mermaid
from conductor.exports.share_page import share_page
from conductor_client.events import Frame, RunEvent, RunFinished
from conductor_client.run_state import fold
from conductor_client.workflow import workflow_of
from tests.chromium import FLAGS, chromium_path
from tests.conductor.exports.runs import HOSTILE, START, finished, hostile_workflow, odd_ids, rich_events
from tests.conductor.exports.serving import served

pytestmark = pytest.mark.browser

ASSETS = Path("components/workflow_graph/assets")
EVIL = (
    "![x](http://evil.test/?d=1) <iframe srcdoc='<script>alert(1)</script>'></iframe> "
    "<svg onload=alert(1)> [a](javascript:alert(1))"
)
NO_ICON = Route("/favicon.ico", lambda _: Response(status_code=204))
"""Browsers ask for it on their own."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
        yield running
        running.close()


class Watched:
    """A page and everything it tried that a text must not be able to do."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.trouble: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: self._heard(f"dialog {dialog.message}", dialog))
        page.on("pageerror", lambda error: self.trouble.append(f"error {error}"))
        page.on("console", lambda said: said.type == "error" and self.trouble.append(f"console {said.text}"))
        page.on("popup", lambda _: self.trouble.append("popup"))

    def _heard(self, said: str, dialog: Any) -> None:
        self.trouble.append(said)
        dialog.dismiss()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    yield Watched(context.new_page())
    context.close()


def hostile_events() -> list[RunEvent]:
    events = finished(odd_ids(hostile_workflow()), output=EVIL)
    return [*events[:-1], events[-1].model_copy(update={"final_output": EVIL + "\n" + "\n".join(HOSTILE)})]


# Files


def test_hostile_report_runs_nothing_and_asks_for_nothing(watched: Watched, tmp_path: Path) -> None:
    """Behaviour rows 14 and 15: labels and outputs in the HTML report."""
    events = hostile_events()
    path = tmp_path / "report.html"
    path.write_bytes(export(fold(events), events, "html").body)
    page = watched.page
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.wait_for_timeout(300)
    assert watched.requests == [path.as_uri()]
    assert watched.trouble == []
    assert page.locator("script, iframe, img, object, embed").count() == 0
    assert page.locator("section.step").count() == len(HOSTILE)
    shown = page.locator("main").inner_text()
    for label in (
        "<img src=x onerror=alert(1)>",
        "]]></svg><script>alert(1)</script>",
        "<svg onload=alert(1)>",
        "B，test",
    ):
        assert label in shown
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("svg.g-root .g-card").count() == len(HOSTILE)


@pytest.mark.parametrize("width", [390, 1100])
def test_report_fits_the_screen(browser: Browser, tmp_path: Path, width: int) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(export(fold(rich_events()), rich_events(), "html").body)
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_report_follows_light_and_dark(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(export(fold(rich_events()), rich_events(), "html").body)
    seen = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(path.as_uri())
        seen.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        seen.add(page.evaluate("getComputedStyle(document.querySelector('.g-card')).fill"))
        page.close()
    assert len(seen) == 4


def test_card_in_the_report_leads_to_its_step(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(export(fold(rich_events()), rich_events(), "html").body)
    watched.page.goto(path.as_uri())
    watched.page.locator("svg a").nth(1).click()
    assert watched.page.url.endswith("#step-1-2")
    assert watched.page.locator("#step-1-2").is_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_hostile_svg_is_drawn_as_text_within_its_cards(watched: Watched, tmp_path: Path, theme: str) -> None:
    """Behaviour row 14: labels in the SVG."""
    events = finished(odd_ids(hostile_workflow()))
    path = tmp_path / "graph.svg"
    path.write_bytes(export(fold(events), events, "svg", theme=theme).body)  # type: ignore[arg-type]  # two themes
    watched.page.goto(path.as_uri())
    assert watched.requests == [path.as_uri()]
    assert watched.trouble == []
    wide = watched.page.evaluate(
        """[...document.querySelectorAll('g > g')].filter(g => g.querySelector('.g-card')).flatMap(card => {
          const box = card.querySelector('.g-card').getBBox();
          return [...card.querySelectorAll('text')].map(text => text.getBBox())
            .filter(text => text.x < box.x || text.x + text.width > box.x + box.width);
        }).length"""
    )
    assert wide == 0


# Mermaid


def mermaid_module() -> Path | None:
    """Streamlit ships Mermaid as an ES module; the very parser that people's Mermaid runs."""
    import streamlit

    folder = Path(streamlit.__file__).parent / "static" / "static" / "js"
    return next(iter(folder.glob("mermaid.core.*.js")), None)


@pytest.mark.skipif(mermaid_module() is None, reason="this Streamlit ships no Mermaid to check ours with")
def test_mermaid_itself_draws_our_flowchart(watched: Watched) -> None:
    """Behaviour row 14: labels in Mermaid."""
    module = mermaid_module()
    assert module is not None
    app = Starlette(
        routes=[
            Route("/", lambda _: HTMLResponse("<!doctype html><meta charset=utf-8><body></body>")),
            NO_ICON,
            Mount("/js", StaticFiles(directory=module.parent)),
        ]
    )
    workflow = hostile_workflow()
    with served(app) as address:
        watched.page.goto(address)
        texts = watched.page.evaluate(
            """async ([name, source]) => {
              const mermaid = (await import('/js/' + name)).default;
              mermaid.initialize({ startOnLoad: false, securityLevel: 'strict' });
              const { svg } = await mermaid.render('drawing', source);
              document.body.innerHTML = svg;
              return [...document.querySelectorAll('.node')].map(each => each.textContent);
            }""",
            [module.name, workflow_mermaid(workflow)],
        )
        watched.page.wait_for_timeout(300)
        assert {url.split("/")[2] for url in watched.requests} == {address.split("/")[2]}
    assert watched.trouble == []
    assert len(texts) == len(HOSTILE)
    for label, drawn in zip(HOSTILE, texts, strict=True):
        assert squeezed(drawn.replace(JOINER, "")).endswith(squeezed(visible(label))), (label, drawn)


def squeezed(text: str) -> str:
    return "".join(text.split())


# The shared page


class LiveRun:
    """A server with one run whose events appear when the test says so."""

    def __init__(self, events: list[RunEvent]) -> None:
        self.events = events
        self.shown = len(events)
        self.frames: list[Frame] = []
        self.sockets: list[str] = []
        self.app = Starlette(
            routes=[
                Route("/share/{run_id}", self.page),
                NO_ICON,
                WebSocketRoute("/api/runs/{run_id}/ws", self.stream),
                Mount("/flow-assets", StaticFiles(directory=ASSETS)),
            ]
        )

    async def page(self, request: Request) -> HTMLResponse:
        return HTMLResponse(share_page(fold(self.events[: self.shown]), request.query_params["key"]))

    async def stream(self, socket: WebSocket) -> None:
        await socket.accept()
        self.sockets.append(str(socket.url))
        seq, told = int(socket.query_params["after"]), 0
        while True:
            items = [
                json.loads(each.model_dump_json()) for each in self.events[: self.shown] if each.seq > seq
            ]
            items += [json.loads(each.model_dump_json()) for each in self.frames[told:]]
            told = len(self.frames)
            if items:
                await socket.send_text(json.dumps(items))
                seq = max([seq, *(item.get("seq", 0) for item in items)])
            if self.shown == len(self.events):
                await socket.close()
                return
            await asyncio.sleep(0.05)


def test_shared_page_shows_a_finished_run_and_can_change_nothing(watched: Watched) -> None:
    """Behaviour row 25: a share link is read-only."""
    run = LiveRun(hostile_events())
    page = watched.page
    with served(run.app) as address:
        page.goto(f"{address}/share/run_h?key=k%22%3E%3Cscript%3E")
        page.locator("[data-step]").first.wait_for()
        page.locator("#graph [data-box]").nth(len(HOSTILE) - 1).wait_for(state="attached")
        page.wait_for_timeout(500)
        assert watched.trouble == []
        assert {url.split("/")[2] for url in watched.requests} == {address.split("/")[2]}
        assert page.locator("#answer").inner_text().count("<iframe srcdoc=") == 1
        assert page.locator("img, iframe, form, input, textarea, select, [contenteditable]").count() == 0
        assert page.locator("#steps .step").count() == len(HOSTILE)
        page.locator("#graph button.card").nth(2).click()
        page.wait_for_timeout(100)
        assert page.locator("#steps .step:visible").count() == 1
        assert "end" in page.locator("#steps .step:visible").inner_text()
        assert run.sockets[0].endswith("ws?share=k%22%3E%3Cscript%3E&after=0")
        assert not any(method in url for url in watched.requests for method in ("cancel", "fork", "delete"))


def test_shared_page_follows_a_live_run(watched: Watched) -> None:
    events = rich_events()
    run = LiveRun(events)
    run.shown = len(events) - 3
    page = watched.page
    with served(run.app) as address:
        page.goto(f"{address}/share/run_rich?key=k")
        page.locator("#graph button.card").nth(3).click()
        for offset, part in ((0, "The tr"), (6, "ain 🚆"), (11, " really")):
            run.frames.append(
                Frame(run_id="run_rich", step_id="s4", attempt=2, channel="output", offset=offset, text=part)
            )
        shown = page.locator("#steps .step:visible .output")
        expect(shown).to_contain_text("The train 🚆 really")
        assert page.locator("#answer").inner_text().endswith("There is no answer yet.")
        page.locator("#steps .shown summary").first.click()
        run.shown = len(events)
        expect(page.locator("#answer")).to_contain_text("2 hours and 33 minutes")
        assert "2 hours and 33 minutes" in shown.inner_text()
        assert page.locator("#steps .shown details[open]").count() == 1
        assert page.locator("#head .tag").inner_text().endswith("Done")
        assert page.locator("#answer strong").inner_text() == "2 hours and 33 minutes"
    assert watched.trouble == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shared_page_fits_a_phone(browser: Browser, scheme: str) -> None:
    with served(LiveRun(rich_events()).app) as address:
        context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
        page = context.new_page()
        page.goto(f"{address}/share/run_rich?key=k")
        page.locator("#graph button.card").nth(3).wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("#graph button.card").nth(3).focus()
        page.keyboard.press("Enter")
        expect(page.locator("#steps .step:visible")).to_have_count(1)
        context.close()


def test_shared_page_is_readable_without_its_modules(watched: Watched) -> None:
    run = LiveRun(rich_events())
    with served(run.app) as address:
        watched.page.route("**/flow-assets/**", lambda route: route.abort())
        watched.page.goto(f"{address}/share/run_rich?key=k")
        assert watched.page.locator("#graph svg .g-card").count() == 4
        assert "2 hours and 33 minutes" in watched.page.locator("#answer").inner_text()


def test_policy_of_the_shared_page_stops_any_other_script(watched: Watched) -> None:
    workflow = workflow_of("p", [("a", "one", [])])
    events = [*finished(workflow)[:-1], RunFinished(run_id="run_h", seq=9, at=START, final_output="x")]
    run = LiveRun(events)
    with served(run.app) as address:
        watched.page.goto(f"{address}/share/run_h?key=k")
        ran = watched.page.evaluate(
            """() => { const each = document.createElement('script'); each.textContent = 'window.ran = 1';
              document.body.append(each);
              const other = document.createElement('div');
              other.innerHTML = '<img src=x onerror="window.ran = 1">';
              document.body.append(other);
              return new Promise(done => setTimeout(() => done(window.ran ?? 0), 300)); }"""
        )
        assert ran == 0
