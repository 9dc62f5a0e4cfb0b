"""The live, editable workflow graph as a Streamlit component (Components v2, no build step).

    payload = graph_payload(labels=…, state=…, mode="edit")
    result = workflow_graph(payload, key="live_graph", on_edit=take_edit)

``data`` goes down whole; status and text then come to the browser over the run's own WebSocket. Up come one
state, ``selected`` (a step id or ``None``), and triggers, each lasting one script run:

- ``edit`` ``{op_id, base, edits}``: edits of workflow ``base`` in the words of ``conductor_client.edits``;
  an ``op_id`` can arrive twice and counts once. Answer with new data: a higher ``rev``, or a ``reply``.
- ``undo`` ``{op_id}``; ``finished`` ``{run_id, seq}``: the run's last event was shown;
  ``lost`` ``{run_id}``: the server does not know the run; ``connection`` ``{run_id, is_up}``: the live stream
  broke or came back.

Inside a callback a trigger is read from the session, under the graph's key.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from .assets_path import ASSETS, ROUTE, entry, modules
from .payload import Json, Mark, Mode, Replay, Reply, graph_payload

__all__ = [
    "ASSETS",
    "ROUTE",
    "Json",
    "Mark",
    "Mode",
    "Replay",
    "Reply",
    "entry",
    "graph_payload",
    "last_text",
    "live_text",
    "load_ahead",
    "workflow_graph",
]

# The modules come from our own route, not with the component: Streamlit would send them at each update. All
# are asked for at once; the browser would find them one level of imports after the other.
_LOAD = """
const load = () => {
  for (const each of MODULES) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href: each }));
  }
  return import(new URL("ENTRY", location.origin).href);
};
"""
_AHEAD = """
export default function () {
  globalThis.workflowGraph ??= load();
  const forget = () => { globalThis.workflowGraph = undefined; };
  globalThis.workflowGraph.then((module) => module.prepare(), forget);
}
"""
_LIVE = """
export default function (component) {
  globalThis.workflowGraph ??= load();
  let leave = () => {};
  globalThis.workflowGraph.then((module) => { leave = module.follow(component); }, () => {});
  return () => leave();
}
"""
_LIVE_HTML = '<div class="live" dir="auto"></div>'
_LAST_HTML = '<div class="last"><div class="live" dir="auto"></div></div>'
_LIVE_CSS = """
.live { padding: 0.9rem 1rem; border-radius: var(--st-base-radius);
  background: var(--st-code-background-color); color: var(--st-code-text-color);
  font: 0.85rem/1.55 var(--st-code-font);
  white-space: pre-wrap; overflow-wrap: anywhere; min-height: 3rem; }
.last { display: flex; flex-direction: column-reverse; height: 4.8rem; overflow: hidden; }
.last .live { padding: 0; background: none; color: inherit; font: inherit; min-height: 100%; }
"""
_LOADER = """
export default function (component) {
  const { data, parentElement } = component;
  globalThis.workflowGraph ??= load();
  let leave = () => {};
  globalThis.workflowGraph.then((module) => { leave = module.default(component); }, () => {
    globalThis.workflowGraph = undefined;
    const note = parentElement.querySelector("p") ?? parentElement.appendChild(document.createElement("p"));
    note.textContent = data.labels.load_failed ?? "";
  });
  return () => leave();
}
"""

Callback = Callable[[], None]


def _nothing() -> None:
    """Stands in for a callback: with one, the result always has the attribute."""


@cache
def _component() -> Any:
    """Registers the component, once."""
    return st.components.v2.component("workflow_graph", js=_script(_LOADER))


@cache
def _ahead() -> Any:
    return st.components.v2.component("graph_ahead", js=_script(_AHEAD))


def _script(script: str) -> str:
    return _LOAD.replace("ENTRY", entry()).replace("MODULES", json.dumps(modules())) + script


@cache
def _live() -> Any:
    return st.components.v2.component("live_text", html=_LIVE_HTML, css=_LIVE_CSS, js=_script(_LIVE))


@cache
def _last() -> Any:
    return st.components.v2.component("last_text", html=_LAST_HTML, css=_LIVE_CSS, js=_script(_LIVE))


def live_text(run_id: str, step_id: str, *, empty: str, key: str) -> None:
    """What a step writes while it writes, its last 400 characters; follows the graph on the same page.

    ``empty`` stands there before the first word.
    """
    _live()(key=key, data={"run_id": run_id, "step_id": step_id, "empty": empty})


def last_text(run_id: str, *, empty: str, key: str) -> None:
    """The same of the run's last step, whichever that will be: its last three lines, at a fixed height."""
    _last()(key=key, data={"run_id": run_id, "step_id": None, "empty": empty})


def load_ahead() -> None:
    """Lets the browser fetch what the graph needs while there is none yet. Draws nothing.

    Where a graph may come next, this takes a quarter of a second off its first sight.
    """
    _ahead()(key="graph_ahead", height=0)


def workflow_graph(
    payload: Json,
    *,
    key: str,
    on_selected: Callback = _nothing,
    on_edit: Callback = _nothing,
    on_undo: Callback = _nothing,
    on_finished: Callback = _nothing,
    on_lost: Callback = _nothing,
    on_connection: Callback = _nothing,
) -> Any:
    """Draws the graph. The result has ``selected`` and the triggers as attributes.

    Give each graph of a page its own fixed ``key`` and its own container that stands first on the page:
    elements that appear above it in the same container would mount it anew.
    """
    return _component()(
        key=key,
        data=payload,
        on_selected_change=on_selected,
        on_edit_change=on_edit,
        on_undo_change=on_undo,
        on_finished_change=on_finished,
        on_lost_change=on_lost,
        on_connection_change=on_connection,
    )
