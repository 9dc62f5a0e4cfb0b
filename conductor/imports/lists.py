"""The paper's three lists, through the one reader that knows them; ordinals become workers of a pool."""

from __future__ import annotations

import json
from collections.abc import Sequence

from conductor.exports.lists import POOL_COMMENT
from conductor.plans.plan_rules import PlanRules
from conductor.plans.reader import read_lists as read
from conductor_client.plan import Diagnostic
from conductor_client.workflow import MAX_STEPS

from .result import Imported, ImportedStep, checked, refused


def read_lists(text: str, pool: Sequence[str] = ()) -> Imported:
    """Reads three lists. A pool comment of ours above them wins over ``pool``, since the ordinals are its.

    Never raises: what cannot be understood is told in ``diagnostics``.
    """
    order = _own_pool(text) or tuple(pool)
    if not order:
        said = "The lists name workers by number; a pool is needed to know which ones they are."
        return refused("lists", "unknown_worker", "model_id", said)
    reading = read(text, PlanRules(n_workers=len(order), max_steps=MAX_STEPS))
    steps = [ImportedStep(order[step.worker], step.instruction, step.access) for step in reading.steps]
    noticed: tuple[Diagnostic, ...] = reading.diagnostics
    return checked("lists", steps, noticed)


def _own_pool(text: str) -> tuple[str, ...]:
    at = text.find(POOL_COMMENT)
    if at < 0:
        return ()
    try:
        names = json.loads(text[at + len(POOL_COMMENT) :].split("\n", 1)[0])
    except (ValueError, RecursionError):
        return ()
    is_order = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
    return tuple(names) if is_order else ()
