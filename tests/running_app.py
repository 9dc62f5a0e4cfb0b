"""The whole product in a process of its own, on a free port, with its own files. For tests and benchmarks."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from conductor_client.client import ConductorClient

ROOT = Path(__file__).resolve().parents[1]
SCRIPTED_POOL = ROOT / "tests" / "browser" / "pool.toml"


class App:
    """One running Conductor Studio: its address, its process, its files."""

    def __init__(self, folder: Path, pool: Path = SCRIPTED_POOL, **environment: str) -> None:
        self.folder = folder
        self.pool = pool
        self.environment = environment
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        """Starts the process and does not wait for anything."""
        environment = {
            **{name: value for name, value in os.environ.items() if not _decides(name)},
            "CONDUCTOR_POOL": str(self.pool),
            "CONDUCTOR_PORT": str(self.port),
            "CONDUCTOR_DB": str(self.folder / "conductor.sqlite"),
            "CONDUCTOR_MODELS_DIR": str(self.folder / "models"),
            **self.environment,
        }
        log = (self.folder / "app.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        log.close()

    def start(self) -> None:
        """Starts it and waits until it answers."""
        self.launch()
        assert self.process is not None
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.address}/healthz", timeout=2).status_code == 200:
                    return
            except httpx.HTTPError:
                time.sleep(0.1)
            assert self.process.poll() is None, self.log()
        raise AssertionError(f"the app did not answer in 60 s: {self.log()}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Ends it and gives the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(20)

    def kill(self) -> None:
        """Ends it by force if it still runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def log(self) -> str:
        """What it printed."""
        return (self.folder / "app.log").read_text(encoding="utf-8", errors="replace")

    def client(self) -> ConductorClient:
        """A typed client of its API."""
        return ConductorClient(self.address)


def _decides(name: str) -> bool:
    """Whether a variable of this machine would change what the app does."""
    return name.startswith("CONDUCTOR_") or name.endswith(("_API_KEY", "_TOKEN", "_SECRET"))


def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
