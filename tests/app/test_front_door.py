"""The whole product as one process, started the way people start it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import httpx
import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

from app import door
from app.__main__ import page_config
from conductor.settings import Settings
from conductor_client.api import RunRequest, StepRequest, WorkflowRequest
from conductor_client.client import ConductorClient

ROOT = Path(__file__).resolve().parents[2]
STARTS_WITHIN_S = 30.0
POOL = """
[[worker]]
name = "slow"
provider = "scripted"
model = "fake-20-400-20"
"""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


class House:
    """A started process and where it answers."""

    def __init__(self, process: subprocess.Popen[str], url: str, token: str | None) -> None:
        self.process, self.url, self.token = process, url, token

    def wait_until_healthy(self) -> float:
        """Seconds it took. Fails with the process's own words when it ends instead."""
        started = time.monotonic()
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        while time.monotonic() - started < STARTS_WITHIN_S:
            if self.process.poll() is not None:
                pytest.fail(f"it ended with {self.process.returncode}:\n{self.process.communicate()}")
            try:
                if httpx.get(f"{self.url}/healthz", headers=headers, timeout=2).status_code == 200:
                    return time.monotonic() - started
            except httpx.TransportError:
                time.sleep(0.05)
        pytest.fail("it did not answer in time")

    def stop(self, sig: signal.Signals = signal.SIGINT) -> tuple[int, float, str]:
        """Exit code, seconds until the end, and everything it said."""
        started = time.monotonic()
        self.process.send_signal(sig)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, time.monotonic() - started, out + err


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """A machine with nothing on it: own home, no key, no proxy."""
    kept = {
        name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ
    }
    pool = folder / "pool.toml"
    if not pool.exists():
        pool.write_text(POOL, encoding="utf-8")
    own = {
        "HOME": str(folder),
        "CONDUCTOR_POOL": str(pool),
        "PYTHONWARNINGS": "error",
        "PYTHONUNBUFFERED": "1",
    }
    return {**kept, **own, **settings}


@contextmanager
def started(folder: Path, *words: str, **settings: str) -> Iterator[House]:
    port = free_port()
    env = environment(folder, CONDUCTOR_PORT=str(port), **settings)
    process = subprocess.Popen(
        [sys.executable, "-m", "app", *words],
        cwd=folder,
        env={**env, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield House(process, f"http://127.0.0.1:{port}", settings.get("CONDUCTOR_TOKEN"))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def slow_run(url: str, token: str | None = None) -> str:
    step = StepRequest(worker="slow", instruction="Count.")
    with ConductorClient(url, token) as client:
        return client.start_run(RunRequest(prompt="Count.", workflow=WorkflowRequest(steps=(step,)))).run_id


async def test_ctrl_c_ends_it_in_a_second_with_streams_open_and_code_0(tmp_path: Path) -> None:
    with started(tmp_path) as house:
        await asyncio.to_thread(house.wait_until_healthy)
        run_id = await asyncio.to_thread(slow_run, house.url)
        origin = {"Origin": house.url}
        async with aiohttp.ClientSession() as http:
            assert "<title>" in await (await http.get(house.url)).text()
            ours = await http.ws_connect(f"{house.url}/api/runs/{run_id}/ws", headers=origin)
            await ours.receive()
            sse = await http.get(f"{house.url}/api/runs/{run_id}/events/stream")
            await sse.content.readany()
            page = await http.ws_connect(
                f"{house.url}/_stcore/stream", headers=origin, protocols=("streamlit",)
            )
            code, seconds, said = await asyncio.to_thread(house.stop)
            for stream in (ours, page):
                await stream.close()
            sse.close()
    assert code == 0
    assert seconds < 1.5
    assert house.url in said
    assert "Traceback" not in said


def test_terminate_is_a_clean_end_too_and_the_run_goes_on_next_time(tmp_path: Path) -> None:
    with started(tmp_path) as house:
        house.wait_until_healthy()
        run_id = slow_run(house.url)
        code, _, said = house.stop(signal.SIGTERM)
        assert code == 0
        assert "Traceback" not in said
    with started(tmp_path) as house:
        house.wait_until_healthy()
        with ConductorClient(house.url) as client:
            *_, last = client.events_stream(run_id)
            assert getattr(last, "kind", "") == "run_finished"
            assert client.run(run_id).resumed == 1
        assert house.stop()[0] == 0


def test_page_and_api_are_behind_the_token(tmp_path: Path) -> None:
    token = "a-token-of-some-length"
    with started(tmp_path, CONDUCTOR_TOKEN=token) as house:
        house.wait_until_healthy()
        for path in ("/", "/api/runs", "/_stcore/health", "/_stcore/host-config", "/v1/models"):
            assert httpx.get(house.url + path).status_code == 401
        person = httpx.Client(base_url=house.url, follow_redirects=True)
        with person:
            assert "password" in person.get("/", headers={"Accept": "text/html"}).text
            person.post("/login", data={"token": token})
            assert person.get("/_stcore/health").status_code == 200
        code, _, said = house.stop()
    assert code == 0
    assert token not in said


def test_port_in_use_is_said_and_no_other_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with started(tmp_path, "serve", "--port", str(port)) as house:
            _, err = house.process.communicate(timeout=STARTS_WITHIN_S)
            assert house.process.returncode == 1
            assert f"Port {port} on 127.0.0.1 is in use" in err
            assert "CONDUCTOR_PORT" in err
            assert "Traceback" not in err


@pytest.mark.parametrize("content", [b"no database at all " * 100, b"SQLite format 3\0" + b"\xff" * 200])
def test_database_that_is_not_ours_is_said_and_left_alone(tmp_path: Path, content: bytes) -> None:
    wrong = tmp_path / "wrong.sqlite"
    wrong.write_bytes(content)
    with started(tmp_path, CONDUCTOR_DB=str(wrong)) as house:
        _, err = house.process.communicate(timeout=STARTS_WITHIN_S)
        assert house.process.returncode == 1
    assert str(wrong) in err
    assert "CONDUCTOR_DB" in err
    assert "Traceback" not in err
    assert wrong.read_bytes() == content


@pytest.mark.parametrize(
    "pool", ["", "this is [no TOML", '[[worker]]\nname = "a"\nprovider = "nobody"\nmodel = "x"\n']
)
def test_it_starts_with_a_broken_or_empty_pool_file_and_says_so(tmp_path: Path, pool: str) -> None:
    (tmp_path / "pool.toml").write_text(pool, encoding="utf-8")
    with started(tmp_path) as house:
        house.wait_until_healthy()
        with ConductorClient(house.url) as client:
            assert client.pool().problems
        assert house.stop()[0] == 0


def test_listening_elsewhere_without_a_token_is_refused(tmp_path: Path) -> None:
    with started(tmp_path, CONDUCTOR_HOST="0.0.0.0") as house:
        _, err = house.process.communicate(timeout=STARTS_WITHIN_S)
        assert house.process.returncode == 1
    assert "CONDUCTOR_TOKEN" in err
    assert "Traceback" not in err


def test_page_with_a_backend_elsewhere(tmp_path: Path) -> None:
    with started(tmp_path, "api") as backend:
        backend.wait_until_healthy()
        assert httpx.get(backend.url, follow_redirects=True).url.path == "/api/docs"
        with started(tmp_path, "ui", "--backend", backend.url) as house:
            house.wait_until_healthy()
            assert "<title>" in httpx.get(house.url).text
            run_id = slow_run(house.url)
            with ConductorClient(house.url) as client:
                stream = client.events_stream(run_id)
                assert next(stream).run_id == run_id
                stream.close()
            code, _, said = backend.stop()
            assert (code, "Traceback" in said) == (0, False)
            reply = httpx.get(f"{house.url}/api/runs")
            assert (reply.status_code, reply.json()["error"]["type"]) == (502, "backend_down")
            assert "<title>" in httpx.get(house.url).text
            code, _, said = house.stop()
            assert (code, "Traceback" in said) == (0, False)


def test_ui_without_a_backend_says_what_it_needs(tmp_path: Path) -> None:
    with started(tmp_path, "ui") as house:
        _, err = house.process.communicate(timeout=STARTS_WITHIN_S)
        assert house.process.returncode == 1
    assert "--backend" in err


def test_help_is_fast() -> None:
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "app", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert time.monotonic() - begun < 5
    for command in ("serve", "ui", "api", "models", "run", "pool"):
        assert command in done.stdout


def test_page_without_front_door_asks_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_held", [])
    assert door.backend() == ("http://127.0.0.1:8501", None)
    monkeypatch.setenv("CONDUCTOR_BACKEND_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("CONDUCTOR_TOKEN", "t")
    assert door.backend() == ("http://127.0.0.1:9", "t")
    door.hold("http://127.0.0.1:8502", "x")
    assert door.backend() == ("http://127.0.0.1:8502", "x")


def test_no_script_run_ends_with_a_collection_of_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    option, collected = "runner.postScriptGC", list[object]()
    before = config.get_option(option)
    config.set_option(option, page_config(Settings(), 8501)[option])
    try:
        with monkeypatch.context() as patched:
            patched.setattr(gc, "collect", lambda *generation: collected.append(generation) or 0)
            AppTest.from_string("import streamlit").run()
    finally:
        config.set_option(option, before)
    assert not collected
