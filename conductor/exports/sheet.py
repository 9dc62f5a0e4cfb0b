"""CSV that a spreadsheet shows and never runs: a cell that could be a formula is written as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from conductor_client.run_state import RunState
from conductor_client.usage import Usage

from .escaping import visible

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_BYTE_ORDER_MARK = "\ufeff"  # without it Excel reads UTF-8 as the local code page

COLUMNS = (
    "position",
    "step_id",
    "worker",
    "served_model",
    "status",
    "access",
    "withheld",
    "instruction",
    "output",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
    "duration_s",
    "attempts",
    "reused_from",
    "error",
)


def cell(value: object) -> str:
    """One cell; ``None`` is empty. Text that would be taken for a formula gets a leading apostrophe.

    Numbers that Python hands over as numbers stay numbers, negative ones too.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        guard = "'" if value.startswith(_STARTS_A_FORMULA) else ""
        return guard + visible(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Rows under a header line, every field quoted. A column that a row lacks is empty."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([cell(column) for column in columns])
    for row in rows:
        writer.writerow([cell(row.get(column)) for column in columns])
    return _BYTE_ORDER_MARK + out.getvalue()


def steps_csv(state: RunState) -> str:
    """One line per step of the run's workflow; unknown figures are empty, never 0."""
    return csv_text(COLUMNS, _rows(state))


def _rows(state: RunState) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for step in state.workflow.steps if state.workflow else ():
        now = state.steps.get(step.step_id)
        row: dict[str, object] = {
            "position": step.position + 1,
            "step_id": step.step_id,
            "worker": step.worker,
            "access": " ".join(step.access),
            "instruction": step.instruction,
        }
        if now is not None:
            usage = now.usage or Usage()
            row |= {name: getattr(usage, name) for name in Usage.model_fields}
            row |= {
                "worker": now.worker or step.worker,
                "served_model": now.served_model,
                "status": now.status,
                "withheld": " ".join(now.withheld),
                "output": now.output if now.output is not None else now.partial_text,
                "cost_usd": now.cost_usd,
                # A reused step took no time in this run; what it once took belongs to the run it is from.
                "duration_s": None if now.reused_from else now.duration_s,
                "attempts": len(now.attempts),
                "reused_from": now.reused_from.run_id if now.reused_from else None,
                "error": f"{now.error.kind}: {now.error.message}" if now.error else None,
            }
        rows.append(row)
    return rows
