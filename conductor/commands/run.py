"""``run "prompt"``: plan, live steps, answer and usage in the terminal.

It talks to the backend at the configured address; when none runs there it has one of its own for as long as
the run takes, with the same database, so that the run is in the history afterwards.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from conductor.cli import complain
from conductor.commands.telling import Telling, summary
from conductor.settings import Settings
from conductor_client.api import RunRequest
from conductor_client.client import ConductorClient
from conductor_client.errors import ConductorError, ConnectionFailed, StatusError, TimedOut
from conductor_client.run_state import RunState


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Runs one prompt; exit code 0 when every step succeeded, 130 when Ctrl-C stopped it, else 1."""
    prompt = sys.stdin.read() if options.prompt == "-" else options.prompt
    workers = tuple(name.strip() for name in options.workers.split(",")) if options.workers else None
    request = RunRequest(
        prompt=prompt, conductor=options.conductor, pool=options.pool, workers=workers, origin="api"
    )
    try:
        with _backend(settings) as client:
            if client is None:
                return 1
            state = _follow(client, request, sys.stderr)
    except ConductorError as problem:
        return complain(problem.message, problem.hint)
    if options.json:
        print(state.model_dump_json(indent=2))
    else:
        _print_answer(state)
    return {"succeeded": 0, "cancelled": 130}.get(state.status, 1)


@contextmanager
def _backend(settings: Settings) -> Iterator[ConductorClient | None]:
    with ConductorClient(_address(settings), settings.token, timeout=15.0) as client:
        if settings.backend_url is not None or _answers(client):
            yield client
            return
    from conductor.server.api import in_a_thread

    with in_a_thread(settings) as address:
        if address is None:
            yield None
            return
        with ConductorClient(address, settings.token) as client:
            yield client


def _address(settings: Settings) -> str:
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    return settings.backend_url or f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def _answers(client: ConductorClient) -> bool:
    try:
        client.health()
    except (ConnectionFailed, TimedOut):
        return False
    except StatusError as problem:
        if problem.kind in ("unknown", "unreadable"):
            return False  # another program has the port
        raise
    return True


def _follow(client: ConductorClient, request: RunRequest, out: TextIO) -> RunState:
    run_id = client.start_run(request).run_id
    telling = Telling(out)
    try:
        for item in client.events_stream(run_id):
            telling.hear(item)
    except KeyboardInterrupt:
        telling.say("Stopping …")
        client.cancel(run_id)
        for item in client.events_stream(run_id, after=telling.last_seq):
            telling.hear(item)
    return client.run(run_id)


def _print_answer(state: RunState) -> None:
    if state.error is not None:
        print(f"{state.error.message} {state.error.hint}".strip(), file=sys.stderr)
    if state.partial:
        print("What follows is partial.", file=sys.stderr)
    print(summary(state), file=sys.stderr)
    if state.final_output is not None:
        print(state.final_output)
