"""Several runs in one file: a table with a line per run, or every run whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from conductor_client import topology
from conductor_client.events import RunEvent
from conductor_client.run_state import RunState

from . import Exported
from .document import run_document
from .escaping import utf8
from .sheet import csv_text

COLUMNS = (
    *(
        "run_id",
        "created_at",
        "status",
        "prompt",
        "final_output",
        "conductor",
        "workers",
        "n_steps",
        "topology",
    ),
    *(
        "topology",
        "rating",
        "grade",
        "gold",
        "tags",
        "note",
        "input_tokens",
        "output_tokens",
        "orchestration_tokens",
    ),
    *("tokens_complete", "cost_usd", "orchestration_cost_usd", "cost_complete", "wall_s", "critical_path_s"),
    *("parent_run", "origin", "error"),
)


def export_selection(
    runs: Sequence[tuple[RunState, Sequence[RunEvent]]], format: Literal["csv", "json"]
) -> Exported:
    """Writes these runs in the order given. Events are only read for ``json``."""
    if format == "csv":
        text = csv_text(COLUMNS, (_row(state) for state, _ in runs))
        return Exported(utf8(text), "text/csv; charset=utf-8", "runs.csv")
    whole = ",\n".join(run_document(state, events).model_dump_json() for state, events in runs)
    text = f'{{"format": "conductor-studio/runs", "version": 1, "runs": [\n{whole}\n]}}\n'
    return Exported(utf8(text), "application/json", "runs.json")


def _row(state: RunState) -> dict[str, object]:
    """Unknown figures are empty, never 0; a sum that does not cover everything says so beside it."""
    workers = dict.fromkeys(step.worker for step in state.steps.values() if step.worker)
    return {
        "run_id": state.run_id,
        "created_at": state.created_at.isoformat() if state.created_at else None,
        "status": state.status,
        "prompt": state.prompt,
        "final_output": state.final_output,
        "conductor": state.conductor,
        "workers": _listed(workers),
        "n_steps": len(state.workflow.steps) if state.workflow else None,
        "topology": topology.classify(state.workflow) if state.workflow else None,
        "rating": state.rating,
        "grade": state.grade,
        "gold": state.gold,
        "tags": _listed(state.tags),
        "note": state.note,
        "input_tokens": state.usage.input_tokens,
        "output_tokens": state.usage.output_tokens,
        "orchestration_tokens": state.orchestration_usage.total_tokens,
        "tokens_complete": state.complete.usage,
        "cost_usd": state.cost_usd if state.worker_complete.cost or state.cost_usd else None,
        "orchestration_cost_usd": state.orchestration_cost_usd
        if state.orchestration_complete.cost or state.orchestration_cost_usd
        else None,
        "cost_complete": state.complete.cost,
        "wall_s": state.wall_s,
        "critical_path_s": state.critical_path_s,
        "parent_run": state.parent_run,
        "origin": state.origin,
        "error": f"{state.error.kind}: {state.error.message}" if state.error else None,
    }


def _listed(values: Iterable[str]) -> str:
    return "; ".join(values)
