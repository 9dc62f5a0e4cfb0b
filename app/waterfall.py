"""The waterfall of a run: what waited, what was planned, what wrote, on one clock."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.timeline import PHASES, Row, Span, timeline
from conductor_client.catalogue import text
from conductor_client.figures import seconds
from conductor_client.run_state import RunState

ROW_PX, AROUND_PX = 34, 96
"""Height of a row, and of axis and legend together."""


def draw(run: RunState) -> None:
    """The chart, and under it how long the steps would have taken one by one."""
    rows = timeline(run)
    if not any(row.spans for row in rows):
        st.caption(text("time.nothing"))
        return
    st.plotly_chart(figure(rows), key="waterfall", config={"displayModeBar": False, "scrollZoom": False})
    st.caption(
        text(
            "time.summary",
            wall=seconds(run.wall_s),
            critical=seconds(run.critical_path_s),
            chained=seconds(run.chained_s),
        )
    )


def figure(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows as a Plotly figure; a trace for each phase that occurs, and for no other."""
    labels = [_label(row) for row in rows]
    traces = []
    for phase in PHASES:
        spans = [(place, span) for place, row in enumerate(rows) for span in row.spans if span.phase == phase]
        if not spans:
            continue
        name = text(f"time.{phase}")
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": [place for place, _ in spans],
                "base": [span.start_s for _, span in spans],
                "x": [span.end_s - span.start_s for _, span in spans],
                "width": 0.62,
                "text": [html.escape(rows[place].label) for place, _ in spans],
                "textposition": "none",
                "customdata": [_said(span) for _, span in spans],
                "hovertemplate": f"%{{text}}<br>{name}: %{{customdata}}<extra></extra>",
                "marker": {"color": COLOURS[phase]},
            }
        )
    return {
        "data": traces,
        "layout": {
            "barmode": "overlay",
            "height": AROUND_PX + ROW_PX * len(rows),
            "margin": {"l": 8, "r": 16, "t": 8, "b": 40},
            "legend": {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
            "xaxis": {"title": {"text": text("time.axis")}, "rangemode": "tozero", "fixedrange": True},
            "yaxis": {
                "tickmode": "array",
                "tickvals": list(range(len(rows))),
                "ticktext": labels,
                "range": [len(rows) - 0.5, -0.5],
                "automargin": True,
                "fixedrange": True,
            },
        },
    }


COLOURS = {
    "plan": "#77609f",
    "queue": "#b9b4a7",
    "first_token": "#c98a3a",
    "writing": "#2f8a82",
    "whole": "#2f8a82",
    "pause": "#c4574f",
}
"""By meaning, each strong enough for the light and for the dark ground."""


def _said(span: Span) -> str:
    return text("time.hover", took=seconds(span.end_s - span.start_s), at=seconds(span.start_s))


def _label(row: Row) -> str:
    said = html.escape(row.label)
    if row.note:
        said = f"{said} · {html.escape(row.note)}"
    return f"<b>{said}</b>" if row.is_critical else said
