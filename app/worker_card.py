"""One worker of the pool as a card: what it is, what it costs, whether it can be asked, and a test."""

from __future__ import annotations

import streamlit as st

from app import resources, state
from app.figures import seconds, shortened
from app.markdown import literal
from conductor_client.api import WorkerTestReply
from conductor_client.catalogue import text
from conductor_client.pool import WorkerInfo


def draw_card(worker: WorkerInfo, *, pool: str) -> None:
    """The card. A worker that is not ready says what is missing and how to get it."""
    with st.container(border=True, height="stretch", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{literal(worker.name)}**", width="content")
            st.space("stretch")
            if worker.ready:
                st.badge(text("workers.ready"), icon=":material/check_circle:", color="green")
            else:
                st.badge(text("workers.missing"), icon=":material/pending:", color="orange")
        if worker.description:
            st.caption(literal(worker.description))
        st.caption(literal(_facts(worker)))
        if worker.tags:
            st.markdown(" ".join(f":gray-badge[{literal(tag)}]" for tag in worker.tags))
        st.space("stretch")
        if worker.ready:
            _test(worker, pool)
        else:
            said = "  \n".join(literal(part) for part in (worker.missing, worker.how_to_get) if part)
            st.warning(said, icon=":material/download:")


def _facts(worker: WorkerInfo) -> str:
    parts = [text(f"workers.provider_{worker.provider}"), worker.model]
    if worker.host:
        parts.append(worker.host)
    parts.append(_price(worker))
    if worker.max_output_tokens is not None:
        parts.append(text("workers.cap", n=f"{worker.max_output_tokens:,}"))
    parts.append(text("workers.concurrency", n=worker.concurrency))
    if worker.fallback:
        parts.append(text("workers.fallback", worker=worker.fallback))
    if worker.api_key_env:
        state_of_key = "workers.key_set" if worker.has_key else "workers.key_missing"
        parts.append(text(state_of_key, name=worker.api_key_env))
    return " · ".join(parts)


def _price(worker: WorkerInfo) -> str:
    if worker.price is None:
        return text("common.unpriced")
    price_in, price_out = worker.price.input_usd_per_mtok, worker.price.output_usd_per_mtok
    if price_in == price_out == 0:
        return text("workers.free")
    return text("workers.price", input=f"{price_in.normalize():f}", output=f"{price_out.normalize():f}")


def _test(worker: WorkerInfo, pool: str) -> None:
    st.button(
        text("workers.test"),
        key=f"test.{worker.name}",
        icon=":material/network_check:",
        help=text("workers.test_help"),
        on_click=_run_test,
        args=(worker.name, pool),
    )
    reply = state.test_reply(worker.name)
    if reply is not None:
        _outcome(reply)


def _run_test(name: str, pool: str) -> None:
    with resources.errors_kept():
        state.keep_test_reply(resources.client().test_worker(name, pool=pool))


def _outcome(reply: WorkerTestReply) -> None:
    if reply.ok:
        took = text("workers.test_ok", seconds=seconds(reply.latency_s))
        said = f"**{literal(took)}**"
        if reply.output:
            said += f"  \n“{literal(shortened(reply.output, 120))}”"
        st.success(said, icon=":material/check:")
    else:
        hint = f"  \n{literal(reply.hint)}" if reply.hint else ""
        st.error(f"**{literal(reply.message)}**{hint}", icon=":material/error:")
