"""Estimates before anything is spent."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from hypothesis import given

from conductor.plans.estimate import ASSUMED_OUTPUT_TOKENS, Typical, estimate
from conductor.providers.base import Worker
from conductor_client.workflow import Message, Workflow, workflow_of
from tests.strategies import WORKERS, workflows

PRICED = {"input_usd_per_mtok": "1", "output_usd_per_mtok": "10"}
POOL = {
    "paid": Worker("paid", "openai", "m", base_url="https://m.example", price=PRICED),
    "unpriced": Worker("unpriced", "openai", "m", base_url="https://m.example"),
    "mine": Worker("mine", "local", "qwen-0.5b", profile={"tokens_per_s": 25}),
    "tool": Worker("tool", "tool", "calculator"),
}


def flow(*rows: tuple[str, list[int]]) -> Workflow:
    return workflow_of("p" * 400, [(worker, "i" * 40, access) for worker, access in rows])


def test_money_of_priced_steps() -> None:
    found = estimate(flow(("paid", [])), POOL)
    assert found.calls == 1
    assert found.output_tokens == ASSUMED_OUTPUT_TOKENS
    assert found.input_tokens == (400 + 40 + 80) // 4 + 1
    assert found.usd == (Decimal(found.input_tokens) + 10 * ASSUMED_OUTPUT_TOKENS) / 1_000_000


def test_one_unpriced_step_makes_the_sum_unknown_and_is_named() -> None:
    found = estimate(flow(("paid", []), ("unpriced", [])), POOL)
    assert found.usd is None
    assert "no price known for unpriced" in found.basis


def test_tools_and_own_models_cost_nothing() -> None:
    found = estimate(flow(("mine", []), ("tool", [0])), POOL)
    assert (found.usd, found.calls) == (Decimal(0), 2)


def test_what_a_step_sees_is_part_of_its_input() -> None:
    blind, seeing = (
        estimate(flow(("paid", []), ("paid", [])), POOL),
        estimate(flow(("paid", []), ("paid", [0])), POOL),
    )
    assert blind.input_tokens is not None
    assert seeing.input_tokens is not None
    assert seeing.input_tokens >= blind.input_tokens + ASSUMED_OUTPUT_TOKENS


def test_steps_side_by_side_take_the_time_of_one() -> None:
    one = estimate(flow(("mine", [])), POOL)
    assert estimate(flow(("mine", []), ("mine", [])), POOL).seconds == one.seconds
    chained = estimate(flow(("mine", []), ("mine", [0])), POOL).seconds
    assert chained is not None
    assert one.seconds is not None
    assert chained > 2 * one.seconds


def test_reused_steps_cost_nothing_and_their_output_is_known() -> None:
    workflow = flow(("paid", []), ("paid", [0]))
    found = estimate(workflow, POOL, only={"s2"}, outputs={"s1": "x" * 4_000})
    assert found.calls == 1
    assert found.input_tokens is not None
    assert found.input_tokens > 1_000
    assert estimate(workflow, POOL, only=set()).basis == "Nothing runs; every step is reused."


def test_record_beats_assumption_and_cap_beats_both() -> None:
    typical = {"mine": Typical(output_tokens=40, duration_s=1.5, calls=12)}
    found = estimate(flow(("mine", [])), POOL, typical=typical)
    assert (found.output_tokens, found.seconds) == (40, 1.5)
    assert "mine (12 calls)" in found.basis
    capped = {"mine": Worker("mine", "local", "qwen-0.5b", max_output_tokens=7)}
    assert estimate(flow(("mine", [])), capped, typical=typical).output_tokens == 7


def test_earlier_turns_count() -> None:
    turns = (Message(role="user", content="x" * 4_000),)
    more, less = estimate(flow(("paid", [])), POOL, messages=turns), estimate(flow(("paid", [])), POOL)
    assert more.input_tokens is not None
    assert less.input_tokens is not None
    assert more.input_tokens - less.input_tokens == 1_000


@given(workflows())
def test_any_workflow_can_be_estimated(workflow: Workflow) -> None:
    pool = {name: Worker(name, "openai", "m", base_url="https://m.example", price=PRICED) for name in WORKERS}
    found = estimate(workflow, pool)
    assert found.calls == len(workflow.steps)
    assert found.usd is not None
    assert found.usd > 0
    assert estimate(workflow, {}).usd is None


def test_what_a_worker_is_told_before_every_task_is_counted() -> None:
    told = {"paid": replace(POOL["paid"], system="s" * 4000)}
    plain, longer = (estimate(flow(("paid", [])), pool).input_tokens for pool in (POOL, told))
    assert plain is not None
    assert longer == plain + 1000
