"""Topology against brute force over any workflow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor_client import topology
from conductor_client.workflow import Workflow, workflow_of
from tests.strategies import workflows


def every_path(workflow: Workflow) -> list[list[str]]:
    """Each chain of steps from one that sees nothing, extended as far as readers go, prefixes included."""
    found = [[step.step_id] for step in workflow.steps if not step.access]
    for path in found:
        found.extend([*path, step.step_id] for step in workflow.steps if path[-1] in step.access)
    return found


@given(workflows(max_steps=6), st.data())
def test_critical_path_is_the_longest_of_all_paths(workflow: Workflow, data: st.DataObject) -> None:
    seconds = {step.step_id: data.draw(st.integers(1, 50)) / 4 for step in workflow.steps}
    path, length = topology.critical_path(workflow, seconds)
    longest = max(sum(seconds[step_id] for step_id in each) for each in every_path(workflow))
    assert length == pytest.approx(longest)
    assert length == pytest.approx(sum(seconds[step_id] for step_id in path))


@given(workflows())
def test_layers_hold_every_step_once_below_all_it_sees(workflow: Workflow) -> None:
    rows = topology.layers(workflow)
    flat = [step_id for row in rows for step_id in row]
    assert sorted(flat) == sorted(step.step_id for step in workflow.steps)
    depth = {step_id: number for number, row in enumerate(rows) for step_id in row}
    for seen, by in topology.edges(workflow):
        assert depth[seen] < depth[by]
    for step in workflow.steps:
        assert depth[step.step_id] == 1 + max((depth[seen] for seen in step.access), default=-1)


@given(workflows())
def test_upstream_is_what_a_step_sees_and_all_that_those_see(workflow: Workflow) -> None:
    for step in workflow.steps:
        deeper = [topology.upstream(workflow, seen) for seen in step.access]
        assert topology.upstream(workflow, step.step_id) == frozenset(step.access).union(*deeper)


@given(workflows())
def test_unused_steps_are_those_the_last_never_reaches(workflow: Workflow) -> None:
    last = workflow.final_step.step_id
    every = {step.step_id for step in workflow.steps}
    assert topology.unused(workflow) == every - {last} - topology.upstream(workflow, last)


@pytest.mark.parametrize(
    ("access", "kind"),
    [
        ([[]], "single"),
        ([[], [0], [1]], "chain"),
        ([[], [0], [0, 1]], "chain"),
        ([[], [], [0, 1]], "tree"),
        ([[], [], [0], [1, 2]], "tree"),
        ([[], [0], [0], [1, 2]], "other"),
        ([[], []], "other"),
    ],
)
def test_classes(access: list[list[int]], kind: str) -> None:
    assert topology.classify(workflow_of("p", [("a", "x", row) for row in access])) == kind
