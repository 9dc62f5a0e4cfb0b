"""Our JSON: a run export, a run as the API gives it, a workflow, a saved one, or a request's bare steps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from conductor.characters import whole
from conductor_client.workflow import MAX_STEPS

from .result import Imported, ImportedStep, checked, refused

_HOLDERS = ("workflow", "state", "plan", "run")
"""Keys under which a workflow may lie, in the order they are looked at; ``steps`` of a run are states."""


class NotJson(ValueError):
    """The text is no JSON."""


def parsed(text: str) -> Any:
    """The JSON of the text. Raises ``NotJson``, also for nesting or numbers no workflow has."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise NotJson(str(problem)) from problem


def read_json(text: str) -> Imported:
    """Reads a workflow from JSON. Never raises: what cannot be understood is told in ``diagnostics``."""
    try:
        data = parsed(text)
    except NotJson as problem:
        return refused("json", "unparsable", "the whole text", f"This is no JSON: {problem}")
    found = _steps_in(data)
    if found is None:
        said = "No workflow was found: no list of steps with 'worker' and 'instruction' anywhere in it."
        return refused("json", "unparsable", "the whole text", said)
    steps, prompt = found
    if len(steps) > MAX_STEPS:
        said = f"It has {len(steps)} steps; at most {MAX_STEPS} are possible."
        return refused("json", "too_many_steps", "steps", said)
    read = []
    places = {step["step_id"]: place for place, step in enumerate(steps) if _is_id(step.get("step_id"))}
    for place, step in enumerate(steps):
        made = _step(step, place, places)
        if isinstance(made, str):
            return refused(
                "json", "bad_access" if "access" in made else "unparsable", f"step {place + 1}", made
            )
        read.append(made)
    return checked("json", read, prompt=prompt)


def _steps_in(data: Any, prompt: str = "", depth: int = 0) -> tuple[list[Mapping[str, Any]], str] | None:
    if isinstance(data, list):
        return (data, prompt) if all(isinstance(each, dict) for each in data) else None
    if not isinstance(data, dict) or depth > 4:
        return None
    prompt = whole(data["prompt"]) if isinstance(data.get("prompt"), str) else prompt
    for key in _HOLDERS:
        if isinstance(data.get(key), dict) and (found := _steps_in(data[key], prompt, depth + 1)) is not None:
            return found
    steps = data.get("steps")
    return _steps_in(steps, prompt, depth + 1) if isinstance(steps, list) else None


def _is_id(step_id: object) -> bool:
    return isinstance(step_id, str) and bool(step_id)


def _step(step: Mapping[str, Any], place: int, places: Mapping[str, int]) -> ImportedStep | str:
    """The step, or in words what is wrong with it."""
    worker, instruction = step.get("worker"), step.get("instruction")
    if not isinstance(instruction, str):
        return "It has no 'instruction' that is a text."
    if worker is not None and not isinstance(worker, str):
        return "Its 'worker' is no text."
    worker, instruction = whole(worker or "") or None, whole(instruction)
    access = step.get("access") or []
    if access == "all" or access == ["all"]:
        return ImportedStep(worker, instruction, tuple(range(place)))
    if not isinstance(access, Sequence) or isinstance(access, str):
        return "Its 'access' is no list of earlier steps."
    seen = set()
    for each in access:
        is_place = isinstance(each, int) and not isinstance(each, bool)
        target = each if is_place else places.get(each) if isinstance(each, str) else None
        if target is None or not 0 <= target < place:
            return f"Its 'access' holds {str(each)[:40]!r}, which is no earlier step."
        seen.add(target)
    return ImportedStep(worker, instruction, tuple(sorted(seen)))
