"""The three lists as a JSON schema, for servers known to hold a model to one; the reader reads both forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from conductor.providers.base import Worker
from conductor.providers.profiles import kind_of, profile_of
from conductor_client.plan import PlanOptions

ASKED = (
    "Answer with one JSON object whose keys are thought (how you split the work), model_id, subtasks and "
    "access_list, in this order."
)


def plan_schema(worker: Worker, options: PlanOptions) -> Mapping[str, Any] | None:
    """The schema to send, or ``None`` where neither the pool file nor the list of hosts says it is taken."""
    if worker.provider != "openai" or not _is_known(worker) or profile_of(worker).json_mode != "schema":
        return None
    seen = {"type": "string", "enum": ["all"]} if options.access == "binary" else {"type": "integer"}
    properties = {
        "thought": {"type": "string"},
        "model_id": {"type": "array", "items": {"type": "integer"}},
        "subtasks": {"type": "array", "items": {"type": "string"}},
        "access_list": {"type": "array", "items": {"type": "array", "items": seen}},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def thought_of(text: str) -> str | None:
    """What the model wrote into the object's ``thought``; ``None`` when the text is no such object."""
    try:
        written = json.loads(text)
    except (ValueError, RecursionError):
        return None
    thought = written.get("thought") if isinstance(written, dict) else None
    return thought.strip() if isinstance(thought, str) else None


def _is_known(worker: Worker) -> bool:
    kind = worker.profile.get("like") or kind_of(worker)
    return "json_mode" in worker.profile or kind != "other"
