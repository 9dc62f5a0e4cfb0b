"""The reader of the paper's three lists: every known case, every repair, any text."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conductor.plans.plan_rules import PlanRules
from conductor.plans.reader import read_lists, write_lists
from conductor_client.plan import PlannedStep, Reading
from tests.strategies import workflows

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "reader.jsonl").read_text("utf-8").splitlines()
]
POOL_OF_THREE = PlanRules(n_workers=3)


def read(text: str, **rules: Any) -> Reading:
    return read_lists(text, PlanRules(**{"n_workers": 3, **rules}))


def rows(reading: Reading) -> list[list[Any]]:
    return [[step.worker, step.instruction, list(step.access)] for step in reading.steps]


def codes(reading: Reading) -> list[str]:
    return [each.code for each in reading.diagnostics]


def lists(model_id: str = "[0]", subtasks: str = '["a"]', access_list: str = "[[]]") -> str:
    return f"model_id = {model_id}\nsubtasks = {subtasks}\naccess_list = {access_list}"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_known_case_gets_its_right_value(case: dict[str, Any]) -> None:
    reading = read_lists(case["text"], POOL_OF_THREE)
    if "error" in case:
        assert reading.decision == "rejected"
        assert reading.steps == ()
        assert [each.code for each in reading.diagnostics if each.rejects] == [case["error"]]
        assert all(each.where and each.said for each in reading.diagnostics)
    else:
        assert reading.decision == "new"
        assert rows(reading) == case["steps"]
        assert not any(each.rejects for each in reading.diagnostics)


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        (lists(subtasks='["a",]'), "repaired_trailing_comma"),
        (lists(subtasks="[“a”]"), "repaired_quotes"),
        (lists(subtasks="['don't']"), "repaired_quotes"),
        (lists(model_id='["0"]'), "repaired_number"),
        (lists(model_id="[Worker 0]"), "repaired_number"),
        (lists(subtasks=r'["\frac{1}{2}"]'), "repaired_backslash"),
        (lists(subtasks='["two\nlines"]'), "repaired_line_break"),
        (lists("[0, 0]", '["a"\n"b"]', "[[], []]"), "repaired_missing_comma"),
        (lists("[0, 0]", '["a", "b"]', "[[], [0, 0]]"), "repaired_access"),
        (lists("[0, 0]", '["a", "b"]', "[[], 0]"), "repaired_access"),
        (lists(subtasks='[["a"]]'), "repaired_nesting"),
        (lists(subtasks=r'["half \ud83d"]'), "repaired_character"),
        (lists() + "\nmodel_id = [1, 2]", "repaired_later_lists"),
        ('[{"model_id": 0, "subtask": "a", "access_list": []}]', "repaired_step_objects"),
    ],
)
def test_each_leniency_is_told(text: str, repair: str) -> None:
    reading = read(text)
    assert reading.decision == "new"
    assert repair in codes(reading)


def test_clean_lists_need_no_repair() -> None:
    assert read(lists()).diagnostics == ()


def test_quotes_inside_text_that_nobody_escaped() -> None:
    reading = read(lists("[0, 1]", '["Say "hi", then "bye" to him", "b"]', "[[], []]"))
    assert [step.instruction for step in reading.steps] == ['Say "hi", then "bye" to him', "b"]


def test_emoji_as_two_escapes_is_one_character() -> None:
    assert read(lists(subtasks=r'["\ud83d\ude00"]')).steps[0].instruction == "😀"


def test_latex_keeps_its_backslash() -> None:
    assert read(lists(subtasks=r'["\frac{1}{2} and \beta"]')).steps[0].instruction == r"\frac{1}{2} and \beta"


def test_step_objects_and_their_steps_key() -> None:
    text = '{"steps": [{"worker": 1, "instruction": "a"}, {"worker": 2, "instruction": "b", "access": [0]}]}'
    assert rows(read(text)) == [[1, "a", []], [2, "b", [0]]]


@pytest.mark.parametrize(
    "text",
    [
        "<think>model_id = [9]\nsubtasks = [1]</think>" + lists(),
        "I think so: model_id = [9] subtasks = ['x'] access_list = [[]]</think>\n" + lists(),
        "<think>a</think>\n<thinking>b</thinking>\n" + lists(),
    ],
    ids=["closed", "unopened", "twice"],
)
def test_thoughts_are_never_read_as_lists(text: str) -> None:
    reading = read(text)
    assert rows(reading) == [[0, "a", []]]
    assert reading.reasoning


def test_thought_that_never_ends_is_no_plan() -> None:
    assert codes(read("<think>\n" + lists())) == ["unparsable"]


def test_think_tags_inside_an_instruction_stay() -> None:
    for instruction in ("Put it in <think> and </think>.", "Leave out </think>."):
        assert read(lists(subtasks=json.dumps([instruction]))).steps[0].instruction == instruction


def test_mention_after_the_lists_does_no_harm() -> None:
    text = (
        lists("[0, 1]", '["a", "b"]', '[[], ["all"]]')
        + "\nHere access_list: [] would mean that it sees nothing."
    )
    assert rows(read(text)) == [[0, "a", []], [1, "b", [0]]]


def test_final_lists_cut_off_leave_the_complete_draft_and_say_so() -> None:
    reading = read(lists(subtasks='["draft"]') + '\nFinal:\nmodel_id = [2]\nsubtasks = ["fin')
    assert rows(reading) == [[0, "draft", []]]
    assert "repaired_later_lists" in codes(reading)


def test_lists_of_two_attempts_are_never_mixed() -> None:
    text = lists("[0, 1]", '["a", "b"]', "[[], []]") + "\n" + lists("[2]", '["c", "d"]', "[[], []]")
    assert rows(read(text)) == [[0, "a", []], [1, "b", []]]


def test_order_of_the_lists_is_free() -> None:
    assert rows(read('access_list = [[]]\nsubtasks = ["a"]\nmodel_id = [1]')) == [[1, "a", []]]


def test_reasoning_is_the_text_before_the_lists() -> None:
    reading = read("Two parts, so two workers.\n\n```python\n" + lists() + "\n```")
    assert reading.reasoning == "Two parts, so two workers."


def test_binary_access_refuses_positions() -> None:
    text = lists("[0, 1]", '["a", "b"]', "[[], [0]]")
    assert codes(read(text, access="binary")) == ["bad_access"]
    assert rows(read(text, access="positions")) == [[0, "a", []], [1, "b", [0]]]


def test_all_among_positions_is_refused_by_the_binary_scheme_only() -> None:
    text = lists("[0, 1]", '["a", "b"]', '[[], [0, "all"]]')
    assert codes(read(text, access="binary")) == ["bad_access"]
    assert rows(read(text)) == [[0, "a", []], [1, "b", [0]]]


def test_three_empty_lists_keep_the_answer_of_an_earlier_round() -> None:
    empty = lists("[]", "[]", "[]")
    assert read(empty, round=2).decision == "keep"
    assert codes(read(empty, round=1)) == ["no_steps"]


def test_step_limit_is_an_option() -> None:
    six = lists("[0,0,0,0,0,0]", '["a","b","c","d","e","f"]', "[[],[],[],[],[],[]]")
    assert len(read(six, max_steps=6).steps) == 6
    assert codes(read(six)) == ["too_many_steps"]


def test_every_problem_is_told_with_its_step() -> None:
    reading = read(lists("[0, 9]", '["", "b"]', "[[], [1]]"))
    assert {(each.code, each.where) for each in reading.diagnostics} == {
        ("empty_instruction", "step 1"),
        ("unknown_worker", "step 2"),
        ("bad_access", "step 2"),
    }


@pytest.mark.parametrize("value", ["1.5", "None", '"two"', "[0]", "99999999999999999999", "{}"])
def test_what_is_no_ordinal_is_an_unknown_worker(value: str) -> None:
    assert codes(read(lists(f"[{value}]"))) == ["unknown_worker"]


NASTY = (
    *("model_id = [7]", "subtasks: [", "access_list = [[]]", '["all"]', "all", "<think>", "</think>", "```"),
    *('"', "'", "\\", "\n", "]", "[", ",", "“", "’", "#", "- ", "{", "}", ": ", "a", " ", "\x00", "\u2028"),
)
PIECES = (
    *("model_id", "subtasks", "access_list", "=", ":", "[", "]", "{", "}", "(", ")", ",", "'", '"', "\\"),
    *("“", "”", "0", "-1", "all", "None", "\n", " ", "```", "<think>", "</think>", "- ", "#", "\\u12", '"""'),
    *("r'", "é"),
)

instructions = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60).filter(str.strip)
nasty = st.one_of(
    instructions,
    st.lists(
        st.sampled_from(NASTY),
        min_size=1,
        max_size=12,
    )
    .map("".join)
    .filter(str.strip),
)


@st.composite
def plans(draw: st.DrawFn) -> tuple[PlannedStep, ...]:
    steps = []
    for place in range(draw(st.integers(1, 6))):
        access = tuple(seen for seen in range(place) if draw(st.booleans()))
        steps.append(PlannedStep(worker=draw(st.integers(0, 6)), instruction=draw(nasty), access=access))
    return tuple(steps)


@given(plans(), st.sampled_from(["", "Some thought: model_id: [1].\n", "<think>x</think>\n"]))
@example((PlannedStep(worker=0, instruction="<think>"),), "")
def test_what_is_written_is_read_back(steps: tuple[PlannedStep, ...], before: str) -> None:
    reading = read_lists(before + write_lists(steps), PlanRules(n_workers=7, max_steps=6))
    assert reading.steps == steps
    assert reading.diagnostics == ()


@given(workflows())
def test_any_workflow_survives_the_lists(workflow: Any) -> None:
    names = sorted({step.worker for step in workflow.steps})
    place = {step.step_id: step.position for step in workflow.steps}
    steps = tuple(
        PlannedStep(
            worker=names.index(step.worker),
            instruction=step.instruction,
            access=tuple(place[seen] for seen in step.access),
        )
        for step in workflow.steps
    )
    assert read_lists(write_lists(steps), PlanRules(n_workers=len(names), max_steps=32)).steps == steps


@given(plans())
def test_what_is_written_is_python_and_json(steps: tuple[PlannedStep, ...]) -> None:
    import ast

    for line in write_lists(steps, access="positions").splitlines():
        value = line.split(" = ", 1)[1]
        assert ast.literal_eval(value) == json.loads(value)


@given(st.lists(instructions, min_size=1, max_size=4))
def test_lists_as_python_and_json_write_them_are_read_exactly(texts: list[str]) -> None:
    n_steps = len(texts)
    for subtasks in (json.dumps(texts), json.dumps(texts, ensure_ascii=False), repr(texts)):
        if any(mark in subtasks for mark in (r"\b", r"\f", r"\0")):
            continue  # read as the start of \beta and \frac; nobody plans with a form feed
        reading = read(lists(str([0] * n_steps), subtasks, str([[]] * n_steps)))
        assert [step.instruction for step in reading.steps] == texts


pieces = st.sampled_from(PIECES)


@given(st.one_of(st.text(), st.lists(pieces, max_size=40).map("".join)))
def test_no_text_crashes_the_reader(text: str) -> None:
    reading = read(text)
    assert (reading.decision == "new") == bool(reading.steps)
    assert reading.decision != "rejected" or any(each.rejects for each in reading.diagnostics)
    Reading.model_validate_json(reading.model_dump_json())


def test_half_characters_from_outside_are_replaced() -> None:
    assert read(lists(subtasks='["\ud83d"]')).steps[0].instruction == "\ufffd"


@pytest.mark.parametrize(
    "unit",
    [
        "model_id: [",
        'model_id = ["',
        "model_id = [0]\nsubtasks = ['",
        'subtasks = [“a” "b',
        "[" * 50,
        "[{",
        '{"steps": [{"a": "',
        "model_id=[]subtasks=[0]access_list=[]",
        "model_id=[0]" * 3 + "subtasks=[0,1]" * 3 + "access_list=[]" * 3,
        "<think>\n",
        "</think>",
        "model_id = \n\n\n\n",
        '"\n\n\n\n\n',
        "model_id = ['a' ,",
        "```\n",
        "model_id" + " " * 50,
        "subtasks = ['\\",
        "- ",
        "#",
    ],
)
def test_a_megabyte_of_anything_takes_no_quadratic_time(unit: str) -> None:
    for before in ("", lists()):
        short, long = (_seconds(before + unit * (length // len(unit))) for length in (100_000, 1_000_000))
        # Ten times the text: linear work takes ten times as long, quadratic work a hundred times.
        assert long < 0.1 or long < 40 * short


def _seconds(text: str) -> float:
    started = time.thread_time()
    read(text)
    return time.thread_time() - started


def test_a_real_plan_of_a_megabyte_is_read_in_time() -> None:
    steps = tuple(PlannedStep(worker=0, instruction='It\'s "x"\n ' * 20_000) for _ in range(5))
    started = time.process_time()
    assert read(write_lists(steps)).steps == steps
    assert time.process_time() - started < 10


def test_writer_refuses_what_the_binary_scheme_cannot_say() -> None:
    steps = [PlannedStep(worker=0, instruction="a"), PlannedStep(worker=0, instruction="b")]
    steps.append(PlannedStep(worker=0, instruction="c", access=(1,)))
    with pytest.raises(ValueError, match="binary"):
        write_lists(steps, access="binary")
