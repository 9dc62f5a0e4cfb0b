"""Workflows that do not come straight from a conductor's mouth: planned first, reused, saved, imported; and
prompts that follow up on an answer or are none."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.running_app import App

from .studio import SKY, Studio, count_runs, finished, state

LISTS = """
model_id = [0, 2]
subtasks = ["Draft it at once.", "Merge it."]
access_list = [[], ["all"]]
"""
STRANGE = """{"steps": [
  {"worker": "writer", "instruction": "Draft it at once."},
  {"worker": "somebody", "instruction": "Sum it up.", "access": [0]}
]}"""


def test_plan_first_shows_an_estimate_and_runs_nothing_before_the_click(studio: Studio, app: App) -> None:
    before = count_runs(app.address)
    studio.open()
    studio.page.get_by_text("Plan first", exact=True).click()
    studio.expect_go("plan")
    studio.write(f"{SKY} (at once)")
    studio.go.click()
    expect(studio.cards).to_have_count(3)
    expect(studio.box(1)).to_contain_text("Planned")
    expect(studio.page.get_by_text("About 3 calls")).to_be_visible()
    studio.expect_go("run_sketch")
    assert count_runs(app.address) == before
    studio.inspect(2)
    studio.instruct("Check the physics, planned and edited.")
    studio.go.click()
    studio.expect_ended()
    assert studio.run_id
    kept = state(app.address, studio.run_id).workflow
    assert kept is not None and kept.steps[1].instruction == "Check the physics, planned and edited."
    assert count_runs(app.address) == before + 1


def test_a_workflow_is_used_on_another_prompt(studio: Studio, app: App) -> None:
    studio.open(finished(app.address, rows=[("writer", "Give a brief answer.", [])]))
    studio.button("More").click()
    studio.page.get_by_role("button", name="Use this workflow on another prompt").click()
    expect(studio.prompt).to_have_value("")
    expect(studio.box(1)).to_contain_text("Planned")
    studio.run("What is the answer to everything?")
    studio.expect_ended()
    expect(studio.answer).to_contain_text("Forty-two.")
    assert studio.run_id and state(app.address, studio.run_id).prompt == "What is the answer to everything?"


def test_a_workflow_is_saved_under_a_name_and_loaded(studio: Studio, app: App) -> None:
    studio.open(finished(app.address))
    studio.button("More").click()
    studio.page.get_by_role("textbox", name="Keep this workflow under a name").fill("Two views")
    studio.button("Save").click()
    expect(studio.page.get_by_text("Saved as “Two views”.")).to_be_visible()
    studio.open()
    studio.button("New workflow").click()
    studio.page.get_by_role("button", name="Two views").click()
    expect(studio.cards).to_have_count(3)
    studio.run("Something else, at once.")
    studio.expect_ended()
    studio.open()
    studio.button("New workflow").click()
    studio.page.locator("[data-testid=stPopoverBody]").get_by_role("button", name="Delete").click()
    expect(studio.page.get_by_text("Nothing saved yet.")).to_be_visible()


def _import(studio: Studio, text: str) -> None:
    studio.open()
    studio.button("New workflow").click()
    studio.page.get_by_role("radio", name="Import").click()
    studio.page.get_by_role("textbox", name="Workflow as text").fill(text)
    studio.button("Import").click()


def test_the_three_lists_are_imported_and_run(studio: Studio, app: App) -> None:
    _import(studio, LISTS)
    expect(studio.cards).to_have_count(2)
    studio.run(SKY)
    studio.expect_ended()
    assert studio.run_id
    kept = state(app.address, studio.run_id).workflow
    assert kept is not None
    assert [step.worker for step in kept.steps] == ["writer", "merger"]
    assert kept.steps[1].access == (kept.steps[0].step_id,)


def test_a_worker_that_the_pool_does_not_have_is_replaced_after_an_import(studio: Studio, app: App) -> None:
    _import(studio, STRANGE)
    expect(studio.page.get_by_text("The pool has no workers of these names.")).to_be_visible()
    studio.page.get_by_role("combobox", name="somebody").click()
    studio.page.get_by_role("option", name="merger").click()
    expect(studio.box(2).locator(".worker")).to_have_text("merger")
    studio.run(SKY)
    studio.expect_ended()
    assert studio.run_id
    assert state(app.address, studio.run_id).steps["s2"].worker == "merger"


def test_text_that_is_no_workflow_says_so(studio: Studio) -> None:
    _import(studio, "Once upon a time.")
    expect(studio.page.get_by_text("No workflow could be read from this text.")).to_be_visible()
    expect(studio.cards).to_have_count(0)


def test_a_follow_up_carries_the_conversation(studio: Studio, app: App) -> None:
    first = finished(app.address)
    studio.open(first)
    box = studio.page.get_by_role("textbox", name="Ask a follow-up")
    box.fill("And at sunset? (a follow-up)")
    box.press("Enter")
    expect(studio.answer).to_contain_text("As was said before")
    studio.expect_ended()
    assert studio.run_id and studio.run_id != first
    asked = state(app.address, studio.run_id)
    assert [message.role for message in asked.messages] == ["user", "assistant"]
    sent = asked.steps["s1"].messages
    assert sent and "Both agree" in sent[-1].content and SKY in sent[-1].content
    studio.page.get_by_text("The conversation so far (1 earlier)").click()
    expect(studio.page.get_by_test_id("stChatMessage")).to_have_count(2)


def test_an_empty_prompt_is_told_and_starts_nothing(studio: Studio, app: App) -> None:
    before = count_runs(app.address)
    studio.open()
    studio.write("   \n ")
    studio.go.click()
    expect(studio.page.get_by_text("There is no prompt yet.")).to_be_visible()
    expect(studio.page.get_by_text("or take one of the examples.")).to_be_visible()
    assert count_runs(app.address) == before
    studio.write("")
    studio.go.click()
    studio.button("A fact").click()
    expect(studio.prompt).to_have_value(
        "Which planet of the solar system has the most moons, and who discovered its largest one?"
    )


def test_a_prompt_of_a_megabyte_runs(studio: Studio, app: App) -> None:
    studio.open()
    studio.page.get_by_role("combobox", name="Conductor").click()
    studio.page.get_by_role("option", name="writer alone").click()
    studio.run("at once " + "a word or two " * 75_000)
    studio.expect_ended()
    assert studio.run_id and len(state(app.address, studio.run_id).prompt) > 1_000_000


def test_rounds_are_lanes_and_an_earlier_one_is_edited_and_run_alone(studio: Studio, app: App) -> None:
    studio.open()
    studio.button("No limits").click()
    rounds = studio.page.get_by_role("spinbutton", name="Rounds at most")
    rounds.fill("3")
    rounds.press("Enter")
    expect(studio.button("Up to 3 rounds")).to_be_visible()
    studio.page.keyboard.press("Escape")
    first = studio.run(f"{SKY} ROUNDS (at once)")
    studio.expect_ended()
    lanes = studio.page.locator(".lane .head")
    expect(lanes).to_have_text(
        ["Round 1", "Round 2", "Round 3The conductor looked at the answer and kept it."]
    )
    expect(studio.cards).to_have_count(3)
    expect(studio.page.get_by_text("3 steps · 3 rounds")).to_be_visible()
    studio.button("Export").click()
    expect(studio.page.get_by_role("link", name="Mermaid, round 2 only")).to_be_visible()
    studio.page.keyboard.press("Escape")
    studio.card(1).click()
    expect(studio.inspector).to_contain_text("Round 1, step 1.")
    studio.instruct("Draft an answer in two goes.")
    expect(studio.cards).to_have_count(1)
    fork = state(app.address, studio.run_again())
    assert fork.parent_run == first and fork.workflow is not None
    assert [step.instruction for step in fork.workflow.steps] == ["Draft an answer in two goes."]
