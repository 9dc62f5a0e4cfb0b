"""Which pool file is used, where there are several. Until somebody chooses, it is the configured one."""

from __future__ import annotations

import streamlit as st

from app import state
from conductor_client.catalogue import text
from conductor_client.pool import PoolView


def draw(pool: PoolView, *, key: str, width: int) -> None:
    """The choice, with the pool that is shown; nothing when there is only one."""
    if len(pool.pools) < 2 or pool.name not in pool.pools:
        return
    state.put(key, pool.name)
    st.selectbox(text("studio.pool"), pool.pools, key=key, width=width, on_change=_choose, args=(key,))


def _choose(key: str) -> None:
    state.put(state.POOL, state.value(key))
