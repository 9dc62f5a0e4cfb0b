"""Random and well-known workflows for the graph's tests."""

from __future__ import annotations

import random
from collections.abc import Sequence

from conductor_client.workflow import Step, Workflow

SHAPES: dict[str, Sequence[Sequence[int]]] = {
    "single": [[]],
    "chain": [[], [0], [1], [2], [3]],
    "everything before": [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]],
    "tree": [[], [], [0, 1]],
    "diamond": [[], [0], [0], [1, 2]],
    "many proposers": [[], [], [], [], [0, 1, 2, 3]],
    "two strands": [[], [0], [], [1, 2], [0, 3]],
    "unused steps": [[], [], [0], [], [2]],
}


def workflow_from(access: Sequence[Sequence[int]], *, worker: str = "qwen-0.5b") -> Workflow:
    """A workflow with these access lists; built past validation, so that it may have more than 32 steps."""
    steps = tuple(
        Step(
            step_id=f"s{at + 1}",
            position=at,
            instruction=f"Do part {at + 1}.",
            worker=worker,
            access=tuple(f"s{seen + 1}" for seen in sorted(seen_at)),
        )
        for at, seen_at in enumerate(access)
    )
    return Workflow.model_construct(workflow_id="wf_test", parent=None, prompt="What is it?", steps=steps)


def random_workflow(seed: int, *, steps: int, density: float) -> Workflow:
    """A workflow whose steps see each earlier step with probability ``density``."""
    chance = random.Random(seed)
    return workflow_from([[seen for seen in range(at) if chance.random() < density] for at in range(steps)])
