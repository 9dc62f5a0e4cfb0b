"""A prompted conductor: any chat model that is told how to plan and answers with the three lists."""

from __future__ import annotations

import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal, cast

from conductor.conductors.base import CallModel, ConductorRequest, Written
from conductor.conductors.excerpt import conversation, cut_note, excerpt
from conductor.conductors.instructions import complaint, conductor_prompt, next_round
from conductor.conductors.plan_schema import ASKED, plan_schema, thought_of
from conductor.plans.plan_rules import PlanRules
from conductor.plans.reader import read_lists
from conductor.providers.base import Call, Completion, Delta, Notice, TokenLogprob, Worker, WorkerError
from conductor_client.plan import PlanOptions
from conductor_client.workflow import Message

PROMPTED = "prompted:"
MAX_OUTPUT_TOKENS = 4096
"""Cap of a plan when the worker sets none; the paper's conductor had 1024, reasoning models need more."""
CUT_CHARACTERS = 16_000
"""What is left of a prompt that did not fit the conductor's context."""
ANSWER_CHARACTERS = 12_000
"""What a conductor is shown of an earlier round's answer."""
TOP_LOGPROBS = 20

_ordinals = re.compile(r"model_ids?[\"*`]*\s*[:=]\s*\[([^\]]*)\]", re.IGNORECASE)


class PromptedConductor:
    """``prompted:<worker>``, or one a pool file sets up."""

    kind: Literal["prompted"] = "prompted"
    can_revise = True

    def __init__(
        self, conductor_id: str, worker: Worker, options: PlanOptions, *, describe: bool = False
    ) -> None:
        """``describe``: tell the model what each worker is good at. The default names tools only."""
        self.conductor_id = conductor_id
        self.worker: Worker | None = worker
        self.options = options
        self._model = worker
        self._describe = describe

    async def write(
        self, request: ConductorRequest, call_model: CallModel
    ) -> AsyncIterator[Delta | Notice | Written]:
        """Streams its text. A prompt that does not fit the model's context is cut once, then given up."""
        limit = max(CUT_CHARACTERS, len(request.prompt))
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
                if error.kind != "context_overflow" or limit <= CUT_CHARACTERS:
                    raise
                limit = CUT_CHARACTERS

    def _call(self, request: ConductorRequest, limit: int) -> Call:
        question = conversation(request.messages, request.prompt, limit)
        messages = list(conductor_prompt(question, request.workers, request.options, describe=self._describe))
        schema = plan_schema(self._model, request.options)
        if schema is not None:
            last = messages[-1]
            messages[-1] = last.model_copy(update={"content": f"{last.content}\n{ASKED}"})
        for earlier in request.earlier:
            messages += [
                Message(role="assistant", content=earlier.raw_text.strip() or "(nothing)"),
                next_round(excerpt(earlier.final_output, ANSWER_CHARACTERS)),
            ]
        if request.refusal is not None:
            said = request.refusal.raw_text.strip() or "(nothing)"
            messages += [Message(role="assistant", content=said), complaint(request.refusal.diagnostics)]
        settings: dict[str, Any] = {**self._model.settings}
        if request.options.temperature is not None:
            settings["temperature"] = request.options.temperature
        return Call(
            worker=self._model,
            messages=tuple(messages),
            max_output_tokens=self._model.max_output_tokens or MAX_OUTPUT_TOKENS,
            seed=request.seed,
            settings=settings,
            json_schema=schema,
            top_logprobs=TOP_LOGPROBS if _gives_logprobs(self._model) else 0,
        )

    def _written(self, request: ConductorRequest, end: Completion, limit: int) -> Written:
        rules = PlanRules.of(request.options, n_workers=len(request.workers), round=request.round)
        reading = read_lists(end.output, rules)
        if notes := cut_note(request.prompt, limit):
            reading = reading.model_copy(update={"diagnostics": (*reading.diagnostics, *notes)})
        if (thought := thought_of(end.output)) is not None:
            reading = reading.model_copy(update={"reasoning": thought})
        if end.reasoning.strip():
            thoughts = "\n\n".join(filter(None, [end.reasoning.strip(), reading.reasoning]))
            reading = reading.model_copy(update={"reasoning": thoughts})
        return Written(
            raw_text=end.output,
            reading=reading,
            choices=ordinal_choices(end.output, end.logprobs, [step.worker for step in reading.steps]),
            usage=end.usage,
            served_model=end.served_model,
            reported_cost_usd=end.reported_cost_usd,
        )


def ordinal_choices(
    text: str, logprobs: Sequence[TokenLogprob], workers: Sequence[int]
) -> tuple[Mapping[int, float] | None, ...]:
    """The odds of each worker at the tokens of the last ``model_id`` list.

    ``None`` for every step when the tokens cannot be matched to the text or to the steps that were read.
    """
    nothing = (None,) * len(workers)
    found = list(_ordinals.finditer(text))
    if not found or not logprobs or "".join(each.token for each in logprobs) != text:
        return nothing
    start, end = found[-1].span(1)
    choices: list[Mapping[int, float]] = []
    at = 0
    for each in logprobs:
        if start <= at + len(each.token) - len(each.token.lstrip()) < end and each.token.strip().isdecimal():
            choices.append(_odds(each.top))
        at += len(each.token)
    chosen = [int(number) for number in re.findall(r"\d+", found[-1][1])]
    return tuple(choices) if chosen == list(workers) and len(choices) == len(workers) else nothing


def _odds(top: Mapping[str, float]) -> Mapping[int, float]:
    odds: dict[int, float] = {}
    for token, logprob in top.items():
        if token.strip().isdecimal():
            number = int(token.strip())
            odds[number] = odds.get(number, 0.0) + math.exp(logprob)
    return {number: round(min(1.0, share), 6) for number, share in sorted(odds.items())}


def _gives_logprobs(worker: Worker) -> bool:
    """Asked for where it is known to work: here, and where the pool file says so. Many models refuse it."""
    return worker.provider == "local" or worker.profile.get("logprobs") is True
