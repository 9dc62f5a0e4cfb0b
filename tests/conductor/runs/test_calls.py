"""One call: text as it comes, silence noticed, every failure with what was said so far."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from conductor.providers.base import Call, Completion, Delta, Notice, Worker, WorkerError
from conductor.runs.calls import Answer, make_call
from conductor.runs.drafts import Draft
from tests.virtual_time import run_virtually

CALL = Call(worker=Worker(name="w", provider="scripted", model="m"), messages=())
Item = Delta | Notice | Completion


class _Provider:
    def __init__(self, play: Callable[[], AsyncIterator[Item]]) -> None:
        self._play = play
        self.closed = False

    async def stream(self, call: Call) -> AsyncIterator[Item]:
        try:
            async for item in self._play():
                yield item
        finally:
            self.closed = True

    async def close(self) -> None:
        pass


def _make(
    play: Callable[[], AsyncIterator[Item]], *, idle: float | None = None, whole: float | None = None
) -> Answer:
    async def scenario() -> Answer:
        provider = _Provider(play)
        draft = Draft("r", "s1", 1, lambda _: None)
        try:
            return await make_call(provider, CALL, draft, idle_timeout_s=idle, timeout_s=whole)
        finally:
            assert provider.closed

    return run_virtually(scenario())


def test_silence_is_given_up_and_may_be_tried_again() -> None:
    async def play() -> AsyncIterator[Item]:
        for _ in range(3):
            await asyncio.sleep(50)
            yield Delta("output", "x")
        await asyncio.sleep(61)
        yield Completion("xxx")

    with pytest.raises(WorkerError, match="said nothing for 60 s") as caught:
        _make(play, idle=60)
    assert (caught.value.kind, caught.value.retryable, caught.value.partial_text) == ("timeout", True, "xxx")


def test_seventy_silent_seconds_are_no_failure_by_default() -> None:
    """Behaviour row 12: a step may be silent for 70 s."""
    from conductor.runs.calls import IDLE_TIMEOUT_S

    async def play() -> AsyncIterator[Item]:
        await asyncio.sleep(70)
        yield Completion("late")

    assert _make(play, idle=IDLE_TIMEOUT_S).completion.output == "late"


def test_the_clock_stands_still_while_the_provider_says_what_it_waits_for() -> None:
    async def play() -> AsyncIterator[Item]:
        yield Notice("loading")
        await asyncio.sleep(500)
        yield Delta("output", "x")
        await asyncio.sleep(59)
        yield Completion("x")

    assert _make(play, idle=60).completion.output == "x"


def test_after_a_notice_the_clock_runs_again_from_the_next_text() -> None:
    async def play() -> AsyncIterator[Item]:
        yield Notice("loading")
        await asyncio.sleep(500)
        yield Delta("output", "x")
        await asyncio.sleep(500)
        yield Completion("x")

    with pytest.raises(WorkerError, match="said nothing"):
        _make(play, idle=60)


def test_a_call_may_take_so_long_in_all() -> None:
    async def play() -> AsyncIterator[Item]:
        for _ in range(100):
            await asyncio.sleep(1)
            yield Delta("reasoning", "hm ")
        yield Completion("x")

    with pytest.raises(WorkerError, match="longer than 10 s") as caught:
        _make(play, idle=60, whole=10)
    assert not caught.value.retryable and caught.value.reasoning.startswith("hm hm")


@pytest.mark.parametrize(("finish", "kind"), [("stop", "empty_output"), ("length", "truncated")])
@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_answer_is_a_failure(finish: str, kind: str, text: str) -> None:
    async def play() -> AsyncIterator[Item]:
        yield Completion(text, reasoning="thought", finish=finish)  # type: ignore[arg-type]

    with pytest.raises(WorkerError) as caught:
        _make(play)
    assert caught.value.kind == kind and caught.value.reasoning == "thought" and caught.value.hint


def test_a_stream_without_an_end_is_truncated() -> None:
    async def play() -> AsyncIterator[Item]:
        yield Delta("output", "half")

    with pytest.raises(WorkerError) as caught:
        _make(play)
    assert (caught.value.kind, caught.value.partial_text, caught.value.retryable) == (
        "stream_truncated",
        "half",
        True,
    )


def test_a_mistake_of_a_provider_is_named_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> AsyncIterator[Item]:
        yield Delta("output", "half")
        raise RuntimeError("sk-secret")

    with pytest.raises(WorkerError) as caught:
        _make(play)
    assert caught.value.kind == "internal" and caught.value.partial_text == "half"
    assert "sk-secret" not in caught.value.message and "RuntimeError" in caught.value.message


def test_a_timeout_inside_a_provider_is_not_taken_for_ours() -> None:
    async def play() -> AsyncIterator[Item]:
        yield Delta("output", "half")
        raise TimeoutError

    with pytest.raises(WorkerError) as caught:
        _make(play, idle=60, whole=60)
    assert caught.value.kind == "internal"
