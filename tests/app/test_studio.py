"""The Studio page: what it offers when it is empty, starting once, planning first, showing a run."""

from __future__ import annotations

import json

import pytest

from app import state
from conductor_client.pool import ModelState
from tests.app.backend import NO_KEY, PLANNER, POOL, Backend
from tests.app.clicks import send
from tests.app.conftest import Page, Serve
from tests.app.reading import graph, has_graph, texts
from tests.app.studio_page import begun, go, instruct, opened, press, selected, started, typed

# The empty page


def test_the_empty_page_invites_and_offers_examples(page: Page, backend: Backend) -> None:
    at = page()
    assert "Write a prompt" in texts(at)
    assert not has_graph(at)
    at.button(key="example.0").click().run()
    assert at.text_area(key=state.PROMPT).value == backend.client.examples()[0].prompt


@pytest.mark.parametrize("prompt", ["", "  \n "])
def test_an_empty_prompt_is_refused_with_a_hint_and_starts_nothing(
    page: Page, backend: Backend, prompt: str
) -> None:
    at = go(typed(page, prompt))
    assert "There is no prompt yet." in texts(at)
    assert backend.runs() == []


def test_without_a_usable_worker_run_is_off_and_says_why(page: Page, serve: Serve) -> None:
    serve(NO_KEY)
    at = page()
    assert at.button(key="studio.go").disabled
    assert "No worker can be used yet." in texts(at)
    assert "FAR_KEY" in texts(at)


def test_chosen_workers_that_cannot_be_used_are_told(page: Page, serve: Serve) -> None:
    serve(POOL + NO_KEY)
    at = page()
    at.multiselect(key=state.WORKERS).set_value(["far"]).run()
    assert at.button(key="studio.go").disabled
    assert "None of the chosen workers can be used yet." in texts(at)


def test_a_conductor_that_is_not_ready_says_why(page: Page, backend: Backend) -> None:
    at = page()
    at.selectbox(key=state.CONDUCTOR).set_value("local").run()
    assert at.button(key="studio.go").disabled
    assert "cannot be used yet" in texts(at)
    at.selectbox(key=state.CONDUCTOR).set_value(PLANNER).run()
    assert not at.button(key="studio.go").disabled


def test_a_ready_conductor_is_chosen_at_first(page: Page, backend: Backend) -> None:
    at = page(conductor="no such conductor")
    assert not at.button(key="studio.go").disabled


def test_missing_models_show_their_progress_on_the_empty_page(page: Page, backend: Backend) -> None:
    models = (
        ModelState(name="tiny", state="fetching", bytes_done=25_000_000, bytes_total=100_000_000),
        ModelState(name="big", state="missing", bytes_total=1_000_000_000, how_to_get="Fetch it here."),
    )
    backend.answer("GET /api/models", models)
    backend.answer("POST /api/models/big/fetch", models[1])
    at = page()
    assert at.progress[0].value == 25
    assert "Fetch it here." in texts(at)
    at.button(key="fetch.big").click().run()
    assert backend.count("POST /api/models/big/fetch") == 1


def test_a_backend_that_does_not_answer_is_told_with_a_hint(page: Page, backend: Backend) -> None:
    backend.is_down = True
    at = page()
    assert len(at.error) == 1
    said = at.error[0].value
    assert "does not answer" in said and "“conductor\\-studio api”" in said
    assert "refused" not in said and "`" not in said
    assert len(at.run().error) == 1


# Starting


def test_run_starts_once_however_often_the_page_is_drawn(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    for _ in range(3):
        at.run()
    assert backend.runs() == [opened(at)]
    assert backend.count("POST /api/runs") == 1


def test_a_click_on_run_asks_for_the_new_run_once_before_it_is_drawn(page: Page, backend: Backend) -> None:
    at = page(conductor="prompted:silent")  # plans for ever, so the page waits for the plan
    at.text_area(key=state.PROMPT).set_value("Think")
    backend.asked.clear()
    go(at)
    asked = [each for each in backend.asked if "/api/runs" in each]
    assert asked == ["POST /api/runs", f"GET /api/runs/{opened(at)}"]


def test_a_second_click_while_it_runs_starts_nothing(page: Page, backend: Backend) -> None:
    at = go(go(typed(page, "plan-silent")))
    assert backend.runs() == [opened(at)]


def test_a_start_whose_answer_got_lost_is_found_again(
    page: Page, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = typed(page)
    real = backend.client.start_run

    def lost(request: object) -> object:
        real(request)  # type: ignore[arg-type]  # handed through
        backend.client.health()
        backend.is_down = True
        try:
            return backend.client.health()
        finally:
            backend.is_down = False

    monkeypatch.setattr(backend.client, "start_run", lost)
    assert "does not answer" in texts(go(at))
    monkeypatch.setattr(backend.client, "start_run", real)
    at = go(at)
    assert backend.runs() == [opened(at)]


def test_the_same_prompt_runs_again_once_the_first_run_has_ended(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    first = opened(at)
    at = go(at)
    assert backend.runs() == [first, opened(at)]


def test_drawing_again_asks_only_for_newer_events(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    backend.asked.clear()
    at.run()
    assert backend.asked == [f"GET /api/runs/{opened(at)}/events"]


def test_the_form_s_choices_go_with_the_request(page: Page, backend: Backend) -> None:
    at = typed(page)
    at.multiselect(key=state.WORKERS).set_value(["echo"])
    at.number_input(key=state.MAX_STEPS).set_value(2)
    at.number_input(key=state.MAX_USD).set_value(0.05)
    at.number_input(key=state.MAX_WALL_S).set_value(30.0)
    go(at)
    sent = backend.bodies[-1]
    assert sent["workers"] == ["echo"] and sent["conductor"] == PLANNER
    assert sent["options"]["max_steps"] == 2
    assert sent["limits"]["max_usd"] == "0.05" and sent["limits"]["max_wall_s"] == 30.0
    assert sent["limits"]["max_tokens"] is None
    assert sent["idempotency_key"]


# Planning first


def test_plan_first_executes_nothing_until_run_is_pressed(page: Page, backend: Backend) -> None:
    at = typed(page)
    at.toggle(key=state.PLAN_FIRST).set_value(True)
    at = go(at)
    assert backend.runs() == []
    assert [step["worker"] for step in graph(at)["workflow"]["steps"]] == ["echo", "echo", "echo"]
    assert "3 calls" in texts(at)
    plan_id = at.session_state["_sketch"].plan.plan_id
    at = go(at)
    assert backend.bodies[-1]["plan_id"] == plan_id
    assert backend.ended(opened(at)).final_output == "**Give the answer**"


def test_a_plan_has_an_address_that_a_reload_and_a_second_tab_open(page: Page, backend: Backend) -> None:
    at = typed(page)
    at.toggle(key=state.PLAN_FIRST).set_value(True)
    at = go(at)
    plan_id = at.session_state["_sketch"].plan.plan_id
    assert plan_id in at.query_params["plan"]
    other = page(plan=plan_id)
    assert graph(other)["workflow"] == graph(at)["workflow"]
    assert other.text_area(key=state.PROMPT).value == at.text_area(key=state.PROMPT).value
    other = go(other)
    assert backend.bodies[-1]["plan_id"] == plan_id and "plan" not in other.query_params
    assert "There is no plan plan_nowhere" in texts(page(plan="plan_nowhere"))


def test_an_edited_plan_runs_as_edited(page: Page, backend: Backend) -> None:
    at = typed(page)
    at.toggle(key=state.PLAN_FIRST).set_value(True)
    at = go(at)
    at.get_by_key("inspector.step").set_value("s2").run()
    at = go(press(at, "Remove"))
    run = backend.ended(opened(at))
    assert [step.instruction for step in run.workflow.steps] == ["Write an expression", "Give the answer"]


def test_a_plan_for_another_prompt_is_not_run_on_this_one(page: Page, backend: Backend) -> None:
    at = typed(page)
    at.toggle(key=state.PLAN_FIRST).set_value(True)
    at = go(at)
    at.text_area(key=state.PROMPT).set_value("plan-apart")
    at = go(at)
    assert backend.runs() == []
    assert [step["instruction"] for step in graph(at)["workflow"]["steps"]] == ["One", "Two", "Three"]


# A run


def test_the_address_of_a_run_opens_it_with_its_prompt(page: Page, backend: Backend) -> None:
    run_id = backend.start("Asked earlier")
    other_tab = page(run=run_id)
    assert other_tab.text_area(key=state.PROMPT).value == "Asked earlier"
    assert graph(other_tab)["run_id"] == run_id
    other_tab.text_area(key=state.PROMPT).set_value("  ")
    assert go(other_tab).text_area(key=state.PROMPT).value == "  ", "what was typed since stays"


def test_an_unknown_run_says_so_and_leads_on(page: Page, backend: Backend) -> None:
    assert "There is no run run_nowhere" in texts(page(run="run_nowhere"))


def test_answer_and_totals_of_a_finished_run(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    run = backend.run(opened(at))
    said = texts(at)
    assert "Give the answer" in said
    assert "Calls: 3" in said
    assert f"Worker tokens: {run.usage.total_tokens:,}" in said
    assert f"Conductor tokens: {run.orchestration_usage.total_tokens:,}" in said
    assert "Cost: $0" in said
    at.get_by_key("studio.answer_form").set_value("raw").run()
    assert "**Give the answer**" in [code.value for code in at.code]


def test_a_failed_run_says_why_and_never_done(page: Page, backend: Backend) -> None:
    at = started(page, backend, "plan-fails")
    said = texts(at)
    assert "Failed" in said and backend.run(opened(at)).error.message in said
    assert "Done" not in said
    selected(at, "s2", "output")
    assert "The worker refused." in texts(at)
    assert "I can" in "".join(code.value for code in at.code)


def test_stop_cancels_and_keeps_the_text(page: Page, backend: Backend) -> None:
    at = begun(page, backend)
    run_id = opened(at)
    assert graph(at)["api"] == {"ws": f"/api/runs/{run_id}/ws", "after": graph(at)["state"]["seq"]}
    at.button(key="run.stop").click().run()
    backend.ended(run_id)
    at.run()
    assert "This run was stopped. Unfinished: Step 1." in texts(at)
    selected(at, "s1", "output")
    assert "so " in [code.value for code in at.code]
    assert "Partial" in texts(at)


def test_unpriced_and_unknown_are_said_and_never_zero(page: Page, backend: Backend) -> None:
    at = started(page, backend, "plan-vague")
    assert "Worker tokens: unknown" in texts(at)
    assert "Cost: unpriced" in texts(at)


def test_a_live_connection_that_cannot_be_made_is_replaced_by_asking(page: Page, backend: Backend) -> None:
    at = begun(page, backend)
    send(at, "connection", {"run_id": opened(at), "is_up": False})
    backend.cancel(opened(at))
    backend.ended(opened(at))
    backend.asked.clear()
    at.run()
    assert backend.count(f"GET /api/runs/{opened(at)}/events") == 1
    assert "This run was stopped. Unfinished: Step 1." in texts(at)


def test_a_run_that_vanished_while_it_was_shown_is_told(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    backend.delete(opened(at))
    send(at, "lost", {"run_id": opened(at)})
    assert f"There is no run {opened(at)}" in texts(at)


def test_a_huge_output_is_cut_and_offered_whole(page: Page, serve: Serve) -> None:
    huge = "lorem ipsum " * 150_000
    script = f'profile.script = [{{ text = "{huge}" }}]'
    backend = serve(f'[[worker]]\nname = "echo"\nprovider = "scripted"\nmodel = "scripted-1"\n{script}\n')
    at = page(run=backend.start("Long", conductor="single:echo"))
    at = selected(at, "s1", "output")
    assert "The first 100,000 of 1,800,000 characters." in texts(at)
    assert "Download the whole text (1.8 MB)" in texts(at)
    assert max(len(str(code.value)) for code in at.code) <= 100_000
    assert len(json.dumps(graph(at))) < 100_000


# The inspector


def test_context_shows_the_messages_byte_for_byte_and_names_what_was_withheld(
    page: Page, backend: Backend
) -> None:
    at = started(page, backend, "plan-apart")
    at = selected(at, "s3", "saw")
    sent = [message.content for message in backend.run(opened(at)).steps["s3"].messages]
    assert sent and set(sent) <= {code.value for code in at.code}
    assert "Withheld: Step 2" in texts(at).replace("*", "")


def test_reasoning_usage_and_attempts_have_their_places(page: Page, backend: Backend) -> None:
    at = selected(started(page, backend), "s3", "output")
    assert "Hm." in [code.value for code in at.code]
    at = selected(at, "s3", "usage")
    assert "tiny-1" in str(at.table[0].value).replace("\\", "")
    at = selected(at, "s3", "attempts")
    assert "Attempt 1" in texts(at)


def test_a_click_in_the_graph_opens_the_inspector(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    send(at, "selected", "s2", is_state=True)
    assert graph(at)["selected"] == "s2"
    assert at.get_by_key("inspector.step").value == "s2"


def test_the_conductor_s_card_keeps_its_text_and_its_self_report_apart(page: Page, backend: Backend) -> None:
    at = started(page, backend)
    at.get_by_key("workbench.panel.run").set_value("conductor").run()
    plan = backend.run(opened(at)).plan
    assert "A self-report" in texts(at)
    assert {plan.raw_text, plan.reasoning} <= {code.value for code in at.code}


def test_probabilities_are_shown_per_step() -> None:
    from app.conductor_card import distribution

    assert distribution({"a_b": 0.1, "c": 0.895, "d": 0.005}) == "c **90 %** · a\\_b **10 %** · d **<1 %**"


@pytest.mark.parametrize("said", ["[x](javascript:alert(1))", "![x](http://evil/?d=1)", ":red[hot] $x$"])
def test_text_of_a_pool_file_is_only_text(page: Page, serve: Serve, said: str) -> None:
    serve(POOL.replace("repeats what it is told", said))
    at = page()
    assert said not in "\n".join(str(caption.value) for caption in at.caption)
    assert said in texts(at)


def test_one_megabyte_of_prompt_runs(page: Page, backend: Backend) -> None:
    at = go(typed(page, "apple " * 170_000))
    assert backend.ended(opened(at)).status == "succeeded"


def test_a_prompt_that_is_too_long_is_refused_and_kept(page: Page, backend: Backend) -> None:
    at = go(typed(page, "apple " * 400_000))
    assert at.error and backend.runs() == []
    assert len(at.text_area(key=state.PROMPT).value) == 2_400_000


def test_an_instruction_from_the_form_is_drawn_as_a_draft(page: Page, backend: Backend) -> None:
    at = instruct(selected(started(page, backend), "s3", "edit"), "s3", "Say it in French")
    assert graph(at)["draft"] is True


def test_a_bug_is_a_sentence_on_the_page_and_a_traceback_in_the_log(
    page: Page, backend: Backend, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("app.prompt_form.draw", broken)
    said = texts(page())
    assert "has a bug" in said and "secret detail" not in said
    assert "secret detail" in caplog.text and "Traceback" in caplog.text
    caplog.clear()
