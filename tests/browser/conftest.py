"""The real app in a process of its own, with scripted workers, and Chromium to look at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.chromium import FLAGS, chromium_path
from tests.running_app import App

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app shared by all browser tests; each test makes its own runs."""
    running = App(tmp_path_factory.mktemp("app"))
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's Chromium, headless."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh profile, 1440 × 900. The test fails when the page left the machine or an error was thrown."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    context.set_default_timeout(15_000)
    page = context.new_page()
    left: list[str] = []
    thrown: list[str] = []
    page.on("request", lambda request: left.append(request.url) if _leaves(request.url) else None)
    page.on("pageerror", lambda error: thrown.append(str(error)))
    yield page
    context.close()
    assert left == [], "the page asked for something outside this machine"
    assert thrown == [], "the page threw"


def _leaves(url: str) -> bool:
    return url.startswith(("http://", "https://", "ws://", "wss://")) and "127.0.0.1" not in url.split("/")[2]
