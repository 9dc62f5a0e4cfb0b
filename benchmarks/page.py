"""The Studio in Chromium, with an eye on when something is really painted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.rows import NotHere
from tests.chromium import FLAGS, chromium_path
from tests.running_app import App

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

POOL = Path(__file__).with_name("page_pool.toml")
PROMPT_BOX = "textarea"
RUN_BUTTON = ".st-key-studio-go button"

# Notes when the page was clicked, and when the first card is on the screen whose status is not among those
# that were there before. The graph is in a shadow root, so those are remembered as they come.
WATCH = """
const attach = Element.prototype.attachShadow, roots = [document];
Element.prototype.attachShadow = function (init) {
  const root = attach.call(this, init);
  roots.push(root);
  return root;
};
const afterPaint = (then) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => then(performance.now());
  port2.postMessage(0);
};
const onScreen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  && element.getBoundingClientRect().height > 0;
window.firstPaint = (selector) => new Promise((done) => {
  const look = () => {
    const found = roots.some((root) => [...root.querySelectorAll(selector)].some(onScreen));
    if (found) afterPaint(done); else requestAnimationFrame(look);
  };
  look();
});
window.sinceClick = (selector) => new Promise((done) => {
  addEventListener("click", (event) => {
    firstPaint(selector).then((at) => done(at - event.timeStamp));
  }, { capture: true, once: true });
});
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The machine's browser, headless. Raises ``NotHere``."""
    path = chromium_path()
    if path is None:
        raise NotHere("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def running(folder: Path) -> Iterator[App]:
    """The whole product in a process of its own, its workers scripted."""
    app = App(folder, POOL)
    app.start()
    try:
        yield app
    finally:
        app.stop()


def tab(browser: Browser) -> Page:
    """A new tab with a fresh profile that watches for paints."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(20_000)
    page.add_init_script(WATCH)
    return page


def opened(browser: Browser, address: str) -> Page:
    """The Studio at this address, ready to be typed into."""
    page = tab(browser)
    page.goto(address)
    page.wait_for_selector(PROMPT_BOX)
    return page


def typed(page: Page, prompt: str) -> None:
    """Puts a prompt into the box and leaves it, as a person does who then presses Run."""
    page.locator(PROMPT_BOX).first.fill(prompt)
    page.locator(PROMPT_BOX).first.press("Tab")
    page.wait_for_timeout(400)


def clicked_to_painted(page: Page, selector: str) -> float:
    """Presses Run; milliseconds until something that fits the selector is on the screen."""
    page.evaluate("selector => void (window.took = sinceClick(selector))", selector)
    page.locator(RUN_BUTTON).click()
    return float(page.evaluate("window.took"))
