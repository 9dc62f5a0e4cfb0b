"""The page behind a share link: one run, live, and no control that changes anything.

The server writes every text; the script in the page mounts the live graph beside them and asks for the
same page again when the run goes on. It is the only script that may run: the page's policy names its hash.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from conductor_client import catalogue, topology
from conductor_client.catalogue import text
from conductor_client.run_state import Round, RunState

from .escaping import json_for_script
from .markup import Markup, el, joined
from .report import answer_section, prompt_section, run_head, title_of
from .report_step import step_section
from .svg import run_svg

_FOLDER = Path(__file__).parent
_TRUSTED = ("report.css", "share.css")


def share_page(state: RunState, key: str, *, asset_base: str = "/flow-assets/") -> str:
    """The page as HTML text.

    Args:
        state: The run as it stands. What people noted about it (note, tags, rating, grade) is not shown.
        key: The share key that opened this page; it opens the stream too.
        asset_base: Where the graph's modules are served, with a slash at the end.
    """
    script = (_FOLDER / "share.js").read_text(encoding="utf-8")
    title = title_of(state.prompt)
    styles = "".join((_FOLDER / name).read_text(encoding="utf-8") for name in _TRUSTED)
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy(script)),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="referrer", content="no-referrer"),
        el("meta", name="robots", content="noindex"),
        el("title", f"{title} · {text('share.title')}"),
        el("style", Markup(styles)),
    )
    data = {
        "payload": _payload(state, key),
        "assets": asset_base,
        "seq": state.last_seq,
        "ended": state.has_ended,
    }
    body = el(
        "body",
        el("main", *_sections(state, title)),
        el("script", Markup(json_for_script(data)), type="application/json", id="run"),
        el("script", Markup(script), type="module"),
    )
    return "<!doctype html>\n" + el("html", head, body, lang="en")


def policy(script: str) -> str:
    """The page's content security policy: its own script by hash, our modules, our stream, nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'self' 'sha256-{digest}'; connect-src 'self'; "
        "style-src 'self' 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _payload(state: RunState, key: str) -> dict[str, Any]:
    """What the graph component is given: no state, since the stream begins with the first event."""
    address = f"/api/runs/{quote(state.run_id, safe='')}/ws?share={quote(key, safe='')}"
    return {
        "run_id": state.run_id,
        "api": {"ws": address, "after": 0},
        "mode": "read",
        "rev": 0,
        "labels": catalogue.under("graph"),
        "workers": [
            {
                "name": each.name,
                "is_tool": each.is_tool,
                "tags": list(each.tags),
                "ready": each.ready,
                "model": each.model,
            }
            for each in state.pool_snapshot
        ],
        "workflow": None,
        "draft": False,
        "marks": {},
        "state": None,
        "selected": None,
        "reply": None,
        "can_undo": False,
        "direction": "auto",
        "replay": None,
    }


def _sections(state: RunState, title: str) -> list[Markup]:
    head = joined(
        [run_head(state, title, brand=text("share.brand")), el("p", text("share.read_only"), class_="shared")]
    )
    return [
        el("div", head, id="head"),
        el("div", answer_section(state), id="answer", aria_live="polite"),
        prompt_section(state),
        el("h2", text("share.graph")),
        el("div", _still_picture(state), id="graph"),
        el("div", _steps(state), id="steps"),
        el("footer", text("share.footer")),
    ]


def _still_picture(state: RunState) -> Markup:
    """What stands in the graph's place until its modules are there."""
    if state.workflow is None:
        return el("p", text("share.no_workflow"), class_="note")
    return Markup(run_svg(state, theme="auto"))


def _steps(state: RunState) -> Markup | None:
    if state.workflow is None:
        return None
    rounds = [each for each in state.rounds if each.workflow is not None]
    parts: list[Markup] = [el("h2", text("report.steps")), el("p", text("share.choose"), class_="note")]
    for each in rounds or [Round(round=1, workflow=state.workflow)]:
        workflow = each.workflow
        assert workflow is not None
        if len(rounds) > 1:
            parts.append(el("h3", text("graph.round", n=each.round)))
        anchors = {step.step_id: f"step-{each.round}-{step.position + 1}" for step in workflow.steps}
        unused = topology.unused(workflow)
        parts += [
            step_section(step, workflow, state, anchors=anchors, unused=step.step_id in unused)
            for step in workflow.steps
        ]
    return joined(parts)
