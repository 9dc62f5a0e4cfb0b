"""The harness server and a browser for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.chromium import FLAGS, chromium_path

from .harness import running_server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one module only: while Playwright is open it holds the loop that async tests need."""
    path = chromium_path()
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def harness() -> Iterator[str]:
    with running_server() as address:
        yield address


@pytest.fixture
def see(browser: Browser, harness: str) -> Iterator[Callable[..., Page]]:
    """Opens a scene. A page error, or a console error that is not about the network, fails the test."""
    pages: list[Page] = []
    trouble: list[str] = []

    def open_scene(
        scene: str, *, width: int = 1320, height: int = 800, wait: str = ".wfg.styled", **asked: str
    ) -> Page:
        page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
        pages.append(page)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on(
            "console",
            lambda said: said.type == "error" and "net::" not in said.text and trouble.append(said.text),
        )
        query = "".join(f"&{name}={value}" for name, value in asked.items())
        page.goto(f"{harness}/?scene={scene}{query}")
        page.wait_for_selector(wait)
        return page

    yield open_scene
    for page in pages:
        page.close()
    assert not trouble
