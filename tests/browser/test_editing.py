"""Looking into a step, changing a workflow, and running again only what the change touches."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.running_app import App

from .studio import SKY, TREE, Studio, finished, start, state

CHAIN = [
    ("writer", "Draft an answer to the question.", []),
    ("checker", "Check the physics.", [0]),
    ("merger", "Merge both.", [0, 1]),
]


def _drag(page: Page, source: tuple[float, float], target: tuple[float, float]) -> None:
    page.mouse.move(*source)
    page.mouse.down()
    page.mouse.move(*target, steps=8)
    page.mouse.up()


def test_a_click_shows_what_was_told_what_was_sent_and_what_was_withheld(studio: Studio, app: App) -> None:
    """Behaviour row 7: of two steps that see only the prompt, neither is shown a word of the other."""
    run_id = finished(app.address)
    studio.open(run_id).inspect(2, "Context")
    sent = state(app.address, run_id).steps["s2"].messages
    assert sent and "first draft" not in sent[-1].content
    expect(studio.inspector.locator("code")).to_have_text([message.content for message in sent])
    expect(studio.inspector).to_contain_text("Sees: the prompt, and of the steps before: none")
    expect(studio.inspector).to_contain_text("Withheld: Step 1")
    expect(studio.box(1)).to_have_attribute("data-withheld", "Withheld")
    studio.section("Edit")
    expect(studio.inspector.get_by_role("textbox", name="Instruction")).to_have_value(TREE[1][1])
    studio.inspect(3, "Context")
    merged = state(app.address, run_id).steps["s3"].messages
    expect(studio.inspector.locator("code")).to_have_text([message.content for message in merged])
    expect(studio.inspector).to_contain_text("of the steps before: Step 1, Step 2")
    studio.section("Output")
    studio.inspector.get_by_text("Formatted").click()
    expect(studio.inspector.locator("strong").filter(has_text="Both agree")).to_be_visible()


def test_an_edited_instruction_runs_only_what_it_touches(studio: Studio, app: App) -> None:
    """Behaviour rows 1 and 3: unchanged steps are reused and marked, both versions stay and can be opened."""
    first = finished(app.address)
    studio.open(first).inspect(2)
    studio.instruct("Check the physics twice.")
    expect(studio.draft).to_contain_text("2 steps will run: Step 2, Step 3")
    expect(studio.draft).to_contain_text("1 reused: Step 1")
    for number, status in enumerate(("reused", "will_run", "will_run"), 1):
        studio.expect_status(number, status)
    second = studio.run_again()
    studio.expect_ended()
    for number, status in enumerate(("reused", "succeeded", "succeeded"), 1):
        studio.expect_status(number, status)
    expect(studio.box(1).locator(".foot")).to_contain_text("$0")
    ended = state(app.address, second)
    assert not ended.steps["s1"].attempts and ended.steps["s1"].cost_usd == 0
    studio.panel("Versions")
    expect(studio.page.get_by_text("Step 2: new instruction")).to_be_visible()
    studio.page.get_by_role("link", name="Original").click()
    studio.page.wait_for_url(re.compile(first))
    studio.expect_status(1, "succeeded")
    studio.inspect(2)
    studio.instruct("Check the physics three times.")
    third = studio.run_again()
    studio.expect_ended()
    studio.panel("Versions")
    expect(studio.page.get_by_role("link", name="three times")).to_have_count(0)  # the open one is no link
    for words, run_id in (("twice", second), ("Original", first)):
        expect(studio.page.get_by_role("link", name=words)).to_have_attribute("href", f"?run={run_id}")
    assert len({first, second, third}) == 3


def test_another_worker_is_chosen_in_the_inspector_and_on_the_card(studio: Studio, app: App) -> None:
    studio.open(finished(app.address)).inspect(3, "Edit")
    studio.inspector.get_by_role("combobox", name="Worker").click()
    studio.page.get_by_role("option", name="writer").click()
    studio.inspector.get_by_role("button", name="Apply", exact=True).click()
    expect(studio.draft).to_contain_text("Step 3: now by writer")
    expect(studio.draft).to_contain_text("1 step will run: Step 3")
    studio.box(2).get_by_role("button", name="Step 2", exact=True).click()
    studio.page.get_by_role("menuitem", name="Change worker").click()
    studio.page.get_by_role("menuitemcheckbox", name="merger").click()
    expect(studio.draft).to_contain_text("Step 2: now by merger")
    expect(studio.box(2).locator(".worker")).to_have_text("merger")
    studio.draft.get_by_role("button", name="Undo").click()
    expect(studio.box(2).locator(".worker")).to_have_text("checker")
    run_id = studio.run_again()
    studio.expect_ended()
    assert [step.worker for step in state(app.address, run_id).steps.values()] == [
        "writer",
        "checker",
        "writer",
    ]


def test_dragging_from_a_card_to_a_later_one_adds_an_access(studio: Studio, app: App) -> None:
    studio.open(finished(app.address))
    studio.box(1).hover()
    handle, target = studio.box(1).locator("[data-handle]").bounding_box(), studio.box(2).bounding_box()
    assert handle and target
    middle = (handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    _drag(studio.page, middle, (target["x"] + 40, target["y"] + 60))
    expect(studio.draft).to_contain_text("Step 2: sees Step 1")
    expect(studio.draft).to_contain_text("2 steps will run: Step 2, Step 3")
    run_id = studio.run_again()
    studio.expect_ended()
    sent = state(app.address, run_id).steps["s2"].messages
    assert sent and "The first draft says" in sent[-1].content


def test_a_chosen_edge_goes_with_delete(studio: Studio, app: App) -> None:
    studio.open(finished(app.address, rows=CHAIN))
    edge = studio.page.locator(".edge[data-seen=s1][data-by=s2] .hit")
    line = edge.evaluate(
        "(path) => { const { x, y } = path.getPointAtLength(path.getTotalLength() / 2);"
        " const spot = new DOMPoint(x, y).matrixTransform(path.getScreenCTM()); return [spot.x, spot.y]; }"
    )
    studio.page.mouse.click(*line)
    expect(studio.page.locator(".toast")).to_have_text("Step 2 sees step 1. Delete removes this.")
    expect(studio.button("Step 2 no longer sees step 1")).to_be_visible()
    studio.card(2).focus()
    studio.page.keyboard.press("Delete")
    expect(studio.draft).to_contain_text("Step 2: sees only the prompt")
    expect(studio.page.locator(".edge[data-seen=s1][data-by=s2]")).to_have_count(0)
    expect(studio.cards).to_have_count(3)


def test_steps_are_added_removed_and_reordered_and_their_access_follows(studio: Studio, app: App) -> None:
    """Behaviour row 22: reorder or rename a step that others see, and their access follows it."""
    studio.open(finished(app.address)).inspect(2, "Edit")
    studio.inspector.get_by_role("button", name="Earlier").click()
    expect(studio.draft).to_contain_text("moved to place 1")
    expect(studio.box(1).locator(".worker")).to_have_text("checker")
    expect(studio.box(3)).to_contain_text("Will see steps 1 and 2")
    studio.inspect(3, "Edit")
    studio.inspector.get_by_role("button", name="Add after").click()
    expect(studio.cards).to_have_count(4)
    expect(studio.box(4)).to_contain_text("Will see step 3")
    studio.box(2).get_by_role("button", name="Step 2", exact=True).click()
    studio.page.get_by_role("menuitem", name="Remove step").click()
    expect(studio.cards).to_have_count(3)
    expect(studio.draft).to_contain_text("Access that went with a removed step")
    run_id = studio.run_again()
    studio.expect_ended()
    workflow = state(app.address, run_id).workflow
    assert workflow is not None
    assert [(step.worker, len(step.access)) for step in workflow.steps] == [
        ("checker", 0),
        ("merger", 1),
        ("merger", 1),
    ]


def test_the_table_is_the_graph_s_twin(studio: Studio, app: App) -> None:
    studio.open(finished(app.address))
    table = studio.page.get_by_test_id("stDataFrame").locator("canvas").first
    table.scroll_into_view_if_needed()
    frame = table.bounding_box()
    assert frame
    studio.page.mouse.dblclick(frame["x"] + frame["width"] * 0.55, frame["y"] + 35 * 1.5)
    studio.page.locator("#portal textarea").fill("Draft it in one line.")
    studio.page.keyboard.press("Enter")
    studio.page.wait_for_timeout(400)  # a cell is sent a moment after it was left, and nothing shows when
    studio.button("Apply the table").click()
    expect(studio.draft).to_contain_text("Step 1: new instruction “Draft it in one line.”")
    expect(studio.box(1)).to_contain_text("Draft it in one line.")
    expect(studio.draft).to_contain_text("2 steps will run: Step 1, Step 3")


def test_running_a_step_again_takes_the_failed_one_along(studio: Studio, app: App) -> None:
    """Behaviour row 2: step 1 failed; re-run step 2, and step 1 runs too; no success over a failed step."""
    run_id = finished(app.address, rows=[("broken", "Refuse it.", []), ("writer", "Sum up.", [0])])
    studio.open(run_id)
    studio.expect_ended("Failed")
    studio.inspect(2, "Edit")
    studio.inspector.get_by_text("Ask this step again").click()
    expect(studio.draft).to_contain_text("2 steps will run: Step 1, Step 2")
    fork = studio.run_again()
    studio.expect_ended("Failed")
    ended = state(app.address, fork)
    assert ended.status == "failed" and len(ended.steps["s1"].attempts) == 1
    studio.inspect(1)
    studio.section("Edit")
    studio.inspector.get_by_role("combobox", name="Worker").click()
    studio.page.get_by_role("option", name="writer").click()
    studio.inspector.get_by_role("button", name="Apply", exact=True).click()
    studio.run_again()
    studio.expect_ended()


def test_a_run_is_edited_while_it_runs(studio: Studio, app: App) -> None:
    """Behaviour row 11: an edit while text streams leaves the stream unharmed too."""
    run_id = start(app.address, SKY, [("slow", "Count for a while.", []), ("writer", "Sum up.", [0])])
    studio.open(run_id)
    expect(studio.text(1)).to_contain_text("green")
    studio.inspect(2)
    studio.instruct("Give a brief answer.")
    expect(studio.draft).to_contain_text("2 steps will run")
    studio.draft.get_by_role("button", name="Discard").click()
    expect(studio.draft).to_have_count(0)
    studio.expect_ended(timeout=20_000)
    assert (state(app.address, run_id).steps["s2"].output or "").startswith("The first draft")
