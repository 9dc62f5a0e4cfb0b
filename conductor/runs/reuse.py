"""When an earlier answer stands for a call: keys of results, and what a fork will run. Pure.

A key says everything that decides an answer: which model with which settings and profile, the exact messages,
and the how-manieth equal call of the run it is, so that five equal steps stay five samples.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conductor.providers.base import Worker
from conductor_client.workflow import Message, Step, Workflow


def result_key(
    worker: Worker,
    messages: Sequence[Message],
    *,
    settings: Mapping[str, Any],
    max_output_tokens: int | None,
    seed: int | None,
    sample: int,
) -> str:
    """SHA-256 in hex. ``settings`` are those of the call: the worker's, overridden by the request's.

    ``None`` for cap or seed means that none was sent, which is a value like any other.
    """
    identity = {
        "provider": worker.provider,
        "model": worker.model,
        "base_url": worker.base_url,
        "settings": dict(settings),
        "max_output_tokens": max_output_tokens,
        "seed": seed,
        "messages": [[each.role, each.content] for each in messages],
        "sample": sample,
    }
    if worker.profile:  # it decides which settings are sent, or which adapter a local model wears
        identity["profile"] = dict(worker.profile)
    text = json.dumps(identity, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def sample_index(step: Step, earlier: Iterable[Step]) -> int:
    """How many ``earlier`` steps of the run ask the same of the same worker; 0 for the first.

    Equal worker, instruction and access mean equal messages, so this is known before anything runs and
    does not depend on which of the equal steps starts first.
    """
    asked = (step.worker, step.instruction, step.access)
    return sum((each.worker, each.instruction, each.access) == asked for each in earlier)


def is_fresh(fresh: bool | Sequence[str], step_id: str) -> bool:
    """Whether the request wants this step called again. ``True`` means every step."""
    return fresh if isinstance(fresh, bool) else step_id in fresh


def split(workflow: Workflow, found: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Step ids that will run and that are reused, in order of position.

    ``found`` names the steps with a usable result. A step that sees one that will run will run too: what it
    is sent may change, so nothing better can be promised before.
    """
    usable = set(found)
    will_run: list[str] = []
    for step in workflow.steps:
        if step.step_id not in usable or any(seen in will_run for seen in step.access):
            will_run.append(step.step_id)
    reused = tuple(step.step_id for step in workflow.steps if step.step_id not in will_run)
    return tuple(will_run), reused
