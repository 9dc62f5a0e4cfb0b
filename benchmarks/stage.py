"""What the benchmarks stand on: the scripted server in a process of its own, and our backend in this one.

The calls go through the real OpenAI provider over real sockets, the events through the real store and engine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.machine import raise_priority
from benchmarks.shapes import SCALE, Shape, Speed
from conductor.service import Studio
from conductor.settings import Settings
from conductor_client.api import RunRequest
from conductor_client.run_state import RunState
from tests.running_app import ROOT, free_port
from tests.scripted_server import words

KEY_NAME = "BENCHMARK_KEY"
PROMPT = "How many primes are there below one hundred?"


class Server:
    """The scripted LLM server. ``url`` has no path."""

    def __init__(self, url: str) -> None:
        self.url = url

    def stats(self) -> dict[str, Any]:
        """What was asked since the last ``reset``."""
        with urllib.request.urlopen(f"{self.url}/stats", timeout=10) as reply:
            found: dict[str, Any] = json.load(reply)
        return found

    def reset(self) -> None:
        """Forgets what was asked."""
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/reset", method="POST"), timeout=10).close()

    def pool(self, speed: Speed) -> str:
        """A pool file whose workers are on this server, one per length of answer."""
        return "".join(
            f'[[worker]]\nname = "{name}"\nprovider = "openai"\nmodel = "{speed.model_of(name)}"\n'
            f'base_url = "{self.url}/v1"\napi_key_env = "{KEY_NAME}"\nconcurrency = 2000\n'
            for name in SCALE
        )


@contextmanager
def scripted_server() -> Iterator[Server]:
    """Starts the server; its CPU is not ours. Sets the key that the pool names."""
    os.environ[KEY_NAME] = "not-a-secret"
    port = free_port()
    command = [sys.executable, "-m", "tests.scripted_server", "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            raise_priority(process.pid)
            server = Server(f"http://127.0.0.1:{port}")
            _await(server, process)
            yield server
        finally:
            process.terminate()


def _await(server: Server, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + 20
    while True:
        try:
            server.stats()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > give_up:
                raise
            time.sleep(0.05)


@asynccontextmanager
async def backend(folder: Path, server: Server, speed: Speed) -> AsyncIterator[Studio]:
    """Our backend on an empty database in ``folder``, its workers on the server."""
    pool = folder / "pool.toml"
    pool.write_text(server.pool(speed), encoding="utf-8")
    settings = Settings(
        db=folder / "conductor.sqlite", pool=str(pool), models_dir=folder / "models", pools_dir=folder
    )
    studio = await Studio.open(settings)
    try:
        yield studio
    finally:
        await studio.close()


def request_of(shape: Shape, label: str) -> RunRequest:
    """A run of this shape with nothing to plan; its calls are counted as ``label-1``, ``label-2``, …"""
    steps = [
        {"worker": worker, "instruction": f"Work on it. [[{label}-{number}]]", "access": seen}
        for number, (worker, seen) in enumerate(shape, 1)
    ]
    return RunRequest.model_validate({"prompt": PROMPT, "workflow": {"steps": steps}})


async def run(studio: Studio, shape: Shape, label: str) -> str:
    """One run to its end, watched as a page would watch it; returns its id."""
    run_id, _ = await studio.start_run(request_of(shape, label))
    async for _ in studio.subscribe(run_id):
        pass
    return run_id


async def check(studio: Studio, run_ids: Sequence[str], shape: Shape, speed: Speed) -> None:
    """Every stored output is word for word what the server sent: nothing is fast by losing tokens."""
    for run_id in run_ids:
        state = await studio.state(run_id)
        assert state.status == "succeeded", f"{run_id}: {state.status} {state.error}"
        check_texts([_output(state, number) for number in range(1, len(shape) + 1)], shape, speed)


def check_texts(texts: Sequence[str], shape: Shape, speed: Speed) -> None:
    """The same for texts at hand."""
    for text, (worker, _) in zip(texts, shape, strict=True):
        wanted = "".join(words(speed.tokens_of(worker)))
        assert text.strip() == wanted.strip(), f"{len(text)} characters instead of {len(wanted)}"


def _output(state: RunState, number: int) -> str:
    return state.steps[f"s{number}"].output or ""
