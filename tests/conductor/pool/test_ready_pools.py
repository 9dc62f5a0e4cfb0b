"""The pool files that come with the program: valid, priced, without a key, and documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conductor.base_url import KEY_HOSTS
from conductor.pool import Pool, read_pool, worker_info
from conductor.pool.shelf import READY_POOLS
from conductor.providers.profiles import PROFILE_KEYS
from conductor.secrets import scrub

README = (READY_POOLS.parents[1] / "README.md").read_text(encoding="utf-8")
POOLS = {path.stem: read_pool(path) for path in sorted(READY_POOLS.glob("*.toml"))}
each_pool = pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)


def text_of(pool: Pool) -> str:
    assert pool.path is not None
    return pool.path.read_text(encoding="utf-8")


def head_of(pool: Pool) -> str:
    """The comment at the top."""
    return text_of(pool).split("\n[[")[0].split("\n\n[[")[0]


def test_every_kind_has_one() -> None:
    wanted = {"local", "paper", "openai", "anthropic", "gemini", "deepseek", "openrouter"}
    assert wanted | {"ollama", "vllm", "llamacpp", "lmstudio", "fugu"} <= POOLS.keys()


@each_pool
def test_it_has_no_problem_and_says_what_each_worker_is_good_at(pool: Pool) -> None:
    assert pool.problems == ()
    assert all(worker.description and worker.tags for worker in pool.workers)
    for worker in pool.workers:
        if worker.provider in {"openai", "anthropic"}:
            assert set(worker.profile) <= PROFILE_KEYS


@each_pool
def test_every_worker_has_a_price(pool: Pool, tmp_path: Path) -> None:
    unpriced = [each.name for each in pool.workers if worker_info(each, tmp_path, {}).price is None]
    assert unpriced == []


@each_pool
def test_every_worker_is_ready_once_its_variables_are_set(pool: Pool, tmp_path: Path) -> None:
    environ = dict.fromkeys(pool.key_variables, "a-key")
    missing = [
        info.missing
        for each in pool.workers
        if each.provider != "local" and not (info := worker_info(each, tmp_path, environ)).ready
    ]
    assert missing == []


@each_pool
def test_it_holds_no_key_and_its_head_and_readme_name_its_variables(pool: Pool) -> None:
    assert scrub(text_of(pool)) == text_of(pool)
    row = next(line for line in README.splitlines() if line.startswith(f"| `{pool.name}` |"))
    for name in pool.key_variables:
        assert name in KEY_HOSTS, "so that it goes to its own host only"
        assert name in head_of(pool) and f"`{name}`" in row
    assert set(re.findall(r"`([A-Z_]+_KEY)`", row)) == set(pool.key_variables)


def test_the_papers_seven_are_six_checkpoints() -> None:
    models = [worker.model for worker in POOLS["paper"].workers]
    assert (len(models), len(set(models)), models.count("qwen/qwen3-32b")) == (7, 6, 2)
