"""The browser folds events into what Python shows of a run, from any point of the run on."""

from __future__ import annotations

import json

import pytest

from components.workflow_graph.payload import view_of
from conductor_client.run_state import fold

from .event_logs import random_log
from .node import run_node


@pytest.mark.node
def test_the_browser_and_python_fold_alike() -> None:
    cases = []
    for seed in range(300):
        events = random_log(seed)
        prefix = 1 + seed * 7 % len(events)
        cases.append(
            {
                "seed": seed,
                "events": [json.loads(each.model_dump_json()) for each in events],
                "prefix": prefix,
                "before": view_of(fold(events[:prefix])),
                "after": view_of(fold(events)),
            }
        )
    kinds = {each["kind"] for case in cases for each in case["events"]}
    assert len(kinds) == 19, "the logs must hold every kind of event"
    assert run_node("check_fold.mjs", given=cases) == "300 logs agree\n"
