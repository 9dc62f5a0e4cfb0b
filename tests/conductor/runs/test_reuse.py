"""Keys of answers, and what a fork will run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.providers.base import Worker
from conductor.runs.reuse import is_fresh, result_key, sample_index, split
from conductor_client.topology import upstream
from conductor_client.workflow import Message, Workflow, workflow_of
from tests.strategies import workflows

WORKER = Worker(name="a", provider="openai", model="m", base_url="http://h/v1", settings={"temperature": 0.2})
SENT = (Message(role="user", content="Hello"),)


def _key(worker: Worker = WORKER, messages: tuple[Message, ...] = SENT, **changes: Any) -> str:
    given = {"settings": worker.settings, "max_output_tokens": 100, "seed": 1, "sample": 0} | changes
    return result_key(worker, messages, **given)


@pytest.mark.parametrize(
    "changed",
    [
        _key(replace(WORKER, provider="anthropic")),
        _key(replace(WORKER, model="n")),
        _key(replace(WORKER, base_url="http://other/v1")),
        _key(settings={"temperature": 0.3}),
        _key(replace(WORKER, profile={"sampling": False})),
        _key(messages=(Message(role="user", content="Hello "),)),
        _key(messages=(Message(role="system", content="Hello"),)),
        _key(messages=(*SENT, *SENT)),
        _key(max_output_tokens=101),
        _key(max_output_tokens=None),
        _key(seed=2),
        _key(seed=None),
        _key(sample=1),
    ],
)
def test_whatever_decides_an_answer_changes_its_key(changed: str) -> None:
    assert changed != _key()


def test_what_does_not_decide_an_answer_leaves_its_key() -> None:
    same = replace(
        WORKER, name="b", tags=("x",), description="y", concurrency=9, api_key_env="KEY", fallback="c"
    )
    assert _key(same) == _key()
    assert _key(settings={"b": 1, "a": {"d": 2, "c": 3}}) == _key(settings={"a": {"c": 3, "d": 2}, "b": 1})
    assert len(_key()) == 64


def test_five_equal_steps_are_five_samples() -> None:
    workflow = workflow_of("Q", [("w", "Solve it.", [])] * 5)
    samples = [sample_index(step, workflow.steps[: step.position]) for step in workflow.steps]
    assert samples == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "second", [("other", "Solve it.", []), ("w", "Solve it!", []), ("w", "Solve it.", [0])]
)
def test_a_step_that_differs_in_anything_is_no_further_sample(second: tuple[str, str, list[int]]) -> None:
    workflow = workflow_of("Q", [("w", "Solve it.", []), second])
    assert sample_index(workflow.steps[1], workflow.steps[:1]) == 0


@given(st.data(), workflows(max_steps=8))
def test_what_runs_and_what_is_reused_add_up(data: st.DataObject, workflow: Workflow) -> None:
    ids = [step.step_id for step in workflow.steps]
    found = data.draw(st.sets(st.sampled_from(ids)))
    will_run, reused = split(workflow, found)
    assert sorted([*will_run, *reused]) == sorted(ids)
    for step_id in ids:
        is_reused = step_id in found and all(seen in found for seen in upstream(workflow, step_id))
        assert (step_id in reused) is is_reused


def test_fresh_means_every_step_or_the_named_ones() -> None:
    assert is_fresh(True, "s1") and not is_fresh(False, "s1")
    assert is_fresh(("s1",), "s1") and not is_fresh(("s2",), "s1")
