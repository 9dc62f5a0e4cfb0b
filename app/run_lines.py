"""One stored run as a line of the history, and the way back after deleting it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

import streamlit as st

from app import resources, state
from app.figures import ago, conductor_name, shortened
from app.markdown import literal
from app.run_bar import draw_badge
from conductor_client.api import RunSummary
from conductor_client.catalogue import counted, text
from conductor_client.figures import seconds, tokens, usd


def draw_line(run: RunSummary, change: str = "") -> None:
    """Prompt (a link), status, figures, and the deletion. ``change``: what a fork changed, if known."""
    with st.container(border=True, key=f"line.{run.run_id}", gap="xsmall"):
        prompt = " ".join(run.prompt.split()) or text("history.no_prompt")
        head, tail = beginning(prompt if len(run.prompt) < PROMPT_KNOWN else f"{prompt}…")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            draw_badge(run.status)
            st.space("stretch")
            st.button(
                text("history.delete"),
                key=f"delete.{run.run_id}",
                type="tertiary",
                icon=":material/delete:",
                on_click=_delete,
                args=(run.run_id, prompt),
            )
        st.page_link(
            "views/studio.py",
            label=f"**{literal(head)}**",
            query_params={"run": run.run_id},
            help=text("history.open"),  # else the tooltip tells what the Studio is, at every run
        )
        if tail:
            st.caption(literal(f"… {tail}"))
        if run.snippet:
            st.caption(found(run.snippet))
        st.caption(literal(_figures(run, change)))


PROMPT_KNOWN = 300
"""Characters of a prompt that a line of the history is given; the whole one stands in the opened run."""
TITLE_WIDTH = 44
"""Widest title, in half-width characters: a link is cut off where it does not fit into a narrow page."""


def beginning(prompt: str) -> tuple[str, str]:
    """The title of a prompt, cut between words where that is possible and marked, and the rest."""
    width = 0
    for place, character in enumerate(prompt):
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if width > TITLE_WIDTH:
            space = prompt.rfind(" ", place // 2, place)
            end = place if space < 0 else space
            return f"{prompt[:end]}…", prompt[end:].strip()
    return prompt, ""


def changes_of(runs: Sequence[RunSummary]) -> dict[str, str]:
    """What the forks among these runs changed, in words; each family is asked for once."""
    found: dict[str, str] = {}
    for run in runs:
        if run.parent_run and run.run_id not in found:
            found |= resources.changes(run.run_id)
    return found


def _figures(run: RunSummary, change: str) -> str:
    parts = [ago(run.created_at), conductor_name(run.conductor), counted("common.steps", run.n_steps)]
    if run.workers:
        parts.append(shortened(", ".join(dict.fromkeys(run.workers)), 60))
    parts.append(text("common.n_tokens", n=tokens(run.total_tokens, is_complete=run.tokens_complete)))
    parts.append(usd(run.cost_usd, is_complete=run.cost_complete))
    parts.append(seconds(run.wall_s))
    if run.parent_run:
        parts.append(change or text("history.is_fork"))
    if run.origin != "page":
        parts.append(text(f"history.origin_{run.origin}"))
    return " · ".join(part for part in parts if part)


def found(snippet: str) -> str:
    """Where the words were found, as Markdown with the words bold."""
    parts = snippet.replace("⟧", "⟦").split("⟦")
    said = (literal(part) if place % 2 == 0 else f"**{literal(part)}**" for place, part in enumerate(parts))
    return " ".join(part for part in said if part not in {"", "****"})


def _delete(run_id: str, prompt: str) -> None:
    with resources.errors_kept():
        resources.client().delete_run(run_id)
        state.note_deleted(state.Deleted(run_id, prompt))


def draw_undo() -> None:
    """The offer to bring the last deleted run back, each second anew; after ten the page is drawn without."""
    gone = state.deleted()
    if gone is None:
        st.rerun()
    left = max(1, math.ceil(state.seconds_left(gone)))
    with st.container(horizontal=True, vertical_alignment="center", border=True, gap="small", key="undo"):
        st.markdown(text("history.deleted", prompt=literal(shortened(gone.prompt, 60))))
        st.space("stretch")
        st.button(
            text("history.undo", n=left),
            key="history.undo",
            icon=":material/undo:",
            on_click=_restore,
            args=(gone.run_id,),
        )


def _restore(run_id: str) -> None:
    with resources.errors_kept():
        resources.client().restore_run(run_id)
        state.tell("done", text("history.restored"))
    state.note_deleted(None)
    st.rerun()
