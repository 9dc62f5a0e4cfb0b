"""A workflow as a Python script that runs it again through the API, with the workflow as plain data in it."""

from __future__ import annotations

from pprint import pformat

from conductor_client.workflow import Workflow

_SCRIPT = '''\
"""Runs this workflow again through Conductor Studio: python {filename} [address]
{note}
Needs the package conductor-studio and a running backend; the address is http://127.0.0.1:8501 when left
out. A backend that asks for a token finds it in the environment variable CONDUCTOR_TOKEN.
"""

import os
import sys

from conductor_client.api import RunRequest, StepRequest, WorkflowRequest
from conductor_client.client import ConductorClient

PROMPT = {prompt}

# Each step: who does it, what it is told, and which earlier steps (counted from 0) it sees.
STEPS = {steps}


def main(address: str) -> int:
    workflow = WorkflowRequest(steps=tuple(StepRequest(**step) for step in STEPS))
    with ConductorClient(address, token=os.environ.get("CONDUCTOR_TOKEN")) as client:
        started = client.start_run(RunRequest(prompt=PROMPT, workflow=workflow, origin="api"))
        print(f"{{started.run_id}}  {{started.url}}", file=sys.stderr)
        for _ in client.events_stream(started.run_id):
            pass
        run = client.run(started.run_id)
    if run.error is not None:
        print(f"{{run.error.kind}}: {{run.error.message}}", file=sys.stderr)
    if run.final_output is not None:
        print(run.final_output)
    return 0 if run.status == "succeeded" else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8501"))
'''


def workflow_script(workflow: Workflow, *, filename: str, note: str = "") -> str:
    """The script. Every text of a run is a Python literal made by ``repr``, so none can become code.

    ``note`` is a sentence of ours below its first line.
    """
    place = {step.step_id: step.position for step in workflow.steps}
    steps = [
        {
            "worker": step.worker,
            "instruction": step.instruction,
            "access": [place[seen] for seen in step.access],
        }
        for step in workflow.steps
    ]
    shown = pformat(steps, width=100, sort_dicts=False)
    return _SCRIPT.format(
        filename=filename,
        note=f"\n{note}\n" if note else "",
        prompt=pformat(workflow.prompt, width=100),
        steps=shown,
    )
