"""Who is watching: stored events and text as it comes, to any number of subscribers, in this process.

A subscriber gets the stored events after the one it knows, then the whole text of every running step, then
what happens, without a gap and without anything twice. It never slows a run down: one that does not keep up
loses its backlog and is brought up to date again from the store, exactly as if it had just come.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence

from conductor.runs.drafts import Draft, Saving
from conductor_client.events import Frame, RunEvent

BATCH_S = 0.05
BACKLOG_CHARS = 2_000_000
BACKLOG_ITEMS = 2_000
POLL_S = 1.0
"""How often a run that is executed by another process is looked up."""
ENDS = frozenset({"run_finished", "run_failed", "run_cancelled"})
_TEXT_IS_STORED = frozenset(
    {"step_finished", "step_failed", "step_cancelled", "step_retried", "step_reused", "step_skipped"}
)
_PLAN_IS_STORED = frozenset({"plan_created", "plan_failed", "plan_rejected"})

Item = RunEvent | Frame
LoadEvents = Callable[[str, int], Awaitable[Sequence[RunEvent]]]


class _Subscriber:
    """A bounded backlog. Over the bound it is emptied and ``is_behind`` until the next look at the store."""

    def __init__(self) -> None:
        self.is_behind = False
        self._items: list[Item] = []
        self._chars = 0
        self._news = asyncio.Event()

    def put(self, item: Item) -> None:
        if self.is_behind:
            return
        self._items.append(item)
        self._chars += len(item.text) if isinstance(item, Frame) else 0
        if len(self._items) > BACKLOG_ITEMS or self._chars > BACKLOG_CHARS:
            self._clear()
            self.is_behind = True
        self._news.set()

    def take(self) -> list[Item]:
        items = self._items
        self._clear()
        return items

    def wake(self) -> None:
        self._news.set()

    async def wait(self, seconds: float | None) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return

    def _clear(self) -> None:
        self._items, self._chars = [], 0
        self._news.clear()


class _LiveRun:
    """A run this process executes: the drafts of its running steps."""

    def __init__(self) -> None:
        self.drafts: dict[str, Draft] = {}
        self.changed: list[Draft] = []
        self.timer: asyncio.TimerHandle | None = None


class Hub:
    """The runs of this process and who watches them."""

    def __init__(self, load_events: LoadEvents, *, batch_s: float = BATCH_S) -> None:
        self._load_events = load_events
        self._batch_s = batch_s
        self._runs: dict[str, _LiveRun] = {}
        self._subscribers: dict[str, set[_Subscriber]] = {}

    def open(self, run_id: str) -> None:
        """This process executes the run from now on."""
        self._runs.setdefault(run_id, _LiveRun())

    def close(self, run_id: str) -> None:
        """This process is done with the run."""
        live = self._runs.pop(run_id, None)
        if live is not None and live.timer is not None:
            live.timer.cancel()
        for subscriber in self._subscribers.get(run_id, ()):
            subscriber.wake()

    def draft(self, run_id: str, step_id: str, attempt: int) -> Draft:
        """The draft of a new attempt; takes the place of the step's earlier one."""
        live = self._runs[run_id]
        draft = Draft(run_id, step_id, attempt, self._changed)
        live.drafts[step_id] = draft
        return draft

    def publish(self, run_id: str, events: Iterable[RunEvent]) -> None:
        """Shows events, which must be stored already, in the order of ``seq``."""
        live = self._runs.get(run_id)
        for event in events:
            if live is not None:
                _drop_stored_text(live, event)
            for subscriber in self._subscribers.get(run_id, ()):
                subscriber.put(event)

    def unsaved(self, run_id: str | None = None) -> list[Saving]:
        """Text of running steps that has grown since the last call, to be saved; ``None`` = of all runs."""
        runs = self._runs.values() if run_id is None else [self._runs[run_id]]
        drafts = [draft for live in runs for draft in live.drafts.values()]
        return [saving for draft in drafts for saving in draft.unsaved()]

    async def subscribe(self, run_id: str, after: int = 0) -> AsyncIterator[Item]:
        """Yields events and frames of one run until its end event; an ended run yields what is stored.

        Raises:
            KeyError: there is no such run.
        """
        subscriber = _Subscriber()
        self._subscribers.setdefault(run_id, set()).add(subscriber)
        try:
            while True:
                subscriber.is_behind = False
                stored = await self._load_events(run_id, after)
                for item in self._up_to_date(run_id, stored, after, subscriber):
                    after = getattr(item, "seq", 0) or after
                    yield item
                    if _is_end(item):
                        return
                if (
                    not stored
                    and after
                    and run_id not in self._runs
                    and await self._was_the_end(run_id, after)
                ):
                    return
                while not subscriber.is_behind:
                    await subscriber.wait(None if run_id in self._runs else POLL_S)
                    items = subscriber.take()
                    if not items and run_id not in self._runs:
                        break  # another process executes it, or nobody: the store knows
                    for item in _unknown(items, after):
                        after = getattr(item, "seq", 0) or after
                        yield item
                        if _is_end(item):
                            return
        finally:
            watching = self._subscribers[run_id]
            watching.discard(subscriber)
            if not watching:
                del self._subscribers[run_id]

    def _up_to_date(
        self, run_id: str, stored: Sequence[RunEvent], after: int, subscriber: _Subscriber
    ) -> list[Item]:
        """Everything up to this moment, with no await in between: nothing can come in twice or get lost."""
        live = self._runs.get(run_id)
        drafts = list(live.drafts.values()) if live else []
        self._flush(run_id)
        for draft in drafts:
            draft.mark_shown()
        last = max((event.seq for event in stored), default=after)
        later = [item for item in _unknown(subscriber.take(), last) if not isinstance(item, Frame)]
        return [*stored, *later, *(frame for draft in drafts for frame in draft.whole_frames())]

    async def _was_the_end(self, run_id: str, seq: int) -> bool:
        since = await self._load_events(run_id, seq - 1)
        return any(event.seq == seq and _is_end(event) for event in since)

    def _changed(self, draft: Draft) -> None:
        live = self._runs.get(draft.run_id)
        if live is None or draft.run_id not in self._subscribers:
            return  # nobody watches; whoever comes gets the whole text
        live.changed.append(draft)
        if live.timer is None:
            loop = asyncio.get_running_loop()
            live.timer = loop.call_later(self._batch_s, self._flush, draft.run_id)

    def _flush(self, run_id: str) -> None:
        live = self._runs.get(run_id)
        if live is None:
            return
        if live.timer is not None:
            live.timer.cancel()
            live.timer = None
        changed, live.changed = live.changed, []
        for draft in changed:
            if live.drafts.get(draft.step_id) is not draft:
                continue
            for frame in draft.new_frames():
                for subscriber in self._subscribers.get(run_id, ()):
                    subscriber.put(frame)


def _unknown(items: Iterable[Item], after: int) -> Iterator[Item]:
    """Frames, events above ``after``, and those that could not be stored."""
    for item in items:
        if isinstance(item, Frame) or item.seq > after or not item.seq:
            yield item


def _is_end(item: Item) -> bool:
    return not isinstance(item, Frame) and item.kind in ENDS


def _drop_stored_text(live: _LiveRun, event: RunEvent) -> None:
    """The event carries the whole text; what was not shown of the draft need not be shown any more."""
    if event.kind in _TEXT_IS_STORED:
        step_id = getattr(event, "step_id", "")
    elif event.kind in _PLAN_IS_STORED:
        step_id = "plan"
    else:
        return
    draft = live.drafts.get(step_id)
    # The next attempt may have begun to write before the end of the one before is stored.
    if draft is not None and draft.attempt <= getattr(event, "attempt", draft.attempt):
        del live.drafts[step_id]
