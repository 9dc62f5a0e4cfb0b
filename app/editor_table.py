"""The graph's twin: the same workflow as a table, every cell of it reachable by keyboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app import drafting, resources, state
from app.table_edits import Row, edits_between, rows_of, typed
from conductor_client.catalogue import text
from conductor_client.errors import InvalidEdit
from conductor_client.pool import WorkerInfo
from conductor_client.workflow import Workflow

PLACE = "table"
"""Where what is to be said of the table is drawn."""


def draw(*, source: str, base: Workflow, workflow: Workflow, workers: Sequence[WorkerInfo]) -> None:
    """The table and the button that turns what was changed in it into edits of the draft.

    The table is keyed by the drafted workflow: a refused change stays in the cells, an accepted one starts
    anew.
    """
    key = f"table.{workflow.workflow_id}"
    rows = rows_of(workflow)
    st.space(16)  # the table's own tools hover above it, and on a narrow page above all of its width
    st.data_editor(
        [_cells(row) for row in rows],
        key=key,
        num_rows="dynamic",
        hide_index=True,
        width="stretch",
        column_order=["number", "order", "worker", "instruction", "sees"],
        column_config=_columns(workflow, workers),
    )
    st.caption(text("edit.table_help"))
    resources.draw_notices(PLACE)
    st.button(
        text("edit.apply_table"),
        key=f"{key}.apply",
        icon=":material/table_edit:",
        on_click=_apply,
        args=(source, base, workflow, key),
    )


def _cells(row: Row) -> dict[str, Any]:
    return {
        "number": row.number,
        "order": row.order,
        "worker": row.worker,
        "instruction": row.instruction,
        "sees": [str(number) for number in row.sees],
    }


def _columns(workflow: Workflow, workers: Sequence[WorkerInfo]) -> dict[str, Any]:
    names = [worker.name for worker in workers]
    names += sorted({step.worker for step in workflow.steps} - set(names))
    numbers = [str(step.position + 1) for step in workflow.steps]
    column = st.column_config
    return {
        "number": column.NumberColumn(text("edit.column_step"), disabled=True, width="small"),
        "order": column.NumberColumn(
            text("edit.column_order"),
            help=text("edit.column_order_help"),
            width="small",
            step=0.5,
            format="%g",
        ),
        "worker": column.SelectboxColumn(text("edit.worker"), options=names, width="medium"),
        "instruction": column.TextColumn(text("edit.instruction"), width="large"),
        "sees": column.MultiselectColumn(text("edit.sees"), options=numbers, help=text("edit.sees_help")),
    }


def _rows(workflow: Workflow, key: str) -> tuple[Row, ...]:
    """The rows as they stand at the click, with a cell that was left by that very click.

    What the table returned when it was drawn would lack it.
    """
    return tuple(_row(cells) for cells in typed([_cells(row) for row in rows_of(workflow)], state.value(key)))


def _row(cells: Mapping[str, Any]) -> Row:
    number, order = cells.get("number"), cells.get("order")
    return Row(
        number=int(number) if number else None,
        order=None if order is None else float(order),
        worker=str(cells.get("worker") or ""),
        instruction=str(cells.get("instruction") or ""),
        sees=tuple(sorted(int(each) for each in cells.get("sees") or ())),
    )


def _apply(source: str, base: Workflow, workflow: Workflow, key: str) -> None:
    try:
        edits = edits_between(workflow, _rows(workflow, key))
    except InvalidEdit as problem:
        state.tell("error", problem.message, problem.hint, place=PLACE)
        return
    if not edits:
        state.tell("note", text("edit.table_unchanged"), place=PLACE)
        return
    drafting.apply_edits(source, base, edits, place=PLACE)
