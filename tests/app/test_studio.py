"""The Studio page: start once, see everything, edit without losing, fork what the edit touches."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from app import state
from conductor_client import events
from conductor_client.pool import ModelState, PoolProblem
from tests.app.clicks import send
from tests.app.conftest import Page
from tests.app.reading import graph, has_graph, texts
from tests.app.scripted_backend import ScriptedBackend, worker


def started(page: Page, prompt: str = "How many apples are left?") -> AppTest:
    at = page()
    at.text_area(key=state.PROMPT).set_value(prompt)
    at.button(key="studio.go").click().run()
    assert not at.exception
    return at


def selected(at: AppTest, step_id: str, section: str | None = None) -> AppTest:
    at.get_by_key("inspector.step").set_value(step_id).run()
    if section:
        at.get_by_key("inspector.section").set_value(section).run()
    assert not at.exception
    return at


# The empty page


def test_the_empty_page_invites_and_offers_examples(page: Page) -> None:
    at = page()
    assert "Write a prompt" in texts(at)
    assert not has_graph(at)
    at.button(key="example.0").click().run()
    assert at.text_area(key=state.PROMPT).value == "How many apples are left?"


def test_an_empty_prompt_is_refused_with_a_hint_and_starts_nothing(
    page: Page, backend: ScriptedBackend
) -> None:
    at = page()
    at.button(key="studio.go").click().run()
    assert "There is no prompt yet." in texts(at)
    assert "POST /api/runs" not in backend.asked


def test_without_a_usable_worker_run_is_off_and_says_why(page: Page, backend: ScriptedBackend) -> None:
    backend.workers = [worker("far", ready=False, missing="FAR_KEY is not set", how_to_get="Set FAR_KEY.")]
    at = page()
    assert at.button(key="studio.go").disabled
    assert "No worker can be used yet." in texts(at)
    assert "Set FAR_KEY." in texts(at)


def test_a_conductor_that_is_not_ready_says_why_and_another_can_be_chosen(
    page: Page, backend: ScriptedBackend
) -> None:
    backend.conductors[0] = backend.conductors[0].model_copy(
        update={"ready": False, "missing": "its file is missing", "how_to_get": "Fetch it."}
    )
    at = page()
    assert not at.button(key="studio.go").disabled, "the ready conductor is chosen first"
    at.selectbox(key=state.CONDUCTOR).set_value("local").run()
    assert at.button(key="studio.go").disabled
    assert "its file is missing" in texts(at)


def test_missing_models_show_their_progress_on_the_empty_page(page: Page, backend: ScriptedBackend) -> None:
    backend.models = [
        ModelState(name="tiny", state="fetching", bytes_done=25_000_000, bytes_total=100_000_000),
        ModelState(name="big", state="missing", bytes_total=1_000_000_000, how_to_get="Fetch it here."),
    ]
    at = page()
    assert at.progress[0].value == 25
    at.button(key="fetch.big").click().run()
    assert "POST /api/models/big/fetch" in backend.asked


def test_a_backend_that_does_not_answer_is_told_with_a_hint(page: Page, backend: ScriptedBackend) -> None:
    backend.is_down = True
    at = page()
    assert "could not be reached" in texts(at)
    assert "conductor-studio api" in texts(at)


# Starting


def test_run_starts_once_however_often_the_page_is_drawn(page: Page, backend: ScriptedBackend) -> None:
    at = started(page)
    for _ in range(3):
        at.run()
    assert list(backend.runs) == ["run_1"]
    assert at.query_params["run"] == "run_1"
    assert backend.asked.count("POST /api/runs") == 1


def test_a_second_click_while_it_runs_starts_nothing(page: Page, backend: ScriptedBackend) -> None:
    backend.steps = [("silent", "Think", [])]
    at = started(page)
    at.button(key="studio.go").click().run()
    assert list(backend.runs) == ["run_1"]


def test_the_same_prompt_runs_again_once_the_first_run_has_ended(
    page: Page, backend: ScriptedBackend
) -> None:
    at = started(page)
    at.button(key="studio.go").click().run()
    assert list(backend.runs) == ["run_1", "run_2"]
    assert at.query_params["run"] == "run_2"


def test_drawing_again_asks_only_for_newer_events(page: Page, backend: ScriptedBackend) -> None:
    at = started(page)
    backend.asked.clear()
    at.run()
    assert backend.asked == ["GET /api/runs/run_1/events"]


def test_the_form_s_choices_go_with_the_request(page: Page, backend: ScriptedBackend) -> None:
    at = page()
    at.text_area(key=state.PROMPT).set_value("Hi")
    at.multiselect(key=state.WORKERS).set_value(["echo"])
    at.number_input(key=state.MAX_STEPS).set_value(2)
    at.number_input(key=state.MAX_USD).set_value(0.05)
    at.number_input(key=state.MAX_WALL_S).set_value(30.0)
    at.button(key="studio.go").click().run()
    sent = backend.bodies[-1]
    assert sent["workers"] == ["echo"] and sent["conductor"] == "local"
    assert sent["options"]["max_steps"] == 2
    assert sent["limits"]["max_usd"] == "0.05" and sent["limits"]["max_wall_s"] == 30.0
    assert sent["limits"]["max_tokens"] is None
    assert sent["idempotency_key"]


def test_plan_first_executes_nothing_until_run_is_pressed(page: Page, backend: ScriptedBackend) -> None:
    at = page()
    at.toggle(key=state.PLAN_FIRST).set_value(True)
    at.text_area(key=state.PROMPT).set_value("Plan this")
    at.button(key="studio.go").click().run()
    assert backend.runs == {}
    assert [step["worker"] for step in graph(at)["workflow"]["steps"]] == ["echo", "echo", "echo"]
    assert "390 tokens" in texts(at) and "2.5 s" in texts(at)
    at.button(key="studio.go").click().run()
    assert backend.bodies[-1]["plan_id"] == "plan_1"
    assert at.query_params["run"] == "run_1"


def test_an_edited_plan_runs_as_edited(page: Page, backend: ScriptedBackend) -> None:
    at = page()
    at.toggle(key=state.PLAN_FIRST).set_value(True)
    at.text_area(key=state.PROMPT).set_value("Plan this")
    at.button(key="studio.go").click().run()
    selected(at, "s2")
    _press(at, "Remove")
    at.button(key="studio.go").click().run()
    assert backend.bodies[-1]["plan_id"] is None
    assert [step["step_id"] for step in backend.bodies[-1]["workflow"]["steps"]] == ["s1", "s3"]


def _press(at: AppTest, label: str) -> None:
    button = next(each for each in at.button if each.label == label)
    button.click().run()
    assert not at.exception


# A run


def test_the_address_of_a_run_opens_it_with_its_prompt(page: Page, backend: ScriptedBackend) -> None:
    started(page, "Asked earlier")
    other_tab = page(run="run_1")
    assert other_tab.text_area(key=state.PROMPT).value == "Asked earlier"
    assert graph(other_tab)["run_id"] == "run_1"


def test_an_unknown_run_says_so_and_leads_on(page: Page) -> None:
    assert "There is no run run_nowhere" in texts(page(run="run_nowhere"))


def test_answer_and_totals_of_a_finished_run(page: Page) -> None:
    at = started(page)
    said = texts(at)
    assert "Give the answer" in said
    assert "Calls: 3" in said and "Worker tokens: 390" in said and "Conductor tokens: 70" in said
    assert "Cost: $0" in said
    at.get_by_key("studio.answer_form").set_value("raw").run()
    assert "**Give the answer**" in [code.value for code in at.code]


def test_a_failed_run_says_why_and_never_succeeded(page: Page, backend: ScriptedBackend) -> None:
    backend.steps = [("echo", "One", []), ("fails", "Two", [0])]
    at = started(page)
    said = texts(at)
    assert "Step 2 failed." in said and "Edit it." in said
    assert "Done" not in said
    selected(at, "s2", "output")
    assert "Give the step to another worker." in texts(at)
    assert "I can" in [code.value for code in at.code]


def test_stop_cancels_and_keeps_the_text(page: Page, backend: ScriptedBackend) -> None:
    backend.steps = [("silent", "Think", [])]
    at = started(page)
    assert graph(at)["api"] == {"ws": "/api/runs/run_1/ws", "after": graph(at)["state"]["seq"]}
    at.button(key="run.stop").click().run()
    assert "POST /api/runs/run_1/cancel" in backend.asked
    assert "This run was stopped." in texts(at)
    selected(at, "s1", "output")
    assert "so far" in [code.value for code in at.code]


def test_a_run_without_a_plan_yet_shows_the_graph_and_waits(page: Page, backend: ScriptedBackend) -> None:
    started(page)
    backend.runs["run_2"] = []
    backend.add(
        "run_2",
        events.RunCreated(run_id="run_2", prompt="p", conductor="local"),
        events.PlanStarted(run_id="run_2", conductor="local"),
    )
    at = page(run="run_2")
    assert graph(at)["state"]["workflow"] is None
    assert "The conductor is writing a workflow…" in texts(at)


def test_unpriced_and_unknown_are_said_and_never_zero(page: Page, backend: ScriptedBackend) -> None:
    backend.steps = [("silent", "Think", [])]
    at = started(page)
    backend.add(
        "run_1",
        events.StepFinished(run_id="run_1", step_id="s1", attempt=1, worker="silent", output="x"),
        events.RunFinished(run_id="run_1", final_output="x"),
    )
    at.run()
    assert "Worker tokens: unknown" in texts(at)
    assert "Cost: unpriced" in texts(at)


# The inspector


def test_saw_shows_the_messages_byte_for_byte_and_names_what_was_withheld(
    page: Page, backend: ScriptedBackend
) -> None:
    backend.steps = [("echo", "One", []), ("echo", "Two", []), ("echo", "Three", [0])]
    at = selected(started(page), "s3", "saw")
    sent = backend.state("run_1").steps["s3"].messages[0].content
    assert sent in [code.value for code in at.code]
    assert "Withheld: Step 2" in texts(at).replace("*", "")


def test_reasoning_usage_and_attempts_have_their_places(page: Page) -> None:
    at = selected(started(page), "s1", "output")
    assert "Hm." in [code.value for code in at.code]
    at = selected(at, "s1", "usage")
    assert "tiny-1" in str(at.table[0].value).replace("\\", "")
    at = selected(at, "s1", "attempts")
    assert "Attempt 1" in texts(at)


def test_a_click_in_the_graph_opens_the_inspector(page: Page) -> None:
    at = started(page)
    send(at, "selected", "s2", is_state=True)
    assert graph(at)["selected"] == "s2"
    assert at.get_by_key("inspector.step").value == "s2"


# Drafts


def test_an_edit_says_before_the_click_what_will_run_and_what_is_reused(
    page: Page, backend: ScriptedBackend
) -> None:
    at = selected(started(page), "s3", "edit")
    _type_instruction(at, "s3", "Say it in French")
    said = texts(at)
    assert "1 step will run: Step 3" in said
    assert "2 reused: Step 1, Step 2" in said
    assert "130 tokens" in said and "unpriced" in said
    assert graph(at)["draft"] is True
    assert graph(at)["marks"] == {"s1": "reused", "s2": "reused", "s3": "will_run"}
    assert list(backend.runs) == ["run_1"]


def _type_instruction(at: AppTest, step_id: str, said: str) -> None:
    area = next(each for each in at.text_area if str(each.key).endswith(f".{step_id}.instruction"))
    area.set_value(said)
    next(each for each in at.button if str(each.key).endswith(f".{step_id}.apply")).click().run()
    assert not at.exception


def test_run_again_forks_once_and_opens_the_fork(page: Page, backend: ScriptedBackend) -> None:
    at = selected(started(page), "s3", "edit")
    _type_instruction(at, "s3", "Say it in French")
    at.button(key="edit.rerun").click().run()
    at.run()
    assert list(backend.runs) == ["run_1", "run_2"]
    assert at.query_params["run"] == "run_2"
    fork = backend.state("run_2")
    assert fork.final_output == "**Say it in French**"
    assert [fork.steps[each].status for each in ("s1", "s2", "s3")] == ["reused", "reused", "succeeded"]
    assert not graph(at)["draft"]


def test_both_branches_stay_when_the_original_is_edited_twice(page: Page, backend: ScriptedBackend) -> None:
    at = selected(started(page), "s1", "edit")
    _type_instruction(at, "s1", "First way")
    at.button(key="edit.rerun").click().run()
    at = selected(page(run="run_1"), "s1", "edit")
    _type_instruction(at, "s1", "Second way")
    at.button(key="edit.rerun").click().run()
    assert [backend.state(each).parent_run for each in backend.runs] == [None, "run_1", "run_1"]
    at.get_by_key("workbench.panel.3").set_value("lineage").run()
    said = texts(at)
    assert "Original" in said and "First way" in said and "Second way" in said


def test_an_edit_that_does_not_fit_is_told_and_loses_nothing(page: Page, backend: ScriptedBackend) -> None:
    at = selected(started(page), "s1", "edit")
    _type_instruction(at, "s1", "Kept")
    area = next(each for each in at.text_area if str(each.key).endswith(".s1.instruction"))
    area.set_value("   ")
    next(each for each in at.button if str(each.key).endswith(".s1.apply")).click().run()
    assert "would be empty" in texts(at)
    assert graph(at)["workflow"]["steps"][0]["instruction"] == "Kept"
    assert next(each for each in at.text_area if str(each.key).endswith(".s1.instruction")).value == "   "


def test_a_move_past_a_step_it_sees_names_the_edge(page: Page) -> None:
    at = selected(started(page), "s2", "edit")
    _press(at, "Earlier")
    assert "sees step 1 (s1)" in texts(at)
    assert not graph(at)["draft"]


def test_undo_takes_back_one_thing_and_discard_all(page: Page) -> None:
    at = selected(started(page), "s3", "edit")
    _type_instruction(at, "s3", "One")
    _type_instruction(at, "s3", "Two")
    at.button(key="edit.undo").click().run()
    assert graph(at)["workflow"]["steps"][2]["instruction"] == "One"
    at.button(key="edit.discard").click().run()
    assert not graph(at)["draft"]


def test_a_draft_survives_a_look_at_another_page(page: Page) -> None:
    at = selected(started(page), "s3", "edit")
    _type_instruction(at, "s3", "Kept over pages")
    at.switch_page("views/history.py").run()
    at.switch_page("views/studio.py").run()
    assert graph(at)["workflow"]["steps"][2]["instruction"] == "Kept over pages"


def test_removing_a_step_says_which_access_went_with_it(page: Page) -> None:
    at = selected(started(page), "s1", "edit")
    _press(at, "Remove")
    assert "Step 2 no longer sees Step 1" in texts(at)


def test_fresh_asks_a_step_again_without_any_change(page: Page, backend: ScriptedBackend) -> None:
    at = selected(started(page), "s2", "edit")
    next(each for each in at.toggle if ".fresh." in str(each.key)).set_value(True).run()
    assert "2 steps will run: Step 2, Step 3" in texts(at)
    at.button(key="edit.rerun").click().run()
    assert backend.bodies[-1]["fresh"] == ["s2"] and backend.bodies[-1]["edits"] == []


def test_fresh_for_all_runs_everything_again(page: Page, backend: ScriptedBackend) -> None:
    at = started(page)
    at.button(key="run.again").click().run()
    assert "3 steps will run" in texts(at)
    at.toggle(key=state.FRESH).set_value(False).run()
    assert not at.exception and "will run" not in texts(at)
    at.button(key="run.again").click().run()
    at.button(key="edit.rerun").click().run()
    assert backend.bodies[-1]["fresh"] is True


def test_a_drag_in_the_graph_becomes_an_edit_once(page: Page) -> None:
    at = started(page)
    base = graph(at)["state"]["workflow"]["workflow_id"]
    edit = {"op_id": "op_1", "base": base, "edits": [{"op": "set_access", "step_id": "s3", "access": ["s1"]}]}
    send(at, "edit", edit)
    assert graph(at)["workflow"]["steps"][2]["access"] == ["s1"]
    assert graph(at)["reply"] == {"op_id": "op_1", "ok": True, "message": "", "hint": ""}
    rev = graph(at)["rev"]
    send(at, "edit", edit)
    assert graph(at)["rev"] == rev, "the same operation again changes nothing"
    send(at, "undo", {"op_id": "op_2"})
    assert not graph(at)["draft"]


def test_a_drag_that_does_not_fit_is_answered_and_changes_nothing(page: Page) -> None:
    at = started(page)
    base = graph(at)["state"]["workflow"]["workflow_id"]
    send(
        at,
        "edit",
        {"op_id": "a", "base": base, "edits": [{"op": "set_access", "step_id": "s1", "access": ["s3"]}]},
    )
    assert graph(at)["reply"]["ok"] is False and "cannot see" in graph(at)["reply"]["message"]
    send(at, "edit", {"op_id": "b", "base": base, "edits": [{"op": "nonsense"}]})
    assert graph(at)["reply"]["ok"] is False
    send(at, "edit", {"op_id": "c", "base": "wf_other", "edits": [{"op": "remove_step", "step_id": "s1"}]})
    assert "changed meanwhile" in graph(at)["reply"]["message"]
    assert not graph(at)["draft"]


def test_a_live_connection_that_cannot_be_made_is_replaced_by_asking(
    page: Page, backend: ScriptedBackend
) -> None:
    backend.steps = [("silent", "Think", [])]
    at = started(page)
    send(at, "connection", {"run_id": "run_1", "is_up": False})
    backend.cancel("run_1")
    backend.asked.clear()
    at.run()
    assert "GET /api/runs/run_1/events" in backend.asked
    assert "This run was stopped." in texts(at)


def test_a_run_that_vanished_while_it_was_shown_is_told(page: Page, backend: ScriptedBackend) -> None:
    backend.steps = [("silent", "Think", [])]
    at = started(page)
    backend.hidden.add("run_1")
    send(at, "lost", {"run_id": "run_1"})
    assert "There is no run run_1" in texts(at)


def test_a_huge_output_is_cut_and_offered_whole(page: Page, backend: ScriptedBackend) -> None:
    huge = "lorem ipsum " * 1_700_000
    backend.steps = [("silent", "Write", [])]
    at = started(page)
    backend.add(
        "run_1",
        events.StepFinished(run_id="run_1", step_id="s1", attempt=1, worker="silent", output=huge),
        events.RunFinished(run_id="run_1", final_output=huge),
    )
    at.run()
    at = selected(at, "s1", "output")
    assert "The first 100,000 of 20,400,000 characters." in texts(at)
    assert "Download the whole text (20.4 MB)" in texts(at)
    assert max(len(str(code.value)) for code in at.code) <= 100_000
    assert len(json.dumps(graph(at))) < 100_000


# What a run is good for afterwards


def test_a_follow_up_carries_the_conversation(page: Page, backend: ScriptedBackend) -> None:
    at = started(page, "First question")
    at.chat_input(key="studio.follow_up").set_value("And then?").run()
    assert not at.exception
    second = backend.state("run_2")
    assert second.prompt == "And then?"
    assert [(each.role, each.content) for each in second.messages] == [
        ("user", "First question"),
        ("assistant", "**Give the answer**"),
    ]
    assert at.text_area(key=state.PROMPT).value == "And then?"
    at.chat_input(key="studio.follow_up").set_value("And last?").run()
    assert len(backend.state("run_3").messages) == 4


def test_a_workflow_is_used_on_another_prompt(page: Page, backend: ScriptedBackend) -> None:
    at = started(page)
    at.button(key="run.use").click().run()
    assert "run" not in at.query_params and at.text_area(key=state.PROMPT).value == ""
    at.text_area(key=state.PROMPT).set_value("Something else")
    at.button(key="studio.go").click().run()
    assert backend.state("run_2").plan is None
    assert [step.instruction for step in backend.state("run_2").workflow.steps] == [
        instruction for _, instruction, _ in backend.steps
    ]


def test_a_workflow_is_saved_loaded_and_forgotten(page: Page, backend: ScriptedBackend) -> None:
    at = started(page)
    at.text_input(key="library.name").set_value("Checked sum")
    at.button(key="library.save").click().run()
    assert list(backend.saved) == ["Checked sum"]
    at.text_input(key="library.name").set_value("Checked sum")
    at.button(key="library.save").click().run()
    assert "is taken" in texts(at)
    at = page()
    at.session_state["library"] = True
    at.run()
    at.button(key="saved.0").click().run()
    assert len(graph(at)["workflow"]["steps"]) == 3
    at.session_state["library"] = True
    at.run()
    at.button(key="saved.forget.0").click().run()
    assert backend.saved == {}


def test_an_import_with_unknown_workers_asks_who_does_their_steps(
    page: Page, backend: ScriptedBackend
) -> None:
    at = page()
    at.session_state["library"] = True
    at.run()
    at.get_by_key("library.kind").set_value("import").run()
    at.text_area(key="library.text").set_value("not a workflow")
    at.button(key="library.import").click().run()
    assert "No workflow could be read" in texts(at) and "this is no workflow" in texts(at)
    at.text_area(key="library.text").set_value("model_id = [0, 1]")
    at.button(key="library.import").click().run()
    assert "The pool has no workers of these names" in texts(at)
    at.selectbox(key="map.stranger").set_value("echo").run()
    assert [step["worker"] for step in graph(at)["workflow"]["steps"]] == ["echo", "echo"]
    at.text_area(key=state.PROMPT).set_value("Run it")
    at.button(key="studio.go").click().run()
    assert backend.state("run_1").status == "succeeded"


def test_exports_and_addresses_are_offered(page: Page) -> None:
    at = started(page)
    addresses = [element.proto.url for element in at.get("link_button")]
    for form in ("html", "json", "lists", "python", "mermaid", "dot", "svg"):
        assert f"/api/runs/run_1/export?format={form}" in addresses
    at.session_state["run.share"] = True
    at.run()
    assert "/share/run_1?key=k" in [element.proto.url for element in at.get("link_button")]


def test_the_conductor_s_card_keeps_evidence_and_self_report_apart(page: Page) -> None:
    at = started(page)
    at.get_by_key("workbench.panel.3").set_value("conductor").run()
    said = texts(at)
    assert "echo **90 %**" in said
    assert "A self-report" in said
    assert {"A: Write an expression", "I would rather check it."} <= {code.value for code in at.code}


@pytest.mark.parametrize("problem", ["[x](javascript:alert(1))", "![x](http://evil/?d=1)"])
def test_model_text_in_labels_and_errors_is_only_text(
    page: Page, backend: ScriptedBackend, problem: str
) -> None:
    backend.workers[0] = worker("echo", description=problem)
    assert isinstance(PoolProblem(file="f", said=problem), PoolProblem)
    at = page()
    assert problem not in "\n".join(str(caption.value) for caption in at.caption)
    assert problem in texts(at)
