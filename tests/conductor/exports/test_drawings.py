"""Mermaid, DOT, the three lists: what goes out comes back unharmed, whatever the labels hold."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conductor.exports.dot import workflow_dot
from conductor.exports.lists import workflow_lists
from conductor.exports.mermaid import workflow_mermaid
from conductor.imports import Imported, read_workflow
from conductor_client.workflow import MAX_STEPS, Workflow, workflow_of
from tests.conductor.exports.runs import HOSTILE, hostile_workflow, odd_ids

WRITERS = {
    "mermaid": workflow_mermaid,
    "dot": workflow_dot,
    "lists": lambda workflow: workflow_lists(workflow, ("first in the pool",)),
}
any_char = st.characters(exclude_categories=("Cs",))
spiteful = st.text(
    st.sampled_from(
        [*" \n\r\t\\\"'`<>&#;:%{}[]()|-=.*_~$@/lnrNx0", "→", "\x00", "\u202e", "\u2028", "🧮", "␊"]
    ),
    min_size=1,
    max_size=30,
)
labels = st.one_of(st.sampled_from(HOSTILE), st.text(any_char, min_size=1, max_size=80), spiteful).filter(
    str.strip
)


@st.composite
def nasty_workflows(draw: st.DrawFn) -> Workflow:
    n_steps = draw(st.integers(1, 6))
    access = [[seen for seen in range(place) if draw(st.booleans())] for place in range(n_steps)]
    return workflow_of("p", [(draw(labels)[:64], draw(labels), seen) for seen in access])


def rows_of(workflow: Workflow) -> list[tuple[str, str, tuple[int, ...]]]:
    place = {step.step_id: step.position for step in workflow.steps}
    return [
        (step.worker, step.instruction, tuple(place[seen] for seen in step.access)) for step in workflow.steps
    ]


def read_rows(read: Imported) -> list[tuple[str | None, str, tuple[int, ...]]]:
    return [(step.worker, step.instruction, step.access) for step in read.steps]


@pytest.mark.parametrize("format", WRITERS)
@settings(deadline=None)  # the machine may be busy
@given(workflow=nasty_workflows())
def test_any_workflow_comes_back_exactly(format: str, workflow: Workflow) -> None:
    text = WRITERS[format](workflow)
    for asked in (format, None):
        read = read_workflow(text, asked)  # type: ignore[arg-type]  # a format or None, both allowed
        assert (read.format, read_rows(read)) == (format, rows_of(workflow))
        assert not any(each.rejects for each in read.diagnostics)


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_label_comes_back_exactly(format: str, label: str) -> None:
    """Behaviour row 14: every label survives DOT and Mermaid and comes back."""
    workflow = workflow_of("p", [(label, label, []), ("w", label, [0])])
    assert read_rows(read_workflow(WRITERS[format](workflow))) == rows_of(workflow)


@pytest.mark.parametrize("format", WRITERS)
def test_most_steps_and_hostile_step_ids_come_back(format: str) -> None:
    rows = [(f"w{place}", f"step {place}", list(range(place))) for place in range(MAX_STEPS)]
    for workflow in (workflow_of("p", rows), odd_ids(hostile_workflow())):
        assert read_rows(read_workflow(WRITERS[format](workflow))) == rows_of(workflow)


def test_mermaid_source_holds_nothing_but_nodes_and_arrows() -> None:
    body = workflow_mermaid(hostile_workflow()).splitlines()[2:]
    nodes = [line for line in body if '["' in line]
    arrows = [line for line in body if " --> " in line]
    assert len(nodes) + len(arrows) == len(body) == 2 * len(HOSTILE) - 1
    for line in nodes:
        label = line.split('["')[1].removesuffix('"]')
        assert '"' not in label
        assert not {"<", ">", "`", "&"} & set(label.replace("<br/>", ""))


@pytest.mark.skipif(shutil.which("dot") is None, reason="no dot program on this machine to check DOT with")
def test_graphviz_itself_draws_our_dot() -> None:
    workflow = hostile_workflow()
    done = subprocess.run(
        ["dot", "-Tsvg"], input=workflow_dot(workflow).encode(), capture_output=True, check=True
    )
    assert done.stderr == b""
    drawn = ET.fromstring(done.stdout)
    ns = "{http://www.w3.org/2000/svg}"
    texts = [node.text or "" for node in drawn.iter(f"{ns}text")]
    assert "<img src=x onerror=alert(1)>" in texts
    assert "#quot; #35; &lt;b&gt; &amp;#0;" in texts
    assert "back\\slash \\n \\l \\" in texts
    nodes = [node for node in drawn.iter(f"{ns}g") if node.get("class") == "node"]
    edges = [node for node in drawn.iter(f"{ns}g") if node.get("class") == "edge"]
    assert (len(nodes), len(edges)) == (len(HOSTILE), len(HOSTILE) - 1)
