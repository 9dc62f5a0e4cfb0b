"""The real app in a process of its own, with scripted workers, and Chromium to look at it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from conductor_client.client import ConductorClient
from tests.chromium import FLAGS, chromium_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
POOL = Path(__file__).with_name("pool.toml")


class App:
    """One running Conductor Studio: its address, its process, its files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it and waits until it answers."""
        environment = {
            **os.environ,
            "CONDUCTOR_POOL": str(POOL),
            "CONDUCTOR_PORT": str(self.port),
            "CONDUCTOR_DB": str(self.folder / "conductor.sqlite"),
            "CONDUCTOR_MODELS_DIR": str(self.folder / "models"),
        }
        log = (self.folder / "app.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        log.close()
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

    def log(self) -> str:
        """What it printed."""
        return (self.folder / "app.log").read_text(encoding="utf-8", errors="replace")

    def client(self) -> ConductorClient:
        """A typed client of its API."""
        return ConductorClient(self.address)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app shared by all browser tests; each test makes its own runs."""
    running = App(tmp_path_factory.mktemp("app"))
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's Chromium, headless."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh profile, 1440 × 900. The test fails when the page left the machine or an error was thrown."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(15_000)
    page = context.new_page()
    left: list[str] = []
    thrown: list[str] = []
    page.on("request", lambda request: left.append(request.url) if _leaves(request.url) else None)
    page.on("pageerror", lambda error: thrown.append(str(error)))
    yield page
    context.close()
    assert left == [], "the page asked for something outside this machine"
    assert thrown == [], "the page threw"


def _leaves(url: str) -> bool:
    return url.startswith(("http://", "https://", "ws://", "wss://")) and "127.0.0.1" not in url.split("/")[2]
