"""Batches of live items: nothing lost, nothing twice, heartbeats in silence, an end when asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import pytest

from conductor.server.live import MOST_WAITING, Streams, batches, to_json
from conductor_client.events import Frame, RunCreated, RunEvent, RunFinished, RunStarted

CREATED = RunCreated(run_id="run_1", seq=1, prompt="p", conductor="c")
STARTED = RunStarted(run_id="run_1", seq=2)
FINISHED = RunFinished(run_id="run_1", seq=3, final_output="done")

Item = RunEvent | Frame


def frame(text: str, offset: int, step_id: str = "s1", attempt: int = 1, channel: str = "output") -> Frame:
    return Frame.model_validate(
        {"run_id": "run_1", "step_id": step_id, "attempt": attempt, "channel": channel, "offset": offset}
        | {"text": text}
    )


async def given(*items: Item | float) -> AsyncIterator[Item]:
    """These items; a number is a pause in seconds."""
    for item in items:
        if isinstance(item, float):
            await asyncio.sleep(item)
        else:
            yield item


async def all_of(items: AsyncIterator[Item], *, heartbeat_s: float = 5.0) -> list[Sequence[Item | None]]:
    return [batch async for batch in batches(items, asyncio.Event(), heartbeat_s=heartbeat_s)]


async def test_everything_arrives_in_order_and_once() -> None:
    got = await all_of(given(CREATED, 0.03, STARTED, 0.03, frame("a", 0), FINISHED))
    assert [item for batch in got for item in batch] == [CREATED, STARTED, frame("a", 0), FINISHED]


async def test_text_that_gathers_is_joined_per_step_and_attempt() -> None:
    got = await all_of(
        given(
            frame("a", 0), frame("x", 0, "s2"), frame("b", 1), frame("y", 1, "s2"), frame("c", 2, attempt=2)
        )
    )
    assert [item for batch in got for item in batch] == [
        frame("ab", 0),
        frame("xy", 0, "s2"),
        frame("c", 2, attempt=2),
    ]


@pytest.mark.parametrize(
    "second", [frame("b", 0), frame("b", 5), frame("b", 1, channel="reasoning"), frame("b", 1, attempt=2)]
)
async def test_text_that_does_not_continue_is_left_apart(second: Frame) -> None:
    got = await all_of(given(frame("a", 0), second))
    assert [item for batch in got for item in batch] == [frame("a", 0), second]


async def test_text_is_not_joined_over_an_event() -> None:
    got = await all_of(given(frame("a", 0), STARTED, frame("b", 1)))
    assert [item for batch in got for item in batch] == [frame("a", 0), STARTED, frame("b", 1)]


async def test_silence_is_broken_by_heartbeats() -> None:
    """Behaviour row 12: a heartbeat keeps the connection of a silent step."""
    got = await all_of(given(CREATED, 0.25, FINISHED), heartbeat_s=0.1)
    assert got[0] == [CREATED]
    assert got[1:-1] == [[None]] * len(got[1:-1])
    assert len(got) >= 3
    assert got[-1] == [FINISHED]


async def test_ending_all_streams_ends_a_silent_one_at_once() -> None:
    streams = Streams()
    closed = asyncio.Event()

    async def silent() -> AsyncIterator[Item]:
        try:
            yield CREATED
            await asyncio.sleep(60)
        finally:
            closed.set()

    async def listen() -> list[Sequence[Item | None]]:
        return [batch async for batch in batches(silent(), streams.ending)]

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0.1)
    streams.end()
    async with asyncio.timeout(1):
        assert await listening == [[CREATED]]
    assert closed.is_set()


async def test_leaving_closes_the_subscription() -> None:
    closed = asyncio.Event()

    async def silent() -> AsyncIterator[Item]:
        try:
            yield CREATED
            await asyncio.sleep(60)
        finally:
            closed.set()

    async with aclosing(batches(silent(), asyncio.Event())) as ready:
        async for batch in ready:
            assert batch == [CREATED]
            break
    assert closed.is_set()


async def test_what_the_subscription_raises_comes_after_what_it_gave() -> None:
    async def breaking() -> AsyncIterator[Item]:
        yield CREATED
        raise KeyError("run_1")

    got: list[object] = []
    with pytest.raises(KeyError):
        async for batch in batches(breaking(), asyncio.Event()):
            got += [batch]
    assert got == [[CREATED]]


async def test_slow_reader_gets_gathered_text_whole() -> None:
    async def fast() -> AsyncIterator[Item]:
        for place in range(2_000):
            yield frame("x", place)
            if place % 100 == 0:
                await asyncio.sleep(0)

    text, n_items = "", 0
    async for batch in batches(fast(), asyncio.Event()):
        await asyncio.sleep(0.05)
        for item in batch:
            assert isinstance(item, Frame)
            assert item.offset == len(text)
            text, n_items = text + item.text, n_items + 1
    assert text == "x" * 2_000
    assert n_items < 20


def test_heartbeat_carries_the_time_of_day() -> None:
    assert to_json(None).startswith('{"heartbeat":"2')
    assert to_json(None).endswith('Z"}')


async def test_little_gathers_for_a_client_that_does_not_read_and_nothing_is_lost() -> None:
    pulled = 0

    async def many() -> AsyncIterator[Item]:
        nonlocal pulled
        for number in range(100):
            pulled += 1
            yield frame("x" * 10_000, 10_000 * number)
        yield FINISHED

    async with aclosing(batches(many(), asyncio.Event())) as stream:
        got = list(await anext(stream))
        for _ in range(1_000):
            await asyncio.sleep(0)
        assert pulled <= 2 * MOST_WAITING // 10_000 + 2
        async for batch in stream:
            got += batch
    assert got[-1] == FINISHED
    assert "".join(item.text for item in got if isinstance(item, Frame)) == "x" * 1_000_000
