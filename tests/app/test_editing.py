"""Editing a run: by form, by graph, by table; what will run is said first; nothing is lost; forks stay."""

from __future__ import annotations

import json

import pytest

from app import state
from tests.app.backend import Backend
from tests.app.clicks import send
from tests.app.conftest import Page
from tests.app.reading import graph, texts
from tests.app.studio_page import go, instruct, opened, press, rerun, selected, started


def test_an_edit_says_before_the_click_what_will_run_and_what_is_reused(page: Page, backend: Backend) -> None:
    at = selected(started(page, backend), "s3", "edit")
    instruct(at, "s3", "Say it in French")
    said = texts(at)
    assert "1 step will run: Step 3" in said
    assert "2 reused: Step 1, Step 2" in said
    assert "1 call ·" in said and "tokens" in said
    assert graph(at)["marks"] == {"s1": "reused", "s2": "reused", "s3": "will_run"}
    assert backend.runs() == [opened(at)]


def test_the_preview_is_asked_once_per_draft(page: Page, backend: Backend) -> None:
    at = instruct(selected(started(page, backend), "s3", "edit"), "s3", "Say it in French")
    backend.asked.clear()
    at.run()
    at.get_by_key("inspector.section").set_value("output").run()
    assert not [asked for asked in backend.asked if asked.endswith("/fork")]


def test_run_again_forks_once_and_opens_the_fork(page: Page, backend: Backend) -> None:
    at = instruct(selected(started(page, backend), "s3", "edit"), "s3", "Say it in French")
    first = opened(at)
    at = rerun(at, backend)
    at.run()
    assert backend.runs() == [first, opened(at)]
    fork = backend.run(opened(at))
    assert fork.parent_run == first and fork.final_output == "**Say it in French**"
    assert [fork.steps[each].status for each in ("s1", "s2", "s3")] == ["reused", "reused", "succeeded"]
    assert not graph(at)["draft"]
    assert "Calls: 1" in texts(at)


def test_both_branches_stay_when_the_original_is_edited_twice(page: Page, backend: Backend) -> None:
    at = instruct(selected(started(page, backend), "s1", "edit"), "s1", "First way")
    first = opened(at)
    rerun(at, backend)
    at = instruct(selected(page(run=first), "s1", "edit"), "s1", "Second way")
    at = rerun(at, backend)
    assert [backend.run(each).parent_run for each in backend.runs()] == [None, first, first]
    at.get_by_key("workbench.panel.run").set_value("lineage").run()
    said = texts(at)
    assert "Original" in said and "First way" in said and "Second way" in said
    assert any(f"run={first}" in link.proto.query_string for link in at.page_link)


def test_an_edit_that_does_not_fit_is_told_and_loses_nothing(page: Page, backend: Backend) -> None:
    at = instruct(selected(started(page, backend), "s1", "edit"), "s1", "Kept")
    instruct(at, "s1", "   ")
    assert "The instruction of Step 1 is empty." in texts(at)
    assert graph(at)["workflow"]["steps"][0]["instruction"] == "Kept"
    assert next(each for each in at.text_area if str(each.key).endswith(".s1.instruction")).value == "   "


def test_a_move_past_a_step_it_sees_names_the_edge(page: Page, backend: Backend) -> None:
    at = press(selected(started(page, backend), "s2", "edit"), "Earlier")
    assert "sees step 1." in texts(at)
    assert not graph(at)["draft"]


def test_undo_takes_back_one_thing_and_discard_all(page: Page, backend: Backend) -> None:
    at = selected(started(page, backend), "s3", "edit")
    instruct(at, "s3", "One")
    instruct(at, "s3", "Two")
    at.button(key="edit.undo").click().run()
    assert graph(at)["workflow"]["steps"][2]["instruction"] == "One"
    at.button(key="edit.discard").click().run()
    assert not graph(at)["draft"]


def test_a_draft_survives_a_look_at_another_page(page: Page, backend: Backend) -> None:
    at = instruct(selected(started(page, backend), "s3", "edit"), "s3", "Kept over pages")
    at.switch_page("views/history.py").run()
    at.switch_page("views/studio.py").run()
    assert graph(at)["workflow"]["steps"][2]["instruction"] == "Kept over pages"


def test_removing_a_step_says_which_access_went_with_it(page: Page, backend: Backend) -> None:
    at = press(selected(started(page, backend), "s1", "edit"), "Remove")
    assert "Step 2 no longer sees Step 1" in texts(at)


def test_a_step_is_added_after_another_and_seen_by_the_next(page: Page, backend: Backend) -> None:
    at = press(selected(started(page, backend), "s1", "edit"), "Add after")
    assert [step["step_id"] for step in graph(at)["workflow"]["steps"]] == ["s1", "s4", "s2", "s3"]
    at = instruct(selected(at, "s4", "edit"), "s4", "Look again")
    assert backend.run(opened(rerun(at, backend))).steps["s4"].status == "succeeded"


def test_fresh_asks_a_step_again_without_any_change(page: Page, backend: Backend) -> None:
    at = selected(started(page, backend), "s2", "edit")
    next(each for each in at.toggle if ".fresh." in str(each.key)).set_value(True).run()
    assert "will run: Step 2" in texts(at)
    fork = backend.run(opened(rerun(at, backend)))
    assert fork.steps["s1"].status == "reused" and fork.steps["s2"].status == "succeeded"


def test_run_again_asks_everything_again_and_can_be_taken_back(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    at.button(key="run.again").click().run()
    assert "3 steps will run" in texts(at)
    at.toggle(key=state.FRESH).set_value(False).run()
    assert not at.exception and "will run" not in texts(at)
    at.button(key="run.again").click().run()
    fork = backend.run(opened(rerun(at, backend)))
    assert {step.status for step in fork.steps.values()} == {"succeeded"}


def test_a_failed_step_runs_again_with_the_one_that_needs_it(page: Page, backend: Backend) -> None:
    at = selected(started(page, backend, "plan-fails"), "s2", "edit")
    at.selectbox(key=next(str(each.key) for each in at.selectbox if ".s2.worker" in str(each.key))).set_value(
        "echo"
    )
    at = press(at, "Apply")
    assert "1 step will run: Step 2" in texts(at) and "1 reused: Step 1" in texts(at)
    assert backend.run(opened(rerun(at, backend))).status == "succeeded"


# In the graph


def test_a_drag_in_the_graph_becomes_an_edit_once(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    base = graph(at)["state"]["workflow"]["workflow_id"]
    edits = [{"op": "set_access", "step_id": "s3", "access": ["s1"]}]
    edit = {"op_id": "op_1", "base": base, "edits": edits}
    send(at, "edit", edit)
    assert graph(at)["workflow"]["steps"][2]["access"] == ["s1"]
    assert graph(at)["reply"] == {"op_id": "op_1", "ok": True, "message": "", "hint": ""}
    rev = graph(at)["rev"]
    send(at, "edit", edit)
    assert graph(at)["rev"] == rev, "the same operation again changes nothing"
    send(at, "undo", {"op_id": "op_2"})
    assert not graph(at)["draft"] and graph(at)["rev"] > rev


@pytest.mark.parametrize(
    ("base", "edits", "said"),
    [
        (None, [{"op": "set_access", "step_id": "s1", "access": ["s3"]}], "cannot see"),
        (None, [{"op": "nonsense"}], "could not be understood"),
        (None, "nonsense", "could not be understood"),
        ("wf_other", [{"op": "remove_step", "step_id": "s1"}], "changed meanwhile"),
        (None, [{"op": "set_worker", "step_id": "s1", "worker": "nobody"}], "no worker 'nobody'"),
    ],
)
def test_a_drag_that_does_not_fit_is_answered_and_changes_nothing(
    page: Page, backend: Backend, base: str | None, edits: object, said: str
) -> None:
    at = started(page, backend)
    present = graph(at)["state"]["workflow"]["workflow_id"]
    send(at, "edit", {"op_id": "op_1", "base": base or present, "edits": edits})
    assert graph(at)["reply"]["ok"] is False and said in graph(at)["reply"]["message"]
    assert not graph(at)["draft"]


# What a run is good for afterwards


def test_a_follow_up_carries_the_conversation(page: Page, backend: Backend) -> None:
    at = started(page, backend, "First question")
    at.chat_input(key="studio.follow_up").set_value("And then?").run()
    assert not at.exception
    second = backend.ended(opened(at))
    assert second.prompt == "And then?"
    assert [(each.role, each.content) for each in second.messages] == [
        ("user", "First question"),
        ("assistant", "**Give the answer**"),
    ]
    assert at.text_area(key=state.PROMPT).value == "And then?"
    at.run()
    at.chat_input(key="studio.follow_up").set_value("And last?").run()
    assert len(backend.run(opened(at)).messages) == 4


def test_a_workflow_is_used_on_another_prompt(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    at.button(key="run.use").click().run()
    assert "run" not in at.query_params and at.text_area(key=state.PROMPT).value == ""
    at.text_area(key=state.PROMPT).set_value("Something else")
    run = backend.ended(opened(go(at)))
    assert run.plan is None and run.prompt == "Something else"
    assert [step.instruction for step in run.workflow.steps][-1] == "Give the answer"


def test_a_workflow_is_saved_loaded_and_forgotten(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    for _ in range(2):
        at.text_input(key="library.name").set_value("Checked sum")
        at.button(key="library.save").click().run()
    assert [saved.name for saved in backend.client.workflows()] == ["Checked sum"]
    assert "Checked sum" in texts(at) and at.error, "the second time the name is taken"
    at = page()
    at.session_state["library"] = True
    at.run()
    at.button(key="saved.0").click().run()
    assert len(graph(at)["workflow"]["steps"]) == 3
    at.session_state["library"] = True
    at.run()
    at.button(key="saved.forget.0").click().run()
    assert backend.client.workflows() == ()


def test_an_import_with_unknown_workers_asks_who_does_their_steps(page: Page, backend: Backend) -> None:
    at = page()
    at.session_state["library"] = True
    at.run()
    at.get_by_key("library.kind").set_value("import").run()
    at.text_area(key="library.text").set_value("not a workflow")
    at.button(key="library.import").click().run()
    assert "No workflow could be read" in texts(at)
    steps = [
        {"worker": "stranger", "instruction": "Do it"},
        {"worker": "echo", "instruction": "Check it", "access": [0]},
    ]
    text = json.dumps({"steps": steps})
    at.text_area(key="library.text").set_value(text)
    at.button(key="library.import").click().run()
    assert not at.exception
    assert [step["worker"] for step in graph(at)["workflow"]["steps"]] == ["stranger", "echo"]
    assert "The pool has no workers of these names" in texts(at)
    at.selectbox(key="map.stranger").set_value("echo").run()
    assert [step["worker"] for step in graph(at)["workflow"]["steps"]] == ["echo", "echo"]
    at.text_area(key=state.PROMPT).set_value("Run it")
    assert backend.ended(opened(go(at))).status == "succeeded"


def test_exports_and_addresses_are_offered(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    addresses = [element.proto.url for element in at.get("link_button")]
    for form in ("html", "json", "lists", "python", "mermaid", "dot", "svg"):
        assert f"/api/runs/{opened(at)}/export?format={form}" in addresses
        assert backend.client.export(opened(at), form).content
    at.session_state["run.share"] = True
    at.run()
    links = [element.proto.url for element in at.get("link_button")]
    assert backend.client.share(opened(at)).path in links


def test_an_untouched_table_says_so_when_it_is_applied(page: Page, backend: Backend) -> None:
    at = press(started(page, backend), "Apply the table")
    assert [each.value for each in at.info] == ["Nothing in the table was changed\\."]
    assert not at.run().info


def test_no_two_buttons_are_called_the_same(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    assert "Run again…" in [each.label for each in at.button]
    at = press(at, "Run again…")
    assert at.button(key="edit.rerun").label == "Run again: 3 steps"
    assert "Run again…" not in [each.label for each in at.button]
