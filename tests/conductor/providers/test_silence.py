"""Servers that say nothing: given up when it lasts too long, and let go of at once when somebody stops.

Each server here would be silent for a minute; a test that took as long would fail.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from conductor.service import Studio
from conductor.settings import Settings
from conductor_client.api import RunRequest
from conductor_client.events import StepRetried
from conductor_client.run_state import RunState
from tests.bad_server.answers import Form
from tests.bad_server.server import BadServer, bad_server

FORMS: tuple[Form, ...] = ("openai", "anthropic")
TOO_LONG_S = 25.0
"""Less than the server's silence, and far more than anything here takes on a busy machine."""
MODELS = {"00-mute": "", "00-stuck": "All ", "12-retry-after": "", "15-temperature": "", "20-other-model": ""}
"""The worker of each, and the text that it has given before it says nothing."""


@pytest.fixture
async def server() -> AsyncIterator[BadServer]:
    async with bad_server() as running:
        yield running


@pytest.fixture
async def studio(tmp_path: Path, server: BadServer) -> AsyncIterator[Studio]:
    tables = [
        f'[[worker]]\nname = "{model} {form}"\nprovider = "{form}"\nmodel = "{model}"\n'
        f'base_url = "{server.url}/v1"\nidle_timeout_s = 50\n'
        'settings = { temperature = 0 }\nprofile = { api_version = "2023-06-01" }\n'
        for model in MODELS
        for form in FORMS
    ]
    pool = tmp_path / "pool.toml"
    pool.write_text("\n".join(tables), encoding="utf-8")
    opened = await Studio.open(
        Settings(db=tmp_path / "db.sqlite", pool=str(pool), models_dir=tmp_path, pools_dir=tmp_path)
    )
    yield opened
    await opened.close()


async def _begun(studio: Studio, worker: str, **limits: object) -> str:
    steps = [{"instruction": "Do it.", "worker": worker}]
    request = {"prompt": "x", "workflow": {"steps": steps}, "limits": limits}
    return (await studio.start_run(RunRequest.model_validate(request)))[0]


async def _ended(studio: Studio, run_id: str) -> RunState:
    async with asyncio.timeout(TOO_LONG_S):
        async for _ in studio.subscribe(run_id):
            pass
    return await studio.state(run_id)


async def _has_asked(server: BadServer) -> None:
    async with asyncio.timeout(TOO_LONG_S):
        await server.begun.acquire()


async def _has_text(studio: Studio, run_id: str, text: str) -> None:
    async with asyncio.timeout(TOO_LONG_S):
        async for item in studio.subscribe(run_id):
            if text in getattr(item, "text", ""):
                return


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", ["00-mute", "00-stuck"])
async def test_silence_is_given_up_with_its_text_and_its_socket(
    studio: Studio, server: BadServer, model: str, form: Form
) -> None:
    run_id = await _begun(studio, f"{model} {form}", idle_timeout_s=0.3, max_wall_s=TOO_LONG_S - 5)
    async with asyncio.timeout(TOO_LONG_S):
        await server.hung_up.acquire()
    first = (await _retried(studio, run_id)).error
    assert first.kind == "timeout" and "said nothing for 0.3 s" in first.message and first.hint
    await studio.cancel(run_id)
    attempt = (await studio.state(run_id)).steps["s1"].attempts[0]
    assert attempt.partial_text == MODELS[model]


async def _retried(studio: Studio, run_id: str) -> StepRetried:
    async with asyncio.timeout(TOO_LONG_S):
        async for item in studio.subscribe(run_id):
            if isinstance(item, StepRetried):
                return item
    raise AssertionError("it was not tried again")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "model", ["00-mute", "00-stuck"], ids=["before the headers", "after the first piece"]
)
async def test_stop_lets_go_of_a_silent_server(
    studio: Studio, server: BadServer, model: str, form: Form
) -> None:
    run_id = await _begun(studio, f"{model} {form}")
    await _has_asked(server)
    if MODELS[model]:
        await _has_text(studio, run_id, MODELS[model])
    async with asyncio.timeout(TOO_LONG_S):
        await studio.cancel(run_id)
        await server.hung_up.acquire()
    step = (await studio.state(run_id)).steps["s1"]
    assert (step.status, step.partial_text, len(server.asked)) == ("cancelled", MODELS[model], 1)


@pytest.mark.parametrize("form", FORMS)
async def test_a_test_of_a_silent_worker_is_stopped_with_its_socket(
    studio: Studio, server: BadServer, form: Form
) -> None:
    worker = f"00-mute {form}"
    assert (await studio.begin_worker_test(worker)).running
    await _has_asked(server)
    waiting = asyncio.create_task(studio.test_worker(worker))
    await asyncio.sleep(0)
    async with asyncio.timeout(TOO_LONG_S):
        reply = await studio.stop_worker_test(worker)
        await server.hung_up.acquire()
    assert reply is not None and not reply.ok and "stopped" in reply.message
    assert await waiting == reply and await studio.worker_tests() == [reply]
    assert len(server.asked) == 1, "whoever asked meanwhile has joined"


@pytest.mark.parametrize("form", FORMS)
async def test_a_test_tells_the_pause_and_runs_keep_to_it(
    studio: Studio, server: BadServer, form: Form
) -> None:
    worker = f"12-retry-after {form}"
    reply = await studio.test_worker(worker)
    assert (reply.ok, reply.retry_after_s) == (False, 30)
    run_id = await _begun(studio, worker)
    await _has_text(studio, run_id, "the provider asked for a pause")
    async with asyncio.timeout(TOO_LONG_S):
        await studio.cancel(run_id)
    assert len(server.asked) == 1


@pytest.mark.parametrize("form", FORMS)
async def test_what_a_server_refused_stands_beside_its_worker_until_the_end(
    studio: Studio, server: BadServer, form: Form
) -> None:
    worker = f"15-temperature {form}"
    assert (await studio.pool_view()).worker(worker).learnt == ()
    tested = await studio.test_worker(worker)
    assert tested.ok and tested.notes == ("Left out temperature: the server does not take it.",)
    assert (await studio.pool_view()).worker(worker).learnt == ("temperature is left out",)
    state = await _ended(studio, await _begun(studio, worker))
    assert state.steps["s1"].notes == tested.notes
    assert ["temperature" in each.body for each in server.asked] == [True, False, False]
    others = [each for each in (await studio.pool_view()).workers if each.name != worker]
    assert {each.learnt for each in others} == {()}, "another model or protocol has learnt nothing"
