"""A real backend for the page under test: its own files, a loopback port, a pool of scripted workers.

The page's real client talks to it. What it asked is written down, and a few answers can be replaced by others
of the same shape, for states that a test machine cannot be put into (a model file half fetched).
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import httpx
from pydantic import BaseModel

from conductor_client.api import RunRequest, WorkerTestReply
from conductor_client.client import ConductorClient
from conductor_client.run_state import RunState

PLANNER = "prompted:planner"
PATIENCE_S = 20.0


def _lists(*steps: tuple[int, str, Sequence[int]]) -> str:
    models, said, access = zip(*steps, strict=True)
    lists = f"model_id = {list(models)}\nsubtasks = {list(said)}\naccess_list = {list(map(list, access))}"
    return f"I would check it.\n\n{lists}"


PLANS = {
    "plan-fails": _lists((0, "One", []), (1, "Two", [0])),
    "plan-silent": _lists((2, "Think", [])),
    "plan-apart": _lists((0, "One", []), (0, "Two", []), (0, "Three", [0])),
    "plan-vague": _lists((3, "Guess", [])),
    "": _lists(
        (0, "Write an expression", []), (0, "Check the expression", [0]), (0, "Give the answer", [0, 1])
    ),
}
"""What the planner writes when these words stand in the prompt; the last is for any other prompt."""

FREE = 'price = { input_usd_per_mtok = "0", output_usd_per_mtok = "0" }'

POOL = f"""
default_worker = "echo"

[[worker]]
name = "echo"
provider = "scripted"
model = "scripted-echo"
description = "repeats what it is told"
tags = ["small"]
{FREE}
profile.script = [
  {{ match = "Say it in French", text = "**Say it in French**" }},
  {{ match = "Give the answer", text = "**Give the answer**", reasoning = "Hm.", served_model = "tiny-1" }},
  {{ text = "An expression", reasoning = "Hm.", served_model = "tiny-1" }},
]

[[worker]]
name = "fails"
provider = "scripted"
model = "scripted-fails"
{FREE}
profile.script = [
  {{ text = "I can not do this", fail = "refused", fail_after = 2, fail_message = "The worker refused." }},
]

[[worker]]
name = "silent"
provider = "scripted"
model = "scripted-silent"
{FREE}
profile.script = [{{ text = "so far and no further", token_ms = 600000 }}]

[[worker]]
name = "vague"
provider = "scripted"
model = "scripted-vague"
profile.script = [{{ text = "x", usage = false }}]

[[worker]]
name = "planner"
provider = "scripted"
model = "scripted-planner"
{FREE}
profile.script = [
{",".join(f"{{ match = {json.dumps(word)}, text = {json.dumps(text)} }}" for word, text in PLANS.items())}
]
"""

NO_KEY = """
[[worker]]
name = "far"
provider = "openai"
model = "gpt-5"
base_url = "https://models.example/v1"
api_key_env = "FAR_KEY"
price = { input_usd_per_mtok = "1.25", output_usd_per_mtok = "10" }
"""


class Backend:
    """What a test knows of the backend. ``asked`` lists every request of the page as ``METHOD path``."""

    def __init__(self, address: str) -> None:
        self.asked: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.is_down = False
        self._answers: dict[str, Any] = {}
        self.client = ConductorClient(address, transport=_Listening(self))
        self._own = ConductorClient(address)

    def close(self) -> None:
        self.client.close()
        self._own.close()

    def answer(self, asked: str, value: BaseModel | Sequence[BaseModel]) -> None:
        """From now on the page gets this answer to ``METHOD path``."""
        self._answers[asked] = _plain(value)

    def replaced(self, asked: str) -> Any:
        return self._answers.get(asked)

    # What tests do beside the page

    def start(self, prompt: str, **more: Any) -> str:
        """Runs a prompt to its end and gives the run's id."""
        reply = self._own.start_run(
            RunRequest.model_validate({"prompt": prompt, "conductor": PLANNER, **more})
        )
        self.ended(reply.run_id)
        return reply.run_id

    def begin(self, prompt: str) -> str:
        """Starts a prompt that may never end."""
        return self._own.start_run(RunRequest(prompt=prompt, conductor=PLANNER)).run_id

    def run(self, run_id: str) -> RunState:
        return self._own.run(run_id)

    def ended(self, run_id: str) -> RunState:
        """Waits until the run has ended."""
        return self._until(run_id, lambda run: run.has_ended)

    def writing(self, run_id: str) -> RunState:
        """Waits until a step of the run is at work."""
        return self._until(run_id, lambda run: any(step.started_at for step in run.steps.values()))

    def _until(self, run_id: str, holds: Any) -> RunState:
        deadline = time.monotonic() + PATIENCE_S
        while not holds(run := self._own.run(run_id)):
            assert time.monotonic() < deadline, f"{run_id} is {run.status} after {PATIENCE_S} s"
            time.sleep(0.02)
        return run

    def runs(self) -> list[str]:
        """Ids of all stored runs, oldest first."""
        return [run.run_id for run in reversed(self._own.list_runs(limit=200).runs)]

    def tested(self, worker: str) -> WorkerTestReply:
        """Waits for the end of a test of this worker."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            for reply in self._own.worker_tests():
                if reply.worker == worker and not reply.running:
                    return reply
            assert time.monotonic() < deadline, f"{worker} is still being tested"
            time.sleep(0.02)

    def delete(self, run_id: str) -> None:
        self._own.delete_run(run_id)

    def cancel(self, run_id: str) -> None:
        self._own.cancel(run_id)

    def count(self, asked: str) -> int:
        return self.asked.count(asked)


class _Listening(httpx.BaseTransport):
    """Carries the page's requests to the backend, and writes down what was asked."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._real = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self._backend.is_down:
            raise httpx.ConnectError("refused", request=request)
        asked = f"{request.method} {request.url.path}"
        self._backend.asked.append(asked)
        if request.content:
            self._backend.bodies.append(json.loads(request.content))
        replaced = self._backend.replaced(asked)
        return self._real.handle_request(request) if replaced is None else httpx.Response(200, json=replaced)

    def close(self) -> None:
        self._real.close()


def _plain(value: BaseModel | Sequence[BaseModel]) -> Any:
    if isinstance(value, BaseModel):
        return json.loads(value.model_dump_json())
    return [json.loads(each.model_dump_json()) for each in value]
