"""How to add a worker: a table to copy for each kind of server, where it goes, and the variable it needs."""

from __future__ import annotations

import streamlit as st

from app import state
from app.markdown import literal, option
from app.pool_snippets import KINDS, ServerKind, snippet
from conductor_client.catalogue import text
from conductor_client.pool import PoolView


def draw(pool: PoolView) -> None:
    """The panel, folded until somebody wants it."""
    with st.expander(text("workers.add"), icon=":material/add_circle:"):
        kinds = {kind.title: kind for kind in KINDS}
        chosen = st.pills(
            text("workers.add_kind"),
            list(kinds),
            key=state.ADD_KIND,
            format_func=option,
            default=KINDS[0].title,
            required=True,
            label_visibility="collapsed",
        )
        kind = kinds[chosen or KINDS[0].title]
        st.code(snippet(kind), language="toml", wrap_lines=True)
        st.markdown("\n".join(f"{n}. {step}" for n, step in enumerate(_steps(kind, pool), 1)))
        st.caption(text("workers.add_all_keys"))


def _steps(kind: ServerKind, pool: PoolView) -> list[str]:
    folder = literal(pool.folder) if pool.folder else text("workers.add_folder")
    where = text("workers.add_where", folder=folder)
    key = text("workers.add_key", name=kind.key) if kind.key else text("workers.add_no_key")
    return [where, key, text("workers.add_start"), text("workers.add_ready", pool=kind.pool)]
