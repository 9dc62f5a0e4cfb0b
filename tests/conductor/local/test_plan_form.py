"""The line form of small conductors: its grammar, its reading, and the examples shown to prompted ones."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.local.conductor_prompt import EXAMPLES, PoolWorker, conductor_messages
from conductor.local.grammar import plan_grammar, worker_letters
from conductor.local.plan_lines import PlanLine, letter_choices, read_plan_lines

POOL = (
    PoolWorker("qwen", "general"),
    PoolWorker("tiny", "small"),
    PoolWorker("calculator", "calculator"),
    PoolWorker("python", "python"),
)


def test_each_position_may_see_only_the_positions_before_it() -> None:
    rules = dict(line.split(" ::= ", 1) for line in plan_grammar(4, 3).splitlines())
    assert rules["step1"] == r'worker ": " instruction ("\n" step2)?'
    assert rules["step2"] == r'worker (" 1")? ": " instruction ("\n" step3)?'
    assert rules["step3"] == 'worker (" 1")? (" 2")? ": " instruction'
    assert rules["worker"] == "[A-D]"
    assert "{3,159}" in rules["instruction"]


@given(st.integers(1, 26), st.integers(1, 32))
def test_nothing_in_the_grammar_repeats_without_end(n_workers: int, max_steps: int) -> None:
    grammar = plan_grammar(n_workers, max_steps)
    outside_classes = grammar.replace("[A-Za-z0-9]", "").split("character ::=")[0]
    assert "*" not in outside_classes and "+" not in outside_classes
    assert grammar.count(" ::= ") == max_steps + 4


@pytest.mark.parametrize(("n_workers", "max_steps"), [(0, 3), (27, 3), (3, 0), (3, 33)])
def test_sizes_no_plan_can_have_are_refused(n_workers: int, max_steps: int) -> None:
    with pytest.raises(ValueError, match="not"):
        plan_grammar(n_workers, max_steps)


def test_reads_what_the_grammar_allows() -> None:
    assert read_plan_lines("A: Write it\nC 1: Calculate it\nB 1 2: Sum up: all of it") == [
        PlanLine("A", (), "Write it"),
        PlanLine("C", (1,), "Calculate it"),
        PlanLine("B", (1, 2), "Sum up: all of it"),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "hello", "A:", "a: write", "A 1: sees itself", "A: x\nB 2: y", "A: x\nB 1 1: y", "A 0: x", "AB: x"],
)
def test_anything_else_is_no_plan(text: str) -> None:
    assert read_plan_lines(text) is None


def test_letter_odds_are_read_at_line_starts_and_scaled_to_the_pool() -> None:
    tokens = [
        ("A", {"A": math.log(0.6), " B": math.log(0.2), "Hello": math.log(0.2)}),
        (":", {}),
        (" Write B", {}),
        ("\n", {}),
        ("C", {"C": math.log(0.5)}),
        (" 1", {}),
    ]
    first, second = letter_choices(tokens, "ABC")
    assert first.mass == pytest.approx(0.8)
    assert first.probabilities == pytest.approx({"A": 0.75, "B": 0.25, "C": 0.0})
    assert second.probabilities["C"] == 1.0


def test_letters_nobody_reported_are_equally_likely() -> None:
    (only,) = letter_choices([("B", {"Hello": -0.1})], "AB")
    assert only.mass == 0 and only.probabilities == {"A": 0.5, "B": 0.5}


def test_examples_are_plans_in_the_letters_of_the_pool() -> None:
    messages = conductor_messages("What is 6 * 7?", POOL)
    assert [message["role"] for message in messages] == [
        "system",
        *["user", "assistant"] * len(EXAMPLES),
        "user",
    ]
    assert "C (calculator): " in messages[0]["content"]
    for message in messages:
        if message["role"] == "assistant":
            assert read_plan_lines(message["content"]) is not None
    assert messages[-1]["content"] == "Question: What is 6 * 7?"


def test_a_pool_without_tools_sees_no_example_with_one() -> None:
    text = " ".join(message["content"] for message in conductor_messages("Hi", POOL[:1]))
    assert "expression" not in text.replace("Python expressions", "") and "Run the" not in text


def test_reordering_the_pool_moves_the_letters() -> None:
    plans = [
        message["content"]
        for message in conductor_messages("Hi", POOL[::-1])
        if message["role"] == "assistant"
    ]
    assert plans[0].startswith("D: ")


def test_the_beginning_does_not_depend_on_the_prompt() -> None:
    assert conductor_messages("One", POOL)[:-1] == conductor_messages("Two", POOL)[:-1]


def test_letters() -> None:
    assert worker_letters(3) == "ABC"
