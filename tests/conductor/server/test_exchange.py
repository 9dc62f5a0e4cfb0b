"""Exports, imports, saved workflows and share links over HTTP."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace

import aiohttp
import httpx
import pytest

from conductor.exports import FORMATS
from conductor.server.api import in_a_thread
from conductor.settings import Settings
from conductor_client import errors
from conductor_client.api import (
    ImportRequest,
    RunPatch,
    RunsExportRequest,
    SaveWorkflowRequest,
    StepRequest,
    WorkflowRequest,
)
from conductor_client.client import ConductorClient
from tests.conductor.server.conftest import asking, finished

ONE = ("quick", "Name it.", ())
TOKEN = "a-token-of-some-length"


@pytest.mark.parametrize("format", FORMATS)
def test_export_in_each_format_is_a_file_and_never_a_page(
    client: ConductorClient, address: str, format: str
) -> None:
    run_id = finished(client, asking(ONE, ("quick", "<script>alert(1)</script>", (0,))))
    exported = client.export(run_id, format)
    assert exported.content
    assert exported.filename.startswith(run_id)
    headers = httpx.get(f"{address}/api/runs/{run_id}/export?format={format}").headers
    assert headers["content-disposition"].startswith("attachment")
    assert "sandbox" in headers["content-security-policy"]
    if format in ("json", "lists", "mermaid", "dot"):
        read = client.import_workflow(ImportRequest(text=exported.content.decode(), prompt="p"))
        assert read.workflow is not None
        assert [(s.worker, s.instruction) for s in read.workflow.steps] == [
            ("quick", "Name it."),
            ("quick", "<script>alert(1)</script>"),
        ]


def test_unknown_format_and_no_workflow_yet_are_refused(client: ConductorClient) -> None:
    run_id = finished(client, asking(ONE))
    with pytest.raises(errors.InvalidRequest, match="mermaid"):
        client.export(run_id, "exe")


def test_text_that_is_no_workflow_is_told_and_no_error(client: ConductorClient) -> None:
    reply = client.import_workflow(ImportRequest(text="good morning"))
    assert reply.workflow is None
    assert reply.diagnostics
    with pytest.raises(errors.InvalidRequest) as caught:
        client.import_workflow(ImportRequest(text="x" * 2_000_001))
    assert caught.value.status_code == 413


def test_workflows_are_kept_by_name(client: ConductorClient) -> None:
    run_id = finished(client, asking(ONE))
    name = "mine/и ещё: 100%?"
    saved = client.save_workflow(SaveWorkflowRequest(name=name, run_id=run_id))
    assert [each.name for each in client.workflows()] == [name]
    assert saved.workflow.steps[0].instruction == "Name it."
    given = WorkflowRequest(steps=(StepRequest(worker="slow", instruction="Other."),))
    with pytest.raises(errors.Conflict, match="mine"):
        client.save_workflow(SaveWorkflowRequest(name=name, workflow=given))
    client.save_workflow(SaveWorkflowRequest(name=name, workflow=given, replace=True))
    assert client.workflows()[0].workflow.steps[0].worker == "slow"
    client.delete_workflow(name)
    assert client.workflows() == ()
    with pytest.raises(errors.NotFound):
        client.delete_workflow(name)
    with pytest.raises(errors.NotFound):
        client.save_workflow(SaveWorkflowRequest(name="x", run_id="run_none"))


def test_examples_and_docs_work_without_anything_from_elsewhere(
    client: ConductorClient, address: str
) -> None:
    assert len(client.examples()) >= 5
    page = httpx.get(f"{address}/api/docs")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text
    assert "https://" not in page.text
    document = httpx.get(f"{address}/api/openapi.json").json()
    for path, methods in document["paths"].items():
        assert path in page.text
        for operation in methods.values():
            assert operation["summary"]
            assert operation["description"]


def test_assets_are_served_and_python_is_not(address: str) -> None:
    reply = httpx.get(f"{address}/flow-assets/fold.js")
    assert reply.status_code == 200
    assert "javascript" in reply.headers["content-type"]
    again = httpx.get(f"{address}/flow-assets/fold.js", headers={"If-None-Match": reply.headers["etag"]})
    assert again.status_code == 304
    for path in ("package.json", "../payload.py", "%2e%2e/payload.py", "..%2fpayload.py", "", "nothing.js"):
        assert httpx.get(f"{address}/flow-assets/{path}").status_code == 404


# Share links


@pytest.fixture
def locked(settings: Settings) -> Iterator[str]:
    with in_a_thread(replace(settings, token=TOKEN)) as address:
        assert address is not None
        yield address


@pytest.fixture
def owner(locked: str) -> Iterator[ConductorClient]:
    with ConductorClient(locked, TOKEN) as opened:
        yield opened


def test_share_page_shows_one_run_to_whoever_has_the_link(owner: ConductorClient, locked: str) -> None:
    run_id = finished(owner, asking(ONE, prompt="The <b>capital</b> of France?"))
    other = finished(owner, asking(ONE))
    owner.patch_run(run_id, RunPatch(note="between us", tags=("private",), rating=1))
    path = owner.share(run_id).path
    assert owner.share(run_id).path == path
    page = httpx.get(locked + path)
    assert page.status_code == 200
    assert "Paris" in page.text
    assert "<b>capital" not in page.text
    key = path.partition("key=")[2]
    state = httpx.get(f"{locked}/api/runs/{run_id}?share={key}").json()
    assert state["final_output"] == "Paris"
    for text in (page.text, json.dumps(state)):
        assert "between us" not in text
        assert "private" not in text
    assert httpx.get(f"{locked}/api/runs/{run_id}/events?share={key}").status_code == 200
    assert "event: end" in httpx.get(f"{locked}/api/runs/{run_id}/events/stream?share={key}").text
    for wrong in (f"/share/{other}?key={key}", f"/share/{run_id}?key=", f"/share/{run_id}"):
        assert httpx.get(locked + wrong).json()["error"]["hint"]
        closed = httpx.get(locked + wrong, headers={"Accept": "text/html,*/*;q=0.8"})
        assert (closed.status_code, closed.headers["content-type"]) == (403, "text/html; charset=utf-8")
        assert "does not open any run" in closed.text and "{" not in closed.text.partition("<main>")[2]
    for wrong in (
        f"/api/runs/{other}?share={key}",
        f"/api/runs/{run_id}?share=",
        f"/api/runs/{run_id}/events?share=x",
    ):
        assert httpx.get(locked + wrong).status_code == 403
    assert httpx.get(f"{locked}/api/runs/{run_id}").status_code == 401


def test_no_parameter_of_a_share_link_starts_edits_or_deletes(owner: ConductorClient, locked: str) -> None:
    """Behaviour row 25: no parameter of a share link starts, edits or deletes anything."""
    run_id = finished(owner, asking(ONE))
    path = owner.share(run_id).path
    key = path.partition("key=")[2]
    before = (owner.run(run_id), len(owner.list_runs().runs))
    tricks = [
        "&edit=1",
        "&fresh=true",
        "&delete=1",
        "&cancel=1",
        "&dry_run=false",
        "&_method=DELETE",
        "&format=json",
    ]
    for trick in tricks:
        httpx.get(locked + path + trick)
    attempts = [
        ("POST", f"/api/runs/{run_id}/fork", {"edits": []}),
        ("POST", f"/api/runs/{run_id}/cancel", None),
        ("POST", f"/api/runs/{run_id}/restore", None),
        ("PATCH", f"/api/runs/{run_id}", {"note": "x"}),
        ("DELETE", f"/api/runs/{run_id}", None),
        ("POST", "/api/runs", {"prompt": "x"}),
        ("POST", "/api/plans", {"prompt": "x"}),
        ("POST", "/api/workflows", {"name": "x", "run_id": run_id}),
        ("POST", "/v1/chat/completions", {"model": "quick", "messages": [{"role": "user", "content": "x"}]}),
    ]
    for method, address, body in attempts:
        for query in (f"?share={key}", f"?key={key}", f"?share={key}&key={key}"):
            reply = httpx.request(
                method,
                locked + address + query,
                json=body,
                headers={"X-HTTP-Method-Override": "DELETE", "Cookie": f"share={key}"},
            )
            assert reply.status_code in (401, 403), (method, address, query)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert httpx.request(method, locked + path).status_code == 403
    assert (owner.run(run_id), len(owner.list_runs().runs)) == before


async def test_share_link_listens_to_its_run_only(owner: ConductorClient, locked: str) -> None:
    run_id = await asyncio.to_thread(finished, owner, asking(ONE))
    other = await asyncio.to_thread(finished, owner, asking(ONE))
    key = owner.share(run_id).path.partition("key=")[2]
    async with aiohttp.ClientSession() as http:
        for address, expected in ((f"{run_id}/ws?share={key}", 1000), (f"{other}/ws?share={key}", 4403)):
            async with http.ws_connect(f"{locked}/api/runs/{address}") as ws:
                items = [item async for item in ws]
            assert ws.close_code == expected
            assert bool(items) is (expected == 1000)
        async with http.ws_connect(f"{locked}/api/runs/{run_id}/ws") as ws:
            assert [item async for item in ws] == []
        assert ws.close_code == 4403


def test_deleted_run_is_no_longer_shared(owner: ConductorClient, locked: str) -> None:
    run_id = finished(owner, asking(ONE))
    path = owner.share(run_id).path
    owner.delete_run(run_id)
    assert httpx.get(locked + path).status_code == 404


def test_several_runs_go_into_one_file(client: ConductorClient) -> None:
    first = finished(client, asking(("quick", "Name it.", ()), prompt="=1+1"))
    second = finished(client, asking(("quick", "boom", ())))
    client.patch_run(first, RunPatch(grade="right", tags=("a", "b"), note="@x"))
    table = client.export_runs(RunsExportRequest(run_ids=(second, first, second)))
    assert table.filename == "runs.csv" and table.media_type.startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.content.decode("utf-8-sig"))))
    assert [row["run_id"] for row in rows] == [second, first]
    assert (rows[1]["prompt"], rows[1]["note"], rows[1]["tags"]) == ("'=1+1", "'@x", "a; b")
    assert (rows[1]["final_output"], rows[1]["grade"], rows[1]["cost_usd"]) == ("Paris", "right", "")
    assert rows[0]["status"] == "failed" and "It broke." in rows[0]["error"]
    whole = json.loads(client.export_runs(RunsExportRequest(run_ids=(first, second), format="json")).content)
    assert [run["state"]["run_id"] for run in whole["runs"]] == [first, second]
    assert [event["kind"] for event in whole["runs"][0]["events"]][-1] == "run_finished"
    with pytest.raises(errors.NotFound, match="run_none"):
        client.export_runs(RunsExportRequest(run_ids=(first, "run_none")))
