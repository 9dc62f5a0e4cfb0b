"""The live stream in Chromium: one text in every view, through broken lines and hidden pages."""

from __future__ import annotations

from random import random
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from .pages import See, heard, show, update
from .scenes import scenes

pytestmark = pytest.mark.browser
HIDE = """(state) => {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def final_texts(page: Page) -> list[str]:
    return page.locator(".box .text").all_text_contents()


def test_two_views_and_a_late_one_show_the_same_whole_text(see: See, browser: Any, harness: str) -> None:
    page = see("live-4", seconds="3")
    payload = page.evaluate("payload")
    second = see("empty")
    show(second, payload)
    page.wait_for_timeout(1500)
    late = see("empty")
    show(late, payload)
    for each in (page, second, late):
        expect(each.locator(".run")).to_contain_text("Done", timeout=15_000)
    assert final_texts(page) == final_texts(second) == final_texts(late)
    assert "😀" in final_texts(page)[0]
    assert heard(page, "finished") == [{"run_id": payload["run_id"], "seq": 15}]


def test_ten_seconds_without_a_line_lose_nothing(see: See, harness: str) -> None:
    page = see("live-3", seconds="12")
    run_id = page.evaluate("payload.run_id")
    page.wait_for_selector("[data-kind=live]")
    assert httpx.post(f"{harness}/live/{run_id}/cut?seconds=10").status_code == 200
    expect(page.locator(".link")).to_have_text("Connection lost, trying again", timeout=8000)
    expect(page.locator(".link")).to_have_text("", timeout=20_000)
    expect(page.locator(".run")).to_contain_text("Done", timeout=20_000)
    texts = httpx.post(f"{harness}/live/{run_id}/texts").json()["texts"]
    shown = page.locator(".box .foot").all_text_contents()
    assert len(shown) == 3
    heads = [text[:40] for text in texts.values()]
    assert all(text.startswith(head) for text, head in zip(final_texts(page), heads, strict=True))
    assert [each["is_up"] for each in heard(page, "connection")] == [False, True]


def test_a_hidden_page_hangs_up_and_catches_up(see: See, harness: str) -> None:
    page = see("live-2", seconds="5")
    run_id = page.evaluate("payload.run_id")
    page.wait_for_selector("[data-kind=live]")
    page.evaluate(HIDE, "hidden")
    page.wait_for_timeout(1200)
    before = httpx.post(f"{harness}/live/{run_id}/texts").json()
    assert before["connections"] == 1
    page.evaluate(HIDE, "visible")
    expect(page.locator(".run")).to_contain_text("Done", timeout=15_000)
    assert httpx.post(f"{harness}/live/{run_id}/texts").json()["connections"] == 2


def test_clicks_while_text_streams_do_not_touch_the_stream(see: See) -> None:
    page = see("live-3", seconds="3")
    page.wait_for_selector("[data-kind=live]")
    for _ in range(6):
        for step in ("s1", "s2", "s3"):
            page.click(f"[data-step={step}]")
        update(page, rev=random())
    expect(page.locator(".run")).to_contain_text("Done", timeout=15_000)
    assert len({len(text) for text in final_texts(page)}) == 1


def test_an_unknown_run_asks_the_page_to_look_again(see: See) -> None:
    page = see("empty")
    show(page, {**scenes()["running"], "api": {"ws": "/api/runs/run_gone/ws", "after": 0}})
    expect(page.locator(".link")).to_have_text("This run is no longer on the server")
    assert heard(page, "lost") == [{"run_id": "run_live"}]


def test_a_conductor_s_text_is_shown_while_it_plans(see: See) -> None:
    page = see("planning")
    update(page, rev=1)
    expect(page.locator(".planning")).to_contain_text("Planning the workflow")
    expect(page.locator(".planning")).to_contain_text("local")
