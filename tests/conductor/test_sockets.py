"""Stop closes the sockets of calls in flight: the provider's server notices, whatever the call is doing."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from conductor.service import Studio
from conductor.settings import Settings
from conductor_client.api import RunRequest
from tests.scripted_server import ScriptedServer

TOO_LONG_S = 20.0
"""Less than what the calls would go on for, and far more than a stop takes on a busy machine."""
POOL = """
[[worker]]
name = "openai"
provider = "openai"
model = "{model}"
base_url = "{url}/v1"
api_key_env = "SOCKET_TEST_PASS"

[[worker]]
name = "anthropic"
provider = "anthropic"
model = "{model}"
base_url = "{url}"
api_key_env = "SOCKET_TEST_PASS"
"""


@pytest.mark.parametrize("model", ["fake-20-5000-20", "fake-60000-1-0"], ids=["streaming", "before any text"])
async def test_the_server_sees_the_client_hang_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setenv("SOCKET_TEST_PASS", "nothing to hide")
    with ScriptedServer() as server:
        pool = tmp_path / "pool.toml"
        pool.write_text(POOL.format(model=model, url=server.url), encoding="utf-8")
        studio = await Studio.open(
            Settings(db=tmp_path / "db.sqlite", pool=str(pool), models_dir=tmp_path, pools_dir=tmp_path)
        )
        try:
            steps = [{"instruction": f"[[{name}]]", "worker": name} for name in ("openai", "anthropic")]
            request = {"prompt": "x", "workflow": {"steps": steps}}
            run_id, _ = await studio.start_run(RunRequest.model_validate(request))
            await _until(lambda: server.stats.open == 2)
            await asyncio.sleep(0.2)
            async with asyncio.timeout(TOO_LONG_S):
                await studio.cancel(run_id)
            await _until(lambda: server.stats.open == 0)
            assert server.stats.aborted == {"openai": 1, "anthropic": 1}
            state = await studio.state(run_id)
            assert {step.status for step in state.steps.values()} == {"cancelled"}
            texts = [step.partial_text for step in state.steps.values()]
            assert all(text.startswith("red") for text in texts) is (model == "fake-20-5000-20")
        finally:
            await studio.close()


async def _until(holds: object) -> None:
    give_up = time.monotonic() + TOO_LONG_S
    while not holds():  # type: ignore[operator]  # a condition to ask
        assert time.monotonic() < give_up
        await asyncio.sleep(0.01)
