"""The family of a run: every fork of it, and what each changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from app import resources
from app.edit_words import names_in, numbered, summary
from app.figures import ago, shortened
from app.markdown import literal
from app.run_bar import draw_badge
from conductor_client.api import LineageNode
from conductor_client.catalogue import text
from conductor_client.figures import seconds, usd
from conductor_client.workflow import Workflow


def draw(run_id: str, workflow: Workflow) -> None:
    """All runs of the lineage as an indented list, the open one marked. ``workflow`` numbers the steps."""
    names = numbered(workflow)
    lineage = resources.lineage(run_id)
    if len(lineage.runs) == 1:
        st.caption(text("studio.lineage_alone"))
    for depth, node in ordered(lineage.runs):
        _line(node, names | names_in(node, lineage.runs), depth=depth, is_open=node.run_id == run_id)


def ordered(nodes: Sequence[LineageNode]) -> list[tuple[int, LineageNode]]:
    """The runs as a tree from the top, each with its depth: children after their parent, oldest first."""
    known = {node.run_id for node in nodes}
    children: dict[str | None, list[LineageNode]] = {}
    for node in sorted(nodes, key=lambda each: each.created_at):
        parent = node.parent_run if node.parent_run in known else None
        children.setdefault(parent, []).append(node)
    found: list[tuple[int, LineageNode]] = []
    waiting = [(0, node) for node in reversed(children.get(None, []))]
    while waiting:
        depth, node = waiting.pop()
        found.append((depth, node))
        waiting += [(depth + 1, child) for child in reversed(children.get(node.run_id, []))]
    return found


def _line(node: LineageNode, names: Mapping[str, str], *, depth: int, is_open: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if depth:
            st.caption("   " * (depth - 1) + "↳", width="content")
        draw_badge(node.status)
        label = text("studio.lineage_root") if node.parent_run is None else summary(node.edits, names)
        if is_open:
            st.markdown(f"**{literal(label)}**", width="content")
            st.badge(text("studio.lineage_open"), color="gray")
        else:
            st.page_link(
                "views/studio.py",
                label=literal(label),
                query_params={"run": node.run_id},
                help=text("history.open"),
            )
        parts = [
            ago(node.created_at),
            seconds(node.wall_s),
            usd(node.cost_usd, is_complete=node.cost_complete),
        ]
        if node.final_output:
            parts.append(f"“{shortened(node.final_output, 60)}”")
        st.caption(literal(" · ".join(parts)), width="content")
