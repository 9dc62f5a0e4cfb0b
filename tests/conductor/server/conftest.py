"""A real backend on a loopback port, with a pool of scripted workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conductor.server.api import in_a_thread
from conductor.settings import Settings
from conductor_client.api import RunRequest, StepRequest, WorkflowRequest
from conductor_client.client import ConductorClient

POOL = """
default_worker = "quick"

[[worker]]
name = "quick"
provider = "scripted"
model = "scripted-1"
profile.script = [
  { match = "boom", fail = "bad_request", fail_message = "It broke." },
  { text = "Paris" },
]

[[worker]]
name = "slow"
provider = "scripted"
model = "fake-20-200-20"

[[worker]]
name = "org/odd name:1"
provider = "scripted"
model = "fake-1-3-1"

[[worker]]
name = "no-key"
provider = "openai"
model = "gpt-5"
base_url = "https://models.example/v1"
api_key_env = "CONDUCTOR_TEST_NO_SUCH_KEY"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    pool = tmp_path / "pool.toml"
    pool.write_text(POOL, encoding="utf-8")
    return Settings(
        port=0,
        db=tmp_path / "conductor.sqlite",
        pool=str(pool),
        models_dir=tmp_path / "models",
        pools_dir=tmp_path / "pools",
    )


@pytest.fixture
def address(settings: Settings) -> Iterator[str]:
    with in_a_thread(settings) as found:
        assert found is not None
        yield found


@pytest.fixture
def client(address: str, settings: Settings) -> Iterator[ConductorClient]:
    with ConductorClient(address, settings.token) as opened:
        yield opened


def asking(
    *steps: tuple[str, str, tuple[int, ...]], prompt: str = "The capital of France?", **more: object
) -> RunRequest:
    """A request to run these ``(worker, instruction, access)`` steps, without planning."""
    rows = tuple(
        StepRequest(worker=worker, instruction=said, access=access) for worker, said, access in steps
    )
    return RunRequest.model_validate({"prompt": prompt, "workflow": WorkflowRequest(steps=rows), **more})


def finished(client: ConductorClient, request: RunRequest) -> str:
    """Runs it to its end and gives its id."""
    run_id = client.start_run(request).run_id
    for _ in client.events_stream(run_id):
        pass
    return run_id
