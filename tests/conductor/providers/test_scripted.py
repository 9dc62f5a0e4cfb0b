"""The scripted provider plays what its data says."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conductor.providers.base import Call, Completion, Delta, Notice, Worker, WorkerError
from conductor.providers.scripted import ScriptedProvider
from conductor_client.workflow import Message
from tests.virtual_time import run_virtually


def _call(*script: dict[str, Any], model: str = "demo", said: str = "Hello", cap: int | None = None) -> Call:
    worker = Worker(name="w", provider="scripted", model=model, profile={"script": list(script)})
    return Call(worker=worker, messages=(Message(role="user", content=said),), max_output_tokens=cap)


async def _played(provider: ScriptedProvider, call: Call) -> list[tuple[float, Delta | Notice | Completion]]:
    loop = asyncio.get_running_loop()
    return [(loop.time(), item) async for item in provider.stream(call)]


def _play(call: Call) -> list[tuple[float, Delta | Notice | Completion]]:
    return run_virtually(_played(ScriptedProvider(), call))


def test_a_fake_models_name_is_its_timing() -> None:
    items = _play(_call(model="fake-50-4-10"))
    times = [round(at * 1000) for at, item in items if isinstance(item, Delta)]
    assert times == [50, 60, 70, 80]
    end = items[-1][1]
    assert isinstance(end, Completion) and end.output == "red orange yellow green "
    assert round(items[-1][0] * 1000) == 90


def test_the_first_line_that_matches_is_played() -> None:
    script = ({"match": "capital of France", "text": "Paris"}, {"text": "I do not know."})
    assert _output(_call(*script, said="The capital of France?")) == "Paris"
    assert _output(_call(*script, said="The capital of Spain?")) == "I do not know."


def _output(call: Call) -> str:
    end = _play(call)[-1][1]
    assert isinstance(end, Completion)
    return end.output


def test_the_pieces_of_a_text_are_the_text() -> None:
    text = "  Two\n\n  lines,  an emoji 🙂 and \t tabs.\n"
    pieces = [item.text for _, item in _play(_call({"text": text})) if isinstance(item, Delta)]
    assert "".join(pieces) == text and len(pieces) > 5


def test_a_line_may_be_played_so_many_times_only() -> None:
    async def scenario() -> list[str]:
        provider = ScriptedProvider()
        call = _call({"fail": "rate_limited", "retry_after_s": 2, "times": 2}, {"text": "now"})
        said = []
        for _ in range(3):
            try:
                said.append((await _played(provider, call))[-1][1].output)  # type: ignore[union-attr]
            except WorkerError as error:
                said.append(f"{error.kind} {error.retryable} {error.retry_after_s:g}")
        assert provider.calls["w"] == 3 and provider.open_calls == 0
        return said

    assert run_virtually(scenario()) == ["rate_limited True 2", "rate_limited True 2", "now"]


def test_a_failure_in_the_middle_keeps_what_was_written() -> None:
    with pytest.raises(WorkerError) as caught:
        _play(_call({"text": "one two three four", "fail": "stream_truncated", "fail_after": 2}))
    assert caught.value.partial_text == "one two " and caught.value.usage is not None


def test_reasoning_and_notices_come_on_channels_of_their_own() -> None:
    items = [item for _, item in _play(_call({"notice": "loading", "reasoning": "Hm.", "text": "Yes."}))]
    assert items[0] == Notice("loading")
    assert items[1] == Delta("reasoning", "Hm.")
    end = items[-1]
    assert isinstance(end, Completion) and (end.output, end.reasoning) == ("Yes.", "Hm.")
    assert end.usage is not None and (end.usage.output_tokens, end.usage.reasoning_tokens) == (2, 1)


def test_the_cap_cuts_and_says_so() -> None:
    end = _play(_call({"tokens": 50}, cap=3))[-1][1]
    assert isinstance(end, Completion) and end.finish == "length" and end.output == "red orange yellow "


def test_usage_may_be_kept_back() -> None:
    end = _play(_call({"text": "x", "usage": False}))[-1][1]
    assert isinstance(end, Completion) and end.usage is None


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (({"txet": "typo"},), "txet"),
        (({"match": "nothing like it", "text": "x"},), "no line for this prompt"),
        ((), "no line for this prompt"),
    ],
)
def test_a_script_that_cannot_be_played_says_why(script: tuple[dict[str, Any], ...], said: str) -> None:
    with pytest.raises(WorkerError, match=said) as caught:
        _play(_call(*script))
    assert caught.value.hint and not caught.value.retryable
