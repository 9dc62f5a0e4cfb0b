"""Fetching local models behind the page: one thread per model, progress for whoever asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conductor.local import weights
from conductor.local.catalog import ModelSpec, catalog, model_spec
from conductor.local.fetch import FetchResult, fetch_model
from conductor_client.pool import ModelState


@dataclass
class _Fetch:
    thread: threading.Thread
    phase: str = ""
    note: str | None = None


class ModelFetches:
    """The models of one folder. ``fetch`` is replaced in tests; it may take minutes and runs in a thread."""

    def __init__(self, models_dir: Path, *, fetch: Callable[..., FetchResult] = fetch_model) -> None:
        self._models_dir, self._fetch = models_dir, fetch
        self._fetches: dict[str, _Fetch] = {}

    def states(self) -> list[ModelState]:
        """Where each model of the catalog stands. Looks at files: not for an event loop."""
        return [self.state(spec) for spec in catalog().values()]

    def state(self, spec: ModelSpec) -> ModelState:
        """Where one model stands."""
        found = weights.model_state(spec, self._models_dir)
        fetch = self._fetches.get(spec.key)
        is_running = fetch is not None and fetch.thread.is_alive()
        status = "fetching" if is_running and found.status != "ready" else found.status
        return ModelState(
            name=spec.key,
            state=status,
            bytes_done=found.bytes_on_disk,
            bytes_total=found.size_bytes,
            note=(fetch.phase if is_running else fetch.note) if fetch is not None else None,
            how_to_get=None if status == "ready" else f"Run: conductor-studio models fetch {spec.key}",
        )

    def start(self, name: str) -> ModelState:
        """Starts a fetch, or joins the one under way. Raises ``KeyError`` for an unknown model."""
        spec = model_spec(name)
        running = self._fetches.get(name)
        if running is None or not running.thread.is_alive():
            thread = threading.Thread(target=self._work, args=(spec,), name=f"fetch {name}", daemon=True)
            self._fetches[name] = _Fetch(thread)
            thread.start()
        return self.state(spec)

    def _work(self, spec: ModelSpec) -> None:
        fetch = self._fetches[spec.key]

        def hear(model: str, done: int, total: int, phase: str) -> None:
            fetch.phase = phase

        result = self._fetch(spec, self._models_dir, hear)
        fetch.note = None if result.error is None else str(result.error)
