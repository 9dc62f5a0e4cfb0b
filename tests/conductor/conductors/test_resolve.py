"""Which conductors there are for a pool, and what is said of those that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from conductor.conductors import (
    ConductorNotReady,
    UnknownConductor,
    default_conductor,
    list_conductors,
    resolve,
)
from conductor.conductors.base import ConductorRequest
from conductor.pool import ConductorSpec, Pool
from conductor.providers.base import Worker, WorkerError
from conductor_client.plan import PlanOptions
from tests.conductor.conductors.model import WORKERS, PaperModel, write

KEYLESS = Worker("far", "openai", "gpt-5", api_key_env="OPENAI_API_KEY")
POOL = Pool("p", (*WORKERS, KEYLESS))


def test_the_list_of_a_pool(tmp_path: Path) -> None:
    spec = ConductorSpec("mine", "prompted", "alpha", PlanOptions(max_steps=3, access="binary"))
    later = ConductorSpec("mini", "router")
    found = {
        each.conductor_id: each for each in list_conductors(Pool("p", POOL.workers, (spec, later)), tmp_path)
    }
    assert list(found) == [
        "mine",
        "mini",
        "local",
        "prompted:alpha",
        "prompted:gamma",
        "prompted:far",
        "single:alpha",
        "single:calc",
        "single:gamma",
        "single:far",
    ]
    assert (found["mine"].ready, found["mine"].options.max_steps, found["mine"].model) == (True, 3, "a")
    assert not found["mini"].ready
    assert found["local"].how_to_get == "Run: conductor-studio models fetch smollm2-135m"
    assert found["prompted:far"].missing == "The environment variable OPENAI_API_KEY is not set."


def test_resolving(tmp_path: Path) -> None:
    prompted = resolve("prompted:alpha", POOL, tmp_path)
    assert (prompted.kind, prompted.worker) == ("prompted", WORKERS[0])
    with pytest.raises(ConductorNotReady, match="OPENAI_API_KEY") as not_ready:
        resolve("prompted:far", POOL, tmp_path)
    assert (not_ready.value.kind, bool(not_ready.value.hint)) == ("unavailable", True)
    with pytest.raises(ConductorNotReady, match="SmolLM2"):
        resolve("local", POOL, tmp_path)
    with pytest.raises(UnknownConductor) as unknown:
        resolve("magic", POOL, tmp_path)
    assert (unknown.value.kind, "prompted:alpha" in unknown.value.hint) == ("bad_input", True)


def test_the_default_plans_if_anything_can(tmp_path: Path) -> None:
    assert default_conductor(POOL, tmp_path) == "prompted:alpha"
    assert default_conductor(Pool("p", (WORKERS[1],)), tmp_path) == "single:calc"
    with pytest.raises(ConductorNotReady, match="no worker is ready"):
        default_conductor(Pool("p", (KEYLESS,)), tmp_path)


async def test_single_gives_the_prompt_as_it_is_to_one_worker(tmp_path: Path) -> None:
    single = resolve("single:gamma", POOL, tmp_path)
    written = await write(single, PaperModel(), ConductorRequest("  Why?\n", WORKERS))
    (step,) = written.reading.steps
    assert (step.worker, step.instruction, step.access) == (2, "  Why?\n", ())
    with pytest.raises(WorkerError, match="not among those"):
        await write(single, PaperModel(), ConductorRequest("Why?", WORKERS[:1]))


@pytest.mark.model("qwen-0.5b")
def test_the_best_local_model_that_is_there(models_dir: Path) -> None:
    local = resolve("local", POOL, models_dir)
    assert local.worker is not None
    assert local.worker.model.startswith("qwen")
