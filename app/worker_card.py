"""One worker of the pool as a row: what it is, what it costs, whether it can be asked, and a test."""

from __future__ import annotations

import streamlit as st

from app import resources
from app.figures import ago, shortened
from app.markdown import literal
from conductor_client._base import utc_now
from conductor_client.api import WorkerTestReply
from conductor_client.catalogue import text
from conductor_client.figures import seconds, tokens, usd
from conductor_client.pool import WorkerInfo
from conductor_client.usage import Price

COLUMNS = [3.2, 3.0, 2.2, 1.4]
NAME_SHOWN = 80


def draw_row(worker: WorkerInfo, *, pool: str, tested: WorkerTestReply | None) -> None:
    """The row. A worker that is not ready says what is missing; ``tested`` is its last or present test."""
    with st.container(border=True, gap="xsmall", key=f"worker.{worker.name}"):
        what, model, price, action = st.columns(COLUMNS, gap="medium")
        with what, st.container(gap="xxsmall"):
            _what(worker)
        with model, st.container(gap="xxsmall"):
            _model(worker)
        with price, st.container(gap="xxsmall"):
            _price(worker)
        with action, st.container(gap="xxsmall", horizontal_alignment="right"):
            _action(worker, pool, tested)
        if tested is not None:
            _outcome(tested)


def _what(worker: WorkerInfo) -> None:
    name = f"**{literal(worker.name)}**"
    state_of_it = (
        f":green-badge[:material/check_circle: {text('workers.ready')}]"
        if worker.ready
        else f":orange-badge[:material/pending: {text('workers.missing')}]"
    )
    st.markdown(f"{name} {state_of_it}")
    if worker.description:
        st.caption(literal(shortened(worker.description, 200)))
    if worker.tags:
        st.markdown(" ".join(f":gray-badge[{literal(shortened(tag, 40))}]" for tag in worker.tags[:12]))
    if worker.missing and worker.has_key is not False:
        st.caption(literal(worker.missing))


def _model(worker: WorkerInfo) -> None:
    st.markdown(literal(worker.model))
    where = [text(f"workers.provider_{worker.provider}"), worker.host]
    st.caption(literal(" · ".join(part for part in where if part)))
    limits = [text("workers.concurrency", n=worker.concurrency)]
    if worker.max_output_tokens is not None:
        limits.append(text("workers.cap", n=f"{worker.max_output_tokens:,}"))
    if worker.fallback:
        limits.append(text("workers.fallback", worker=worker.fallback))
    st.caption(literal(" · ".join(limits)))
    for said in worker.learnt:
        st.caption(f":material/tune: {literal(text('workers.learnt', said=said))}")


def _price(worker: WorkerInfo) -> None:
    price = worker.price
    if price is None:
        st.markdown(text("common.unpriced"))
        st.caption(text("workers.unpriced_help"))
    elif price.input_usd_per_mtok == price.output_usd_per_mtok == 0:
        st.markdown(text("workers.free"))
        st.caption(literal(_source(price)))
    else:
        amounts = (price.input_usd_per_mtok, price.output_usd_per_mtok)
        price_in, price_out = (f"{amount.normalize():f}" for amount in amounts)
        st.markdown(literal(text("workers.price", input=price_in, output=price_out)))
        st.caption(f"{text('workers.per_mtok')}  \n{literal(_source(price))}")
    if worker.api_key_env:
        said = text("workers.key_set" if worker.has_key else "workers.key_missing", name=worker.api_key_env)
        st.caption(f":material/{'key' if worker.has_key else 'key_off'}: {literal(said)}")


def _source(price: Price) -> str:
    parts = [price.source, price.version, None if price.as_of is None else price.as_of.isoformat()]
    return " ".join(part for part in parts if part)


def _action(worker: WorkerInfo, pool: str, tested: WorkerTestReply | None) -> None:
    if tested is not None and tested.running:
        st.button(
            text("workers.test_stop"),
            key=f"test_stop.{worker.name}",
            icon=":material/stop:",
            on_click=_stop_test,
            args=(worker.name, pool),
        )
        return
    st.button(
        text("workers.test"),
        key=f"test.{worker.name}",
        icon=":material/network_check:",
        help=text("workers.test_help"),
        disabled=not worker.ready,
        on_click=_begin_test,
        args=(worker.name, pool),
    )


def _begin_test(name: str, pool: str) -> None:
    with resources.errors_kept():
        resources.client().begin_worker_test(name, pool=pool)


def _stop_test(name: str, pool: str) -> None:
    with resources.errors_kept():
        resources.client().stop_worker_test(name, pool=pool)


def _outcome(reply: WorkerTestReply) -> None:
    if reply.running:
        since = utc_now() - (reply.began_at or utc_now())
        asking = text("workers.test_running", seconds=max(0, round(since.total_seconds())))
        st.caption(f":material/hourglass_top: {literal(asking)}")
        return
    when = [] if reply.began_at is None else [ago(reply.began_at)]
    if reply.ok:
        facts = literal(" · ".join([*_facts(reply), *when]))
        said = f"  \n“{literal(shortened(reply.output, 120))}”" if reply.output else ""
        took = literal(text("workers.test_ok", seconds=seconds(reply.latency_s)))
        st.markdown(f":green[:material/check: **{took}**] :small[{facts}]{said}")
    else:
        after = (
            [] if reply.latency_s is None else [text("workers.test_after", seconds=seconds(reply.latency_s))]
        )
        hints = [reply.hint] if reply.hint else []
        if reply.retry_after_s is not None:
            hints.insert(0, text("workers.test_pause", seconds=seconds(reply.retry_after_s)))
        hint = f"  \n{literal(' '.join(hints))}" if hints else ""
        about = literal(" · ".join([*after, *when]))
        st.markdown(
            f":red[:material/error: **{literal(shortened(reply.message, 600))}**] :small[{about}]{hint}"
        )
    for note in reply.notes:
        st.caption(f":material/tune: {literal(note)}")


def _facts(reply: WorkerTestReply) -> list[str]:
    facts = []
    if reply.first_token_s is not None:
        facts.append(text("workers.test_first", seconds=seconds(reply.first_token_s)))
    if reply.served_model:
        facts.append(text("workers.test_served", model=reply.served_model))
    used = reply.usage
    if used is None or used.total_tokens is None:
        facts.append(text("workers.test_no_usage"))
    else:
        counts = tokens(used.input_tokens), tokens(used.output_tokens)
        facts.append(text("workers.test_usage", input=counts[0], output=counts[1]))
    facts.append(usd(reply.cost_usd))
    return facts
