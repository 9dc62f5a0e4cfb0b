"""The prompted conductor: what it tells its model, and what it makes of the text."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from conductor.conductors.base import EarlierRound, Refusal
from conductor.conductors.instructions import EXAMPLES, conductor_prompt
from conductor.conductors.prompted import CUT_CHARACTERS, PromptedConductor, ordinal_choices
from conductor.plans.plan_rules import PlanRules
from conductor.plans.reader import read_lists
from conductor.providers.base import Completion, TokenLogprob, WorkerError
from conductor_client.plan import Diagnostic, PlanOptions
from conductor_client.workflow import Message
from tests.conductor.conductors.model import PRICED, WORKERS, PaperModel, ask, write

LISTS = 'model_id = [0, 1]\nsubtasks = ["a", "b"]\naccess_list = [[], [0]]'


def conductor(describe: bool = False) -> PromptedConductor:
    return PromptedConductor("prompted:writer", PRICED, PlanOptions(), describe=describe)


async def test_text_becomes_steps_and_thoughts_reasoning() -> None:
    model = PaperModel(Completion("First a.\n" + LISTS, reasoning="Hm."))
    written = await write(conductor(), model, ask())
    assert [(step.worker, step.instruction, step.access) for step in written.reading.steps] == [
        (0, "a", ()),
        (1, "b", (0,)),
    ]
    assert written.reading.reasoning == "Hm.\n\nFirst a."
    assert written.choices == (None, None)


async def test_workers_are_ordinals_and_only_tools_are_described() -> None:
    model = PaperModel(LISTS)
    await write(conductor(), model, ask())
    said = model.said()
    assert "alpha" not in said
    assert "gamma" not in said
    assert "Worker 0: a language model" in said
    assert "Worker 1: a tool: calculates an expression" in said
    assert "answers questions" not in said
    described = PaperModel(LISTS)
    await write(conductor(describe=True), described, ask())
    assert "Worker 0: answers questions" in described.said()


async def test_settings_cap_seed_and_temperature_go_along() -> None:
    model = PaperModel(LISTS)
    await write(conductor(), model, ask(seed=7, options=PlanOptions(temperature=0.5)))
    call = model.calls[0]
    assert (call.seed, call.settings, call.max_output_tokens, call.top_logprobs) == (
        7,
        {"temperature": 0.5},
        4096,
        0,
    )


async def test_complaint_quotes_the_text_and_every_reason() -> None:
    model = PaperModel(LISTS)
    reasons = (
        Diagnostic(code="unknown_worker", where="step 2", said="9 is no worker."),
        Diagnostic(code="repaired_quotes", where="lists", said="mended"),
    )
    await write(conductor(), model, ask(refusal=Refusal("my bad text", reasons)))
    last_two = model.calls[0].messages[-2:]
    assert (last_two[0].role, last_two[0].content) == ("assistant", "my bad text")
    assert "- step 2: 9 is no worker." in last_two[1].content
    assert "mended" not in last_two[1].content


async def test_second_round_sees_plan_and_answer_and_may_keep_it() -> None:
    model = PaperModel("model_id = []\nsubtasks = []\naccess_list = []")
    written = await write(
        conductor(), model, ask(round=2, earlier=(EarlierRound(LISTS, "The answer is 4."),))
    )
    assert written.reading.decision == "keep"
    assert LISTS in model.said()
    assert "The answer is 4." in model.said()


async def test_follow_up_sees_the_turn_before() -> None:
    model = PaperModel(LISTS)
    turns = (
        Message(role="user", content="Capital of France?"),
        Message(role="assistant", content="Paris"),
    )
    await write(conductor(), model, ask("And of Italy?", messages=turns))
    assert "Capital of France?" in model.said()
    assert "And of Italy?" in model.said()


async def test_prompt_that_does_not_fit_is_cut_once_and_told() -> None:
    overflow = WorkerError("context_overflow", "too long")
    model = PaperModel(overflow, LISTS)
    written = await write(conductor(), model, ask("start " + "x" * 100_000 + " end"))
    assert len(model.said(1)) < CUT_CHARACTERS + 8_000
    assert "start" in model.said(1)
    assert " end" in model.said(1)
    assert "repaired_prompt_cut" in [each.code for each in written.reading.diagnostics]
    with pytest.raises(WorkerError, match="too long"):
        await write(conductor(), PaperModel(overflow, overflow), ask("x" * 100_000))
    with pytest.raises(WorkerError, match="too long"):
        await write(conductor(), PaperModel(overflow), ask("short"))


@pytest.mark.parametrize("access", ["binary", "positions"])
@pytest.mark.parametrize("max_steps", [1, 2, 5])
def test_examples_obey_the_rules_they_teach(access: str, max_steps: int) -> None:
    options = PlanOptions.model_validate({"access": access, "max_steps": max_steps})
    said = conductor_prompt("Q", WORKERS, options)[-1].content
    rules = PlanRules.of(options, n_workers=4)
    shown = [part for part in said.split("\n\n") if part.startswith("Question: ")]
    assert len(shown) == sum(len(each.steps) <= max_steps for each in EXAMPLES) >= 1
    for part in shown:
        reading = read_lists(part, rules)
        assert reading.decision == "new"
        assert reading.diagnostics == ()


def tokens(*texts: str, **odds: dict[str, float]) -> tuple[TokenLogprob, ...]:
    return tuple(
        TokenLogprob(each, -0.1, odds.get(f"t{place}", {each: -0.1})) for place, each in enumerate(texts)
    )


def test_odds_are_read_where_the_ordinals_stand() -> None:
    texts = ["model_id", ": [7]", "\nmodel_id =", " [", "0", ",", " 1", "]\nsubtasks = 2"]
    odds = {"t4": {"0": math.log(0.7), "1": math.log(0.2), "x": math.log(0.1)}, "t6": {" 1": math.log(0.9)}}
    found = ordinal_choices("".join(texts), tokens(*texts, **odds), [0, 1])
    assert found == ({0: pytest.approx(0.7), 1: pytest.approx(0.2)}, {1: pytest.approx(0.9)})


def test_odds_that_do_not_match_are_none() -> None:
    text = "model_id = [0, 1]"
    assert ordinal_choices(text, (), [0, 1]) == (None, None)
    assert ordinal_choices(text, tokens("model_id = [", "0", ", ", "1", "] "), [0, 1]) == (None, None)
    assert ordinal_choices(text, tokens("model_id = [", "0", ", ", "1", "]"), [0, 2]) == (None, None)
    assert ordinal_choices(text, tokens("model_id = [0, ", "1", "]"), [0, 1]) == (None, None)


async def test_a_server_known_to_take_a_schema_is_sent_one_and_others_are_not() -> None:
    text = (
        '{"thought": "Try, then check.", "model_id": [0, 1], "subtasks": ["a", "b"], '
        '"access_list": [[], ["all"]]}'
    )
    options = PlanOptions(access="binary")
    schemas = {}
    for profile, address in (({}, None), ({"json_mode": "schema"}, PRICED.base_url), ({}, PRICED.base_url)):
        worker = replace(PRICED, base_url=address, profile=profile)
        model = PaperModel(text)
        written = await write(PromptedConductor("c", worker, options), model, ask(options=options))
        assert [step.access for step in written.reading.steps] == [(), (0,)]
        assert written.reading.reasoning == "Try, then check."
        schemas[address, bool(profile)] = model.calls[0].json_schema
    assert [schema is not None for schema in schemas.values()] == [True, True, False]
    schema = schemas[None, False]
    assert schema is not None
    assert schema["properties"]["access_list"]["items"]["items"] == {"type": "string", "enum": ["all"]}
