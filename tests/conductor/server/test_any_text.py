"""Whatever text stands in a body, a query or a path: an answer, no mistake of ours, and no long echo."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from conductor_client.client import ConductorClient
from tests.conductor.server.conftest import asking, finished

STEPS = [
    {"worker": "quick", "instruction": "Name it.", "access": [], "step_id": "a"},
    {"worker": "quick", "instruction": "Check it.", "access": ["a"], "step_id": "b"},
]
RUN = {
    "prompt": "The capital of France?",
    "messages": [{"role": "user", "content": "Hello"}],
    "conductor": "single:quick",
    "pool": "pool",
    "workers": ["quick"],
    "seed": 1,
    "parent_run": "RUN",
    "fresh": ["a"],
    "idempotency_key": "key",
    "origin": "page",
    "tags": ["one"],
    "request_options": {"stop": ["x"], "y": {"z": "w"}},
    "limits": {"max_usd": "1"},
}
BODIES: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("post", "/api/plans"): [
        {key: RUN[key] for key in ("prompt", "messages", "conductor", "pool", "workers")}
    ],
    ("post", "/api/runs"): [RUN, {**RUN, "workflow": {"steps": STEPS}}, {**RUN, "plan_id": "plan_none"}],
    ("post", "/api/runs/export"): [{"run_ids": ["RUN"], "format": "csv"}],
    ("post", "/api/runs/{run_id}/fork"): [
        {
            "edits": [
                {"op": "set_instruction", "step_id": "s1", "instruction": "Again."},
                {"op": "add_step", "worker": "quick", "instruction": "More.", "step_id": "new"},
                {"op": "set_worker", "step_id": "new", "worker": "slow"},
            ],
            "fresh": ["s1"],
            "idempotency_key": "fork",
            "dry_run": True,
        }
    ],
    ("patch", "/api/runs/{run_id}"): [{"grade": "right", "gold": "Paris", "tags": ["a"], "note": "Good."}],
    ("post", "/api/import"): [{"text": "digraph { a -> b }", "format": "dot", "pool": "pool", "prompt": "P"}],
    ("post", "/api/workflows"): [
        {"name": "n", "run_id": "RUN", "replace": True},
        {"name": "m", "workflow": {"steps": STEPS}, "replace": True},
    ],
    ("post", "/v1/chat/completions"): [
        {
            "model": "quick",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
            ],
            "stop": ["x"],
            "user": "me",
        }
    ],
}
"""A good body or more of every operation that takes one."""
LONG = "x" * 5_000
TEXTS = ("\ud83d", "\ude00a\0", LONG, f"two {LONG}", "")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where texts stand in nested data."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*path, key))


def put(value: Any, path: tuple[Any, ...], text: str) -> Any:
    """The same data with another text in one place."""
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = text
    return changed


def operations(address: str) -> list[tuple[str, str, dict[str, Any]]]:
    paths = httpx.get(f"{address}/api/openapi.json").json()["paths"]
    return [(method, path, told) for path, methods in paths.items() for method, told in methods.items()]


def is_answered(reply: httpx.Response) -> None:
    """Neither a mistake of ours nor a long echo."""
    assert reply.status_code < 500 or reply.status_code == 503, reply.text[:300]
    if reply.status_code >= 400:
        assert len(reply.text) < 2_500, reply.text[:300]
        assert reply.json()["error"]


@pytest.fixture
def run_id(client: ConductorClient) -> str:
    return finished(client, asking(("quick", "Name it.", ())))


def test_any_text_anywhere_in_a_body_is_answered(address: str, run_id: str) -> None:
    taking = {(method, path) for method, path, told in operations(address) if "requestBody" in told}
    assert taking == set(BODIES), "an operation that takes a body has no example here"
    tried = 0
    with httpx.Client(base_url=address, timeout=30) as http:
        for (method, path), bodies in BODIES.items():
            for body in bodies:
                good = json.loads(json.dumps(body).replace('"RUN"', f'"{run_id}"'))
                for number, (place, text) in enumerate((p, t) for p in places(good) for t in TEXTS):
                    wrong = put(good, place, text)
                    if "idempotency_key" in wrong and place != ("idempotency_key",):
                        wrong["idempotency_key"] = f"{path} {number}"
                    is_answered(
                        http.request(
                            method, path.replace("{run_id}", run_id), content=json.dumps(wrong).encode()
                        )
                    )
                    tried += 1
    assert tried > 200


IN_ADDRESSES = ["%ED%A0%BD", "%00", "%FF", quote("%"), quote("two " + LONG), LONG, "..%2F..%2F"]


def test_any_text_in_path_and_query_is_answered(address: str) -> None:
    with httpx.Client(base_url=address, timeout=30) as http:
        for (method, path, told), text in itertools.product(operations(address), IN_ADDRESSES):
            named = [each for each in told.get("parameters", ()) if each["in"] in ("path", "query")]
            for parameter in named:
                filled = path
                for each in named:
                    if each["in"] == "path":
                        filled = filled.replace(f"{{{each['name']}}}", text if each is parameter else "none")
                query = f"?{parameter['name']}={text}" if parameter["in"] == "query" else ""
                is_answered(http.request(method, filled + query, content=b"{}"))


ODD_BODIES = [
    b"",
    b"\xff\xfe",
    b'{"prompt": "\xed\xa0\xbd"}',
    b"[" * 100_000,
    b'{"seed": ' + b"9" * 5_000 + b', "prompt": "x"}',
    b'{"seed": NaN, "prompt": "x"}',
    b'{"prompt": "x", "limits": {"max_wall_s": 1e999}}',
    b'{"' + b"k" * 5_000 + b'": 1, "prompt": "x"}',
    b'{"\\ud83d": 1, "prompt": "x"}',
    b"null",
    b'"text"',
]


def test_any_body_is_answered(address: str) -> None:
    with httpx.Client(base_url=address, headers={"Content-Type": "application/json"}) as http:
        for body, path in itertools.product(ODD_BODIES, ["/api/runs", "/v1/chat/completions"]):
            is_answered(http.post(path, content=body))


def test_a_half_character_is_stored_as_what_stands_for_it(client: ConductorClient, address: str) -> None:
    body = b'{"prompt": "a\\ud83d", "conductor": "single:quick", "tags": ["\\ud83d\\ude00"]}'
    reply = httpx.post(f"{address}/api/runs", content=body, headers={"Content-Type": "application/json"})
    state = client.run(reply.json()["run_id"])
    assert (state.prompt, state.tags) == ("a\ufffd", ("😀",))


def test_what_is_unknown_is_named_and_cut(address: str) -> None:
    said = httpx.get(f"{address}/api/runs/run_{LONG}").json()["error"]["message"]
    assert said.startswith("There is no run 'run_xxx") and "(5,004 characters)" in said and len(said) < 200
