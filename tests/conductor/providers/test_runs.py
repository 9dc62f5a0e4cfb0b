"""Whole runs against the bad server, through the real SDKs: what is tried again, told, counted, passed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from conductor.prices import cost_of
from conductor.providers.base import Worker
from conductor.providers.registry import Providers
from conductor.runs.retry import RetryPolicy
from conductor_client.errors import StepErrorKind
from conductor_client.events import Limits, StepRetried
from conductor_client.usage import Usage
from tests.bad_server.answers import Form
from tests.bad_server.cases import BUSY_MARK
from tests.bad_server.server import BadServer, bad_server
from tests.conductor.stage import CENT_A_TOKEN, Stage

FORMS: tuple[Form, ...] = ("openai", "anthropic")
QUICK = RetryPolicy(base_s=0.02, draw=lambda: 1.0)
TOO_LONG_S = 20.0
"""Far more than anything here takes on a busy machine, and less than what it would take when it hangs."""
Playing = Callable[..., AbstractAsyncContextManager[tuple[Stage, BadServer]]]


@pytest.fixture
def playing(tmp_path: Path) -> Playing:
    """Opens a stage whose workers are models of a bad server, each named by its model."""

    @asynccontextmanager
    async def opened(*workers: tuple[str, Form], **fields: Any) -> AsyncIterator[tuple[Stage, BadServer]]:
        common = fields.pop("worker", {})
        async with bad_server() as server:
            made = [
                Worker(
                    **{"name": model, "provider": form, "model": model, "base_url": f"{server.url}/v1"}
                    | common
                )
                for model, form in workers
            ]
            named = {"retry": QUICK, **fields}
            async with Stage(tmp_path, *made, providers=Providers(tmp_path), **named) as stage:
                yield stage, server

    return opened


async def _retries(stage: Stage, run_id: str) -> list[StepRetried]:
    return [event for event in await stage.store.events(run_id) if isinstance(event, StepRetried)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("model", "wait_s"), [("12-one-of-many", 1.0), ("12-one-of-many-bare", 0.02)], ids=["header", "bare"]
)
async def test_one_of_eight_parallel_calls_gets_429_and_only_that_one_waits(
    playing: Playing, form: Form, model: str, wait_s: float
) -> None:
    tasks = [f"Task {number}" for number in range(8)]
    tasks[3] = f"Task 3 {BUSY_MARK}"
    async with playing((model, form), worker={"concurrency": 8}) as (stage, server):
        state = await stage.run([(model, task, []) for task in tasks])
        retries = await _retries(stage, state.run_id)
    assert state.status == "succeeded"
    assert [len(step.attempts) for step in state.steps.values()] == [1, 1, 1, 2, 1, 1, 1, 1]
    assert {step.output for step in state.steps.values()} == {"All is well."}
    told = [(each.step_id, each.error.kind, each.wait_s, each.next_worker) for each in retries]
    assert told == [("s4", "rate_limited", wait_s, model)]
    asked = [next(task for task in tasks if task in each.prompt) for each in server.asked]
    assert sorted(asked[:8]) == sorted(tasks), "all eight were asked at once"
    assert asked[8:] == [tasks[3]], "and one of them once more"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("model", "kind"), [("08-socket-cut", "stream_truncated"), ("09-overloaded-in-stream", "overloaded")]
)
async def test_an_answer_that_breaks_off_is_begun_anew_and_its_text_is_kept(
    playing: Playing, form: Form, model: str, kind: StepErrorKind
) -> None:
    async with playing((model, form)) as (stage, server):
        state = await stage.run([(model, "Do it.", [])])
    first, second = state.steps["s1"].attempts
    assert first.error is not None and first.error.kind == kind
    assert (first.partial_text, second.partial_text) == ("One two three ", "")
    assert (state.final_output, len(server.asked)) == ("All is well.", 2)
    assert not state.complete.usage, "nobody knows what the first one used"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", ["11-overloaded-529", "11-page-503", "11-empty-429"])
async def test_a_busy_server_is_asked_again_after_growing_gaps(
    playing: Playing, form: Form, model: str
) -> None:
    async with playing((model, form)) as (stage, server):
        state = await stage.run([(model, "Do it.", [])])
        retries = await _retries(stage, state.run_id)
    assert state.status == "succeeded"
    assert [each.wait_s for each in retries] == [0.02, 0.04]
    assert len(server.asked) == 3
    assert max(len(each.error.message) for each in retries) < 600


@pytest.mark.parametrize("form", FORMS)
async def test_a_long_wait_is_told_and_stop_ends_it_at_once(playing: Playing, form: Form) -> None:
    async with playing(("12-retry-after", form)) as (stage, server):
        run_id = await stage.start([("12-retry-after", "Do it.", [])])
        retried = await stage.until(run_id, "step_retried", "s1")
        assert isinstance(retried, StepRetried) and retried.wait_s == 30
        await stage.until_text(run_id, "Trying again in 30 s.")
        async with asyncio.timeout(TOO_LONG_S):
            await stage.engine.cancel(run_id)
        state = await stage.store.state(run_id)
    assert (state.status, state.steps["s1"].status) == ("cancelled", "cancelled")
    assert len(server.asked) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("05-empty", "empty_output"),
        ("06-only-thoughts", "truncated"),
        ("13-quota", "quota"),
        ("16-refused", "refused"),
        ("16-refused-in-words", "refused"),
        ("17-overflow-1", "context_overflow"),
    ],
)
async def test_what_would_fail_again_is_not_tried_again(
    playing: Playing, form: Form, model: str, kind: StepErrorKind
) -> None:
    async with playing((model, form)) as (stage, server):
        state = await stage.run([(model, "Do it.", [])])
    error = state.steps["s1"].error
    assert error is not None and (error.kind, error.retryable) == (kind, False)
    assert state.status == "failed" and len(server.asked) == 1


@pytest.mark.parametrize("form", FORMS)
async def test_a_prompt_that_does_not_fit_names_what_fills_it(playing: Playing, form: Form) -> None:
    async with playing(("23-unpriced", form), ("17-overflow-2", form)) as (stage, _):
        state = await stage.run([("23-unpriced", "Write.", []), ("17-overflow-2", "Use it.", [0])])
    error = state.steps["s2"].error
    assert error is not None and "fewer outputs" in error.hint
    assert "that of step 1 is the longest (12 characters)" in error.hint


async def test_a_worker_whose_account_is_empty_hands_over_to_another_vendor(playing: Playing) -> None:
    async with playing(("13-quota", "openai"), ("20-other-model", "anthropic")) as (stage, server):
        stage.workers["13-quota"] = replace(stage.workers["13-quota"], fallback="20-other-model")
        state = await stage.run([("13-quota", "Do it.", [])])
    assert [each.form for each in server.asked] == ["openai", "anthropic"]
    step = state.steps["s1"]
    assert [each.worker for each in step.attempts] == ["13-quota", "20-other-model"]
    assert (step.output, step.served_model) == ("All is well.", "gpt-5-mini")


def test_a_call_that_another_model_served_costs_what_that_one_costs() -> None:
    asked = Worker(name="w", provider="openai", model="gpt-5")
    usage = Usage(input_tokens=1_000, output_tokens=100)
    cost, price = cost_of(asked, usage, served_model="gpt-5-mini")
    assert price is not None and price.model == "gpt-5-mini"
    assert cost == cost_of(Worker(name="w", provider="openai", model="gpt-5-mini"), usage)[0]


@pytest.mark.parametrize("form", FORMS)
async def test_unknown_usage_makes_every_total_a_lower_bound(playing: Playing, form: Form) -> None:
    models = "04-no-usage", "19-cached"
    async with playing(*((model, form) for model in models), price=CENT_A_TOKEN) as (stage, _):
        state = await stage.run([(model, "Do it.", []) for model in models])
    assert state.steps["s1"].usage is None and state.steps["s1"].cost_usd is None
    assert (state.usage.input_tokens, state.usage.cached_input_tokens) == (17_903, 17_817)
    assert state.cost_usd == Decimal("179.08")
    assert (state.complete.usage, state.complete.cost) == (False, False)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", ["21-think-closed", "21-think-unopened"])
async def test_thoughts_are_kept_and_shown_to_nobody(playing: Playing, form: Form, model: str) -> None:
    thinking = {"profile": {"think_tags": True}}
    async with playing((model, form), ("04-no-usage", form), worker=thinking) as (stage, server):
        state = await stage.run([(model, "Think.", []), ("04-no-usage", "Use it.", [0])])
    assert (state.steps["s1"].output, state.steps["s1"].reasoning) == ("The answer.", "SECRET plan")
    assert "The answer." in server.asked[1].prompt and "SECRET" not in server.asked[1].prompt


@pytest.mark.parametrize("form", FORMS)
async def test_a_character_in_two_halves_is_stored_whole(playing: Playing, form: Form) -> None:
    async with playing(("22-emoji-halves", form)) as (stage, _):
        state = await stage.run([("22-emoji-halves", "Do it.", [])])
        stored = "".join(event.model_dump_json() for event in await stage.store.events(state.run_id))
    assert state.final_output == "a😀b" and "a😀b" in stored and "\ufffd" not in stored


async def test_a_model_without_a_price_is_unpriced_and_refused_under_a_limit(playing: Playing) -> None:
    async with playing(("23-unpriced", "openai")) as (stage, server):
        state = await stage.run([("23-unpriced", "Do it.", [])])
        limited = await stage.run([("23-unpriced", "Do it.", [])], limits=Limits(max_usd=Decimal(1)))
    assert state.status == "succeeded" and state.steps["s1"].cost_usd is None and not state.complete.cost
    assert limited.error is not None and "price of worker 23-unpriced is unknown" in limited.error.message
    assert len(server.asked) == 1


@pytest.mark.parametrize("form", FORMS)
async def test_what_a_server_refused_is_remembered_and_told_on_every_step(
    playing: Playing, form: Form
) -> None:
    worker = {"settings": {"temperature": 0}, "profile": {"api_version": "2023-06-01"}}
    async with playing(("15-temperature", form), worker=worker) as (stage, server):
        state = await stage.run([("15-temperature", "One.", []), ("15-temperature", "Two.", [0])])
    assert ["temperature" in each.body for each in server.asked] == [True, False, False]
    assert {step.notes for step in state.steps.values()} == {
        ("Left out temperature: the server does not take it.",)
    }


async def test_a_prompt_that_was_probably_cut_is_told_on_its_step(playing: Playing) -> None:
    async with playing(("18-prompt-cut", "openai"), worker={"profile": {"like": "ollama"}}) as (stage, _):
        state = await stage.run([("18-prompt-cut", "Do it.", [])])
    step = state.steps["s1"]
    assert step.prompt_cut and "fill its context of 4096 tokens" in step.notes[-1]
    assert "num_ctx" in step.notes[-1], "and what to do about it"


async def test_a_run_names_every_step_that_failed(playing: Playing) -> None:
    models = "16-refused", "13-quota", "05-empty"
    async with playing(*((model, "openai") for model in models)) as (stage, _):
        two = await stage.run([(model, "Do it.", []) for model in models[:2]])
        three = await stage.run([(model, "Do it.", []) for model in models])
    assert two.error is not None and two.error.message.endswith("refused to answer. Step 2 failed too.")
    assert three.error is not None and three.error.message.endswith("Steps 2 and 3 failed too.")
