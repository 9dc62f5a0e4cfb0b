"""The exported script, run as a person would run it, against a backend that answers like ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from conductor.exports import export
from conductor_client.api import RunRequest, RunStartedReply
from conductor_client.events import RunEvent
from conductor_client.run_state import fold
from tests.conductor.exports.runs import finished, hostile_workflow, rich_events
from tests.conductor.exports.serving import served


class Backend:
    """Takes one run request and tells the story of a stored run."""

    def __init__(self, events: list[RunEvent]) -> None:
        self.events = events
        self.asked: list[RunRequest] = []
        self.tokens: set[str | None] = set()
        self.app = Starlette(
            routes=[
                Route("/api/runs", self.start, methods=["POST"]),
                Route("/api/runs/{run_id}/events/stream", self.stream),
                Route("/api/runs/{run_id}", self.state),
            ]
        )

    async def start(self, request: Request) -> Response:
        self.tokens.add(request.headers.get("authorization"))
        self.asked.append(RunRequest.model_validate_json(await request.body()))
        return json_of(RunStartedReply(run_id=self.events[0].run_id, url="/?run=x").model_dump_json())

    async def stream(self, request: Request) -> Response:
        lines = [
            f"id: {each.seq}\nevent: {each.kind}\ndata: {each.model_dump_json()}\n\n" for each in self.events
        ]
        return Response("".join(lines), media_type="text/event-stream")

    async def state(self, request: Request) -> Response:
        return json_of(fold(self.events).model_dump_json())


def json_of(text: str) -> Response:
    return Response(text, media_type="application/json")


@pytest.mark.parametrize("failed", [False, True])
def test_script_runs_the_workflow_again_and_prints_the_answer(tmp_path: Path, failed: bool) -> None:
    workflow = hostile_workflow()
    events = finished(workflow)
    path = tmp_path / "again.py"
    path.write_bytes(export(fold(events), events, "python").body)
    backend = Backend(rich_events(failed=failed))
    with served(backend.app) as address:
        done = subprocess.run(
            [sys.executable, str(path), address],
            capture_output=True,
            text=True,
            timeout=60,
            env={"PYTHONPATH": str(Path.cwd()), "CONDUCTOR_TOKEN": "t0ken", "PYTHONIOENCODING": "utf-8"},
        )
    assert done.returncode == (1 if failed else 0), done.stderr
    assert ("2 hours and 33 minutes" in done.stdout) == (not failed)
    assert ("step_failed: Step 4 failed." in done.stderr) == failed
    assert backend.tokens == {"Bearer t0ken"}
    (asked,) = backend.asked
    assert asked.prompt == workflow.prompt
    assert asked.workflow is not None
    assert [(step.worker, step.instruction) for step in asked.workflow.steps] == [
        (step.worker, step.instruction) for step in workflow.steps
    ]
    assert [step.access for step in asked.workflow.steps[:3]] == [(), (0,), (1,)]
