"""An LLM server on loopback whose timing is exact and whose calls are counted. For tests and benchmarks.

It speaks OpenAI chat completions and Anthropic messages, streamed or not, and answers by the model's name:
``fake-50-200-1`` sends its first token after 50 ms and then 200 tokens, one each millisecond. A stream is
driven by the clock: whatever is due goes out at once, so it lasts as long as it should however busy the
machine is. A prompt that holds ``[[label]]`` is counted under that label; a client that hangs up before the
end is counted as aborted, which is how "the socket was closed" is proved.

In a test: ``with ScriptedServer() as server: server.url``. As a process of its own (benchmarks, so that its
CPU is not the client's): ``python -m tests.scripted_server --port 8901``.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import itertools
import json
import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from aiohttp import web

MODEL = re.compile(r"fake-(\d+(?:\.\d+)?)-(\d+)-(\d+(?:\.\d+)?)")
LABEL = re.compile(r"\[\[([^\[\]]{1,200})\]\]")
WORDS = ("red ", "orange ", "yellow ", "green ", "blue ", "indigo ", "violet ")


@functools.lru_cache(maxsize=64)
def words(count: int) -> tuple[str, ...]:
    """The tokens of an answer."""
    return tuple(itertools.islice(itertools.cycle(WORDS), count))


@dataclass
class Stats:
    """What was asked since the last reset. Times are seconds of this process's monotonic clock."""

    started: Counter[str] = field(default_factory=Counter)
    finished: Counter[str] = field(default_factory=Counter)
    aborted: Counter[str] = field(default_factory=Counter)
    open: int = 0
    peak: int = 0
    spans: list[tuple[str, float, float]] = field(default_factory=list)
    aborted_at: list[tuple[str, float]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)


class _Call:
    """One request: its timing, and its line in the books."""

    def __init__(self, stats: Stats, body: dict[str, Any]) -> None:
        self.stats, self.model = stats, str(body.get("model", ""))
        timing = MODEL.search(self.model)
        first, count, each = timing.groups() if timing else ("0", "20", "0")
        self.first_s, self.count, self.each_s = float(first) / 1000, int(count), float(each) / 1000
        said = json.dumps(body.get("messages", ""), ensure_ascii=False)
        self.prompt_tokens = len(said) // 4 + 1
        labels = LABEL.findall(said)
        self.label = labels[-1] if labels else ""
        stats.bodies.append(body)
        del stats.bodies[:-200]

    def __enter__(self) -> _Call:
        self.stats.started[self.label] += 1
        self.stats.open += 1
        self.stats.peak = max(self.stats.peak, self.stats.open)
        self._began = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stats.open -= 1
        if kind is None:
            self.stats.finished[self.label] += 1
            self.stats.spans.append((self.label, self._began, time.monotonic()))
        else:
            self.stats.aborted[self.label] += 1
            self.stats.aborted_at.append((self.label, time.monotonic()))

    async def pump(self, out: web.StreamResponse, head: bytes, chunks: list[bytes], tail: bytes) -> None:
        await asyncio.sleep(self.first_s)
        await out.write(head)
        loop = asyncio.get_running_loop()
        began, sent = loop.time(), 0
        while sent < len(chunks):
            passed = loop.time() - began
            due = min(len(chunks), int(passed / self.each_s)) if self.each_s else len(chunks)
            if due > sent:
                await out.write(b"".join(chunks[sent:due]))
                sent = due
            else:
                await asyncio.sleep(max(0.0, began + (sent + 1) * self.each_s - loop.time()))
        await out.write(tail)
        await out.write_eof()

    async def whole(self) -> str:
        await asyncio.sleep(self.first_s + self.count * self.each_s)
        return "".join(words(self.count))


def _sse(data: dict[str, Any], event: str = "") -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


async def _stream(request: web.Request) -> web.StreamResponse:
    out = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await out.prepare(request)
    return out


def _head(model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "created": 1_790_000_000, "model": model}


@functools.lru_cache(maxsize=64)
def _openai_chunks(model: str, count: int) -> tuple[bytes, list[bytes], bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _sse({**_head(model), "object": "chat.completion.chunk", "choices": [choice]})

    return (
        chunk({"role": "assistant", "content": ""}),
        [chunk({"content": word}) for word in words(count)],
        chunk({}, "stop"),
    )


async def _chat(request: web.Request) -> web.StreamResponse:
    body = await request.json()
    with _Call(request.app[STATS_KEY].stats, body) as call:
        usage = {
            "prompt_tokens": call.prompt_tokens,
            "completion_tokens": call.count,
            "total_tokens": call.prompt_tokens + call.count,
        }
        head: dict[str, Any] = {**_head(call.model), "usage": usage}
        if not body.get("stream"):
            message = {"role": "assistant", "content": await call.whole()}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return web.json_response({**head, "object": "chat.completion", "choices": [choice]})
        first, chunks, last = _openai_chunks(call.model, call.count)
        if (body.get("stream_options") or {}).get("include_usage"):
            last += _sse({**head, "object": "chat.completion.chunk", "choices": []})
        out = await _stream(request)
        await call.pump(out, first, chunks, last + b"data: [DONE]\n\n")
        return out


async def _messages(request: web.Request) -> web.StreamResponse:
    body = await request.json()
    with _Call(request.app[STATS_KEY].stats, body) as call:
        usage = {"input_tokens": call.prompt_tokens, "output_tokens": call.count}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": call.model}
        if not body.get("stream"):
            content = [{"type": "text", "text": await call.whole()}]
            ends = {"content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
            return web.json_response({**message, **ends})
        begins: dict[str, Any] = {"content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        first = _sse({"type": "message_start", "message": {**message, **begins}}, "message_start")
        first += _sse(block, "content_block_start")
        deltas = [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
            for word in words(call.count)
        ]
        stops = {"stop_reason": "end_turn", "stop_sequence": None}
        last = _sse({"type": "content_block_stop", "index": 0}, "content_block_stop")
        last += _sse({"type": "message_delta", "delta": stops, "usage": usage}, "message_delta")
        last += _sse({"type": "message_stop"}, "message_stop")
        out = await _stream(request)
        await call.pump(out, first, [_sse(delta, "content_block_delta") for delta in deltas], last)
        return out


@dataclass
class _Books:
    stats: Stats = field(default_factory=Stats)


STATS_KEY = web.AppKey("books", _Books)


async def _stats(request: web.Request) -> web.Response:
    return web.json_response(
        {name: _plain(value) for name, value in vars(request.app[STATS_KEY].stats).items()}
    )


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Counter) else value


async def _reset(request: web.Request) -> web.Response:
    request.app[STATS_KEY].stats = Stats()
    return web.json_response({})


def make_app(books: _Books) -> web.Application:
    app = web.Application(client_max_size=64 * 2**20)
    app[STATS_KEY] = books
    app.add_routes(
        [
            web.post("/v1/chat/completions", _chat),
            web.post("/v1/messages", _messages),
            web.get("/stats", _stats),
            web.post("/reset", _reset),
        ]
    )
    return app


class ScriptedServer:
    """The server in a thread of this process, on a free port. ``url`` has no path; OpenAI's is ``url/v1``."""

    def __init__(self) -> None:
        self._books = _Books()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.url = ""

    @property
    def stats(self) -> Stats:
        return self._books.stats

    def reset(self) -> None:
        self._books.stats = Stats()

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        runner = web.AppRunner(
            make_app(self._books), handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted LLM server on loopback.")
    parser.add_argument("--port", type=int, default=8901)
    port = parser.parse_args().port
    app = make_app(_Books())
    web.run_app(
        app, host="127.0.0.1", port=port, access_log=None, print=None, backlog=4096, handler_cancellation=True
    )


if __name__ == "__main__":
    main()
