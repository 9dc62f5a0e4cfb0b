"""Worker-first lines: what small conductors write."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.plans.lines import read_lines, write_lines
from conductor.plans.plan_rules import PlanRules
from conductor_client.plan import PlannedStep, Reading


def read(text: str, *, was_cut: bool = False, **rules: Any) -> Reading:
    return read_lines(text, PlanRules(**{"n_workers": 3, **rules}), was_cut=was_cut)


def rows(reading: Reading) -> list[list[Any]]:
    return [[step.worker, step.instruction, list(step.access)] for step in reading.steps]


def codes(reading: Reading) -> list[str]:
    return [each.code for each in reading.diagnostics]


def test_the_plain_form() -> None:
    reading = read("B: Write an expression\nC 1: Calculate it\nA 1 2: Explain: shortly")
    assert rows(reading) == [
        [1, "Write an expression", []],
        [2, "Calculate it", [0]],
        [0, "Explain: shortly", [0, 1]],
    ]
    assert reading.diagnostics == ()


@pytest.mark.parametrize(
    "line",
    ["- B: Do it", "2. B: Do it", "**B**: Do it", "b: Do it", " B : Do it", "B (1): Do it", "B 1, : Do it"],
)
def test_lines_dressed_up_are_read_and_told(line: str) -> None:
    reading = read(f"A: First\n{line}")
    assert [step.instruction for step in reading.steps] == ["First", "Do it"]
    assert codes(reading) == ["repaired_line"]


def test_prose_before_is_reasoning_and_prose_after_is_left_out() -> None:
    reading = read("Two parts.\n```\nA: First\nand so on\n```")
    assert rows(reading) == [[0, "First", []]]
    assert reading.reasoning == "Two parts."
    assert codes(reading) == ["repaired_other_line"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "unparsable"),
        ("I can't.", "unparsable"),
        ("D: x", "unknown_worker"),
        ("A 1: x", "bad_access"),
        ("A: x\nB 2: y", "bad_access"),
        ("A: x\nB 0: y", "bad_access"),
        ("A:  ", "empty_instruction"),
        ("\n".join(["A: x"] * 6), "too_many_steps"),
    ],
)
def test_what_cannot_be_a_plan_is_refused(text: str, code: str) -> None:
    reading = read(text)
    assert reading.decision == "rejected"
    assert [each.code for each in reading.diagnostics if each.rejects] == [code]


def test_binary_access_widens_and_tells() -> None:
    reading = read("A: x\nB: y\nC 2: z", access="binary")
    assert rows(reading)[2] == [2, "z", [0, 1]]
    assert codes(reading) == ["repaired_access"]


def test_text_cut_at_the_cap_is_told() -> None:
    assert codes(read("A: x\nB: y and", was_cut=True)) == ["repaired_cut"]


one_line = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=40
).filter(lambda text: text.strip() == text and "  " not in text and text == " ".join(text.split()))


@st.composite
def plans(draw: st.DrawFn) -> tuple[PlannedStep, ...]:
    steps = []
    for place in range(draw(st.integers(1, 12))):
        access = tuple(seen for seen in range(place) if draw(st.booleans()))
        steps.append(PlannedStep(worker=draw(st.integers(0, 25)), instruction=draw(one_line), access=access))
    return tuple(steps)


@given(plans())
def test_what_is_written_is_read_back(steps: tuple[PlannedStep, ...]) -> None:
    reading = read_lines(write_lines(steps), PlanRules(n_workers=26, max_steps=12))
    assert reading.steps == steps


@given(st.text())
def test_no_text_crashes_it(text: str) -> None:
    reading = read(text)
    assert (reading.decision == "new") == bool(reading.steps)


@pytest.mark.parametrize("unit", ["A: x\n", "A 1", "- ", " ", "A (", "<think>", "A:\n", "x\n", "1. "])
def test_a_megabyte_takes_no_quadratic_time(unit: str) -> None:
    started = time.process_time()
    read(unit * (1_000_000 // len(unit)))
    assert time.process_time() - started < 10


def test_a_worker_without_a_letter_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="no letter"):
        write_lines([PlannedStep(worker=26, instruction="x")])


def test_agrees_with_the_form_of_the_local_models() -> None:
    from conductor.local.plan_lines import read_plan_lines

    text = "B: Write it\nC 1: Run it\nA 1 2: Tell it"
    theirs = read_plan_lines(text)
    assert theirs is not None
    assert [
        ["ABC".index(line.letter), line.instruction, [n - 1 for n in line.access]] for line in theirs
    ] == rows(read(text))
