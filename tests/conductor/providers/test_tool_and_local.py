"""The seams over what runs on this machine, and the registry that finds them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conductor.local.chat import Delta as LocalDelta
from conductor.local.chat import Finished, Loading, LocalUsage, TokenChoice
from conductor.local.engine_process import LocalModelError
from conductor.providers.base import Notice, Provider, VisibleStep, Worker
from conductor.providers.local import LocalModels
from conductor.providers.registry import Providers
from conductor.providers.tool import Tools
from conductor_client.usage import Usage
from tests.conductor.providers.wire import call, failure_of, hear

NEAR = Worker(
    "near",
    "local",
    "qwen-0.5b",
    settings={"temperature": None, "top_p": 0.9, "reasoning_effort": "low"},
    profile={"adapter": True},
)


class PaperRuntime:
    """Plays local events and remembers the arguments."""

    def __init__(self, *events: Any) -> None:
        self._events = events
        self.asked: dict[str, Any] = {}
        self.is_closed = False

    async def generate(self, model_key: str, messages: Any, **asked: Any) -> AsyncIterator[Any]:
        self.asked = {"model": model_key, "messages": messages, **asked}
        try:
            for event in self._events:
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.is_closed = True


def local(runtime: PaperRuntime, tmp_path: Path) -> Provider:
    return LocalModels(tmp_path, runtime=runtime)


async def test_local_events_become_ours(tmp_path: Path) -> None:
    end = Finished("Hi there", "length", LocalUsage(9, 4, 2), "file.gguf", (TokenChoice("Hi", {"Hi": -0.1}),))
    runtime = PaperRuntime(
        Loading("qwen-0.5b"), LocalDelta("output", "Hi"), LocalDelta("output", " there"), end
    )
    provider = local(runtime, tmp_path)
    request = call(NEAR, seed=3, max_output_tokens=40, grammar='root ::= "Hi"', top_logprobs=5)
    items = [item async for item in provider.stream(request)]
    assert items[0] == Notice("loading qwen-0.5b")
    heard = items[-1]
    assert heard.output == "Hi there"
    assert heard.finish == "length"
    assert heard.usage == Usage(input_tokens=9, cached_input_tokens=4, output_tokens=2)
    assert heard.logprobs[0].logprob == -0.1
    assert runtime.asked == {
        "model": "qwen-0.5b",
        "messages": [{"role": "user", "content": "hi"}],
        "settings": {"top_p": 0.9},
        "max_output_tokens": 40,
        "seed": 3,
        "grammar": 'root ::= "Hi"',
        "json_schema": None,
        "top_logprobs": 5,
        "adapter": True,
    }
    assert heard.notes == ("Left out reasoning_effort: local models have no such setting.",)
    assert runtime.is_closed


async def test_local_failure_keeps_its_kind_hint_and_text(tmp_path: Path) -> None:
    problem = LocalModelError("context_overflow", "the input has 9000 tokens", "Shorten it.")
    runtime = PaperRuntime(LocalDelta("output", "Hal"), problem)
    error = await failure_of(local(runtime, tmp_path), call(NEAR))
    assert (error.kind, error.hint, error.partial_text) == ("context_overflow", "Shorten it.", "Hal")
    assert "near" in error.message


async def test_an_input_too_long_names_its_longest_part(tmp_path: Path) -> None:
    problem = LocalModelError("context_overflow", "the input has 9,000 tokens", "Shorten it.")
    asked = replace(call(NEAR), question="Why? " * 1_000, instruction="Say why.")
    error = await failure_of(local(PaperRuntime(problem), tmp_path), asked)
    assert error.hint.startswith("Shorten the prompt")
    assert error.hint.endswith("the longest part is the prompt, 5,000 characters.")
    seen = VisibleStep(label="Step 1", instruction="Write.", output="long " * 2_000)
    error = await failure_of(local(PaperRuntime(problem), tmp_path), replace(asked, visible=(seen,)))
    assert "Let Step 1 write less" in error.hint and "10,000" in error.hint


async def test_missing_weights_are_said_with_how_to_get_them(tmp_path: Path) -> None:
    error = await failure_of(LocalModels(tmp_path), call(Worker("near", "local", "qwen-0.5b")))
    assert error.kind == "unavailable"
    assert "models fetch qwen-0.5b" in error.hint


async def test_tool_works_on_what_its_step_sees() -> None:
    seen = VisibleStep("Step 1", "One Python expression", "`14 * 24 - 300`")
    heard = await hear(
        Tools(), call(Worker("calc", "tool", "calculator"), question="How many?", visible=(seen,))
    )
    assert heard.end.output == heard.text() == "36"
    assert heard.end.usage == Usage(input_tokens=0, output_tokens=0)
    assert heard.end.served_model == "calculator"
    assert heard.end.notes[0] == "Took this from Step 1: 14 * 24 - 300"


async def test_tool_without_anything_to_work_on() -> None:
    error = await failure_of(
        Tools(), call(Worker("calc", "tool", "calculator"), question="Why is the sky blue?")
    )
    assert (error.kind, error.retryable) == ("bad_input", False)
    assert error.hint


async def test_registry_makes_each_kind_once(tmp_path: Path) -> None:
    providers = Providers(tmp_path)
    kinds: tuple[Any, ...] = ("openai", "anthropic", "local", "tool", "scripted")
    made = [providers.provider_for(Worker("w", kind, "m")) for kind in kinds]
    assert len({type(each) for each in made}) == 5
    assert [providers.provider_for(Worker("x", kind, "n")) for kind in kinds] == made
    await providers.close()
    with pytest.raises(KeyError):
        providers.provider_for(Worker("w", "nothing", "m"))
