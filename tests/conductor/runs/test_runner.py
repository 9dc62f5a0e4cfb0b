"""A run from its first to its last event."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from conductor_client.run_state import fold
from conductor_client.workflow import Workflow, workflow_of
from tests.conductor.stage import Stage, scripted
from tests.strategies import WORKERS, workflows


async def test_a_run_shows_what_each_step_was_sent_and_answered(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "One."}), scripted("b", {"text": "Two."})) as stage:
        state = await stage.run([("a", "First.", []), ("b", "Second.", [0]), ("b", "Third.", [])])
    assert state.status == "succeeded" and state.final_output == "Two." and not state.partial
    second = state.steps["s2"]
    assert second.output == "Two." and second.visible == ("s1",) and second.withheld == ()
    assert "One." in second.messages[-1].content
    assert state.steps["s3"].withheld == ("s1", "s2")
    assert "One." not in state.steps["s3"].messages[-1].content
    assert second.usage is not None and second.usage.output_tokens == 1
    assert state.wall_s is not None and state.critical_path_s is not None


async def test_two_steps_see_only_the_prompt_and_not_a_word_of_each_other(tmp_path: Path) -> None:
    """Behaviour row 7: neither step reads a word of the other."""
    workers = scripted("a", {"text": "alpha-mark"}), scripted("b", {"text": "beta-mark"})
    async with Stage(tmp_path, *workers) as stage:
        state = await stage.run([("a", "one", []), ("b", "two", [])])
    for step_id in ("s1", "s2"):
        sent = " ".join(message.content for message in state.steps[step_id].messages)
        assert "mark" not in sent and "What is it?" in sent


async def test_steps_with_disjoint_access_run_at_once(tmp_path: Path) -> None:
    """Behaviour row 6: steps with disjoint access run at once."""
    async with Stage(tmp_path, scripted("a", model="fake-400-1-0")) as stage:
        state = await stage.run([("a", "one", []), ("a", "two", []), ("a", "three", [])])
    assert state.wall_s is not None and state.wall_s < 0.8
    assert state.chained_s is not None and state.chained_s > 1.1


async def test_a_failed_step_takes_along_what_depends_on_it_and_nothing_else(tmp_path: Path) -> None:
    workers = (
        scripted("bad", {"fail": "bad_request", "fail_message": "No such model."}),
        scripted("ok", {"text": "x"}),
    )
    async with Stage(tmp_path, *workers) as stage:
        state = await stage.run(
            [("bad", "one", []), ("ok", "two", [0]), ("ok", "three", [1]), ("ok", "four", [])]
        )
    statuses = {step_id: step.status for step_id, step in state.steps.items()}
    assert statuses == {"s1": "failed", "s2": "skipped", "s3": "skipped", "s4": "succeeded"}
    assert (state.steps["s2"].cause, state.steps["s3"].cause) == ("s1", "s2")
    assert "step 1, which failed: No such model." in state.steps["s2"].said
    assert state.status == "failed" and state.partial and state.final_output == "x"
    assert state.error is not None and state.error.message == "Step 1 failed: No such model."


async def test_the_run_never_says_success_over_a_failed_step_the_answer_does_not_use(tmp_path: Path) -> None:
    """Behaviour row 2: never success over a failed step."""
    workers = scripted("bad", {"fail": "refused"}), scripted("ok", {"text": "x"})
    async with Stage(tmp_path, *workers) as stage:
        state = await stage.run([("bad", "one", []), ("ok", "two", [])])
    assert state.status == "failed" and state.final_output == "x" and state.partial
    error = state.steps["s1"].error
    assert error is not None and error.kind == "refused" and len(state.steps["s1"].attempts) == 1


async def test_an_empty_answer_is_a_failure_with_its_usage(tmp_path: Path) -> None:
    """Behaviour row 13: an empty answer fails its step, kind `empty_output`, with reason and usage."""
    async with Stage(tmp_path, scripted("a", {"text": ""}), scripted("b", {"text": "x"})) as stage:
        state = await stage.run([("a", "one", []), ("b", "two", [0])])
    failed = state.steps["s1"]
    assert failed.error is not None and failed.error.kind == "empty_output" and failed.error.hint
    assert failed.usage is not None and failed.usage.input_tokens
    assert state.steps["s2"].status == "skipped"


async def test_an_answer_cut_at_its_cap_is_an_answer_with_a_note(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"tokens": 50}, max_output_tokens=5)) as stage:
        state = await stage.run([("a", "one", [])])
    assert state.status == "succeeded" and state.steps["s1"].finish == "length"
    assert any("cut off" in note for note in state.steps["s1"].notes)


async def test_reasoning_is_kept_and_never_passed_on(tmp_path: Path) -> None:
    workers = scripted("a", {"text": "x", "reasoning": "secret-thought"}), scripted("b", {"text": "y"})
    async with Stage(tmp_path, *workers) as stage:
        state = await stage.run([("a", "one", []), ("b", "two", [0])])
    assert state.steps["s1"].reasoning == "secret-thought"
    assert "secret-thought" not in state.steps["s2"].messages[-1].content


async def test_a_worker_that_is_not_in_the_pool_fails_its_step(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        state = await stage.run([("gone", "one", []), ("a", "two", [])])
    error = state.steps["s1"].error
    assert error is not None and error.kind == "unavailable" and "no worker gone" in error.message
    assert state.steps["s2"].status == "succeeded"


async def test_each_try_is_an_event_and_the_last_one_counts(tmp_path: Path) -> None:
    script = ({"text": "half way", "fail": "overloaded", "fail_after": 1, "times": 2}, {"text": "done"})
    async with Stage(tmp_path, scripted("a", *script)) as stage:
        state = await stage.run([("a", "one", [])])
        kinds = [event.kind for event in await stage.store.events(state.run_id)]
    step = state.steps["s1"]
    assert step.output == "done" and [each.attempt for each in step.attempts] == [1, 2, 3]
    assert [each.partial_text for each in step.attempts] == ["half ", "half ", ""]
    assert kinds.count("step_retried") == 2 and kinds.count("step_queued") == 1
    assert step.usage is not None and step.usage.output_tokens == 3


async def test_after_four_tries_the_fallback_answers_and_is_named(tmp_path: Path) -> None:
    workers = (
        scripted("a", {"fail": "connection"}, fallback="b"),
        scripted("b", {"text": "from b"}),
    )
    async with Stage(tmp_path, *workers) as stage:
        state = await stage.run([("a", "one", [])])
        assert stage.calls == {"a": 4, "b": 1}
    step = state.steps["s1"]
    assert step.worker == "b" and step.output == "from b"
    assert [each.worker for each in step.attempts] == ["a", "a", "a", "a", "b"]


async def test_a_pause_that_a_worker_asked_for_is_shown_while_it_lasts(tmp_path: Path) -> None:
    script = ({"fail": "rate_limited", "retry_after_s": 0.4, "times": 1}, {"text": "now"})
    async with Stage(tmp_path, scripted("a", *script)) as stage:
        run_id = await stage.start([("a", "one", [])])
        await stage.until_text(run_id, "Trying again in 0 s")
        state = await stage.ended(run_id)
    assert state.steps["s1"].attempts[0].wait_s == 0.4
    assert state.wall_s is not None and state.wall_s >= 0.4


async def test_a_worker_does_so_many_calls_at_once(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", model="fake-200-1-0", concurrency=1)) as stage:
        state = await stage.run([("a", "one", []), ("a", "two", []), ("a", "three", [])])
    waited = sorted(step.attempts[0].waited_s or 0 for step in state.steps.values())
    assert waited[0] < 0.1 and 0.1 < waited[1] < 0.3 and 0.3 < waited[2] < 0.6


async def test_whoever_comes_late_gets_the_text_so_far(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", model="fake-0-40-20")) as stage:
        run_id = await stage.start([("a", "one", [])])
        await asyncio.sleep(0.4)
        text = ""
        async for item in stage.hub.subscribe(run_id):
            if hasattr(item, "offset"):
                assert item.offset in (0, len(text))
                text = item.text if item.offset == 0 else text + item.text
        state = await stage.ended(run_id)
    assert state.final_output is not None and state.final_output.startswith(text) and len(text) > 100


@given(workflows(max_steps=7), st.sets(st.sampled_from(WORKERS)), st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_whatever_fails_every_step_ends_once_and_the_run_tells_the_truth(
    workflow: Workflow, failing: set[str], slowness: int
) -> None:
    async def scenario(folder: Path) -> None:
        workers = [
            scripted(
                name,
                {"fail": "refused"} if name in failing else {"tokens": 3},
                {"text": "never"},
                model="demo",
            )
            for name in WORKERS
        ]
        async with Stage(folder, *workers) as stage:
            run_id = await stage.start(workflow)
            await asyncio.sleep(slowness / 1000)
            state = await stage.ended(run_id)
            events = await stage.store.events(run_id)
        assert fold(events) == state
        last_words = {"step_finished", "step_failed", "step_skipped"}
        ended = [event.step_id for event in events if event.kind in last_words]  # type: ignore[union-attr]
        assert sorted(ended) == sorted(step.step_id for step in workflow.steps)
        for step in workflow.steps:
            seen = [state.steps[each].status for each in step.access]
            if any(status != "succeeded" for status in seen):
                expected = "skipped"
            else:
                expected = "failed" if step.worker in failing else "succeeded"
            assert state.steps[step.step_id].status == expected
        is_good = all(step.status == "succeeded" for step in state.steps.values())
        assert state.status == ("succeeded" if is_good else "failed")

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


async def test_a_prompt_of_a_megabyte_goes_through(tmp_path: Path) -> None:
    prompt = "long prompt " * 90_000
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        state = await stage.run(workflow_of(prompt, [("a", "one", []), ("a", "two", [0])]))
    assert state.status == "succeeded" and prompt in state.steps["s2"].messages[-1].content


async def test_an_answer_of_twenty_megabytes_is_kept_whole(tmp_path: Path) -> None:
    """Behaviour row 20: an output of 20 MB."""
    text = "0123456789abcdef " * 1_200_000
    async with Stage(tmp_path, scripted("a", {"text": text})) as stage:
        run_id = await stage.start([("a", "one", [])])
        state = await stage.ended(run_id)
    assert state.final_output == text


async def test_a_context_that_is_too_small_names_what_fills_it(tmp_path: Path) -> None:
    workers = (
        scripted("short", {"text": "brief"}),
        scripted("long", {"text": "word " * 500}),
        scripted("small", {"fail": "context_overflow", "fail_message": "Too long."}),
    )
    async with Stage(tmp_path, *workers) as stage:
        state = await stage.run([("short", "one", []), ("long", "two", []), ("small", "three", [0, 1])])
    error = state.steps["s3"].error
    assert error is not None and error.kind == "context_overflow" and not error.retryable
    assert error.hint.endswith("that of step 2 is the longest (2,500 characters).")
    assert "Step 3 sees 2 of the outputs" in error.hint
