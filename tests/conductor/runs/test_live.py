"""Watching a run: nothing missing, nothing twice, and never in the run's way."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conductor.runs import live
from conductor.runs.live import Hub
from conductor_client.events import (
    Frame,
    RunCreated,
    RunEvent,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
)
from tests.virtual_time import run_virtually


class _Stored:
    """A stand-in for the store's list of events, slow on purpose, so that things happen meanwhile."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.events: list[RunEvent] = []
        self.delay_s = delay_s

    async def load(self, run_id: str, after: int) -> Sequence[RunEvent]:
        if not self.events:
            raise KeyError(run_id)
        await asyncio.sleep(self.delay_s)
        found = [event for event in self.events if event.seq > after]
        await asyncio.sleep(self.delay_s)
        return found

    def add(self, hub: Hub, event: RunEvent) -> None:
        stored = event.model_copy(update={"seq": len(self.events) + 1})
        self.events.append(stored)
        hub.publish("r", [stored])


class _Viewer:
    """Does with items what a page does, and checks the promises while at it."""

    def __init__(self) -> None:
        self.seqs: list[int] = []
        self.texts: dict[tuple[str, int, str], str] = {}
        self.notice = ""

    def see(self, item: RunEvent | Frame) -> None:
        if not isinstance(item, Frame):
            assert item.seq == (self.seqs[-1] + 1 if self.seqs else item.seq)
            self.seqs.append(item.seq)
            return
        if item.channel == "notice":
            self.notice = item.text
            return
        place = (item.step_id, item.attempt, item.channel)
        have = self.texts.get(place, "")
        assert item.offset in (0, len(have)), "a frame with a gap or an overlap"
        self.texts[place] = item.text if item.offset == 0 else have + item.text

    async def watch(self, hub: Hub, after: int = 0, slowness_s: float = 0.0) -> None:
        async for item in hub.subscribe("r", after):
            self.see(item)
            if slowness_s:
                await asyncio.sleep(slowness_s)


def _end() -> RunFinished:
    return RunFinished(run_id="r", final_output="x")


@given(
    st.lists(st.tuples(st.floats(0, 3), st.integers(0, 8)), min_size=1, max_size=6),
    st.integers(0, 2**32),
    st.floats(0, 0.2),
)
@settings(max_examples=60, deadline=None)
def test_whenever_somebody_comes_they_see_everything_once(
    viewers: list[tuple[float, int]], seed: int, delay_s: float
) -> None:
    dice = random.Random(seed)

    async def scenario() -> None:
        stored = _Stored(delay_s)
        hub = Hub(stored.load)
        hub.open("r")
        stored.add(hub, RunCreated(run_id="r", prompt="Q", conductor="c"))
        seen: list[tuple[_Viewer, int]] = []

        async def come(at: float, after: int) -> None:
            await asyncio.sleep(at)
            after = min(after, len(stored.events))
            viewer = _Viewer()
            seen.append((viewer, after))
            await viewer.watch(hub, after)

        watching = [asyncio.create_task(come(at, after)) for at, after in viewers]
        whole: dict[str, str] = {}
        for step_id in ("s1", "s2", "s3"):
            stored.add(hub, StepStarted(run_id="r", step_id=step_id, attempt=1, worker="w"))
            draft = hub.draft("r", step_id, 1)
            whole[step_id] = ""
            for _ in range(dice.randint(1, 40)):
                await asyncio.sleep(dice.random() / 10)
                token = dice.choice(["a", "ü", "🙂", " "]) * dice.randint(1, 3)
                whole[step_id] += token
                draft.add("output", token)
            if step_id != "s2":  # s2 goes on beside s3
                stored.add(hub, _finished(step_id, whole[step_id]))
        await asyncio.sleep(1)
        for viewer, _ in seen:
            if viewer.seqs:  # the others wait for the store still
                assert viewer.texts[("s2", 1, "output")] == whole["s2"]
        await asyncio.sleep(10)
        stored.add(hub, _finished("s2", whole["s2"]))
        stored.add(hub, _end())
        hub.close("r")
        await asyncio.gather(*watching)
        for viewer, after in seen:
            assert viewer.seqs == list(range(after + 1, len(stored.events) + 1))
            for (step_id, _, _), text in viewer.texts.items():
                assert whole[step_id].startswith(text)

    run_virtually(scenario())


def _finished(step_id: str, text: str) -> StepFinished:
    return StepFinished(run_id="r", step_id=step_id, attempt=1, worker="w", output=text)


def test_who_comes_in_the_middle_gets_the_text_whole_and_then_what_follows() -> None:
    async def scenario() -> list[Frame]:
        stored = _Stored()
        hub = Hub(stored.load)
        hub.open("r")
        stored.add(hub, RunStarted(run_id="r"))
        draft = hub.draft("r", "s1", 2)
        draft.add("output", "Hello ")
        draft.add("reasoning", "hm")
        frames: list[Frame] = []

        async def watch() -> None:
            frames.extend([item async for item in hub.subscribe("r", 1) if isinstance(item, Frame)])

        watching = asyncio.create_task(watch())
        await asyncio.sleep(0.2)
        draft.add("output", "wor")
        draft.add("output", "ld")
        await asyncio.sleep(0.2)
        stored.add(hub, _end())
        await watching
        return frames

    frames = run_virtually(scenario())
    assert [(each.attempt, each.channel, each.offset, each.text) for each in frames] == [
        (2, "output", 0, "Hello "),
        (2, "reasoning", 0, "hm"),
        (2, "output", 6, "world"),
    ]


def test_tokens_are_batched() -> None:
    async def scenario() -> int:
        stored = _Stored()
        hub = Hub(stored.load)
        hub.open("r")
        stored.add(hub, RunStarted(run_id="r"))
        frames = 0

        async def watch() -> None:
            nonlocal frames
            async for item in hub.subscribe("r"):
                frames += isinstance(item, Frame)

        watching = asyncio.create_task(watch())
        await asyncio.sleep(0.01)
        draft = hub.draft("r", "s1", 1)
        for _ in range(1000):
            draft.add("output", "x")
            await asyncio.sleep(0.001)
        stored.add(hub, _end())
        await watching
        return frames

    assert run_virtually(scenario()) <= 21


def test_one_who_does_not_keep_up_is_brought_up_to_date_and_holds_nobody_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "BACKLOG_ITEMS", 5)

    async def scenario() -> None:
        stored = _Stored()
        hub = Hub(stored.load)
        hub.open("r")
        stored.add(hub, RunStarted(run_id="r"))
        slow, quick = _Viewer(), _Viewer()
        watching = [
            asyncio.create_task(slow.watch(hub, slowness_s=3.0)),
            asyncio.create_task(quick.watch(hub)),
        ]
        draft = hub.draft("r", "s1", 1)
        for number in range(200):
            await asyncio.sleep(0.1)
            draft.add("output", f"{number} ")
        assert len(quick.texts[("s1", 1, "output")]) > 600
        stored.add(hub, _finished("s1", ""))
        stored.add(hub, _end())
        hub.close("r")
        await asyncio.gather(*watching)
        assert slow.seqs == quick.seqs == [1, 2, 3]

    run_virtually(scenario())


def test_a_notice_is_shown_and_goes_with_the_first_text() -> None:
    async def scenario() -> None:
        stored = _Stored()
        hub = Hub(stored.load)
        hub.open("r")
        stored.add(hub, RunStarted(run_id="r"))
        draft = hub.draft("r", "s1", 1)
        draft.say("loading qwen")
        viewer = _Viewer()
        watching = asyncio.create_task(viewer.watch(hub))
        await asyncio.sleep(0.2)
        assert viewer.notice == "loading qwen"
        draft.add("output", "x")
        await asyncio.sleep(0.2)
        assert viewer.notice == ""
        stored.add(hub, _end())
        await watching

    run_virtually(scenario())


def test_an_ended_run_yields_what_is_stored_and_ends() -> None:
    async def scenario() -> tuple[list[int], list[int]]:
        stored = _Stored()
        hub = Hub(stored.load)
        stored.add(hub, RunStarted(run_id="r"))
        stored.add(hub, _end())
        first, again = _Viewer(), _Viewer()
        await first.watch(hub)
        await again.watch(hub, after=2)
        return first.seqs, again.seqs

    assert run_virtually(scenario()) == ([1, 2], [])


def test_a_run_of_another_process_is_followed_through_the_store() -> None:
    async def scenario() -> list[int]:
        stored = _Stored()
        hub = Hub(stored.load)
        stored.events.append(RunStarted(run_id="r", seq=1))
        viewer = _Viewer()
        watching = asyncio.create_task(viewer.watch(hub))
        await asyncio.sleep(5)
        stored.events.append(RunFinished(run_id="r", seq=2, final_output="x"))
        await watching
        return viewer.seqs

    assert run_virtually(scenario()) == [1, 2]


def test_an_unknown_run_is_a_key_error() -> None:
    async def scenario() -> None:
        hub = Hub(_Stored().load)
        with pytest.raises(KeyError):
            await anext(hub.subscribe("r"))

    run_virtually(scenario())


def test_text_that_grew_is_saved_once() -> None:
    async def scenario() -> None:
        hub = Hub(_Stored().load)
        hub.open("r")
        draft = hub.draft("r", "s1", 3)
        assert hub.unsaved() == []
        draft.add("output", "ab")
        draft.add("output", "c")
        [saving] = hub.unsaved()
        assert (saving.step_id, saving.attempt, saving.channel, saving.text) == ("s1", 3, "output", "abc")
        assert hub.unsaved() == []

    run_virtually(scenario())
