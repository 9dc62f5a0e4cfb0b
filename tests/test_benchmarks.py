"""The benchmarks' own arithmetic, and that each is there and told in the README. Nothing is timed here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import benchmarks
from benchmarks import NAMES, __main__, find
from benchmarks.rows import Bar, NotHere, Plan, Row, Series, as_data, markdown, table
from benchmarks.shapes import SCALE, SHAPES, Speed, critical_path_s
from benchmarks.stage import check_texts, request_of

README = Path(__file__).resolve().parents[1] / "README.md"


@pytest.mark.parametrize("name", NAMES)
def test_a_listed_benchmark_says_what_it_measures(name: str) -> None:
    found = find(name)
    assert found.SAYS and found.BAR and callable(found.measure)
    assert f"| `{name}` " in __main__.listed()


@pytest.mark.parametrize("name", NAMES)
def test_readme_tells_every_benchmark(name: str) -> None:
    section = README.read_text(encoding="utf-8").split("## Speed and cost, measured")[1].split("\n## ")[0]
    told = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines()]
    assert [f"`{name}`", find(name).SAYS, find(name).BAR] in told, "see python -m benchmarks --list"


def test_a_name_that_is_not_listed_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError):
        find("local_conductor")
    with pytest.raises(SystemExit, match="2"):
        __main__.main(["warp"])
    assert "there is no warp" in capsys.readouterr().err


def test_a_bar_holds_on_its_own_side() -> None:
    assert Bar(25, "ms").is_met(25) and not Bar(25, "ms").is_met(25.1)
    assert Bar(20, side="≥").is_met(20) and not Bar(20, side="≥").is_met(19.9)
    assert [str(Bar(1.01)), str(Bar(20, "workflows/s", "≥"))] == ["≤ 1.01", "≥ 20 workflows/s"]


def test_the_best_of_a_series_is_held_against_the_bar() -> None:
    row = Row.of("wall", Series((1.2, 1.005, 1.5)), Bar(1.01), digits=3)
    assert row.is_met is True and row.measured == "best 1.005, median 1.200"
    assert row.but_only_if(False).is_met is False
    more = Row.of("rate", Series((10, 25, 15), is_more_better=True), Bar(20, side="≥"), digits=0)
    assert more.is_met is True and more.measured == "best 25, median 15"
    assert Row.of("rate", Series((10.0,)), None).is_met is None


def test_a_ratio_is_wall_over_what_is_exact() -> None:
    assert Series((2.0, 3.0)).over(2.0).values == (1.0, 1.5)


def test_the_table_is_aligned_markdown_with_every_verdict() -> None:
    rows = [
        Row("a | b", "1 ms", Bar(2, "ms"), True),
        Row("wide column", "3 ms; else", Bar(2, "ms"), False),
        Row("none", "not measured: no Chromium"),
    ]
    lines = table(rows).splitlines()
    assert len({len(line) for line in lines}) == 1 + ("\\|" in lines[2]) - 1
    assert lines[0].startswith("| what") and set(lines[1]) == {"|", "-"}
    assert [line.split("|")[-2].strip() for line in lines[2:]] == ["yes", "NO", "–"]
    assert "a \\| b" in lines[2]


def test_a_row_is_plain_data() -> None:
    told = json.loads(json.dumps(as_data(Row("x", "1", Bar(2, "s"), True, {"values": [1.0]}))))
    expected = {"what": "x", "measured": "1", "bar": "≤ 2 s", "is_met": True, "figures": {"values": [1.0]}}
    assert told == expected


def test_the_critical_path_waits_for_inputs_and_not_for_levels() -> None:
    llm = Speed(400, 60, 15)
    assert llm.call_s("usual") == pytest.approx(1.3)
    assert critical_path_s(SHAPES["chain of 5"], llm) == pytest.approx(5 * 1.3)
    assert critical_path_s(SHAPES["fan-out 1+3+1"], llm) == pytest.approx(3 * 1.3)
    by_levels = 1.3 + 3.1 + 3.1 + 1.3
    assert critical_path_s(SHAPES["uneven branches"], llm) == pytest.approx(1.3 + 0.85 + 3.1 + 1.3)
    assert by_levels / critical_path_s(SHAPES["uneven branches"], llm) == pytest.approx(1.344, abs=0.001)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_a_workflow_of_known_workers(name: str) -> None:
    workflow = request_of(SHAPES[name], "r0").workflow
    assert workflow is not None and len(workflow.steps) == 5
    assert {step.worker for step in workflow.steps} <= set(SCALE)
    assert workflow.steps[0].instruction.endswith("[[r0-1]]")


def test_a_text_that_lost_a_token_is_found_out() -> None:
    speed = Speed(0, 4, 0)
    check_texts(["red orange yellow green "], (("usual", ()),), speed)
    with pytest.raises(AssertionError, match="instead of"):
        check_texts(["red orange green"], (("usual", ()),), speed)


@dataclass
class Told:
    """A benchmark that says what it was given."""

    rows: Sequence[Row] = ()
    problem: Exception | None = None

    def __call__(self, name: str, plan: Plan) -> Sequence[Row]:
        if self.problem is not None:
            raise self.problem
        return [Row(name, f"long {plan.is_long}", Bar(1), False)]


def test_a_missed_bar_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(__main__, "in_own_process", Told())
    assert __main__.main(["cpu", "fork", "--json", "--long"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["benchmark"] for row in told["rows"]] == ["cpu", "fork"]
    assert told["is_long"] and told["rows"][0]["is_met"] is False


def test_what_the_machine_lacks_is_said_and_a_fault_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(__main__, "in_own_process", Told(problem=NotHere("no Chromium on this machine")))
    assert __main__.main(["pixels"]) == 0
    assert "not measured: no Chromium" in capsys.readouterr().out
    monkeypatch.setattr(__main__, "in_own_process", Told(problem=ValueError("broken")))
    assert __main__.main(["pixels"]) == 1
    assert "FAULT: ValueError: broken" in capsys.readouterr().out


def test_one_benchmark_runs_in_an_interpreter_of_its_own() -> None:
    with pytest.raises(KeyError):
        __main__.in_own_process("no such benchmark", Plan())


def test_markdown_pads_to_the_widest() -> None:
    assert markdown(("a", "b"), [("long", "x")]).splitlines() == [
        "| a    | b |",
        "|------|---|",
        "| long | x |",
    ]
    assert benchmarks.NAMES[0] == "orchestration"
