"""The local conductor: lines under a grammar, odds of the letters, prompts cut to size."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from conductor.conductors.base import Refusal, Written
from conductor.conductors.local import PROMPT_CHARACTERS, LocalConductor, role_of, step_choices
from conductor.providers.base import Completion, Worker, WorkerError
from conductor_client.plan import Diagnostic, PlanOptions
from conductor_client.workflow import Message
from tests.conductor.conductors.model import WORKERS, PaperModel, ask, token, write

MODEL = Worker("conductor on tiny", "local", "smollm2-135m")


def conductor() -> LocalConductor:
    return LocalConductor("local", MODEL, PlanOptions())


async def test_lines_become_steps_with_odds() -> None:
    odds = {"A": math.log(0.6), "B": math.log(0.3), "The": math.log(0.1)}
    logprobs = (
        token("A", **odds),
        token(": Do it"),
        token("\n"),
        token("B", B=math.log(0.5)),
        token(" 1: Add"),
    )
    model = PaperModel(Completion("A: Do it\nB 1: Add", logprobs=logprobs))
    written = await write(conductor(), model, ask())
    assert [(step.worker, step.access) for step in written.reading.steps] == [(0, ()), (1, (0,))]
    assert written.choices[0] == {0: pytest.approx(0.6), 1: pytest.approx(0.3), 2: 0}
    assert written.choices[1] == {0: 0, 1: pytest.approx(0.5), 2: 0}


async def test_the_call_is_held_to_a_grammar_of_this_pool() -> None:
    model = PaperModel("A: Do it")
    await write(conductor(), model, ask(options=PlanOptions(max_steps=2), seed=3))
    call = model.calls[0]
    assert call.grammar is not None
    assert "[A-C]" in call.grammar
    assert "step2" in call.grammar
    assert "step3" not in call.grammar
    assert (call.seed, call.max_output_tokens, call.top_logprobs) == (3, 128, 40)
    assert "C (gamma)" in model.said()


CALCULATOR = Worker("calculator", "tool", "calculator")


@pytest.mark.parametrize(
    ("text", "steps", "codes"),
    [
        ("A: One Python expression for the sum", [(0, ()), (1, (0,))], ["repaired_calculation"]),
        ("A: One Python expression for the sum\nB 1: Calculate it", [(0, ()), (1, (0,))], []),
        ("A: Explain what a Python program is", [(0, ())], []),
        ("A: Write the function that adds\nB 1: Calculate it", [(0, ())], ["repaired_calculation"]),
        ("A: Write the total\nB 1: Calculate it", [(0, ()), (1, (0,))], []),
    ],
)
async def test_a_calculator_stands_after_an_expression_and_only_there_and_that_is_told(
    text: str, steps: list[tuple[int, tuple[int, ...]]], codes: list[str]
) -> None:
    written = await write(conductor(), PaperModel(text), ask(workers=(WORKERS[0], CALCULATOR)))
    assert [(step.worker, step.access) for step in written.reading.steps] == steps
    assert [each.code for each in written.reading.diagnostics] == codes


async def test_an_instruction_copied_from_an_example_gives_way_to_the_question() -> None:
    written = await write(conductor(), PaperModel("A: Explain why ice floats"), ask("Why is the sky blue?"))
    assert written.reading.steps[0].instruction == "Why is the sky blue?"
    note = written.reading.diagnostics[0]
    assert (note.code, note.where) == ("repaired_instruction", "step 1")
    assert "Explain why ice floats" in note.said
    kept = await write(conductor(), PaperModel("A: Explain why ice floats"), ask("Why does ice float?"))
    assert kept.reading.steps[0].instruction == "Explain why ice floats"
    assert kept.reading.diagnostics == ()


async def test_a_follow_up_answered_in_one_step_is_told_the_follow_up() -> None:
    earlier = (Message(role="user", content="Who sold rolls?"), Message(role="assistant", content="A baker"))
    written = await write(
        conductor(), PaperModel("A: Name the baker"), ask("And in French?", messages=earlier)
    )
    assert written.reading.steps[0].instruction == "And in French?"
    assert [each.code for each in written.reading.diagnostics] == ["repaired_instruction"]
    two = await write(conductor(), PaperModel("A: One\nA 1: Two"), ask("And in French?", messages=earlier))
    assert [step.instruction for step in two.reading.steps] == ["One", "Two"]


async def test_without_a_calculator_or_room_nothing_is_added() -> None:
    text = "A: One Python expression for the sum"
    for request in (
        ask(workers=WORKERS[:1]),
        ask(workers=(WORKERS[0], CALCULATOR), options=PlanOptions(max_steps=1)),
    ):
        assert len((await write(conductor(), PaperModel(text), request)).reading.steps) == 1


async def test_cut_text_and_cut_prompt_are_told() -> None:
    model = PaperModel(Completion("A: Do", finish="length"))
    written = await write(conductor(), model, ask("x" * 100_000))
    assert len(model.said()) < PROMPT_CHARACTERS + 8_000
    assert [each.code for each in written.reading.diagnostics] == ["repaired_cut", "repaired_prompt_cut"]
    assert "3,000 of the prompt's 100,000" in written.reading.diagnostics[1].said


async def test_context_overflow_cuts_harder_and_gives_up_in_the_end() -> None:
    overflow = WorkerError("context_overflow", "too long")
    model = PaperModel(overflow, overflow, "A: Do it")
    written = await write(conductor(), model, ask("漢" * 10_000))
    assert written.reading.steps
    assert len(model.said(2)) < len(model.said(1)) < len(model.said(0))
    with pytest.raises(WorkerError, match="too long"):
        await write(conductor(), PaperModel(*[overflow] * 9), ask("漢" * 10_000))


async def test_asked_again_it_hears_why_and_gets_some_chance() -> None:
    model = PaperModel("A: Do it")
    why = (Diagnostic(code="unparsable", where="text", said="No line."),)
    await write(conductor(), model, ask(refusal=Refusal("hm", why)))
    assert "No line." in model.calls[0].messages[-1].content
    assert model.calls[0].settings["temperature"] >= 0.7


async def test_more_workers_than_letters() -> None:
    many = tuple(Worker(f"w{number}", "scripted", "m") for number in range(30))
    written = await write(conductor(), PaperModel("Z: Do it"), ask(workers=many))
    assert written.reading.steps[0].worker == 25
    assert [each.code for each in written.reading.diagnostics] == ["repaired_pool_cut"]


async def test_warming_up_reads_the_same_beginning_and_writes_one_token() -> None:
    warm, real = PaperModel("A"), PaperModel("A: Do it")
    await conductor().warm_up(WORKERS, warm)
    await write(conductor(), real, ask())
    assert warm.calls[0].max_output_tokens == 1
    assert warm.calls[0].messages[:-1] == real.calls[0].messages[:-1]


def test_roles_come_from_tags_then_from_the_tool() -> None:
    assert [role_of(worker) for worker in WORKERS] == ["general", "calculator", "strong"]
    assert role_of(Worker("x", "tool", "python")) == "python"
    assert role_of(Worker("x", "tool", "other")) == "general"


def test_no_odds_without_logprobs() -> None:
    assert step_choices((), 3) == ()


@pytest.mark.model("smollm2-135m")
async def test_a_real_model_writes_a_plan_that_parses(models_dir: Path) -> None:
    from conductor.providers.local import LocalModels

    items = [item async for item in conductor().write(ask("What is 3 + 4?"), LocalModels(models_dir).stream)]
    written = items[-1]
    assert isinstance(written, Written)
    assert written.reading.decision == "new"
    assert all(odds is not None and sum(odds.values()) <= 1.001 for odds in written.choices)
