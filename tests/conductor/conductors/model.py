"""A model on paper for conductors: says what it is told to and remembers what it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from conductor.conductors.base import Conductor, ConductorRequest, Written
from conductor.providers.base import Call, Completion, Delta, Notice, TokenLogprob, Worker, WorkerError
from conductor_client.usage import Usage

WORKERS = (
    Worker("alpha", "scripted", "a", description="answers questions"),
    Worker("calc", "tool", "calculator", description="calculates an expression", tags=("calculator",)),
    Worker("gamma", "scripted", "g", tags=("strong",)),
)
PRICED = Worker(
    "writer",
    "openai",
    "m",
    base_url="https://m.example",
    price={"input_usd_per_mtok": "1", "output_usd_per_mtok": "1"},
)


class PaperModel:
    """Plays answers in order; an exception among them is raised instead."""

    def __init__(self, *answers: str | Completion | WorkerError) -> None:
        self._answers = list(answers)
        self.calls: list[Call] = []

    async def __call__(self, call: Call) -> AsyncIterator[Delta | Notice | Completion]:
        self.calls.append(call)
        answer = self._answers.pop(0)
        if isinstance(answer, WorkerError):
            raise answer
        if isinstance(answer, str):
            answer = Completion(answer, usage=Usage(input_tokens=100, output_tokens=10), served_model="m-1")
        yield Notice("loading m")
        for piece in (answer.output[:5], answer.output[5:]):
            if piece:
                yield Delta("output", piece)
        yield answer

    def said(self, number: int = -1) -> str:
        """Everything that was sent in a call."""
        return "\n".join(each.content for each in self.calls[number].messages)


async def write(conductor: Conductor, model: PaperModel, request: ConductorRequest) -> Written:
    """What a conductor writes for one request."""
    async for item in conductor.write(request, model):
        if isinstance(item, Written):
            return item
    raise AssertionError("the conductor wrote nothing")


def ask(prompt: str = "How many?", **fields: Any) -> ConductorRequest:
    """A request over the three workers on paper."""
    return ConductorRequest(prompt=prompt, workers=fields.pop("workers", WORKERS), **fields)


def token(text: str, **top: float) -> TokenLogprob:
    """A token with the log-probabilities of its alternatives."""
    return TokenLogprob(text, top.get(text, -1.0), top)
