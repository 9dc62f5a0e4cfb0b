"""A run as a file: one function, ``export``, and a module for each form.

Everything here is pure: it reads the run and nothing else, no setting, no environment, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from conductor_client.catalogue import text
from conductor_client.events import RunEvent
from conductor_client.run_state import RunState
from conductor_client.workflow import Workflow

from .document import run_json
from .dot import workflow_dot
from .escaping import utf8
from .lists import pool_order, workflow_lists
from .mermaid import workflow_mermaid
from .report import run_report
from .script import workflow_script
from .sheet import steps_csv
from .svg import run_svg
from .svg_theme import Theme

ExportFormat = Literal["json", "lists", "mermaid", "dot", "svg", "html", "python", "csv"]


@dataclass(frozen=True)
class Exported:
    """A file: its bytes, its media type and a name that is safe on every system."""

    body: bytes
    media_type: str
    filename: str


class NothingToExport(ValueError):
    """The run has no workflow (yet), and this format shows nothing else."""


_ENDINGS: Mapping[str, tuple[str, str]] = {
    "json": ("application/json", ".json"),
    "lists": ("text/plain; charset=utf-8", ".lists.txt"),
    "mermaid": ("text/vnd.mermaid; charset=utf-8", ".mmd"),
    "dot": ("text/vnd.graphviz; charset=utf-8", ".dot"),
    "svg": ("image/svg+xml", ".svg"),
    "html": ("text/html; charset=utf-8", ".html"),
    "python": ("text/x-python; charset=utf-8", ".py"),
    "csv": ("text/csv; charset=utf-8", ".csv"),
}
FORMATS: tuple[str, ...] = tuple(_ENDINGS)


def export(
    state: RunState, events: Sequence[RunEvent], format: ExportFormat, *, theme: Theme = "light"
) -> Exported:
    """Writes a run as a file.

    Args:
        state: The folded run. It may still be going on; the file then shows how far it is.
        events: Its stored events; only ``json`` holds them.
        format: One of ``FORMATS``.
        theme: Colours of ``svg``: ``light``, ``dark``, or ``auto`` for whatever the viewer prefers.

    Raises:
        NothingToExport: the run has no workflow, and the format is not ``json``, ``html`` or ``csv``.
        ValueError: no such format.
    """
    if format not in _ENDINGS:
        raise ValueError(f"There is no export format {format!r}; there are {', '.join(FORMATS)}.")
    media_type, ending = _ENDINGS[format]
    filename = _safe_name(state.run_id) + ending
    whole_run: Mapping[str, Callable[[], str]] = {
        "json": lambda: run_json(state, events),
        "html": lambda: run_report(state),
        "csv": lambda: steps_csv(state),
    }
    if format in whole_run:
        return Exported(utf8(whole_run[format]()), media_type, filename)
    if state.workflow is None:
        raise NothingToExport(f"The run {state.run_id} has no workflow yet; export it as json or html.")
    return Exported(utf8(_workflow(state, state.workflow, format, theme, filename)), media_type, filename)


def _workflow(state: RunState, workflow: Workflow, format: str, theme: Theme, filename: str) -> str:
    note = one_round(state)
    match format:
        case "lists":
            return workflow_lists(workflow, pool_order(state), note=note)
        case "mermaid":
            return workflow_mermaid(workflow, note=note)
        case "dot":
            return workflow_dot(workflow, note=note)
        case "svg":
            return run_svg(state, theme=theme)
        case _:
            return workflow_script(workflow, filename=filename, note=note)


def one_round(state: RunState) -> str:
    """What a file that can hold one workflow says of a run of several rounds; empty for one round."""
    if len(state.rounds) < 2:
        return ""
    return text("report.one_round", n=state.round_of(state.workflow), all=len(state.rounds))


def _safe_name(run_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", run_id).strip("-")[:80] or "run"
