"""Starting steps: at once when they may, never before, and each ends exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.runs.scheduler import GOOD, Outcome, run_steps
from conductor_client.workflow import Step, Workflow, workflow_of
from tests.strategies import workflows
from tests.virtual_time import run_virtually


class _Recorder:
    """Plays steps of given length and outcome, and notes when they began and ended."""

    def __init__(self, seconds: Mapping[str, float], failing: frozenset[str] = frozenset()) -> None:
        self.seconds, self.failing = seconds, failing
        self.began: dict[str, float] = {}
        self.ended: dict[str, float] = {}
        self.skipped: dict[str, str] = {}
        self.cancelled: list[str] = []

    async def execute(self, step: Step) -> Outcome:
        loop = asyncio.get_running_loop()
        assert step.step_id not in self.began
        self.began[step.step_id] = loop.time()
        try:
            await asyncio.sleep(self.seconds[step.step_id])
        except asyncio.CancelledError:
            self.cancelled.append(step.step_id)
            raise
        self.ended[step.step_id] = loop.time()
        return "failed" if step.step_id in self.failing else "succeeded"

    async def skip(self, step: Step, cause: str) -> None:
        assert step.step_id not in self.skipped
        self.skipped[step.step_id] = cause
        self.ended[step.step_id] = asyncio.get_running_loop().time()


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Workflow, dict[str, float], frozenset[str]]:
    workflow = draw(workflows(max_steps=10))
    ids = [step.step_id for step in workflow.steps]
    seconds = {step_id: draw(st.integers(0, 20)) / 4 for step_id in ids}
    return workflow, seconds, frozenset(draw(st.sets(st.sampled_from(ids))))


@given(_cases())
def test_a_step_starts_the_moment_everything_it_sees_is_there(
    case: tuple[Workflow, dict[str, float], frozenset[str]],
) -> None:
    workflow, seconds, failing = case
    record = _Recorder(seconds, failing)
    outcomes = run_virtually(run_steps(workflow, record.execute, record.skip))
    assert set(outcomes) == {step.step_id for step in workflow.steps}
    for step in workflow.steps:
        bad = [seen for seen in step.access if outcomes[seen] not in GOOD]
        if bad:
            assert outcomes[step.step_id] == "skipped"
            assert record.skipped[step.step_id] == bad[0]
            assert step.step_id not in record.began
        else:
            assert outcomes[step.step_id] == ("failed" if step.step_id in failing else "succeeded")
            ready = max((record.ended[seen] for seen in step.access), default=0.0)
            assert record.began[step.step_id] == pytest.approx(ready, abs=1e-9)


@given(_cases(), st.floats(0, 10))
def test_a_cancelled_run_starts_nothing_more(
    case: tuple[Workflow, dict[str, float], frozenset[str]], after: float
) -> None:
    workflow, seconds, _ = case
    record = _Recorder(seconds)

    async def scenario() -> None:
        running = asyncio.create_task(run_steps(workflow, record.execute, record.skip))
        await asyncio.sleep(after)
        running.cancel()
        await asyncio.wait([running])
        begun = dict(record.began)
        await asyncio.sleep(100)
        assert record.began == begun
        assert set(begun) == set(record.ended) | set(record.cancelled)

    run_virtually(scenario())


def test_two_steps_with_disjoint_access_take_the_time_of_one() -> None:
    """Behaviour row 6: two steps of 10 s with disjoint access take 10 s."""
    workflow = workflow_of("Q", [("a", "one", []), ("b", "two", [])])
    record = _Recorder({"s1": 10.0, "s2": 10.0})

    async def scenario() -> float:
        await run_steps(workflow, record.execute, record.skip)
        return asyncio.get_running_loop().time()

    assert run_virtually(scenario()) == pytest.approx(10.0)


def test_what_an_earlier_process_did_is_not_done_again() -> None:
    workflow = workflow_of("Q", [("a", "one", []), ("b", "two", []), ("c", "three", [0]), ("d", "four", [1])])
    record = _Recorder({step.step_id: 1.0 for step in workflow.steps})
    known: dict[str, Outcome] = {"s1": "succeeded", "s2": "failed"}
    outcomes = run_virtually(run_steps(workflow, record.execute, record.skip, known=known))
    assert set(record.began) == {"s3"}
    assert outcomes == {"s1": "succeeded", "s2": "failed", "s3": "succeeded", "s4": "skipped"}


def test_a_step_that_does_not_let_go_delays_a_stop_by_less_than_a_second() -> None:
    workflow = workflow_of("Q", [("a", "one", [])])

    async def stubborn(step: Step) -> Outcome:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            await asyncio.sleep(50)
        return "succeeded"

    async def scenario() -> float:
        running = asyncio.create_task(run_steps(workflow, stubborn, _Recorder({}).skip))
        await asyncio.sleep(1)
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled()
        took = asyncio.get_running_loop().time() - 1
        await asyncio.sleep(100)
        return took

    assert run_virtually(scenario()) < 1.0


def test_a_mistake_in_one_step_stops_the_others_and_is_raised() -> None:
    workflow = workflow_of("Q", [("a", "one", []), ("b", "two", [])])
    cancelled = []

    async def execute(step: Step) -> Outcome:
        if step.step_id == "s1":
            raise RuntimeError("a mistake")
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cancelled.append(step.step_id)
            raise
        return "succeeded"

    with pytest.raises(RuntimeError, match="a mistake"):
        run_virtually(run_steps(workflow, execute, _Recorder({}).skip))
    assert cancelled == ["s2"]
