"""Editing in Chromium: by drag, menu, form and keyboard alone; refusals, answers, narrow pages."""

from __future__ import annotations

import re
from random import random

import pytest
from playwright.sync_api import Page, expect

from .pages import See, edits, heard, update

pytestmark = pytest.mark.browser
MIDDLE = """([seen, by]) => {
  const path = root.querySelector(`.edge[data-seen=${seen}][data-by=${by}] .line`);
  const at = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
  return [at.x, at.y];
}"""
SMALL = """() => [...root.querySelectorAll('.tool, .more')].filter(
  (each) => each.checkVisibility() && Math.min(each.offsetWidth, each.offsetHeight) < 40
).map((each) => each.className)"""


def test_dragging_from_a_card_to_a_later_one_adds_an_access(see: See) -> None:
    page = see("plan_only")
    drag(page, "s2", "s5")
    assert edits(page) == [{"op": "set_access", "step_id": "s5", "access": ["s1", "s3", "s2"]}]
    sent = heard(page, "edit")[0]
    assert sent["base"] == "wf_demo" and sent["op_id"].startswith("op_")


@pytest.mark.parametrize(("target", "reason"), [("s1", "comes before step 2"), ("s3", "already sees step 2")])
def test_a_drop_that_is_refused_says_why_and_sends_nothing(see: See, target: str, reason: str) -> None:
    page = see("plan_only")
    drag(page, "s2", target)
    expect(page.locator(".toast.shown")).to_contain_text(reason)
    assert edits(page) == []


def test_while_an_edge_is_drawn_its_line_stays_and_nothing_fades(see: See) -> None:
    page = see("plan_only")
    drag(page, "s2", "s5", drops=False)
    page.wait_for_timeout(300)
    expect(page.locator(".over .rubber.good")).to_have_count(1)
    assert page.locator(".rubber").evaluate("(line) => getComputedStyle(line).strokeDasharray") != "none"
    assert page.locator(".box.withheld").count() == 0
    update(page, rev=7)
    expect(page.locator(".over .rubber.good")).to_have_count(1)
    page.mouse.up()
    expect(page.locator(".rubber")).to_have_count(0)


def drag(page: Page, source: str, target: str, *, drops: bool = True) -> None:
    page.hover(f"[data-box={source}]")
    handle = page.locator(f"[data-handle={source}]").bounding_box()
    card = page.locator(f"[data-box={target}]").bounding_box()
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(card["x"] + 40, card["y"] + 60, steps=8)
    if drops:
        page.mouse.up()


def test_a_chosen_edge_is_removed_by_its_cross_or_by_delete(see: See) -> None:
    page = see("plan_only")
    press_edge(page, "s2", "s3")
    page.get_by_label("Step 3 no longer sees step 2").click()
    assert edits(page) == [{"op": "set_access", "step_id": "s3", "access": []}]
    page = see("plan_only")
    page.locator("[data-step=s5]").focus()
    page.keyboard.press("e")
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    assert edits(page) == [{"op": "set_access", "step_id": "s5", "access": ["s1"]}]


def press_edge(page: Page, seen: str, by: str) -> None:
    x, y = page.evaluate(MIDDLE, [seen, by])
    page.mouse.click(x, y)


def test_the_menu_changes_worker_order_and_access(see: See) -> None:
    page = see("plan_only")

    def choose(*items: str) -> None:
        page.click("[data-menu=s4]")
        for item in items:
            page.click(f"[data-item={item}]")
        update(page, rev=random())

    choose("worker", "worker-calculator")
    choose("earlier")
    choose("sees-s2")
    choose("remove")
    assert edits(page) == [
        {"op": "set_worker", "step_id": "s4", "worker": "calculator"},
        {"op": "move_step", "step_id": "s4", "position": 2},
        {"op": "set_access", "step_id": "s4", "access": ["s2"]},
        {"op": "remove_step", "step_id": "s4"},
    ]


def test_instruction_and_new_step_are_written_in_place(see: See) -> None:
    page = see("plan_only")
    page.locator("[data-step=s2]").focus()
    page.keyboard.press("i")
    page.locator(".panel textarea").fill("Write it anew.")
    update(page, rev=3)
    assert page.locator(".panel textarea").input_value() == "Write it anew."
    page.keyboard.press("Control+Enter")
    update(page, rev=4)
    page.locator("[data-step=s3]").focus()
    page.keyboard.press("a")
    page.locator(".panel textarea").fill("Check it.")
    page.locator(".panel select").select_option("python")
    page.locator(".panel input[value=s1]").check()
    page.get_by_role("button", name="Add step").click()
    assert edits(page) == [
        {"op": "set_instruction", "step_id": "s2", "instruction": "Write it anew."},
        {
            "op": "add_step",
            "instruction": "Check it.",
            "worker": "python",
            "access": ["s1", "s3"],
            "position": 3,
        },
    ]


def test_everything_works_by_keyboard_alone(see: See) -> None:
    """Behaviour row 24: the graph by keyboard alone."""
    page = see("plan_only")
    page.locator(".stage [tabindex='0']").focus()
    assert page.evaluate("document.activeElement.dataset.step") == "s1"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.step") == "s2"
    page.keyboard.press("Enter")
    page.keyboard.press("l")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert heard(page, "selected") == ["s2"]
    assert edits(page) == [{"op": "set_access", "step_id": "s5", "access": ["s1", "s3", "s2"]}]
    update(page, rev=9, can_undo=True)
    page.keyboard.press("Control+z")
    assert len(heard(page, "undo")) == 1
    page.keyboard.press("m")
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    assert page.evaluate("document.activeElement.dataset.step") == "s5"


def test_the_keyboard_stays_in_the_graph_when_something_is_removed(see: See) -> None:
    page = see("plan_only", shadow="1")
    page.locator("[data-step=s3]").focus()
    page.keyboard.press("Delete")
    assert focused(page) == "s3"
    draft = page.evaluate("payload.workflow")
    steps = [step for step in draft["steps"] if step["step_id"] != "s3"]
    steps[-1]["access"] = ["s1"]
    update(page, rev=2, can_undo=True, workflow={**draft, "workflow_id": "wf_less", "steps": steps})
    assert focused(page) in {"s2", "s5"}
    page.keyboard.press("Meta+z")
    assert len(heard(page, "undo")) == 1
    update(page, rev=3, can_undo=False)
    page.keyboard.press("Control+z")
    assert len(heard(page, "undo")) == 1
    press_edge(page, "s1", "s5")
    page.keyboard.press("Delete")
    assert focused(page) == "s5"
    update(page, rev=4)
    press_edge(page, "s1", "s2")
    page.get_by_label("Step 2 no longer sees step 1").click()
    assert focused(page) == "s2"


def test_moving_a_step_keeps_the_focus_on_it(see: See) -> None:
    page = see("plan_only")
    page.locator("[data-step=s4]").focus()
    draft = page.evaluate("payload.workflow")
    order = sorted(draft["steps"], key=lambda step: step["step_id"] != "s4")
    update(page, rev=2, workflow={**draft, "steps": order})
    assert focused(page) == "s4"


def focused(page: Page) -> str | None:
    step: str | None = page.evaluate("(root.activeElement ?? document.activeElement).dataset.step ?? null")
    return step


def test_linking_by_keyboard_says_how_it_goes_on_until_it_ends(see: See) -> None:
    page = see("plan_only")
    page.locator("[data-step=s2]").focus()
    page.keyboard.press("l")
    hint = re.compile("Linking has begun: .* step 2.*Arrow keys.*Enter.*Esc")
    expect(page.locator(".toast.shown")).to_have_text(hint)
    expect(page.locator("[aria-live]")).to_have_text(hint)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".toast.shown")).to_have_text("Step 3 already sees step 2.")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(4700)
    expect(page.locator(".toast.shown")).to_have_text(hint)
    page.keyboard.press("Escape")
    expect(page.locator(".toast.shown")).to_have_count(0)


def test_edits_wait_for_their_answer_and_a_refusal_is_said(see: See) -> None:
    page = see("plan_only")
    page.locator("[data-step=s5]").focus()
    page.keyboard.press("[")
    page.keyboard.press("[")
    first = heard(page, "edit")
    assert len(first) == 1, "the second edit waits for the first one's answer"
    reply = {"ok": False, "message": "Step 5 sees step 3.", "hint": "Remove that first."}
    update(page, reply={**reply, "op_id": first[0]["op_id"]})
    expect(page.locator(".toast.shown")).to_have_text("Step 5 sees step 3. Remove that first.")


def test_a_read_only_graph_offers_no_edit(see: See) -> None:
    page = see("done")
    assert page.locator(".more:visible, .handle:visible, [data-tool=add]:visible").count() == 0
    page.locator("[data-step=s5]").focus()
    for key in ("l", "Delete", "i", "a", "m", "[", "w"):
        page.keyboard.press(key)
    assert edits(page) == [] and page.locator(".panel").count() == 0


def test_a_narrow_page_edits_by_menu(see: See) -> None:
    page = see("plan_only", width=390, height=844)
    page.click("[data-menu=s5]")
    expect(page.locator(".panel.sheet")).to_be_visible()
    page.click("[data-item=sees-s2]")
    assert edits(page) == [{"op": "set_access", "step_id": "s5", "access": ["s1", "s3", "s2"]}]
    assert page.evaluate(SMALL) == [], "touch targets"
