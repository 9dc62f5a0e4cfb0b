"""The component's modules under node's own test runner: no packages, no browser."""

from __future__ import annotations

import re

import pytest

from .node import HERE, needs_node, run_node

ASSETS = HERE.parents[1] / "components" / "workflow_graph" / "assets"
LABELS = HERE.parents[1] / "conductor_client" / "catalogue" / "en" / "graph.json"


@needs_node
@pytest.mark.node
def test_modules_do_what_their_tests_say() -> None:
    told = run_node("--test", *sorted(str(path) for path in (HERE / "js").glob("*.test.mjs")))
    assert int(re.search(r"# pass (\d+)", told)[1]) >= 40
    assert "# fail 0" in told


def test_no_module_writes_html_or_reaches_for_another_server() -> None:
    forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://(?!www\.w3\.org/2000/svg)")
    for path in ASSETS.glob("*.js"):
        assert not forbidden.findall(path.read_text(encoding="utf-8")), path.name


def test_modules_stay_small_and_import_only_each_other() -> None:
    for path in ASSETS.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 400, path.name
        for target in re.findall(r'from "([^"]+)"', text):
            assert (ASSETS / target).is_file(), f"{path.name} imports {target}"


def test_every_label_a_module_asks_for_is_in_the_catalogue() -> None:
    labels = set(re.findall(r'"graph\.([^"]+)":', LABELS.read_text(encoding="utf-8")))
    calls = re.compile(r"\b(?:say|sayCount|this\.word|editing\.word|note|accessNote|ofSteps)\((?:shared\.labels|payload\.labels|store\.payload\.labels|this\.instance\.store\.payload\.labels|labels)?,? ?[\"`]([\w.]+)")
    asked = set()
    for path in ASSETS.glob("*.js"):
        asked.update(calls.findall(path.read_text(encoding="utf-8")))
    asked = {key.rstrip(".") for key in asked}
    assert len(asked) > 60, "the pattern no longer finds the labels"
    known = labels | {label.rsplit(".", 1)[0] for label in labels} | {label.split(".")[0] for label in labels}
    assert not {key for key in asked if key not in known and not any(label.startswith(key) for label in labels)}
