"""The floor: the same calls with asyncio and aiohttp and nothing else. Nothing stored, nothing shown."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp

from benchmarks.shapes import Shape, Speed
from benchmarks.stage import PROMPT, backend, scripted_server
from conductor.service import Studio


class Bare:
    """Runs shapes on the scripted server. Steps begin the moment their inputs are there, as with us."""

    def __init__(self, url: str, speed: Speed) -> None:
        self._url, self._speed = url, speed

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=600)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def run(self, shape: Shape) -> list[str]:
        """The outputs in the order of the steps."""
        tasks: list[asyncio.Task[str]] = []
        for worker, seen in shape:
            tasks.append(asyncio.create_task(self._step(worker, [tasks[each] for each in seen])))
        return list(await asyncio.gather(*tasks))

    async def _step(self, worker: str, seen: list[asyncio.Task[str]]) -> str:
        given = [await each for each in seen]
        return await self._call(self._speed.model_of(worker), "\n".join([PROMPT, *given, "Work on it."]))

    async def _call(self, model: str, text: str) -> str:
        body = {
            "model": model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": text}],
        }
        parts: list[str] = []
        rest = b""
        async with self._session.post(f"{self._url}/v1/chat/completions", json=body) as reply:
            reply.raise_for_status()
            async for data in reply.content.iter_any():
                lines = (rest + data).split(b"\n")
                rest = lines.pop()
                for line in lines:
                    if line.startswith(b"data: {"):
                        choices = json.loads(line[6:])["choices"]
                        if choices and (piece := choices[0]["delta"].get("content")):
                            parts.append(piece)
        return "".join(parts)


@asynccontextmanager
async def ours_and_bare(speed: Speed) -> AsyncIterator[tuple[Studio, Bare]]:
    """Our backend and the floor on one scripted server, to be measured in turn."""
    with scripted_server() as server, tempfile.TemporaryDirectory() as folder:
        async with backend(Path(folder), server, speed) as studio, Bare(server.url, speed) as floor:
            yield studio, floor
