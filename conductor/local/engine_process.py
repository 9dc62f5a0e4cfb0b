"""The near side of an engine: start the process, send requests, hand its lines to whoever asked.

Knows nothing about models or prompts. Thread-safe; belongs to no event loop.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

ENGINE_SCRIPT = Path(__file__).with_name("engine.py")
ILLEGAL_INSTRUCTION = frozenset({-signal.SIGILL, 0xC000001D})
KILLED = -9
ENGINE_ENDED = "engine_ended"
"""The type of an error that no engine said: its process is gone. The next request starts it anew."""

ErrorKind = Literal["context_overflow", "unavailable", "bad_request"]
OnMessage = Callable[[dict[str, Any]], object]


class LocalModelError(Exception):
    """A local model could not answer. `hint` says what to try; `retryable`: the same request may succeed."""

    def __init__(self, kind: ErrorKind, message: str, hint: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.retryable = retryable


class EngineProcess:
    """One running engine. `ready` resolves when its model is in memory, or fails with `LocalModelError`."""

    def __init__(self, model_key: str, options: dict[str, Any]) -> None:
        if not importlib.util.find_spec("xllamacpp"):
            raise LocalModelError(
                "unavailable",
                "the runtime of the local models is not installed",
                "Run `pip install xllamacpp`.",
            )
        self.ready: Future[None] = Future()
        self.options = options
        self._model_key = model_key
        self._numbers = itertools.count(1)
        self._listeners: dict[int, OnMessage] = {}
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._last_words: deque[str] = deque(maxlen=20)
        self._stopped = False
        # -P: the folder of the script must not shadow modules of other packages.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(ENGINE_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        self._send(options)
        threading.Thread(target=self._listen, name=f"{model_key}-lines", daemon=True).start()
        threading.Thread(target=self._overhear, name=f"{model_key}-stderr", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_ready(self) -> bool:
        return self.ready.done() and self.ready.exception() is None and not self.is_dead()

    def is_dead(self) -> bool:
        return self._stopped or self._process.poll() is not None

    def submit(self, request: dict[str, Any], on_message: OnMessage) -> int:
        """Send a request; `on_message` hears its lines in another thread, at last `end` or `error`."""
        number = next(self._numbers)
        with self._lock:
            self._listeners[number] = on_message
        if not self._send({"id": number, "request": request}):
            self._tell(number, {"error": self._death()})
        return number

    def forget(self, number: int) -> None:
        """Stop listening to a request; if it was still running, the engine stops it too."""
        with self._lock:
            still_running = self._listeners.pop(number, None)
        if still_running:
            self._send({"id": number, "cancel": True})

    def stop(self) -> None:
        """End the process now. Requests under way get an error."""
        self._stopped = True
        self._process.kill()
        self._close_stdin()

    def _send(self, message: dict[str, Any]) -> bool:
        line = json.dumps(message) + "\n"
        with self._write_lock:
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(line)
                self._process.stdin.flush()
            except (OSError, ValueError):
                return False
        return True

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._hear(json.loads(line))
        self._process.wait()
        self._close_stdin()
        if not self.ready.done():
            death = self._death()
            self.ready.set_exception(
                LocalModelError("unavailable", death["message"], _why(self._process.returncode))
            )
        with self._lock:
            waiting = tuple(self._listeners)
        for number in waiting:
            self._tell(number, {"error": self._death()})

    def _hear(self, message: dict[str, Any]) -> None:
        if "ready" in message:
            self.ready.set_result(None)
        elif "failed" in message:
            self._last_words.append(message["failed"])
        else:
            self._tell(message["id"], message)

    def _overhear(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._last_words.append(line.strip())

    def _close_stdin(self) -> None:
        # Closing flushes, and there may be nobody left to read.
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _tell(self, number: int, message: dict[str, Any]) -> None:
        with self._lock:
            listener = self._listeners.get(number)
            if "chunk" not in message:
                self._listeners.pop(number, None)
        if listener:
            # The listener's event loop may be closed by now; then nobody is left to tell.
            with contextlib.suppress(RuntimeError):
                listener(message)

    def _death(self) -> dict[str, Any]:
        if self._stopped:
            message = f"{self._model_key} was unloaded"
            return {"type": ENGINE_ENDED, "message": message, "hint": "Try again; it is loaded anew."}
        said = " | ".join(word for word in self._last_words if word)[-500:]
        status = self._process.poll()
        message = f"the engine of {self._model_key} ended (exit {status}): {said or 'silently'}"
        return {"type": ENGINE_ENDED, "message": message, "hint": _why(status)}


def _why(status: int | None) -> str:
    if status in ILLEGAL_INSTRUCTION:
        return "This processor lacks AVX2. Build xllamacpp from source, or use remote models."
    if status == KILLED:
        return "The system ended it, most likely for want of memory; close something or use a smaller model."
    return (
        "Fetch the model again with `conductor-studio models fetch`, or use a smaller one if memory is short."
    )
