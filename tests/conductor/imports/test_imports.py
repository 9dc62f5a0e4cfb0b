"""What other people's files become, and that no text is a crash."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conductor.exports import export
from conductor.imports import Imported, import_reply, read_workflow
from conductor_client.api import ImportRequest
from conductor_client.run_state import fold
from tests.conductor.exports.runs import rich_events

SIGNS = list("AB abcd[](){}<>|\"'`%&;:#-=.~ox\n\\/*+,@_0129 ")
DRAWN = st.lists(st.sampled_from([*SIGNS, "graph ", "digraph {", "-->", "label=", "subgraph ", "@{"])).map(
    "".join
)


def rows_of(read: Imported) -> list[tuple[str | None, str, tuple[int, ...]]]:
    return [(step.worker, step.instruction, step.access) for step in read.steps]


def codes(read: Imported) -> list[str]:
    return [each.code for each in read.diagnostics]


# Mermaid


def test_foreign_flowchart_gives_instructions_without_workers() -> None:
    read = read_workflow(
        """---
title: A plan
---
%%{init: {"theme": "dark"}}%%
flowchart LR
  %% who does what
  A[Plan it] -->|then| B{"Is it <b>good</b>?<br>Look twice"}
  B -- yes --> C(["Write it"]) & D[(Store it)]
  B -. no .-> E@{ shape: rect, label: "Stop, at once" }
  subgraph later [Later on]
    C ==> F>Publish] --- G[/usr/bin]
  end
  style A fill:#f9f,stroke:#333; classDef red fill:#f00
  class A,B red
  click A "https://example.org" _blank
  A:::red
"""
    )
    assert rows_of(read) == [
        (None, "Plan it", ()),
        (None, "Is it good?\nLook twice", (0,)),
        (None, "Write it", (1,)),
        (None, "Store it", (1,)),
        (None, "Stop, at once", (1,)),
        (None, "Publish", (2,)),
        (None, "/usr/bin", (5,)),
    ]
    assert codes(read) == ["repaired_worker"]


def test_nodes_drawn_backwards_are_sorted() -> None:
    read = read_workflow("graph BT\n c[last] \n b[middle] --> c\n a[first] --> b & c")
    assert rows_of(read) == [(None, "first", ()), (None, "middle", (0,)), (None, "last", (0, 1))]
    assert "repaired_order" in codes(read)


def test_edges_without_labels_name_nodes_by_their_id() -> None:
    assert rows_of(read_workflow("graph TD;A-->B;A-->C;B-->D;C-->D;")) == [
        (None, "A", ()),
        (None, "B", (0,)),
        (None, "C", (0,)),
        (None, "D", (1, 2)),
    ]


def test_every_arrow_is_an_edge_but_the_invisible_one() -> None:
    arrows = [
        "-->",
        "---",
        "==>",
        "-.->",
        "--x",
        "--o",
        "---->",
        "-- hi -->",
        "== hi ==>",
        "-. hi .->",
        "-->|hi|",
        "e1@-->",
    ]
    for arrow in arrows:
        assert rows_of(read_workflow(f"flowchart TD\nA {arrow} B"))[1] == (None, "B", (0,)), arrow
    assert rows_of(read_workflow("flowchart TD\nA ~~~ B"))[1] == (None, "B", ())


@pytest.mark.parametrize(
    "text", ["graph TD\nA-->B\nB-->A", "flowchart TD\nA-->A", "graph TD\nA<-->B", "digraph {a->b->c->a}"]
)
def test_cycle_is_refused_and_named(text: str) -> None:
    read = read_workflow(text)
    assert read.is_refused
    assert codes(read)[-1] == "bad_access"
    assert "→" in read.diagnostics[-1].said


def test_line_that_cannot_be_read_is_told_and_passed_over() -> None:
    read = read_workflow("flowchart TD\nA[open --> B\nC --> D\nwhat is this?")
    assert rows_of(read) == [(None, "C", ()), (None, "D", (0,))]
    assert [each.where for each in read.diagnostics if each.code == "repaired_line"] == ["line 2", "line 4"]


def test_other_diagrams_are_no_flowchart() -> None:
    assert codes(read_workflow("sequenceDiagram\nA->>B: hi", "mermaid")) == ["unparsable"]


# DOT


def test_foreign_dot_graph() -> None:
    read = read_workflow(
        """/* made by hand */
strict digraph "A plan" {
  rankdir=LR; node [shape=box, color="red"] edge [style=dashed];
# a line for the preprocessor
  a [label="Ask \\"why\\"\\nand write it down"];  // first
  a -> {b c} -> d [label="see"; weight=2];
  subgraph cluster_x { label=<Box>; e [label=<<b>Think</b><br/>again>] }
  d:port:n -> e; "joined" + " up" -> a
}"""
    )
    assert rows_of(read) == [
        (None, "joined up", ()),
        (None, 'Ask "why"\nand write it down', (0,)),
        (None, "b", (1,)),
        (None, "c", (1,)),
        (None, "d", (2, 3)),
        (None, "Think\nagain", (4,)),
    ]


def test_undirected_graph_is_read_and_told() -> None:
    read = read_workflow("graph { a -- b }")
    assert rows_of(read) == [(None, "a", ()), (None, "b", (0,))]
    assert "repaired_edges" in codes(read)


@pytest.mark.parametrize(
    "text", ["digraph", "digraph {", "digraph { a -> }", 'digraph { a [label="x', "digraph { ? }", "{}" * 3]
)
def test_broken_dot_says_where(text: str) -> None:
    read = read_workflow(text, "dot")
    assert codes(read) == ["unparsable"]
    assert read.diagnostics[0].where.startswith("line 1")


# JSON


STEPS = [{"worker": "a", "instruction": "one"}, {"worker": "b", "instruction": "two", "access": [0]}]


@pytest.mark.parametrize(
    "data",
    [
        {"steps": STEPS},
        STEPS,
        {"workflow": {"steps": STEPS}},
        {"name": "kept", "workflow": {"workflow_id": "wf_1", "prompt": "p", "steps": STEPS}},
        {"state": {"workflow": {"steps": STEPS}, "steps": {"s1": {}}}},
        {"steps": [{**STEPS[0], "step_id": "x"}, {**STEPS[1], "access": ["x"]}]},
        {"steps": [STEPS[0], {**STEPS[1], "access": "all"}]},
    ],
)
def test_every_json_of_ours(data: object) -> None:
    assert rows_of(read_workflow(json.dumps(data))) == [("a", "one", ()), ("b", "two", (0,))]


def test_run_export_gives_its_workflow_and_prompt() -> None:
    events = rich_events()
    state = fold(events)
    read = read_workflow(export(state, events, "json").body.decode())
    assert state.workflow is not None
    assert [row[1] for row in rows_of(read)] == [step.instruction for step in state.workflow.steps]
    assert [row[0] for row in rows_of(read)] == [step.worker for step in state.workflow.steps]
    assert read.prompt == state.prompt
    assert read.diagnostics == ()


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"worker": "a", "instruction": "x", "access": [0]}, "bad_access"),
        ({"worker": "a", "instruction": "x", "access": [-1]}, "bad_access"),
        ({"worker": "a", "instruction": "x", "access": ["nobody"]}, "bad_access"),
        ({"worker": "a", "instruction": "x", "access": [True]}, "bad_access"),
        ({"worker": "a", "instruction": "x", "access": {"0": 1}}, "bad_access"),
        ({"worker": "a", "instruction": "  "}, "empty_instruction"),
        ({"worker": "a"}, "unparsable"),
        ({"worker": 7, "instruction": "x"}, "unparsable"),
    ],
)
def test_wrong_step_in_json_is_refused(step: object, code: str) -> None:
    read = read_workflow(json.dumps({"steps": [step]}))
    assert read.is_refused
    assert codes(read) == [code]


def test_half_a_character_is_replaced() -> None:
    assert rows_of(read_workflow('[{"worker": "a\\ud800", "instruction": "\\udc00"}]')) == [
        ("a\ufffd", "\ufffd", ())
    ]


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, '{"steps": 3}', "[1, 2]", "null", "1" * 5_000, '{"a": {"workflow": {}}}']
)
def test_json_without_a_workflow_is_refused(text: str) -> None:
    assert codes(read_workflow(text, "json")) == ["unparsable"]


@pytest.mark.parametrize("data", [[], {"steps": []}])
def test_no_steps(data: object) -> None:
    assert codes(read_workflow(json.dumps(data), "json")) == ["no_steps"]


# Lists, limits, kinds


def test_lists_name_workers_of_the_pool_given() -> None:
    text = 'model_id = [1, 0]\nsubtasks = ["one", "two"]\naccess_list = [[], ["all"]]'
    assert rows_of(read_workflow(text, pool=("x", "y"))) == [("y", "one", ()), ("x", "two", (0,))]
    assert codes(read_workflow(text)) == ["unknown_worker"]
    assert codes(read_workflow(text, pool=("x",))) == ["unknown_worker"]


def test_lists_as_a_json_object_are_lists() -> None:
    text = '{"model_id": [0], "subtasks": ["one"], "access_list": [[]]}'
    read = read_workflow(text, pool=("x",))
    assert (read.format, rows_of(read)) == ("lists", [("x", "one", ())])


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("graph TD\nA-->B", "mermaid"),
        ("graph\nA-->B", "mermaid"),
        ("%% hello\n%% you\nflowchart-elk LR; A-->B", "mermaid"),
        ("Here it is:\n```mermaid\ngraph TD\nA-->B\n```\nEnjoy.", "mermaid"),
        ("// Made by me\ndigraph G { a -> b }", "dot"),
        ("graph { a -- b }", "dot"),
        ('strict graph "x" {a--b}', "dot"),
        ("```dot\ndigraph { a -> b }\n```", "dot"),
        ("```json\n" + json.dumps({"steps": STEPS}) + "\n```", "json"),
        ("graph theory is nice", None),
        ("hello", None),
        ("", None),
    ],
)
def test_kind_is_found_out(text: str, format: str | None) -> None:
    read = read_workflow(text)
    assert read.format == format
    assert read.is_refused == (format is None)


def test_too_many_steps_are_refused() -> None:
    names = [f"n{number}" for number in range(33)]
    for text in (
        "graph TD\n" + "-->".join(names),
        "digraph {" + "->".join(names) + "}",
        json.dumps({"steps": [STEPS[0]] * 33}),
        f"model_id={[0] * 33}\nsubtasks={['x'] * 33}\naccess_list={[[]] * 33}",
    ):
        assert codes(read_workflow(text, pool=("a",)))[-1] == "too_many_steps"


@pytest.mark.parametrize(
    "text",
    [
        "flowchart TD\n" + "A --> " * 150_000,
        "flowchart TD\n" + "A & " * 5_000 + "A --> " + "B & " * 5_000 + "B",
        "flowchart TD\n" + "A[/x\\] --> " * 50_000,
        "flowchart TD\n" + "A[[" * 200_000,
        "flowchart TD\n" + "%%{" * 200_000,
        "flowchart TD\n" + "!\n" * 400_000,
        "flowchart TD\n" + "A" + "-" * 900_000,
        "graph TD\n" + "a -- " * 150_000,
        "%%{\n" * 200_000 + "graph TD\nA-->B",
        "digraph {" + "{" * 400_000,
        "digraph {" + "subgraph {a} -> " * 50_000,
        'digraph {"' + "\\" * 900_000,
        "digraph {" + "<" * 900_000,
        "digraph {" + "/*" * 450_000,
        "digraph {" + "{" + "a b c d e f g h i j " * 10 + "} -> " * 20_000,
        "digraph {" + ";".join(f"n{number}" for number in range(100_000)) + "}",
        "//\n" * 300_000 + "digraph {a}",
        "```json\n" * 100_000,
        "model_id=[" * 90_000,
        "x" * 70_000_000,
    ],
    ids=range(20),
)
def test_huge_or_spiteful_text_is_answered_soon(text: str) -> None:
    began = time.perf_counter()
    read_workflow(text)
    assert time.perf_counter() - began < 10


@settings(deadline=None)
@given(st.one_of(DRAWN, DRAWN.map("flowchart TD\n".__add__), DRAWN.map("digraph {".__add__), st.text()))
def test_no_text_is_a_crash(text: str) -> None:
    for format in (None, "json", "mermaid", "dot", "lists"):
        read = read_workflow(text, format, pool=("a", "b"))  # type: ignore[arg-type]  # as above
        assert read.steps or any(each.rejects for each in read.diagnostics)
        if read.steps:
            assert read.workflow("p", default_worker="a") is not None


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["steps", "workflow", "worker", "instruction", "access", "step_id", "prompt", "state"]
                ),
                inner,
            )
        ),
    )
)
def test_no_json_is_a_crash(data: object) -> None:
    read = read_workflow(json.dumps(data), "json")
    assert read.steps or any(each.rejects for each in read.diagnostics)


# The reply


def test_reply_lists_unknown_workers_and_keeps_them() -> None:
    reply = import_reply(ImportRequest(text=json.dumps({"steps": STEPS}), prompt="p"), ("a",), "a")
    assert reply.workflow is not None
    assert [step.worker for step in reply.workflow.steps] == ["a", "b"]
    assert reply.unknown_workers == ("b",)
    assert [each.code for each in reply.diagnostics] == ["repaired_unknown_worker"]


def test_reply_gives_steps_without_worker_the_default_one() -> None:
    reply = import_reply(ImportRequest(text="graph TD\nA-->B", prompt="p"), ("a",), "a")
    assert reply.workflow is not None
    assert {step.worker for step in reply.workflow.steps} == {"a"}
    assert reply.workflow.prompt == "p"
    without = import_reply(ImportRequest(text="graph TD\nA-->B"), (), None)
    assert without.workflow is None
    assert without.diagnostics[-1].code == "unknown_worker"
