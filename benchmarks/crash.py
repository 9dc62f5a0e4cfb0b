"""kill -9 of the whole product in mid-run, then a new process on the same files."""

from __future__ import annotations

import contextlib
import signal
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rows import Plan, Row
from benchmarks.shapes import SHAPES, Shape, Speed
from benchmarks.stage import Server, request_of, scripted_server
from conductor_client.client import ConductorClient
from conductor_client.errors import ConductorError
from conductor_client.events import Frame, RunEvent
from tests.running_app import App

SAYS = "kill -9 in mid-run, several runs at once: finished steps called again, events lost"
BAR = "0 and 0"
SPEED = Speed(100, 40, 10)
RUNS = 6
SHAPE: Shape = SHAPES["uneven branches"]


def measure(plan: Plan) -> Sequence[Row]:
    """Kills after another number of finished steps each time. Lost: seen by a watcher, and not stored."""
    again = lost = finished = seen = in_flight = 0
    moments = (1, 6, 10, 14, 20, 26) if plan.is_long else (6, 20)
    for moment in moments:
        with scripted_server() as server, tempfile.TemporaryDirectory() as folder:
            killed = _Killed(Path(folder), server)
            killed.go(after=moment)
            again += killed.called_again
            lost += killed.lost
            in_flight += killed.answered_twice
            finished += len(killed.finished)
            seen += sum(len(events) for events in killed.seen.values())
    said = f"{again} of {finished} finished steps called again, {lost} of {seen} events lost"
    more = f"{len(moments)} kills of {RUNS} runs each; answers on their way to the disk: {in_flight}"
    figures = {
        "called_again": again,
        "finished": finished,
        "lost": lost,
        "seen": seen,
        "in_flight": in_flight,
    }
    return [Row("kill -9 in mid-run", f"{said}; {more}", BAR, again == 0 and lost == 0, figures)]


class _Killed:
    """One app that is killed and comes back. ``seen`` is what somebody who watched had seen by then."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.app, self.server = App(folder, folder / "pool.toml"), server
        self.is_watching = True
        self.seen: dict[str, list[RunEvent]] = {}
        self.finished: set[str] = set()
        (folder / "pool.toml").write_text(server.pool(SPEED), encoding="utf-8")

    def go(self, after: int) -> None:
        """Kills the process after so many finished steps, starts it again, compares when all have ended."""
        self.app.start()
        client = ConductorClient(self.app.address)
        for number in range(RUNS):
            run_id = client.start_run(request_of(SHAPE, f"r{number}")).run_id
            threading.Thread(target=self._watch, args=(run_id, number), daemon=True).start()
        give_up = time.monotonic() + 60
        while len(self.finished) < after and time.monotonic() < give_up:
            time.sleep(0.005)
        self.app.stop(signal.SIGKILL)
        time.sleep(0.3)  # what had arrived is still read
        self.is_watching = False
        self.app.start()
        with client:
            stored = {run_id: _stored_after_end(client, run_id) for run_id in self.seen}
        self.app.stop()
        started = self.server.stats()["started"]
        ended = self.server.stats()["finished"]
        self.called_again = sum(started[label] > 1 for label in self.finished)
        self.answered_twice = sum(count > 1 for count in ended.values()) - self.called_again
        self.lost = sum(
            event not in stored[run_id] for run_id, events in self.seen.items() for event in events
        )

    def _watch(self, run_id: str, number: int) -> None:
        events = self.seen[run_id] = []
        client = ConductorClient(self.app.address)
        with contextlib.suppress(ConductorError):
            for item in client.events_stream(run_id):
                if not self.is_watching:
                    break  # it has joined the new process
                if not isinstance(item, Frame):
                    events.append(item)
                    if item.kind == "step_finished":
                        self.finished.add(f"r{number}-{item.step_id[1:]}")


def _stored_after_end(client: ConductorClient, run_id: str) -> tuple[RunEvent, ...]:
    for _ in client.events_stream(run_id):
        pass
    stored = client.events(run_id)
    assert [event.seq for event in stored] == list(range(1, len(stored) + 1)), run_id
    assert client.run(run_id).status == "succeeded", run_id
    return stored
