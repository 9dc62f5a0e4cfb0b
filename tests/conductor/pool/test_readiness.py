"""What a worker still needs, and how a pool is shown."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from conductor.local.catalog import model_spec
from conductor.local.weights import weight_path, write_marker
from conductor.pool import Pool, default_worker, pool_view, readiness_of, worker_info
from conductor.pool.readiness import _is_installed
from conductor.providers.base import Worker

REMOTE = Worker("far", "openai", "gpt-5", api_key_env="OPENAI_API_KEY")
TOOL = Worker("calc", "tool", "calculator")
SCRIPTED = Worker("play", "scripted", "demo")
LOCAL = Worker("near", "local", "qwen-0.5b")


def test_missing_key_is_named(tmp_path: Path) -> None:
    info = worker_info(REMOTE, tmp_path, environ={})
    assert (info.ready, info.has_key, info.api_key_env) == (False, False, "OPENAI_API_KEY")
    assert info.missing == "The environment variable OPENAI_API_KEY is not set."
    assert info.how_to_get is not None
    assert "OPENAI_API_KEY" in info.how_to_get


def test_key_makes_it_ready_and_is_never_shown(tmp_path: Path) -> None:
    info = worker_info(REMOTE, tmp_path, environ={"OPENAI_API_KEY": "marker-0123456789"})
    assert (info.ready, info.missing, info.has_key, info.host) == (True, None, True, "api.openai.com")
    assert "marker" not in info.model_dump_json()


def test_vendors_usual_key_is_wanted_without_being_named(tmp_path: Path) -> None:
    info = worker_info(Worker("far", "anthropic", "claude-x"), tmp_path, environ={})
    assert info.missing == "The environment variable ANTHROPIC_API_KEY is not set."


def test_server_of_ones_own_needs_no_key(tmp_path: Path) -> None:
    info = worker_info(
        Worker("mine", "openai", "m", base_url="http://127.0.0.1:11434/v1"), tmp_path, environ={}
    )
    assert (info.ready, info.has_key, info.host) == (True, None, "127.0.0.1")


def test_key_that_belongs_elsewhere(tmp_path: Path) -> None:
    wrong = Worker("w", "openai", "m", base_url="https://gateway.example/v1", api_key_env="OPENAI_API_KEY")
    info = worker_info(wrong, tmp_path, environ={"OPENAI_API_KEY": "marker-0123456789"})
    assert not info.ready
    assert info.missing is not None
    assert "belongs to openai.com" in info.missing


def test_model_file_that_is_not_there(tmp_path: Path) -> None:
    state = readiness_of(LOCAL, tmp_path)
    assert state.missing is not None
    assert "491 MB" in state.missing
    assert state.how_to_get == "Run: conductor-studio models fetch qwen-0.5b"


def test_model_file_makes_it_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = b"weights"
    spec = model_spec("qwen-0.5b").model_copy(
        update={"size_bytes": len(small), "sha256": hashlib.sha256(small).hexdigest()}
    )
    monkeypatch.setattr("conductor.pool.readiness.model_spec", lambda _: spec)
    weight_path(spec, tmp_path).write_bytes(small)
    write_marker(weight_path(spec, tmp_path), spec.sha256)
    assert readiness_of(LOCAL, tmp_path).is_ready


def test_package_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _is_installed.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    try:
        for worker, package in ((REMOTE, "openai"), (LOCAL, "xllamacpp"), (TOOL, "pydantic_monty")):
            state = readiness_of(worker, tmp_path)
            assert state.missing == f"The package {package} is not installed."
            assert "pip install" in (state.how_to_get or "")
    finally:
        _is_installed.cache_clear()


def pool(*workers: Worker, **fields: Any) -> Pool:
    return Pool("p", workers, **fields)


def test_default_worker_is_the_pools_own_if_ready_else_the_first_ready_model(tmp_path: Path) -> None:
    other = Worker("other", "scripted", "demo")
    for made, wanted in (
        (pool(TOOL, REMOTE, SCRIPTED, other, default_worker="other"), "other"),
        (pool(TOOL, REMOTE, SCRIPTED, other, default_worker="far"), "play"),
        (pool(TOOL, REMOTE, SCRIPTED), "play"),
        (pool(TOOL, SCRIPTED, default_worker="calc"), "calc"),
        (pool(TOOL, REMOTE), None),
        (pool(), None),
    ):
        view = pool_view(made, tmp_path, environ={})
        assert view.default_worker == wanted
        assert default_worker(made, view.workers) == wanted


def test_view_keeps_the_order_and_says_what_it_costs(tmp_path: Path) -> None:
    view = pool_view(pool(SCRIPTED, TOOL, REMOTE), tmp_path, pools=("p", "q"), environ={})
    assert [each.name for each in view.workers] == ["play", "calc", "far"]
    assert [each.price is None for each in view.workers] == [True, False, False]
    assert view.worker("calc").is_tool
    assert view.pools == ("p", "q")
