"""How the graph looks and reads in Chromium: every state, width and theme; names, contrast, identity."""

from __future__ import annotations

import re
from pathlib import Path
from random import random

import pytest
from playwright.sync_api import expect

from .pages import See, heard, show, transform, update
from .scenes import payload_of, scenes
from .story import Story

pytestmark = pytest.mark.browser

INSIDE = """() => {
  const stage = root.querySelector('.stage').getBoundingClientRect();
  const shown = [...root.querySelectorAll('.card, .pill')].filter((each) => each.checkVisibility());
  return shown.every((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    const isAcross = left >= stage.left - 1 && right <= stage.right + 1;
    return isAcross && top >= stage.top - 1 && bottom <= stage.bottom + 1;
  });
}"""
CLAMP = """(text) => [getComputedStyle(text).webkitLineClamp,
  text.getBoundingClientRect().bottom - text.closest('.body').getBoundingClientRect().bottom]"""
STATUSES = """(boxes) => boxes.map((box) => [
  box.querySelector('.word').textContent, box.querySelector('.status path').getAttribute('d')])"""
SPILLED = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
UNNAMED = """() => [...root.querySelectorAll('button, input')].filter(
  (each) => each.checkVisibility() && !(each.getAttribute('aria-label') || each.textContent.trim())).length"""
SAME_CARDS = """() => before.length === 5 && before.every(
  (card) => card.isConnected && card === root.querySelector(`[data-step=${card.dataset.step}]`))"""
REMOUNT = """async () => {
  graph.destroy();
  const { mount } = await import('/flow-assets/main.js');
  window.graph = mount(root, { payload });
}"""
OVERTAKEN = """async () => {
  const { default: render } = await import('/flow-assets/main.js');
  graph.destroy();
  const call = (data) => render({ data, parentElement: root, setStateValue() {}, setTriggerValue() {} });
  const first = call(payload);
  window.second = call({ ...payload, rev: 1 });
  first();
  await new Promise((done) => setTimeout(done, 50));
}"""
GONE = """async () => {
  root.host.remove();
  second();
  await new Promise((done) => setTimeout(done, 50));
}"""


@pytest.mark.parametrize("asked", [{}, {"dark": "1"}, {"shadow": "1"}])
@pytest.mark.parametrize("width", [1320, 700, 390])
def test_every_scene_fits_its_page(see: See, width: int, asked: dict[str, str]) -> None:
    page = see("empty", width=width, height=2600, **asked)
    for name, payload in scenes().items():
        show(page, payload)
        page.wait_for_timeout(60)
        spilled = page.evaluate(SPILLED)
        assert spilled <= 0, f"{name} is {spilled} px wider than the page"
        is_rolled = name.startswith("statuses")  # fourteen cards are more than a page is high
        assert is_rolled or page.evaluate(INSIDE), f"{name}: a card lies outside the drawing at {width} px"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_has_enough_contrast(see: See, theme: str) -> None:
    page = see("empty", **({"dark": "1"} if theme == "dark" else {}))
    for name in (
        "planning",
        "noplan",
        "stopped_planning",
        "resumed",
        "running",
        "done",
        "failed",
        "reused",
        "cancelled",
        "statuses",
        "statuses_ended",
        "edit",
        "replay",
    ):
        show(page, scenes()[name])
        page.wait_for_timeout(250)
        weak = page.evaluate((Path(__file__).parent / "contrast.js").read_text(encoding="utf-8"))
        assert not weak, f"{name}: {weak}"


def test_status_is_never_colour_alone(see: See) -> None:
    page = see("statuses")
    icons = dict(page.locator(".box").evaluate_all(STATUSES))
    words = ["Done", "Reused", "Failed", "Skipped", "Stopped", "Running", "Waiting"]
    assert set(icons) == {*words, "In the queue", "Trying again"}
    assert len(set(icons.values())) == len(icons)
    page = see("failed")
    border = page.locator("[data-box=s2] .card").evaluate("(card) => getComputedStyle(card).borderTopStyle")
    assert border == "dashed"


def test_cards_say_what_a_screen_reader_needs(see: See) -> None:
    """Behaviour row 24: names for a screen reader."""
    page = see("failed")
    expect(page.get_by_role("button", name="Step 5, qwen-1.5b, Skipped, sees steps 1 and 3")).to_be_visible()
    fourth = "Step 4, smollm2-135m, Done, sees only the prompt, unused by the answer"
    expect(page.get_by_role("button", name=fourth)).to_be_visible()
    expect(page.get_by_role("toolbar", name="Graph tools")).to_be_visible()
    assert page.evaluate(UNNAMED) == 0


def test_failed_skipped_retried_and_partial_are_told(see: See) -> None:
    page = see("failed")
    second = page.locator("[data-box=s2]")
    expect(second).to_contain_text("2 tries")
    expect(second).to_contain_text("HTTP 503: the server is overloaded")
    expect(second).to_contain_text("partial")
    expect(second).to_contain_text("212 - 67")
    expect(second).to_contain_text("tokens and cost unknown")
    expect(page.locator("[data-box=s3]")).to_contain_text("Not run: step 2 failed")
    expect(page.locator("[data-box=s5]")).to_contain_text("Not run: step 3 was skipped")


def test_a_long_error_ends_in_an_ellipsis_between_lines(see: See) -> None:
    for width in (1320, 390):
        page = see("resumed", width=width)
        for part in ("note", "text"):
            text = page.locator(f"[data-box=s4] .{part}")
            clamp, cut = text.evaluate(CLAMP)
            assert clamp != "none" and cut <= 0, f"{part} at {width} px"


def test_a_run_stopped_while_planning_looks_stopped(see: See) -> None:
    page = see("stopped_planning")
    card = page.locator(".planning")
    expect(card).to_have_attribute("data-kind", "cancelled")
    tones = (
        "() => ['.planning .title', '.run'].map((each) => getComputedStyle(root.querySelector(each)).color)"
    )
    title, badge = page.evaluate(tones)
    assert title == badge
    expect(card.locator(".text")).to_have_text("Two views are worth having here, since a first")
    expect(card.locator(".well")).to_have_attribute("data-kind", "partial")  # no cursor goes on blinking


def test_a_partial_text_stands_under_its_mark(see: See) -> None:
    page = see("statuses")
    mark, text = (page.locator(f"[data-box=s8] {each}").bounding_box() for each in (".mark", ".text"))
    assert mark and text and 0 <= text["y"] - (mark["y"] + mark["height"]) < 6


def test_chips_leave_the_tools_in_their_place(see: See) -> None:
    places = []
    for scene in ("done", "resumed"):
        page = see(scene, width=1000)
        tools, facts = (page.locator(each).bounding_box() for each in (".tools", ".facts"))
        assert tools["y"] < facts["y"] + facts["height"]
        places.append(tools["y"])
    assert places[0] == places[1]
    chip, facts = (page.locator(each).bounding_box() for each in (".notice", ".facts"))
    assert chip["y"] >= facts["y"] + facts["height"]


def test_reused_steps_show_their_former_time_and_cost_nothing(see: See) -> None:
    page = see("reused")
    first = page.locator("[data-box=s1]")
    expect(first).to_contain_text("2.5 s then")
    expect(first.locator(".foot")).to_have_text(re.compile(r"190 tokens then\s+·\s+\$0"))
    expect(page.locator(".facts")).to_contain_text("unpriced")


def test_new_data_keeps_every_card_element(see: See) -> None:
    page = see("running")
    page.evaluate("window.before = [...root.querySelectorAll('.card')]")
    for _ in range(30):
        update(page, rev=random())
    show(page, {**payload_of(Story(run_id="run_live").begin()), "api": None})
    show(page, scenes()["running"])
    update(page, rev=77)
    assert page.evaluate(SAME_CARDS)


def test_the_same_run_is_drawn_the_same(see: See) -> None:
    """Behaviour row 21: the same run is the same drawing."""
    shapes = []
    for _ in range(2):
        page = see("done")
        page.wait_for_timeout(400)
        shapes.append(page.locator(".stage").evaluate("(stage) => stage.querySelector('.layer').innerHTML"))
    assert shapes[0] == shapes[1]


def test_pointing_at_a_step_fades_what_was_withheld_from_it(see: See) -> None:
    page = see("done")
    page.hover("[data-box=s5]")
    expect(page.locator("[data-box=s2]")).to_have_class(re.compile("withheld"))
    expect(page.locator("[data-box=s2]")).to_have_attribute("data-withheld", "Withheld")
    expect(page.locator("[data-box=s3]")).to_have_class(re.compile("seen"))
    assert page.locator(".edge.lit").count() == 2
    page.mouse.move(2, 2)
    expect(page.locator(".box.withheld")).to_have_count(0)


def test_selecting_tells_the_page_and_survives_a_slow_answer(see: See) -> None:
    page = see("done")
    page.click("[data-step=s3]")
    page.click("[data-step=s5]")
    update(page, selected="s3")
    expect(page.locator("[data-box=s5]")).to_have_class(re.compile("selected"))
    update(page, selected="s5")
    page.click("[data-step=s5]")
    assert heard(page, "selected") == ["s3", "s5", None]


def test_zoom_and_pan_stay_over_updates_and_a_remount(see: See) -> None:
    page = see("done")
    page.get_by_label("Zoom in").click()
    stage = page.locator(".stage").bounding_box()
    page.mouse.move(stage["x"] + 40, stage["y"] + 40)
    page.mouse.down()
    page.mouse.move(stage["x"] + 140, stage["y"] + 90, steps=4)
    page.mouse.up()
    view = transform(page)
    update(page, rev=5)
    page.evaluate(REMOUNT)
    page.wait_for_selector(".wfg.styled")
    assert transform(page) == view
    page.get_by_label("Fit the drawing").click()
    assert transform(page) != view


def test_the_wheel_rolls_a_tall_drawing_then_the_page_and_zooms_only_with_ctrl(see: See) -> None:
    page = see("done", height=420)
    page.hover("[data-box=s1]")
    before = transform(page)
    page.mouse.wheel(0, 10)
    page.wait_for_timeout(100)
    assert transform(page) != before and page.evaluate("window.scrollY") == 0
    page.mouse.wheel(0, 3000)
    page.wait_for_timeout(100)
    scale = transform(page)
    page.mouse.wheel(0, 120)
    page.wait_for_function("window.scrollY > 0")
    assert transform(page) == scale
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    assert transform(page) != scale


def test_a_render_that_was_overtaken_does_not_take_the_graph_away(see: See) -> None:
    page = see("done", shadow="1")
    page.evaluate(OVERTAKEN)
    assert page.evaluate("root.querySelectorAll('.card').length") == 5
    page.evaluate(GONE)
    assert page.evaluate("root.querySelectorAll('.card').length") == 0
