"""A run as it happens: text in the cards, the answer on top, and nothing a person does disturbs it."""

from __future__ import annotations

import time

from playwright.sync_api import expect

from tests.running_app import App

from .conftest import OpenPage
from .studio import DRAFT, SKY, Studio, start, state


def test_text_streams_into_the_cards_and_the_answer_comes_on_top(studio: Studio) -> None:
    studio.open().run(SKY)
    expect(studio.cards).to_have_count(3)
    expect(studio.box(3)).to_contain_text("Waits for steps 1 and 2")
    expect(studio.text(1)).to_contain_text("The first draft")
    early = studio.text(1).inner_text()
    assert early != DRAFT, "the text came in one piece"
    expect(studio.text(1)).to_have_text(DRAFT)
    expect(studio.answer).to_have_count(0)
    before = studio.cards.first.bounding_box()
    expect(studio.page.locator(".st-key-answer_to_come .live")).to_contain_text("Both agree")
    studio.expect_ended()
    expect(studio.answer.locator("strong")).to_have_text("Both agree")
    above, graph = studio.answer.bounding_box(), studio.cards.first.bounding_box()
    assert above and graph and before and above["y"] < graph["y"]
    assert abs(graph["y"] - before["y"]) < 30, "the graph jumped when the answer came"
    for number in (1, 2, 3):
        studio.expect_status(number, "succeeded")
        expect(studio.box(number).locator(".foot")).to_contain_text("tokens")
    expect(studio.prompt).to_have_value(SKY)


def test_clicking_anything_leaves_the_stream_unharmed(studio: Studio, app: App) -> None:
    """Behaviour row 11: click anything while text streams, and the stream is unharmed."""
    lines: list[str] = []
    studio.page.on("websocket", lambda socket: lines.append(socket.url) if "/ws?" in socket.url else None)
    run_id = start(app.address, SKY, [("slow", "Count for half a minute.", []), ("writer", "Sum up.", [0])])
    studio.open(run_id)
    expect(studio.text(1)).to_contain_text("green")
    studio.box(1).evaluate("(box) => { box.dataset.mark = 'the same'; }")
    studio.inspect(1)
    for section in ("Context", "Usage", "Attempts", "Edit"):
        studio.section(section)
    studio.inspect(2)
    studio.panel("Conductor")
    studio.panel("Versions")
    studio.button("Share").click()
    studio.page.keyboard.press("Escape")
    studio.prompt.fill("Something else meanwhile.")
    studio.page.get_by_role("button", name="Zoom in").click()
    studio.expect_status(1, "running")
    studio.expect_ended(timeout=60_000)
    assert studio.box(1).get_attribute("data-mark") == "the same"
    assert len(lines) == 1, "the live connection was opened anew"
    studio.inspect(1, "Output")
    expect(studio.inspector.locator("code")).to_have_text(state(app.address, run_id).steps["s1"].output or "")
    expect(studio.prompt).to_have_value("Something else meanwhile.")


def test_stop_ends_it_within_a_second_and_keeps_the_text(studio: Studio, app: App) -> None:
    """Behaviour row 8: stop during a stream."""
    run_id = studio.open().run("Answer SLOWLY.")
    expect(studio.text(1)).to_contain_text("violet")
    pressed = time.time()
    studio.button("Stop").click()
    studio.expect_status(1, "cancelled")
    ended = state(app.address, run_id)
    assert ended.status == "cancelled" and ended.finished_at
    assert ended.finished_at.timestamp() - pressed < 1.0
    assert not ended.steps["s2"].attempts, "a later step was started"
    studio.expect_ended("Stopped")
    expect(studio.box(2)).to_contain_text("The run was stopped before this step began")
    expect(studio.page.locator("[data-status=running]")).to_have_count(0)
    expect(studio.page.get_by_text("In progress")).to_have_count(0)
    expect(studio.answer).to_contain_text("Partial")
    expect(studio.answer).to_contain_text((ended.steps["s1"].partial_text or "").strip())
    studio.inspect(1, "Output")
    expect(studio.inspector.locator("code")).to_have_text(ended.steps["s1"].partial_text or "never")


def test_a_silent_step_says_how_long_it_waits_and_can_be_stopped(studio: Studio, app: App) -> None:
    """Behaviour rows 8 and 12: the page says how long a step is silent; stop during a call without text."""
    run_id = start(app.address, SKY, [("mute", "Say nothing.", []), ("writer", "Sum up.", [0])])
    studio.open(run_id)
    expect(studio.box(1)).to_contain_text("No word yet for 2.", timeout=5000)
    expect(studio.box(1)).to_contain_text("No word yet for 3.", timeout=3000)
    studio.button("Stop").click()
    studio.expect_status(1, "cancelled")
    expect(studio.box(1)).to_contain_text("Stopped before its first word")
    studio.expect_ended("Stopped")


def test_the_next_run_shows_nothing_of_the_stopped_one(studio: Studio, app: App) -> None:
    """Behaviour row 9: stop A, ask B at once; nothing of A lands in B."""
    first = studio.open().run("Answer SLOWLY.")
    expect(studio.text(1)).to_contain_text("violet")
    studio.button("Stop").click()
    second = studio.run(f"{SKY} (at once)")
    studio.expect_ended()
    assert second != first
    for word in ("violet", "indigo", "Stopped"):
        expect(studio.page.get_by_text(word)).to_have_count(0)
    kept = state(app.address, second)
    assert "violet" not in kept.model_dump_json()


def test_reload_second_tab_and_closed_tab_show_the_same_whole_text(
    studio: Studio, open_page: OpenPage, app: App
) -> None:
    """Behaviour row 10: close the tab in mid-run, reload, open a second tab; the run goes on for all."""
    run_id = start(app.address, SKY, [("slow", "Count for a good while.", [])])
    studio.open(run_id)
    expect(studio.text(1)).to_contain_text("green")
    studio.page.reload()
    second = Studio(open_page(), app.address).open(run_id)
    for tab in (studio, second):
        tab.expect_status(1, "running")
        expect(tab.text(1)).to_contain_text("orange")
    studio.page.close()
    second.expect_ended(timeout=20_000)
    third = Studio(open_page(), app.address).open(run_id)
    whole = state(app.address, run_id).steps["s1"].output or ""
    assert len(whole.split()) == 90
    for tab in (second, third):
        tab.inspect(1, "Output")
        expect(tab.inspector.locator("code")).to_have_text(whole)
        expect(tab.answer).to_contain_text(whole.strip())


def test_ten_seconds_without_a_network_lose_nothing(studio: Studio, app: App) -> None:
    """Behaviour row 10: the network is gone for 10 s in mid-run."""
    again = ("slow", "Count again for a while.", [0])
    run_id = start(app.address, SKY, [("slow", "Count for a while.", []), again, again])
    studio.open(run_id)
    expect(studio.text(1)).to_contain_text("green")
    studio.page.context.set_offline(True)
    expect(studio.page.get_by_text("Connection lost, trying again")).to_be_visible()
    studio.page.wait_for_timeout(10_000)
    studio.page.context.set_offline(False)
    expect(studio.page.get_by_text("Connection lost, trying again")).to_have_count(0)
    expect(studio.text(3)).to_contain_text("red orange")
    studio.expect_ended(timeout=20_000)
    for number, step_id in enumerate(("s1", "s2", "s3"), 1):
        studio.inspect(number, "Output")
        whole = state(app.address, run_id).steps[step_id].output or ""
        expect(studio.inspector.locator("code")).to_have_text(whole)


def test_a_refusal_is_told_on_the_card_and_takes_its_dependents_along(studio: Studio) -> None:
    """Behaviour row 13: a refusal fails the step with its reason and usage, and dependents are skipped."""
    studio.open().run("A FAILING plan, at once.")
    studio.expect_ended("Failed")
    studio.expect_status(2, "failed")
    expect(studio.box(2)).to_contain_text("The model refused to answer.")
    expect(studio.box(2).locator(".foot")).to_contain_text("tokens")
    studio.expect_status(3, "skipped")
    expect(studio.box(3)).to_contain_text("Not run: step 2 failed")
    expect(studio.page.get_by_text("Step 2 failed: The model refused to answer.")).to_be_visible()
    expect(studio.page.locator(".st-key-run_bar")).not_to_contain_text("Done")
