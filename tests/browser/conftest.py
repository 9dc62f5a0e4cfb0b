"""The real app in a process of its own, with scripted workers, and Chromium to look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from tests.chromium import FLAGS, chromium_path
from tests.running_app import App

from .studio import Studio

TIMEOUT_MS = 15_000
SCREENSHOTS = Path(__file__).resolve().parents[2] / "screenshots"
"""Where the pages of a test that failed are kept, as they were."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    report = yield
    if report.when == "call" and report.failed:
        contexts: list[BrowserContext] = getattr(item, "browser_contexts", [])
        for number, page in enumerate(page for context in contexts for page in context.pages):
            with suppress(PlaywrightError):  # a page may be too busy, and its test has failed already
                page.screenshot(path=SCREENSHOTS / f"{item.name}-{number}.png", timeout=5000)
    return report


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app shared by all browser tests; each test makes its own runs."""
    running = App(tmp_path_factory.mktemp("app"))
    running.start()
    yield running
    code = running.stop()
    assert (code, "Traceback" in running.log()) == (0, False), running.log()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The machine's Chromium, headless; for one module: while it is open no async test can run."""
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
        yield chromium
        chromium.close()
    expect.set_options(timeout=None)


class Watch:
    """What the pages of one test must never do: leave this machine, throw, open a dialog."""

    def __init__(self, context: BrowserContext) -> None:
        self.trouble: list[str] = []
        context.on("request", lambda request: self._asked(request.url))
        context.on("weberror", lambda problem: self.trouble.append(f"thrown: {problem.error}"))
        context.on("page", self._opened)

    def _opened(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._asked(socket.url))
        page.on("dialog", lambda dialog: (self.trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _asked(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname != "127.0.0.1":
            self.trouble.append(f"asked elsewhere: {url}")


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """Opens an empty page in a profile of its own; ``width``, ``height`` and any context option may be given.

    The test fails when any page left this machine, threw, or ran what a model wrote.
    """
    contexts: list[BrowserContext] = []
    request.node.browser_contexts = contexts
    watches: list[Watch] = []

    def open_one(*, width: int = 1440, height: int = 900, **options: object) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            permissions=["clipboard-read", "clipboard-write"],
            reduced_motion="reduce",
            **options,  # type: ignore[arg-type]  # whatever Playwright's own signature takes
        )
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        watches.append(Watch(context))
        return context.new_page()

    yield open_one
    ran = [page.url for context in contexts for page in context.pages if page.evaluate("window.pwned")]
    for context in contexts:
        context.close()
    assert [said for watch in watches for said in watch.trouble] == []
    assert ran == [], "a text that a model wrote was run"


@pytest.fixture
def studio(open_page: OpenPage, app: App) -> Studio:
    """The Studio on a desktop screen, nothing opened yet."""
    return Studio(open_page(), app.address)
