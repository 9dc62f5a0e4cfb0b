"""The shared page as text: what stands in it, and what must not."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest

from components.workflow_graph.payload import graph_payload
from conductor.exports.share_page import share_page
from conductor_client.run_state import fold
from tests.conductor.exports.runs import HOSTILE, finished, hostile_workflow, odd_ids, rich_events


def parts_of(page: str) -> tuple[dict[str, object], str, str]:
    """The embedded data, the script and the policy."""
    (data,) = re.findall(r'<script type="application/json" id="run">(.*?)</script>', page, re.DOTALL)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    return json.loads(data), script, policy.replace("&#x27;", "'")


def test_only_our_script_may_run_and_it_is_the_one_in_the_page() -> None:
    _, script, policy = parts_of(share_page(fold(rich_events()), "k"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert "form-action 'none'" in policy
    assert "unsafe-eval" not in policy
    assert policy.count("unsafe-inline") == 1  # of styles, which cannot load anything here


@pytest.mark.parametrize("key", ["0123abcd", '"></script><script>alert(1)</script>', "a&share=b", "\u2028"])
def test_no_key_run_or_label_can_leave_its_place(key: str) -> None:
    events = finished(odd_ids(hostile_workflow()))
    state = fold(events).model_copy(update={"run_id": '</script><img src="x">/../'})
    page = share_page(state, key)
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    data, _, _ = parts_of(page)
    payload = data["payload"]
    assert isinstance(payload, dict)
    assert payload["run_id"] == state.run_id
    address = payload["api"]["ws"]
    assert re.fullmatch(r"/api/runs/[\w%.-]+/ws\?share=[\w%.-]+", address)


def test_graph_gets_every_key_it_gets_on_the_page() -> None:
    payload = parts_of(share_page(fold(rich_events()), "k"))[0]["payload"]
    assert isinstance(payload, dict)
    assert set(payload) == set(graph_payload(labels={}))
    assert payload["mode"] == "read"
    assert payload["labels"]["prompt"]


def test_what_people_noted_is_not_shared() -> None:
    noted = {
        "note": "secret-note",
        "tags": ("secret-tag",),
        "gold": "secret-gold",
        "rating": 1,
        "grade": "wrong",
    }
    page = share_page(fold(rich_events()).model_copy(update=noted), "k")
    assert "secret" not in page


def test_nothing_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARKER_KEY", "sk-marker-5f1e9c")
    page = share_page(fold(rich_events()), "k")
    assert "sk-marker-5f1e9c" not in page
    assert "MARKER_KEY" not in page


def test_page_has_no_control_that_changes_anything() -> None:
    page = share_page(fold(finished(hostile_workflow())), "k")
    assert not re.search(r"<(form|button|input|textarea|select)\b", page)
    assert len(re.findall(r'<section class="card step"', page)) == len(HOSTILE)


def test_run_that_has_no_workflow_yet_is_shown_planning() -> None:
    page = share_page(fold(rich_events()[:2]), "k", asset_base="/elsewhere/")
    assert "The conductor has not written a workflow yet." in page
    assert "There is no answer yet." in page
    data, _, _ = parts_of(page)
    assert (data["assets"], data["ended"], data["seq"]) == ("/elsewhere/", False, 2)
