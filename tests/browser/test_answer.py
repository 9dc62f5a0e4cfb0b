"""The answer: formatted safely, raw, copied, and harmless whatever a model wrote."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.running_app import App

from .studio import Studio, finished, state

ONE_WRITER = [("writer", "Answer it.", [])]


def test_markdown_latex_and_code_are_drawn_and_the_raw_text_is_a_click_away(studio: Studio, app: App) -> None:
    run_id = finished(app.address, "Something FORMATTED.", ONE_WRITER)
    studio.open(run_id)
    expect(studio.answer.get_by_role("heading", name="Two ways")).to_be_visible()
    expect(studio.answer.locator(".katex").first).to_be_visible()
    expect(studio.answer.locator("code", has_text="def hypotenuse(a, b):")).to_be_visible()
    expect(studio.answer.get_by_role("cell", name="length")).to_have_count(0)
    expect(studio.answer.get_by_role("columnheader", name="length")).to_be_visible()
    studio.answer.get_by_role("radio", name="Raw text").click()
    expect(studio.answer.get_by_role("heading", name="Two ways")).to_have_count(0)
    whole = state(app.address, run_id).final_output or ""
    expect(studio.answer.locator("code")).to_have_text(whole)


def test_the_answer_is_copied_as_it_was_written(studio: Studio, app: App) -> None:
    run_id = finished(app.address, "Something FORMATTED.", ONE_WRITER)
    studio.open(run_id)
    studio.answer.get_by_role("button", name="Copy answer").click()
    expect(studio.answer.get_by_role("button", name="Copied")).to_be_visible()
    assert studio.page.evaluate("navigator.clipboard.readText()") == state(app.address, run_id).final_output


def test_a_hostile_answer_makes_no_request_and_runs_no_script(studio: Studio, app: App) -> None:
    """Behaviour row 15: images, frames, handlers and javascript: links are text; nothing is asked or run."""
    asked: list[str] = []
    studio.open()
    studio.page.on("request", lambda request: asked.append(request.url))
    run_id = studio.run("Something HOSTILE.")
    studio.expect_ended()
    for words in ("![x]", "<iframe srcdoc=", "<svg onload=", "[click]", "<img src=x"):
        expect(studio.answer).to_contain_text(words)
    expect(studio.text(1)).to_contain_text("<iframe")
    expect(studio.box(1)).to_contain_text("<img src=x onerror=window.pwned=1> solve[1]")
    studio.inspect(1, "Output")
    studio.inspector.get_by_text("Formatted").click()
    expect(studio.inspector.locator("iframe, img, svg[onload]")).to_have_count(0)
    studio.section("Context")
    studio.panel("Conductor")
    studio.panel("Versions")
    for path in (f"/present?run={run_id}", "/history"):
        studio.page.goto(app.address + path)
        expect(studio.page.get_by_text("HOSTILE").first).to_be_visible()
    expect(studio.page.locator("[href^='javascript:'], [srcdoc], [onload], [onerror]")).to_have_count(0)
    assert not [url for url in asked if "evil" in url or url.endswith("/x")]
