"""Workflows and runs in other forms: export, import, saved workflows, share links."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from conductor.exports import ExportFormat, NothingToExport, export
from conductor.exports.selection import export_selection
from conductor.exports.share_page import share_page
from conductor.server.access import SHARE_SECRET, Backend, as_json, as_json_list
from conductor.server.errors import not_found, refused
from conductor.server.login import closed_page
from conductor.server.routes.runs import no_run
from conductor.server.session import is_share_key, share_key
from conductor.server.whole_text import WholeText
from conductor_client.api import (
    MAX_PROMPT_BYTES,
    ImportReply,
    ImportRequest,
    RunsExportRequest,
    SavedWorkflow,
    SaveWorkflowRequest,
    ShareReply,
)
from conductor_client.catalogue import text

router = APIRouter(route_class=WholeText, tags=["In and out"])


@router.get("/api/runs/{run_id}/export", summary="A run in another form", response_class=Response)
async def export_run(studio: Backend, run_id: str, format: ExportFormat = "json") -> Response:
    """JSON with all events, the three lists, Mermaid, DOT, SVG, a self-contained HTML report, or Python."""
    try:
        state, events = await studio.state(run_id), await studio.events(run_id, 0)
    except KeyError:
        raise no_run(run_id) from None
    try:
        # Off the loop: a report of many megabytes must not hold up every other stream.
        exported = await asyncio.to_thread(export, state, events, format)
    except NothingToExport as problem:
        raise refused(409, str(problem)) from None
    # Model text becomes a file, never a page of this origin.
    headers = {
        "Content-Disposition": f'attachment; filename="{exported.filename}"',
        "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    }
    return Response(exported.body, media_type=exported.media_type, headers=headers)


@router.post("/api/runs/export", summary="Several runs in one file", response_class=Response)
async def export_runs(studio: Backend, request: RunsExportRequest) -> Response:
    """CSV has a line per run: prompt, answer, ratings, tokens, cost, time. JSON holds every run whole."""
    found = []
    for run_id in dict.fromkeys(request.run_ids):
        try:
            state = await studio.state(run_id)
            found.append((state, await studio.events(run_id, 0) if request.format == "json" else ()))
        except KeyError:
            raise no_run(run_id) from None
    exported = await asyncio.to_thread(export_selection, found, request.format)
    headers = {"Content-Disposition": f'attachment; filename="{exported.filename}"'}
    return Response(exported.body, media_type=exported.media_type, headers=headers)


@router.post("/api/import", response_model=ImportReply, summary="Read a workflow from text")
async def import_workflow(studio: Backend, request: ImportRequest) -> Response:
    """Takes our JSON, the paper's three lists, Mermaid or DOT; `diagnostics` tells what cannot be read."""
    if len(request.text.encode()) > MAX_PROMPT_BYTES:
        raise refused(
            413, f"The text to import has over {MAX_PROMPT_BYTES:,} bytes.", hint="Import a smaller file."
        )
    return as_json(await studio.import_workflow(request))


@router.get("/api/workflows", response_model=list[SavedWorkflow], summary="Saved workflows")
async def workflows(studio: Backend) -> Response:
    """Workflows kept under a name, to be used on other prompts."""
    return as_json_list(await studio.list_workflows())


@router.post("/api/workflows", response_model=SavedWorkflow, status_code=201, summary="Save a workflow")
async def save_workflow(studio: Backend, request: SaveWorkflowRequest) -> Response:
    """Keeps a run's workflow, or a given one, under a name. A taken name is 409 unless `replace` is set."""
    return as_json(await studio.save_workflow(request), 201)


@router.delete("/api/workflows/{name:path}", status_code=204, summary="Forget a saved workflow")
async def delete_workflow(studio: Backend, name: str) -> Response:
    """Runs that were made with it stay as they are."""
    try:
        await studio.delete_workflow(name)
    except KeyError:
        raise not_found("saved workflow", name) from None
    return Response(status_code=204)


@router.get("/api/runs/{run_id}/share", response_model=ShareReply, summary="Read-only address of a run")
async def share_link(studio: Backend, run_id: str) -> Response:
    """Whoever has it can read this run, live, and nothing else. It stays the same."""
    try:
        await studio.events(run_id, 2**53)
    except KeyError:
        raise no_run(run_id) from None
    key = share_key(await studio.secret(SHARE_SECRET), run_id)
    return as_json(ShareReply(path=f"/share/{run_id}?key={key}"))


@router.get("/share/{run_id}", response_class=HTMLResponse, summary="A shared run")
async def shared(request: Request, studio: Backend, run_id: str, key: str = "") -> Response:
    """A page that shows one run and has no control that changes anything."""
    if not is_share_key(key, await studio.secret(SHARE_SECRET), run_id):
        if "text/html" in request.headers.get("accept", ""):
            return closed_page(text("share.closed"), text("share.closed_hint"), status=403)
        raise refused(403, text("share.closed"), hint=text("share.closed_hint"))
    try:
        state = await studio.state(run_id)
    except KeyError:
        if "text/html" in request.headers.get("accept", ""):
            return closed_page(text("share.gone"), text("share.closed_hint"), status=404)
        raise no_run(run_id) from None
    return HTMLResponse(share_page(state, key), headers={"X-Robots-Tag": "noindex"})
