"""The graph inside a real Streamlit page: one mount, edits and selection there and back."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, expect

from .harness import ROOT, free_port

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def studio() -> Iterator[str]:
    address = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "tests.components.streamlit_server", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                if httpx.get(f"{address}/_stcore/health").status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def test_edits_go_there_and_back_and_every_card_stays(browser: Browser, studio: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 1200})
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(studio)
    page.wait_for_selector(".wfg.styled .card", timeout=60_000)
    cards = page.locator(".card")
    handles = cards.element_handles()
    assert len(handles) == 5

    page.click("[data-step=s2]")
    expect(page.get_by_text("selected s2, edges 4, steps 5")).to_be_visible(timeout=15_000)
    page.click("[data-menu=s5]")
    page.click("[data-item=sees-s2]")
    expect(page.get_by_text("edges 5, steps 5")).to_be_visible(timeout=15_000)
    expect(page.locator(".edge.access")).to_have_count(5)

    page.locator("[data-step=s5]").focus()
    page.keyboard.press("[")
    expect(page.get_by_role("button", name="Step 4, qwen-1.5b")).to_be_visible(timeout=15_000)
    page.get_by_role("button", name="Run the script again").click()
    page.wait_for_timeout(600)
    assert all(handle.evaluate("(card) => card.isConnected") for handle in handles), "a card was built anew"

    page.keyboard.press("Escape")
    page.get_by_label("Undo").click()
    expect(page.get_by_role("button", name="Step 5, qwen-1.5b")).to_be_visible(timeout=15_000)
    page.get_by_label("Undo").click()
    expect(page.get_by_text("edges 4, steps 5")).to_be_visible(timeout=15_000)
    expect(page.locator(".edge.access")).to_have_count(4)
    page.click("[data-menu=s4]")
    page.click("[data-item=remove]")
    expect(page.get_by_text("steps 4")).to_be_visible(timeout=15_000)
    expect(cards).to_have_count(4)
    assert not trouble
    page.close()
