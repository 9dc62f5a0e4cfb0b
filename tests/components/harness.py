"""A small server for looking at the graph and for its browser tests: ``python -m tests.components.harness``.

Serves the harness page, the scenes, the component's modules, and a scripted live stream that speaks the
wire format of the real one.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
import socket
import sys
import threading
import time
import tomllib
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import streamlit
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from components.workflow_graph.assets_path import ASSETS
from conductor_client import events as ev

from .scenes import payload_of, scenes
from .story import Story
from .workflows import workflow_from

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MEDIA = Path(streamlit.__file__).parent / "static/static/media"
FONTS = {
    "sans": next(MEDIA.glob("SourceSansVF-Upright*")),
    "serif": next(MEDIA.glob("SourceSerifVariable-Roman*")),
}
"""The fonts the graph has inside Streamlit, so that what is looked at here is what a person gets."""
BATCH_S = 0.05


def theme_css() -> str:
    """The page's theme as the variables that Streamlit gives a component."""
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))["theme"]
    fonts = "--st-font: 'Source Sans 3'; --st-heading-font: 'Source Serif 4';"
    blocks = []
    for name, selector in (("light", ":root"), ("dark", ":root.dark")):
        colours = {key: value for key, value in theme[name].items() if isinstance(value, str)}
        lines = [f"--st-{kebab(key)}: {value};" for key, value in colours.items()]
        blocks.append(f"{selector} {{ color-scheme: {name}; {fonts} {' '.join(lines)} }}")
    return "\n".join(blocks)


def kebab(name: str) -> str:
    return re.sub("([A-Z])", lambda found: f"-{found[1].lower()}", name)


class Live:
    """A run that really happens in time: events, frames, and any number of watchers."""

    def __init__(self, story: Story, *, words_per_s: float = 12.0, seconds: float = 6.0) -> None:
        self.story, self.words_per_s, self.seconds = story, words_per_s, seconds
        self.texts: dict[str, str] = {}
        self.watchers: set[asyncio.Queue[dict[str, Any]]] = set()
        self.refused_until = 0.0
        self.connections = 0
        self.task: asyncio.Task[None] | None = None

    def tell(self, item: dict[str, Any]) -> None:
        for watcher in self.watchers:
            watcher.put_nowait(item)

    def event(self, kind: type[Any], **fields: Any) -> None:
        self.story.now = datetime.now(UTC)
        self.story.add(kind, **fields)
        self.tell(json.loads(self.story.events[-1].model_dump_json()))

    def frame(self, step_id: str, text: str) -> dict[str, Any]:
        written = self.texts.get(step_id, "")
        self.texts[step_id] = written + text
        return self.shape(step_id, len(written), text)

    def shape(self, step_id: str, offset: int, text: str, channel: str = "output") -> dict[str, Any]:
        frame = ev.Frame(
            run_id=self.story.run_id, step_id=step_id, attempt=1, channel=channel, offset=offset, text=text
        )
        return {**frame.model_dump(), "sent_ms": time.time() * 1000}

    async def run(self) -> None:
        await asyncio.gather(
            *(self.step(step.step_id, at) for at, step in enumerate(self.story.workflow.steps))
        )
        self.event(ev.RunFinished, final_output="done")

    async def step(self, step_id: str, at: int) -> None:
        worker = self.story.workflow.step(step_id).worker
        same: dict[str, Any] = {"step_id": step_id, "attempt": 1, "worker": worker}
        self.event(ev.StepQueued, messages=(), visible=(), withheld=(), **same)
        self.event(ev.StepStarted, waited_s=0.0, **same)
        self.tell(self.shape(step_id, 0, f"loading {worker}", "notice"))
        await asyncio.sleep(0.2 + 0.013 * at)
        words = itertools.cycle(
            ["😀", "the", "répons𝒳e", "grows", "word", "by", "word", "and", "漢字", "too", ""]
        )
        for word in itertools.islice(words, int(self.seconds * self.words_per_s)):
            self.tell(self.frame(step_id, f"{word} "))
            await asyncio.sleep(1 / self.words_per_s)
        self.event(ev.StepFinished, output=self.texts[step_id], **same)

    async def serve(self, socket: WebSocket) -> None:
        await socket.accept()
        self.connections += 1
        if time.monotonic() < self.refused_until:
            await socket.close(1011)
            return
        after = int(socket.query_params.get("after", 0))
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.watchers.add(queue)
        first = [json.loads(each.model_dump_json()) for each in self.story.events if each.seq > after]
        first += [self.shape(step_id, 0, text) for step_id, text in self.texts.items()]
        self.dropped = asyncio.Event()
        try:
            await socket.send_text(json.dumps([{"heartbeat": datetime.now(UTC).isoformat()}, *first]))
            while not self.dropped.is_set():
                batch = await self.batch(queue)
                if batch:
                    await socket.send_text(json.dumps(batch))
                if any(item.get("kind") == "run_finished" for item in batch):
                    break
        except WebSocketDisconnect:
            pass
        finally:
            self.watchers.discard(queue)
            with contextlib.suppress(RuntimeError):
                await socket.close(1011 if self.dropped.is_set() else 1000)

    async def batch(self, queue: asyncio.Queue[dict[str, Any]]) -> list[dict[str, Any]]:
        try:
            items = [await asyncio.wait_for(queue.get(), BATCH_S)]
        except TimeoutError:
            return []
        await asyncio.sleep(BATCH_S)
        while not queue.empty():
            items.append(queue.get_nowait())
        return items


def live_story(steps: int, run_id: str) -> Story:
    story = Story(workflow_from([[] for _ in range(steps)]), run_id, start=datetime.now(UTC))
    return story.begin(is_planned=False)


class Stage:
    """The server's state: scenes and running stories."""

    def __init__(self) -> None:
        self.scenes = scenes()
        self.live: dict[str, Live] = {}

    def routes(self) -> list[Any]:
        return [
            Route("/", lambda request: FileResponse(HERE / "harness.html")),
            Route("/font/{name}", lambda request: FileResponse(FONTS[request.path_params["name"]])),
            Route("/theme.css", lambda request: Response(theme_css(), media_type="text/css")),
            Route("/favicon.ico", lambda request: Response(status_code=204)),
            Route("/scene/{name}", self.scene),
            Route("/live/{run_id}/{what}", self.control, methods=["POST"]),
            WebSocketRoute("/api/runs/{run_id}/ws", self.stream),
            Mount("/flow-assets", StaticFiles(directory=ASSETS)),
        ]

    async def scene(self, request: Request) -> Response:
        name = request.path_params["name"]
        if not name.startswith("live-"):
            return JSONResponse(self.scenes[name])
        steps = int(name.split("-")[1])
        run_id = f"run_{name}_{len(self.live)}"
        live = self.live[run_id] = Live(
            live_story(steps, run_id), seconds=float(request.query_params.get("seconds", 6))
        )
        live.task = asyncio.create_task(live.run())
        return JSONResponse(payload_of(live.story))

    async def stream(self, socket: WebSocket) -> None:
        live = self.live.get(socket.path_params["run_id"])
        if live is None:
            await socket.accept()
            await socket.close(4404)
            return
        await live.serve(socket)

    async def control(self, request: Request) -> Response:
        live = self.live[request.path_params["run_id"]]
        if request.path_params["what"] == "cut":
            live.refused_until = time.monotonic() + float(request.query_params.get("seconds", 0))
            live.dropped.set()
        return JSONResponse({"connections": live.connections, "texts": live.texts})


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    yield
    for live in app.state.stage.live.values():
        if live.task is not None:
            live.task.cancel()


def application() -> Starlette:
    stage = Stage()
    app = Starlette(routes=stage.routes(), lifespan=_lifespan)
    app.state.stage = stage
    return app


def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running_server() -> Iterator[str]:
    """The harness on a free port, in a thread. Yields its address."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(application(), host="127.0.0.1", port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=5)


if __name__ == "__main__":
    uvicorn.run(
        application(),
        host="127.0.0.1",
        port=int(sys.argv[1]) if len(sys.argv) > 1 else 8600,
        log_level="warning",
    )
