"""The local conductor: a small model on this machine, held to a grammar, so that every plan parses.

It writes worker-first lines. The odds of each worker letter, at the moment it is chosen, are its evidence.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Literal, cast, get_args

from conductor.conductors.base import CallModel, ConductorRequest, Written
from conductor.conductors.excerpt import conversation, cut_note
from conductor.local.conductor_prompt import PoolWorker, Role, conductor_messages, is_copied
from conductor.local.grammar import MAX_WORKERS, plan_grammar, worker_letters
from conductor.local.plan_lines import letter_choices
from conductor.plans.lines import read_lines
from conductor.plans.plan_rules import PlanRules
from conductor.providers.base import Call, Completion, Delta, Notice, TokenLogprob, Worker, WorkerError
from conductor_client.plan import Diagnostic, PlannedStep, PlanOptions, Reading
from conductor_client.workflow import Message

PREFERRED_MODELS = ("qwen-0.5b", "qwen-1.5b", "smollm2-135m")
"""Base models, best first by `benchmarks.local_conductor`: as sensible as the next, at half its time."""
PROMPT_CHARACTERS = 3000
"""More of a prompt is not shown: reading it would take longer than the plan is worth."""
UNCALCULATED = re.compile(r"\bpython expression\b", re.IGNORECASE)
DEFINES_CODE = re.compile(r"\bwrite\b.*\b(function|class|method)\b", re.IGNORECASE)
QUESTION_CHARACTERS = 400
"""A longer question is not repeated as an instruction: the worker is sent it anyway."""
TOKENS_PER_STEP = 64
TOP_LOGPROBS = 40


class LocalConductor:
    """The conductor ``local``, or one a pool file sets up on another local model."""

    kind: Literal["local"] = "local"
    can_revise = False
    """Its grammar has no word for keeping an answer, and so small a model cannot judge one."""

    def __init__(self, conductor_id: str, worker: Worker, options: PlanOptions) -> None:
        self.conductor_id = conductor_id
        self.worker: Worker | None = worker
        self.options = options
        self._model = worker

    async def write(
        self, request: ConductorRequest, call_model: CallModel
    ) -> AsyncIterator[Delta | Notice | Written]:
        """Streams the lines. A prompt that does not fit the model's context is cut harder, then given up."""
        limit = PROMPT_CHARACTERS
        while True:
            call = self._call(request, limit)
            stream = cast(AsyncGenerator[Delta | Notice | Completion, None], call_model(call))
            try:
                async with aclosing(stream) as items:
                    async for item in items:
                        if isinstance(item, Completion):
                            yield self._written(request, item, limit)
                        else:
                            yield item
                return
            except WorkerError as error:
                if error.kind != "context_overflow" or limit <= PROMPT_CHARACTERS // 8:
                    raise
                limit //= 2

    async def warm_up(self, workers: tuple[Worker, ...], call_model: CallModel) -> None:
        """Loads the model and lets it read the fixed beginning of its prompt for these workers.

        The first plan is then as quick as later ones. Raises ``WorkerError`` when the model fails.
        """
        request = ConductorRequest(prompt="?", workers=workers, options=self.options)
        async for _ in call_model(replace(self._call(request, PROMPT_CHARACTERS), max_output_tokens=1)):
            pass

    def _call(self, request: ConductorRequest, limit: int) -> Call:
        workers = request.workers[:MAX_WORKERS]
        options = request.options
        pool = [PoolWorker(each.name, role_of(each), each.description) for each in workers]
        question = conversation(request.messages, request.prompt, limit)
        messages = [
            Message(role=cast(Any, each["role"]), content=each["content"])
            for each in conductor_messages(question, pool, max_steps=options.max_steps)
        ]
        settings: dict[str, Any] = {**self._model.settings}
        if options.temperature is not None:
            settings["temperature"] = options.temperature
        if request.refusal is not None:
            messages.append(Message(role="assistant", content=request.refusal.raw_text or "-"))
            messages.append(Message(role="user", content=_complaint(request.refusal.diagnostics)))
            # Asked the same way it would write the same again.
            settings["temperature"] = max(0.7, settings.get("temperature") or 0.0)
        return Call(
            worker=self._model,
            messages=tuple(messages),
            max_output_tokens=TOKENS_PER_STEP * options.max_steps,
            seed=request.seed,
            settings=settings,
            grammar=plan_grammar(len(workers), options.max_steps),
            top_logprobs=TOP_LOGPROBS,
        )

    def _written(self, request: ConductorRequest, end: Completion, limit: int) -> Written:
        n_workers = min(len(request.workers), MAX_WORKERS)
        rules = PlanRules.of(request.options, n_workers=n_workers, round=request.round)
        reading = read_lines(end.output, rules, was_cut=end.finish == "length")
        workers = request.workers[:MAX_WORKERS]
        reading = about_the_question(reading, request)
        reading = without_idle_calculation(reading, workers)
        reading = with_calculation(reading, workers, request.options.max_steps)
        notes = [*cut_note(request.prompt, limit), *_pool_note(len(request.workers))]
        if notes:
            reading = reading.model_copy(update={"diagnostics": (*reading.diagnostics, *notes)})
        return Written(
            raw_text=end.output,
            reading=reading,
            choices=step_choices(end.logprobs, n_workers)[: len(reading.steps)],
            usage=end.usage,
            served_model=end.served_model,
            reported_cost_usd=end.reported_cost_usd,
        )


def role_of(worker: Worker) -> Role:
    """What part of the examples a worker plays: the first tag that is a role, else by what it is."""
    roles = get_args(Role)
    for tag in worker.tags:
        if tag in roles:
            return cast(Role, tag)
    return cast(Role, worker.model) if worker.provider == "tool" and worker.model in roles else "general"


def about_the_question(reading: Reading, request: ConductorRequest) -> Reading:
    """The plan with instructions that miss the question put right.

    Small models copy an instruction from an example now and then, and in a conversation they plan for an
    earlier turn. The question itself takes the place of a copied instruction, and of the only one in a
    conversation. Told as ``repaired_instruction``.
    """
    asked = "\n".join((*(each.content for each in request.messages), request.prompt))
    question = request.prompt if len(request.prompt) <= QUESTION_CHARACTERS else "Answer the question"
    steps, notes = list(reading.steps), []
    for place, step in enumerate(steps):
        is_lost = is_copied(step.instruction, asked)
        is_whole_answer = len(steps) == 1 and role_of(request.workers[step.worker]) not in (
            "calculator",
            "python",
        )
        if is_lost or (request.messages and is_whole_answer):
            steps[place] = step.model_copy(update={"instruction": question})
            why = "was about an example, not the question" if is_lost else "left out the conversation"
            said = f"The instruction “{step.instruction}” {why}; the question took its place."
            notes.append(Diagnostic(code="repaired_instruction", where=f"step {place + 1}", said=said))
    if not notes:
        return reading
    return reading.model_copy(update={"steps": tuple(steps), "diagnostics": (*reading.diagnostics, *notes)})


def without_idle_calculation(reading: Reading, workers: Sequence[Worker]) -> Reading:
    """The plan without a last step that would calculate a function or class somebody was asked to write.

    There is nothing to calculate in code that is only defined: the step would fail and hide the code, which
    is the answer. Told as ``repaired_calculation``.
    """
    steps = reading.steps
    if len(steps) < 2 or role_of(workers[steps[-1].worker]) != "calculator" or len(steps[-1].access) != 1:
        return reading
    seen = steps[-1].access[0]
    if seen != len(steps) - 2 or not DEFINES_CODE.search(steps[seen].instruction):
        return reading
    said = f"Step {len(steps)} would calculate the code that step {seen + 1} writes; it was left out."
    note = Diagnostic(code="repaired_calculation", where=f"step {len(steps)}", said=said)
    return reading.model_copy(update={"steps": steps[:-1], "diagnostics": (*reading.diagnostics, note)})


def with_calculation(reading: Reading, workers: Sequence[Worker], max_steps: int) -> Reading:
    """The plan, with a calculator after a last step that only writes an expression.

    Small models forget that line; the bare expression would be the answer. Told as ``repaired_calculation``.
    """
    tool = next((place for place, each in enumerate(workers) if role_of(each) == "calculator"), None)
    steps = reading.steps
    if tool is None or not steps or len(steps) >= max_steps or steps[-1].worker == tool:
        return reading
    if not UNCALCULATED.search(steps[-1].instruction):
        return reading
    added = PlannedStep(worker=tool, instruction="Calculate the expression", access=(len(steps) - 1,))
    said = f"Step {len(steps)} only writes an expression; a step that calculates it was added after it."
    note = Diagnostic(code="repaired_calculation", where=f"step {len(steps)}", said=said)
    return reading.model_copy(update={"steps": (*steps, added), "diagnostics": (*reading.diagnostics, note)})


def step_choices(
    logprobs: tuple[TokenLogprob, ...], n_workers: int
) -> tuple[Mapping[int, float] | None, ...]:
    """The odds of every worker at each line's letter, not scaled: what is missing to 1 was no letter."""
    letters = worker_letters(n_workers)
    odds = letter_choices([(each.token, each.top) for each in logprobs], letters)
    return tuple(
        {place: round(choice.probabilities[letter] * choice.mass, 6) for place, letter in enumerate(letters)}
        for choice in odds
    )


def _complaint(diagnostics: tuple[Diagnostic, ...]) -> str:
    said = " ".join(f"{each.where}: {each.said}" for each in diagnostics if each.rejects)
    return f"These lines cannot be used. {said} Write the lines for the last question again."


def _pool_note(n_workers: int) -> tuple[Diagnostic, ...]:
    if n_workers <= MAX_WORKERS:
        return ()
    said = f"The conductor was given the first {MAX_WORKERS} of {n_workers} workers; letters end there."
    return (Diagnostic(code="repaired_pool_cut", where="pool", said=said),)
