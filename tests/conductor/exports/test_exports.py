"""All formats, and JSON, CSV, Python: whole, safe, and read back where they can be."""

from __future__ import annotations

import ast
import csv
import io
import os
import re
import time

import pytest
from hypothesis import given, settings

from conductor.exports import FORMATS, NothingToExport, export
from conductor.exports.document import RunDocument, run_json
from conductor.exports.escaping import json_for_script
from conductor.exports.report import run_report
from conductor.exports.script import workflow_script
from conductor.exports.sheet import cell, csv_text, steps_csv
from conductor_client.events import RunCreated, RunEvent
from conductor_client.run_state import fold
from conductor_client.workflow import workflow_of
from tests.components.scenes import rounds_story
from tests.conductor.exports.pages import Tags
from tests.conductor.exports.runs import (
    HOSTILE,
    RUNS,
    START,
    finished,
)
from tests.strategies import run_logs


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("run", RUNS)
def test_every_prefix_of_every_run_can_be_exported(format: str, run: str) -> None:
    events = RUNS[run]
    for length in (1, 3, len(events) // 2, len(events)):
        state = fold(events[:length])
        if state.workflow is None and format not in ("json", "html", "csv"):
            with pytest.raises(NothingToExport):
                export(state, events[:length], format)  # type: ignore[arg-type]  # from the list of formats
            continue
        made = export(state, events[:length], format)  # type: ignore[arg-type]  # from the list of formats
        made.body.decode("utf-8")
        assert re.fullmatch(r"[A-Za-z0-9_-]+(\.[a-z]+)+", made.filename)


@settings(max_examples=30, deadline=None)
@given(run_logs())
def test_any_run_can_be_exported_in_every_format(events: list[RunEvent]) -> None:
    state = fold(events)
    for format in FORMATS:
        assert export(state, events, format).body  # type: ignore[arg-type]  # from the list of formats


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_comes_from_the_environment(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = "sk-marker-5f1e9c"
    for name in ("MARKER_KEY", "OPENAI_API_KEY", "CONDUCTOR_TOKEN"):
        monkeypatch.setenv(name, marker)
    body = export(fold(RUNS["rich"]), RUNS["rich"], format).body  # type: ignore[arg-type]  # as above
    assert marker.encode() not in body
    assert os.environ["HOME"].encode() not in body


def test_unknown_format_is_said_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no export format 'pdf'.*json, lists"):
        export(fold(RUNS["rich"]), [], "pdf")  # type: ignore[arg-type]  # the point of the test


def test_file_name_is_safe_whatever_the_run_is_called() -> None:
    state = fold(RUNS["rich"]).model_copy(update={"run_id": '../"; rm -rf\r\nX: y'})
    assert export(state, [], "json").filename == "rm-rf-X-y.json"


def test_twenty_megabytes_of_output_make_usable_files() -> None:
    """Behaviour row 20: 20 MB of output in exports."""
    huge = "word <b>&amp; " * 1_500_000
    events = finished(workflow_of("p", [("a", "one", []), ("b", "two", [0])]), output=huge)
    state = fold(events)
    began = time.perf_counter()
    sizes = {format: len(export(state, events, format).body) for format in FORMATS}  # type: ignore[arg-type]
    assert sizes["svg"] < 30_000
    assert sizes["html"] < 5_000_000
    assert sizes["json"] > 60_000_000
    assert time.perf_counter() - began < 20


# JSON


@pytest.mark.parametrize("run", RUNS)
def test_json_comes_back_equal(run: str) -> None:
    events = RUNS[run]
    state = fold(events)
    read = RunDocument.model_validate_json(run_json(state, events))
    assert read.state == state
    assert list(read.events) == events
    assert fold(read.events) == state
    assert (read.workflow, read.plan) == (state.workflow, state.plan)


@settings(max_examples=50, deadline=None)
@given(run_logs())
def test_any_run_survives_json(events: list[RunEvent]) -> None:
    read = RunDocument.model_validate_json(run_json(fold(events), events))
    assert fold(read.events) == fold(events)


# CSV, Python, small things


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_formula_becomes_text_in_csv(start: str) -> None:
    """Behaviour row 16: a cell that begins like a formula is exported as text."""
    assert cell(f"{start}1+1").startswith("'")
    text = csv_text(["a"], [{"a": f'{start}HYPERLINK("http://evil")'}])
    (_, (value,)) = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    assert value.startswith("'")


def test_csv_of_a_run_has_a_line_per_step() -> None:
    rows = list(csv.DictReader(io.StringIO(steps_csv(fold(RUNS["rich"])).removeprefix("\ufeff"))))
    assert [row["worker"] for row in rows] == ["qwen-0.5b", "calculator", "smollm2-135m", "qwen-1.5b"]
    assert [row["status"] for row in rows] == ["reused", "succeeded", "succeeded", "succeeded"]
    assert [row["duration_s"] for row in rows][:3] == ["", "0.1", "1.5"]  # reused: took none in this run
    assert rows[2]["input_tokens"] == "60"
    assert rows[2]["output_tokens"] == rows[2]["cost_usd"] == ""
    assert rows[3]["access"] == "s1 s2"
    assert rows[0]["output"] == "(17*60+5) - (14*60+20) - 12"
    hostile = list(csv.DictReader(io.StringIO(steps_csv(fold(RUNS["hostile"])).removeprefix("\ufeff"))))
    assert len(hostile) == len(HOSTILE)
    assert hostile[HOSTILE.index("=1+1")]["instruction"] == "'=1+1"


@pytest.mark.parametrize("run", RUNS)
def test_script_is_python_and_holds_the_workflow_exactly(run: str) -> None:
    workflow = fold(RUNS[run]).workflow
    assert workflow is not None
    tree = ast.parse(workflow_script(workflow, filename="run.py"))
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    place = {step.step_id: step.position for step in workflow.steps}
    assert values["PROMPT"] == workflow.prompt
    assert values["STEPS"] == [
        {
            "worker": step.worker,
            "instruction": step.instruction,
            "access": [place[seen] for seen in step.access],
        }
        for step in workflow.steps
    ]
    outside = [node for node in tree.body if not isinstance(node, ast.Assign | ast.Import | ast.ImportFrom)]
    assert [type(node).__name__ for node in outside] == ["Expr", "FunctionDef", "If"]


def test_json_in_a_script_element_cannot_end_it() -> None:
    written = json_for_script({"x": "</script><!--\u2028&", "y": "<script>"})
    assert not {"<", ">", "&", "\u2028"} & set(written)
    assert ast.literal_eval(written) == {"x": "</script><!--\u2028&", "y": "<script>"}


def test_a_cost_is_told_in_the_same_words_in_every_export() -> None:
    told = fold(rounds_story().events)
    steps = {name: step.model_copy(update={"cost_usd": None}) for name, step in told.steps.items()}
    state = told.model_copy(update={"steps": steps})
    for kind in ("svg", "html"):
        page = export(state, (), kind).body.decode()  # type: ignore[arg-type]
        assert "unpriced" in page and "cost unknown" not in page


def test_run_without_anything_has_a_report() -> None:
    state = fold([RunCreated(run_id="run_0", seq=1, at=START, prompt=" ", conductor="local")])
    said = " ".join(Tags(run_report(state)).said)
    assert "Run without a prompt" in said
    assert "Queued" in said
