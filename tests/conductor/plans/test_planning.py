"""From prompt to plan: one re-ask, then the default worker, and errors that are errors."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from conductor.conductors.generators import SingleWorker
from conductor.conductors.prompted import PromptedConductor
from conductor.plans.planning import PlanningRequest, plan_events, usable_workers
from conductor.pool import worker_info
from conductor.providers.base import Completion, Delta, Notice, Worker, WorkerError
from conductor_client.plan import Plan, PlanAttempt, PlanOptions
from conductor_client.usage import Usage
from tests.conductor.conductors.model import PRICED, WORKERS, PaperModel

GOOD = 'So.\nmodel_id = [0, 2]\nsubtasks = ["a", "b"]\naccess_list = [[], [0]]'
BAD = 'model_id = [9]\nsubtasks = ["a"]\naccess_list = [[]]'


def request(**fields: Any) -> PlanningRequest:
    conductor = fields.pop("conductor", PromptedConductor("prompted:writer", PRICED, PlanOptions()))
    made = {"prompt": "How many?", "workers": WORKERS, "default_worker": "gamma", "conductor": conductor}
    return PlanningRequest(**{**made, **fields})


async def plan(model: PaperModel, **fields: Any) -> tuple[Plan, list[Any]]:
    items = [item async for item in plan_events(request(**fields), model)]
    assert isinstance(items[-1], Plan)
    return items[-1], items[:-1]


async def test_a_good_text_becomes_a_plan() -> None:
    model = PaperModel(GOOD)
    made, before = await plan(model, seed=4)
    assert made.workflow is not None
    assert [(step.step_id, step.worker, step.instruction, step.access) for step in made.workflow.steps] == [
        ("s1", "alpha", "a", ()),
        ("s2", "gamma", "b", ("s1",)),
    ]
    assert made.workflow.prompt == "How many?"
    assert (made.decision, made.conductor, made.pool) == (
        "new",
        "prompted:writer",
        ("alpha", "calc", "gamma"),
    )
    assert (made.raw_text, made.reasoning, made.seed, made.fallback) == (GOOD, "So.", 4, None)
    assert made.choices == {"s1": None, "s2": None}
    assert (made.usage, made.cost_usd) == (Usage(input_tokens=100, output_tokens=10), Decimal("0.00011"))
    assert (made.model, made.estimate is not None, len(made.attempts)) == ("m-1", True, 1)
    assert before[0] == Notice("loading m")
    assert "".join(item.text for item in before if isinstance(item, Delta)) == GOOD
    Plan.model_validate_json(made.model_dump_json())


async def test_a_bad_text_is_asked_again_with_its_reasons() -> None:
    model = PaperModel(BAD, GOOD)
    made, before = await plan(model)
    assert "9 is no worker" in model.said(1)
    assert BAD in model.said(1)
    (rejected,) = [item for item in before if isinstance(item, PlanAttempt)]
    assert (rejected.raw_text, [each.code for each in rejected.diagnostics]) == (BAD, ["unknown_worker"])
    assert (made.decision, made.fallback) == ("new", None)
    assert [each.raw_text for each in made.attempts] == [BAD, GOOD]
    assert (made.usage, made.cost_usd) == (Usage(input_tokens=200, output_tokens=20), Decimal("0.00022"))


async def test_two_bad_texts_fall_back_to_the_default_worker() -> None:
    model = PaperModel(BAD, "I would rather not.")
    made, before = await plan(model)
    assert len(model.calls) == 2
    assert sum(isinstance(item, PlanAttempt) for item in before) == 2
    assert made.decision == "rejected"
    assert made.fallback is not None
    assert (made.fallback.worker, bool(made.fallback.reason)) == ("gamma", True)
    assert made.workflow is not None
    assert [(step.worker, step.instruction) for step in made.workflow.steps] == [("gamma", "How many?")]
    assert made.choices == {"s1": None}
    assert made.raw_text == "I would rather not."


async def test_fallback_when_the_default_may_not_be_used() -> None:
    made, _ = await plan(PaperModel(BAD, BAD), workers=WORKERS[:2])
    assert made.fallback is not None
    assert made.fallback.worker == "alpha"
    with pytest.raises(WorkerError) as no_model:
        await plan(PaperModel(BAD, BAD), workers=WORKERS[1:2])
    assert no_model.value.kind == "plan_failed"


async def test_one_unknown_usage_makes_the_sum_unknown() -> None:
    made, _ = await plan(PaperModel(BAD, Completion(GOOD)))
    assert (made.usage, made.cost_usd) == (None, None)


@pytest.mark.parametrize("kind", ["refused", "truncated", "empty_output"])
async def test_a_conductor_that_says_nothing_useful_is_asked_again(kind: Any) -> None:
    made, before = await plan(PaperModel(WorkerError(kind, "would not", partial_text="half"), GOOD))
    assert made.decision == "new"
    (rejected,) = [item for item in before if isinstance(item, PlanAttempt)]
    assert (rejected.raw_text, rejected.diagnostics[0].said) == ("half", "would not")


@pytest.mark.parametrize("kind", ["auth", "connection", "rate_limited", "unavailable"])
async def test_a_call_that_fails_is_an_error_and_no_fallback(kind: Any) -> None:
    with pytest.raises(WorkerError) as failed:
        await plan(PaperModel(WorkerError(kind, "broken")))
    assert failed.value.kind == kind


async def test_options_of_the_request_replace_the_conductors_own() -> None:
    made, _ = await plan(PaperModel(GOOD, GOOD), options=PlanOptions(access="binary", max_steps=1))
    assert made.fallback is not None
    assert made.options.max_steps == 1
    assert "too_many_steps" in [each.code for each in made.diagnostics]


async def test_second_round_numbers_on_and_may_keep_or_fail_without_fallback() -> None:
    made, _ = await plan(PaperModel(GOOD), round=2, first_step=4)
    assert made.workflow is not None
    assert [step.step_id for step in made.workflow.steps] == ["s4", "s5"]
    kept, _ = await plan(PaperModel("model_id=[]\nsubtasks=[]\naccess_list=[]"), round=2)
    assert (kept.decision, kept.workflow, kept.fallback, kept.estimate) == ("keep", None, None, None)
    lost, _ = await plan(PaperModel(BAD, BAD), round=2)
    assert (lost.decision, lost.workflow, lost.fallback) == ("rejected", None, None)


async def test_a_generator_costs_nothing() -> None:
    made, _ = await plan(PaperModel(), conductor=SingleWorker("gamma"))
    assert made.workflow is not None
    assert made.workflow.steps[0].worker == "gamma"
    assert (made.usage, made.cost_usd, made.model) == (
        Usage(input_tokens=0, output_tokens=0),
        Decimal(0),
        None,
    )


def test_usable_workers(tmp_path: Path) -> None:
    keyless = Worker("far", "openai", "gpt-5", api_key_env="OPENAI_API_KEY")
    workers = (keyless, *WORKERS)
    infos = [worker_info(each, tmp_path, environ={}) for each in workers]
    assert usable_workers(workers, infos) == WORKERS
    assert usable_workers(workers, infos, ["gamma", "alpha", "gamma"]) == (WORKERS[2], WORKERS[0])
    with pytest.raises(WorkerError, match="no worker 'nobody'"):
        usable_workers(workers, infos, ["nobody"])
    with pytest.raises(WorkerError, match="list of workers is empty") as refused:
        usable_workers(workers, infos, [])
    assert refused.value.kind == "bad_input" and "leave workers out" in refused.value.hint
    with pytest.raises(WorkerError, match="OPENAI_API_KEY is not set"):
        usable_workers(workers, infos, ["far"])
    with pytest.raises(WorkerError, match="no usable worker") as none:
        usable_workers((keyless,), infos[:1])
    assert "far: The environment variable OPENAI_API_KEY is not set." in none.value.hint
    with pytest.raises(WorkerError, match="no usable worker"):
        usable_workers((), ())
