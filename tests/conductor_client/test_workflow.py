"""A workflow that does not hold together cannot be made."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from conductor_client.usage import Usage, sum_cost, sum_usage
from conductor_client.workflow import Step, Workflow, workflow_of


def step(step_id: str, position: int, access: tuple[str, ...] = (), instruction: str = "do") -> Step:
    return Step(step_id=step_id, position=position, instruction=instruction, worker="a", access=access)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], "at least 1"),
        ([step("s1", 1)], "stands at 0"),
        ([step("s1", 0), step("s1", 1)], "must differ"),
        ([step("s1", 0, ("s1",))], "cannot see 's1'"),
        ([step("s1", 0, ("s2",)), step("s2", 1)], "cannot see 's2'"),
        ([step("s1", 0), step("s2", 1, ("s1", "s1"))], "twice"),
        ([step("s1", 0), step("s2", 1), step("s3", 2, ("s2", "s1"))], "order of position"),
        ([step(f"s{n}", n) for n in range(33)], "at most 32"),
    ],
)
def test_unsound_workflows_are_refused_with_the_reason(steps: list[Step], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Workflow(workflow_id="w", prompt="p", steps=tuple(steps))


def test_an_empty_instruction_is_refused() -> None:
    with pytest.raises(ValidationError, match="instruction is empty"):
        step("s1", 0, instruction=" \n")


def test_workflow_of_refuses_forward_references() -> None:
    with pytest.raises(ValueError, match="cannot see position 1"):
        workflow_of("p", [("a", "x", [1]), ("a", "y", [])])


def test_unknown_is_not_zero() -> None:
    assert Usage(input_tokens=3).total_tokens is None
    assert sum_usage([Usage(input_tokens=3, output_tokens=4), None]) == (
        Usage(input_tokens=3, output_tokens=4),
        False,
    )
    assert sum_usage([]) == (Usage(), True)
    assert sum_cost([None])[1] is False
