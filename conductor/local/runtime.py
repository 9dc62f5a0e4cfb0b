"""Ask a local model: one engine process per model, started on first use and stopped when idle.

`generate` is what the rest of the program sees: an async stream of events that can be cancelled at any time.
Everything about llama.cpp itself is in `engine`; everything about the weight files is in `weights`.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conductor.folders import without_folders
from conductor.local import weights
from conductor.local.catalog import ModelSpec, model_spec
from conductor.local.chat import (
    Delta,
    Finished,
    Loading,
    LocalEvent,
    LocalUsage,
    TokenChoice,
    build_request,
    finished,
    request_error,
)
from conductor.local.engine_process import EngineProcess, LocalModelError

__all__ = [
    "Adapter",
    "Delta",
    "Finished",
    "Loading",
    "LocalEvent",
    "LocalModelError",
    "LocalUsage",
    "Runtime",
    "TokenChoice",
    "default_threads",
    "process_runtime",
]

IDLE_S = 600.0
SLOTS = 2
SLOT_CONTEXT_TOKENS = 8192
CACHE_MIB = 128
"""Read prompts kept beside those in the slots, per model: 4,600 tokens of qwen-1.5b, 10,900 of qwen-0.5b."""
LARGE_BYTES = 700_000_000
"""Models above this size read their prompt in bites of 32 tokens instead of 64, so that a bite stays under a
second.
"""


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter file (GGUF) made for one base model."""

    path: Path
    scale: float = 1.0


class Runtime:
    """The local models of this process. Use `process_runtime()`; a second one would load everything twice."""

    def __init__(self, models_dir: Path, *, idle_s: float = IDLE_S, threads: int | None = None) -> None:
        """`idle_s`: seconds without a request after which a model leaves memory. `threads`: per model,
        default cores - 1.
        """
        self.models_dir = models_dir
        self._idle_s = idle_s
        self._threads = threads or default_threads()
        self._lock = threading.Lock()
        self._engines: dict[str, EngineProcess] = {}
        self._users: dict[str, int] = {}
        self._timers: dict[str, threading.Timer] = {}
        self._adapters: dict[str, tuple[Adapter, ...]] = {}

    def set_adapters(self, model_key: str, adapters: Sequence[Adapter]) -> None:
        """Use these adapters with a model from now on. It is loaded anew for them, once no request is under
        way.
        """
        with self._lock:
            self._adapters[model_key] = tuple(adapters)

    def loaded(self) -> tuple[str, ...]:
        """The models that are in memory now."""
        with self._lock:
            return tuple(key for key, engine in self._engines.items() if engine.is_ready())

    def engine_pid(self, model_key: str) -> int | None:
        """The process that holds a model, for measuring it; None when it isn't in memory."""
        with self._lock:
            engine = self._engines.get(model_key)
        return engine.pid if engine else None

    def close(self) -> None:
        """Stop every engine at once. The next request starts them again."""
        with self._lock:
            for key in tuple(self._engines):
                self._stop(key)

    async def generate(
        self,
        model_key: str,
        messages: Sequence[Mapping[str, str]],
        *,
        settings: Mapping[str, Any] | None = None,
        max_output_tokens: int = 1024,
        seed: int | None = None,
        grammar: str | None = None,
        json_schema: Mapping[str, Any] | None = None,
        top_logprobs: int = 0,
        adapter: bool = False,
    ) -> AsyncIterator[LocalEvent]:
        """Stream one answer: perhaps `Loading`, then `Delta`s, then one `Finished`.

        `settings`: temperature (default 0), top_p, top_k, min_p, repeat_penalty, presence_penalty,
        frequency_penalty, stop. `grammar` is GBNF; it and `json_schema` exclude each other. `top_logprobs`:
        how many alternatives to report per token. `adapter`: apply the model's adapters; without it the base
        model answers. Cancelling the task, or closing the iterator, ends the generation within a second.
        Raises `LocalModelError`.
        """
        request = build_request(
            messages,
            settings=settings or {},
            max_output_tokens=max_output_tokens,
            seed=seed,
            grammar=grammar,
            json_schema=json_schema,
            top_logprobs=top_logprobs,
        )
        spec = _known(model_key)
        if model_key not in self.loaded():
            yield Loading(model_key)
        async with self._engine(spec) as engine:
            request |= _lora(spec.key, engine.options["adapters"], adapter)
            async for event in _answer(engine, request, served_model=spec.file):
                yield event

    async def load(self, model_key: str) -> None:
        """Bring a model into memory before it is asked, and start its idle time. Raises `LocalModelError`."""
        async with self._engine(_known(model_key)):
            pass

    @contextlib.asynccontextmanager
    async def _engine(self, spec: ModelSpec) -> AsyncIterator[EngineProcess]:
        # Counted before anything can be cancelled, so that every count is matched by a release.
        self._enter(spec.key)
        try:
            engine = await asyncio.to_thread(self._start, spec)
            # Shielded: whoever stops waiting must not stop the load for the others who wait.
            await asyncio.shield(asyncio.wrap_future(engine.ready))
            yield engine
        finally:
            self._release(spec.key)

    def _enter(self, key: str) -> None:
        with self._lock:
            if timer := self._timers.pop(key, None):
                timer.cancel()
            self._users[key] = self._users.get(key, 0) + 1

    def _start(self, spec: ModelSpec) -> EngineProcess:
        if not weights.is_ready(spec, self.models_dir):
            raise LocalModelError(
                "unavailable",
                f"the weights of {spec.key} are not in {without_folders(str(self.models_dir))}",
                f"Run `conductor-studio models fetch {spec.key}`.",
            )
        options = self._options(spec)
        with self._lock:
            engine = self._engines.get(spec.key)
            is_stale = engine is not None and engine.options != options and self._users[spec.key] == 1
            if engine is None or engine.is_dead() or is_stale:
                self._stop(spec.key)
                engine = self._engines[spec.key] = EngineProcess(spec.key, options)
            return engine

    def _release(self, key: str) -> None:
        with self._lock:
            self._users[key] -= 1
            if self._users[key] == 0 and key in self._engines:
                timer = self._timers[key] = threading.Timer(self._idle_s, self._unload_if_idle, (key,))
                timer.daemon = True
                timer.start()

    def _unload_if_idle(self, key: str) -> None:
        with self._lock:
            if not self._users.get(key):
                self._stop(key)

    def _stop(self, key: str) -> None:
        if timer := self._timers.pop(key, None):
            timer.cancel()
        if engine := self._engines.pop(key, None):
            engine.stop()

    def _options(self, spec: ModelSpec) -> dict[str, Any]:
        return {
            "path": str(weights.weight_path(spec, self.models_dir)),
            "adapters": [(str(one.path), one.scale) for one in self._adapters.get(spec.key, ())],
            "slots": SLOTS,
            "slot_context_tokens": min(spec.context_tokens, SLOT_CONTEXT_TOKENS),
            "batch_tokens": 32 if spec.size_bytes > LARGE_BYTES else 64,
            "threads": self._threads,
            "gpu_layers": 0,
            "cache_mib": CACHE_MIB,
        }


async def _answer(
    engine: EngineProcess, request: dict[str, Any], *, served_model: str
) -> AsyncIterator[LocalEvent]:
    loop = asyncio.get_running_loop()
    messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    number = engine.submit(request, lambda message: loop.call_soon_threadsafe(messages.put_nowait, message))
    pieces: list[str] = []
    tokens: list[TokenChoice] = []
    try:
        while True:
            message = await messages.get()
            if chunk := message.get("chunk"):
                pieces.append(chunk["text"])
                tokens += [TokenChoice(token, logprobs) for token, logprobs in chunk["tokens"]]
                yield Delta("output", chunk["text"])
            elif "error" in message:
                raise request_error(message["error"])
            else:
                yield finished("".join(pieces), tuple(tokens), message["end"], served_model)
                return
    finally:
        engine.forget(number)


def _lora(model_key: str, adapters: Sequence[tuple[str, float]], wanted: bool) -> dict[str, Any]:
    if wanted and not adapters:
        raise LocalModelError(
            "bad_request",
            f"{model_key} is loaded without an adapter",
            "Set its adapters, or ask again later.",
        )
    # Said in every request: what a request leaves out is what the model was loaded with.
    return {"lora": [{"id": i, "scale": scale if wanted else 0.0} for i, (_, scale) in enumerate(adapters)]}


def _known(model_key: str) -> ModelSpec:
    try:
        return model_spec(model_key)
    except KeyError as error:
        raise LocalModelError(
            "bad_request", str(error.args[0]), "Correct the model in the pool file."
        ) from None


def default_threads() -> int:
    """One thread less than the cores this process may use, and at least one: the page needs the other."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return max(1, cores - 1)


@cache
def process_runtime(models_dir: Path) -> Runtime:
    """The one runtime of this process for a models folder. Its engines end with the process."""
    runtime = Runtime(models_dir)
    atexit.register(runtime.close)
    return runtime
