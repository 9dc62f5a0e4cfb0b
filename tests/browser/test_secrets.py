"""A key is used and found nowhere: not in files, logs, exports, pages, streams or error texts."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from conductor.secrets import MASK
from conductor_client.errors import ConductorError
from tests.running_app import App

from .conftest import OpenPage
from .rogue_server import RogueServer
from .studio import SKY, Studio, finished

MARKER = "Marker-4711-of-nobody"
"""No form that a pattern would know: only its value can give it away."""
WORKERS = {
    "good": ("openai", "ok"),
    "denied": ("openai", "denied"),
    "page": ("openai", "page"),
    "cut": ("openai", "cut"),
    "claude": ("anthropic", "denied"),
    "picky": ("openai", "picky"),
    "never": ("openai", "never"),
    "echo": ("openai", "echo"),
    "moved": ("openai", "moved"),
    "refuses": ("openai", "refuses"),
    "named": ("openai", "named"),
    "claude, never": ("anthropic", "never"),
    "claude, echo": ("anthropic", "echo"),
}
SHOWN = ("never", "echo", "refuses", "named")
"""Workers of a run that is looked at on the page."""
FORMATS = ("json", "lists", "mermaid", "dot", "svg", "html", "python")
SEARCH = """
import pathlib, sys
marker, found = sys.argv[2].encode(), []
for path in pathlib.Path(sys.argv[1]).rglob("*"):
    if path.is_file() and path.name != "pool.toml" and marker in path.read_bytes():
        found.append(str(path))
print("\\n".join(found), end="")
"""


@pytest.fixture
def rogue() -> Iterator[RogueServer]:
    with RogueServer() as server:
        yield server


def _pool(folder: Path, rogue: RogueServer) -> Path:
    tables = [
        f'[[worker]]\nname = "{name}"\nprovider = "{provider}"\nmodel = "m"\n'
        f'base_url = "{rogue.url}/{path}/v1"\napi_key_env = "DOOR_OPENER"\n'
        'settings = { temperature = 0 }\nprofile = { api_version = "2023-06-01" }\n'
        for name, (provider, path) in WORKERS.items()
    ]
    (folder / "pool.toml").write_text("\n".join(tables), encoding="utf-8")
    return folder / "pool.toml"


class Ears:
    """Everything that reaches the browser."""

    def __init__(self, page: Page) -> None:
        self.heard: list[bytes] = []
        page.on("websocket", lambda socket: socket.on("framereceived", self._frame))

    def _frame(self, payload: str | bytes) -> None:
        self.heard.append(payload.encode() if isinstance(payload, str) else payload)


@pytest.fixture
def app(tmp_path: Path, rogue: RogueServer) -> Iterator[App]:
    """An app whose workers hold the marker as their key."""
    chatty = {"OPENAI_LOG": "debug", "ANTHROPIC_LOG": "debug"}
    running = App(tmp_path, _pool(tmp_path, rogue), DOOR_OPENER=MARKER, **chatty)
    running.start()
    yield running
    running.kill()


def test_a_key_is_found_nowhere(app: App, tmp_path: Path, rogue: RogueServer, open_page: OpenPage) -> None:
    """Behaviour row 18: a marker key in the environment, then database, logs, exports, page and errors."""
    page = open_page()
    ears, said = Ears(page), []
    others = [name for name in WORKERS if name not in {"good", *SHOWN}]
    runs = [
        finished(app.address, SKY, [(name, "Say something.", []) for name in SHOWN]),
        finished(app.address, SKY, [(name, "Say something.", []) for name in others]),
        finished(app.address, SKY, [("good", "Say something.", []), ("denied", "Say more.", [0])]),
        finished(app.address, SKY, [("good", "Say something.", [])]),
    ]
    said += _everything_the_api_says(app, runs)
    for run, steps in ((runs[0], len(SHOWN)), (runs[2], 2)):
        said += _everything_the_page_shows(page, app, run, steps)
    app.stop(signal.SIGKILL)  # what it had no time to tidy up is searched too
    app.start()
    assert app.stop() == 0
    assert rogue.heard >= 20, "the key was never used"
    assert any(MASK in text for text in said), "no text ever held the key, so nothing was proved"
    assert [text[:200] for text in said if MARKER in text] == []
    assert [frame[:200] for frame in ears.heard if MARKER.encode() in frame] == []
    assert "Request options" in app.log(), "the SDKs did not log what they send"
    assert MARKER not in app.log()
    command = [sys.executable, "-c", SEARCH, str(tmp_path), MARKER]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


def _everything_the_api_says(app: App, runs: list[str]) -> list[str]:
    said = []
    with app.client() as client:
        for worker in WORKERS:
            said.append(client.test_worker(worker).model_dump_json())
            try:
                said.append(str(client.chat(worker, [{"role": "user", "content": "Hello."}])))
            except ConductorError as problem:
                said.append(f"{problem.message} {problem.hint} {problem!r}")
        said.append(client.pool().model_dump_json())
    with httpx.Client(base_url=app.address, timeout=30) as http:
        plan = http.post("/api/plans", json={"prompt": SKY, "conductor": "prompted:denied"})
        said.append(plan.text)
        paths = [
            "/healthz",
            "/api/pool",
            "/api/conductors",
            "/api/runs?q=key",
            "/v1/models",
            "/api/openapi.json",
        ]
        for run in runs:
            base = f"/api/runs/{run}"
            paths += [base, f"{base}/events", f"{base}/events/stream", f"{base}/lineage"]
            paths += [f"{base}/export?format={form}" for form in FORMATS]
        said += [f"{reply.headers}{reply.text}" for reply in map(http.get, paths)]
    return said


def _everything_the_page_shows(page: Page, app: App, run: str, steps: int) -> list[str]:
    studio = Studio(page, app.address).open(run)
    studio.inspect(2)
    said = []
    for section in ("Output", "Attempts", "Usage"):
        studio.section(section)
        said.append(page.content())
    said.append(page.locator("body").inner_text())
    with app.client() as client:
        page.goto(app.address + client.share(run).path)
    expect(page.locator("[data-box]")).to_have_count(steps)
    said.append(page.content())
    page.goto(f"{app.address}/workers")
    expect(page.get_by_text("key in DOOR_OPENER").first).to_be_visible()
    page.get_by_role("button", name="Test").nth(1).click()
    expect(page.get_by_text("API key").first).to_be_visible()
    return [*said, page.content()]
