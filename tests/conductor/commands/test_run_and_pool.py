"""``run`` and ``pool check`` in the terminal, and which command a command line means."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from conductor import cli
from conductor.server.api import in_a_thread
from conductor.settings import Settings
from conductor_client.client import ConductorClient
from conductor_client.run_state import RunState
from tests.loopback import running

ROOT = Path(__file__).resolve().parents[3]
POOL = """
[[worker]]
name = "quick"
provider = "scripted"
model = "scripted-1"
profile.script = [{ match = "boom", fail = "bad_request", fail_message = "It broke." }, { text = "Paris" }]

[[worker]]
name = "slow"
provider = "scripted"
model = "fake-20-400-20"
"""


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "pool.toml").write_text(POOL, encoding="utf-8")
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    settings = {
        "CONDUCTOR_POOL": str(tmp_path / "pool.toml"),
        "CONDUCTOR_DB": str(tmp_path / "conductor.sqlite"),
        "CONDUCTOR_MODELS_DIR": str(tmp_path / "models"),
        "CONDUCTOR_PORT": str(port),
        "HOME": str(tmp_path),
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return settings


@pytest.mark.usefixtures("env")
def test_run_prints_plan_steps_and_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "The capital of France?", "--conductor", "single:quick"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "Paris\n"
    lines = captured.err.splitlines()
    assert any(line.startswith("1. quick: ") for line in lines)
    assert "▶ step 1 quick" in lines
    assert any(line.startswith("✓ step 1 quick") for line in lines)
    assert "succeeded" in lines[-1]


@pytest.mark.usefixtures("env")
def test_run_as_json_is_the_state_and_is_in_the_history(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "Hello", "--conductor", "single:quick", "--workers", "quick", "--json"]) == 0
    state = RunState.model_validate_json(capsys.readouterr().out)
    assert (state.status, state.final_output) == ("succeeded", "Paris")
    with in_a_thread(Settings.from_environment()) as address, ConductorClient(address or "") as client:
        assert client.run(state.run_id).final_output == "Paris"


@pytest.mark.usefixtures("env")
def test_run_that_fails_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "boom", "--conductor", "single:quick"]) == 1
    captured = capsys.readouterr()
    assert "It broke." in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", " "], "empty"),
        (["run", "x", "--conductor", "nobody"], "nobody"),
        (["run", "x", "--pool", "no-such-pool"], "no-such-pool"),
        (["run", "x", "--workers", "nobody"], "nobody"),
    ],
)
@pytest.mark.usefixtures("env")
def test_run_that_cannot_start_says_why(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 1
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("env")
async def test_a_pool_that_is_not_there_is_said_at_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONDUCTOR_POOL", "no-such-pool")
    async with cli.opened(Settings.from_environment(os.environ)) as studio:
        assert studio is not None
    said = capsys.readouterr().err
    assert "CONDUCTOR_POOL=no-such-pool: " in said
    assert "There is no pool 'no-such-pool' in " in said
    assert "The pool local is used instead." in said


@pytest.mark.usefixtures("env")
def test_an_engine_that_is_not_there_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONDUCTOR_ENGINE", "postgresql://me:secret@db/x")
    assert cli.main(["run", "Hello"]) == 1
    said = capsys.readouterr().err
    assert "CONDUCTOR_ENGINE" in said and "not in this version" in said
    assert "Traceback" not in said and "secret" not in said


@pytest.mark.usefixtures("env")
def test_run_uses_the_backend_that_is_running(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with in_a_thread(Settings.from_environment()) as address:
        assert address is not None
        monkeypatch.setenv("CONDUCTOR_BACKEND_URL", address)
        assert cli.main(["run", "Hello", "--conductor", "single:quick"]) == 0
        with ConductorClient(address) as client:
            assert len(client.list_runs().runs) == 1
    assert cli.main(["run", "Hello"]) == 1
    assert address in capsys.readouterr().err


def test_another_program_on_the_port_is_no_backend_of_ours(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(Starlette()) as address:
        monkeypatch.setenv("CONDUCTOR_PORT", address.rpartition(":")[2])
        assert cli.main(["run", "Hello", "--conductor", "single:quick"]) == 0
    assert capsys.readouterr().out == "Paris\n"


def test_ctrl_c_stops_the_run_and_keeps_its_text(env: dict[str, str]) -> None:
    words = [sys.executable, "-m", "conductor", "run", "Count", "--conductor", "single:slow", "--json"]
    kept = {name: value for name, value in os.environ.items() if name not in env}
    process = subprocess.Popen(
        words,
        cwd=ROOT,
        env={**kept, **env, "PYTHONWARNINGS": "error"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("▶"):
            break
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "Stopping" in err
    assert "Traceback" not in err
    state = json.loads(out)
    assert state["status"] == "cancelled"
    assert state["steps"]["s1"]["partial_text"]


def test_pool_check_is_content_with_a_good_file(
    env: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["pool", "check"]) == 0
    assert cli.main(["pool", "check", env["CONDUCTOR_POOL"]]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("ready") >= 4
    assert captured.err == ""


@pytest.mark.usefixtures("env")
def test_pool_check_names_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(
        POOL + '\n[[worker]]\nname = "odd"\nprovider = "nobody"\nmodel = "x"\n', encoding="utf-8"
    )
    assert cli.main(["pool", "check", str(wrong)]) == 1
    line = wrong.read_text(encoding="utf-8").splitlines().index('provider = "nobody"') + 1
    assert f"wrong.toml:{line}: provider:" in capsys.readouterr().err
    assert cli.main(["pool", "check", str(tmp_path / "nothing.toml")]) == 1
    assert "nothing.toml" in capsys.readouterr().err


@pytest.mark.usefixtures("env")
def test_pool_check_of_a_pool_that_nobody_can_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    far = tmp_path / "far.toml"
    far.write_text(
        '[[worker]]\nname = "a"\nprovider = "openai"\nmodel = "m"\napi_key_env = "NO_SUCH_VARIABLE_X"\n',
        encoding="utf-8",
    )
    assert cli.main(["pool", "check", str(far)]) == 1
    captured = capsys.readouterr()
    assert "NO_SUCH_VARIABLE_X" in captured.out
    assert "no worker" in captured.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ("serve", False, False)),
        (["serve", "--open"], ("serve", True, False)),
        (["--open"], ("serve", True, False)),
        (["serve", "--models-behind"], ("serve", False, True)),
        (["serve", "--no-fetch"], ("serve", False, False)),
        (["ui", "--backend", "http://127.0.0.1:9"], ("ui", False, None)),
    ],
)
def test_page_commands(words: list[str], expected: tuple[Any, ...]) -> None:
    called: list[tuple[Any, ...]] = []

    def serve(settings: Settings, *, open_browser: bool, models_behind: bool) -> int:
        called.append(("serve", open_browser, models_behind))
        return 0

    def ui(settings: Settings, *, open_browser: bool) -> int:
        assert settings.backend_url == "http://127.0.0.1:9"
        called.append(("ui", open_browser, None))
        return 0

    assert cli.main(words, serve=serve, ui=ui) == 0
    assert called == [expected]


def test_backend_url_makes_serve_a_page_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDUCTOR_BACKEND_URL", "http://127.0.0.1:9")
    called: list[str] = []

    def ui(settings: Settings, *, open_browser: bool) -> int:
        called.append(settings.backend_url or "")
        return 0

    assert cli.main([], serve=lambda *_, **__: 1, ui=ui) == 0
    assert called == ["http://127.0.0.1:9"]


def test_settings_that_cannot_be_used_are_all_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONDUCTOR_DAILY_USD", "a lot")
    assert cli.main(["api", "--port", "many"]) == 1
    err = capsys.readouterr().err
    assert "CONDUCTOR_PORT" in err
    assert "CONDUCTOR_DAILY_USD" in err


def test_version_and_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("conductor-studio ")
    with pytest.raises(SystemExit) as ended:
        cli.main(["fly"])
    assert ended.value.code == 2
