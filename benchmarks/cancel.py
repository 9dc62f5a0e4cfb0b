"""Stop on the page: from the request until the run has ended and every server has been let go of."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.rows import Bar, Plan, Row, Series
from conductor.service import Studio
from conductor.settings import Settings
from conductor_client.api import RunRequest
from tests.bad_server.server import BadServer, bad_server

SAYS = "stop of a run in its call: before the headers, in mid-stream, in a Retry-After pause; both SDKs"
BAR = "≤ 1 s, sockets closed"
MOMENTS = {
    "00-mute": "before the headers",
    "00-stuck": "in mid-stream",
    "12-retry-after": "in a Retry-After pause",
}
LONGEST_S = 30.0


def measure(plan: Plan) -> Sequence[Row]:
    """The servers here would be silent for a minute, or want half a minute."""
    return asyncio.run(_measure(plan.times(5, 30)))


async def _measure(times: int) -> list[Row]:
    rows = []
    for model, moment in MOMENTS.items():
        took = [await _stopped(model) for _ in range(times)]
        row = Row.of(f"stop {moment}", Series(tuple(took)), Bar(1, "s"), digits=3)
        rows.append(replace(row, bar=BAR))
    return rows


async def _stopped(model: str) -> float:
    """Seconds until both calls of a run, one by each SDK, are ended and their sockets closed."""
    async with bad_server() as server:
        with tempfile.TemporaryDirectory() as folder:
            studio = await _opened(Path(folder), server, model)
            try:
                steps = [{"worker": form, "instruction": "Go on."} for form in ("openai", "anthropic")]
                request = {"prompt": "x", "workflow": {"steps": steps}}
                run_id, _ = await studio.start_run(RunRequest.model_validate(request))
                await _under_way(studio, server, run_id, model)
                began = time.perf_counter()
                await studio.cancel(run_id)
                for _ in range(0 if model == "12-retry-after" else 2):
                    await asyncio.wait_for(server.hung_up.acquire(), LONGEST_S)
                return time.perf_counter() - began
            finally:
                await studio.close()


async def _opened(folder: Path, server: BadServer, model: str) -> Studio:
    pool = folder / "pool.toml"
    tables = (
        f'[[worker]]\nname = "{form}"\nprovider = "{form}"\nmodel = "{model}"\nbase_url = "{server.url}/v1"\n'
        for form in ("openai", "anthropic")
    )
    pool.write_text("\n".join(tables), encoding="utf-8")
    return await Studio.open(
        Settings(db=folder / "db.sqlite", pool=str(pool), models_dir=folder, pools_dir=folder)
    )


async def _under_way(studio: Studio, server: BadServer, run_id: str, model: str) -> None:
    """Waits until both calls are where they are to be stopped."""
    wanted = {"00-mute": "step_started", "00-stuck": "", "12-retry-after": "step_retried"}[model]
    left = 2
    async with asyncio.timeout(LONGEST_S):
        async for item in studio.subscribe(run_id):
            is_there = getattr(item, "kind", None) == wanted if wanted else "All" in getattr(item, "text", "")
            left -= is_there
            if left == 0:
                break
        for _ in range(2):
            await server.begun.acquire()
    await asyncio.sleep(0.1)
