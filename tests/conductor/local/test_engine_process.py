"""The near side of an engine: every way it can end reaches whoever waits, with words a user can act on."""

from __future__ import annotations

import importlib.util
import queue
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conductor.local import engine_process
from conductor.local.engine_process import ENGINE_ENDED, EngineProcess, LocalModelError

STAND_IN = Path(__file__).with_name("engine_stand_in.py")


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EngineProcess]]:
    monkeypatch.setattr(engine_process, "ENGINE_SCRIPT", STAND_IN)
    started: list[EngineProcess] = []
    yield started
    for engine in started:
        engine.stop()


def start(engines: list[EngineProcess], play: str) -> EngineProcess:
    engine = EngineProcess("tiny", {"play": play})
    engines.append(engine)
    return engine


@pytest.mark.parametrize(
    ("play", "hint"),
    [("failed", "Fetch the model again"), ("illegal", "lacks AVX2"), ("killed", "want of memory")],
)
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_engine_that_never_gets_ready_says_why(engines: list[EngineProcess], play: str, hint: str) -> None:
    engine = start(engines, play)
    with pytest.raises(LocalModelError) as caught:
        engine.ready.result(10)
    assert caught.value.kind == "unavailable" and hint in caught.value.hint
    assert not engine.is_ready()


def test_answers_reach_the_one_who_asked_whole(engines: list[EngineProcess]) -> None:
    engine = start(engines, "echo")
    engine.ready.result(10)
    heard: queue.Queue[dict[str, Any]] = queue.Queue()
    number = engine.submit({"x": 1} and "answer", heard.put)  # type: ignore[arg-type]
    assert heard.get(timeout=10) == {"id": number, "chunk": {"text": "hé🚀", "tokens": []}}
    assert heard.get(timeout=10) == {"id": number, "end": {}}


def test_a_death_in_mid_answer_is_an_error_for_everyone_waiting(engines: list[EngineProcess]) -> None:
    engine = start(engines, "echo")
    engine.ready.result(10)
    heard: queue.Queue[dict[str, Any]] = queue.Queue()
    engine.submit("silence", heard.put)  # type: ignore[arg-type]
    engine.submit("die", heard.put)  # type: ignore[arg-type]
    for _ in range(2):
        error = heard.get(timeout=10)["error"]
        assert error["type"] == ENGINE_ENDED and "the engine of tiny ended (exit 1)" in error["message"]
    assert engine.is_dead()
    engine.submit("late", heard.put)  # type: ignore[arg-type]
    assert "error" in heard.get(timeout=10)


def test_stopping_tells_those_who_wait(engines: list[EngineProcess]) -> None:
    engine = start(engines, "echo")
    engine.ready.result(10)
    heard: queue.Queue[dict[str, Any]] = queue.Queue()
    engine.submit("silence", heard.put)  # type: ignore[arg-type]
    engine.stop()
    assert heard.get(timeout=10)["error"]["message"] == "tiny was unloaded"


def test_a_missing_runtime_comes_with_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LocalModelError) as caught:
        EngineProcess("tiny", {})
    assert "pip install xllamacpp" in caught.value.hint
