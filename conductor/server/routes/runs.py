"""Plans and runs: make, list, read, change, stop, delete."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from conductor.server.access import Backend, Config, Readable, ShareKey, as_json, run_url
from conductor.server.errors import not_found
from conductor.server.whole_text import WholeText
from conductor.store.listing import Sort
from conductor_client.api import (
    BranchReply,
    ForkPreview,
    ForkRequest,
    Lineage,
    PlanRequest,
    RunFacets,
    RunPage,
    RunPatch,
    RunRequest,
    RunStartedReply,
)
from conductor_client.errors import StatusError
from conductor_client.events import Origin
from conductor_client.plan import Plan
from conductor_client.run_state import RunState, RunStatus

router = APIRouter(route_class=WholeText, tags=["Plans and runs"])


def _utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def no_run(run_id: str) -> StatusError:
    """404 for a run."""
    return not_found("run", run_id, hint="It may have been deleted. GET /api/runs lists what is stored.")


@router.post("/api/plans", response_model=Plan, summary="Plan only")
async def plan(studio: Backend, request: PlanRequest) -> Response:
    """Asks a conductor for a workflow. Nothing is executed; the plan is stored and carries an estimate."""
    return as_json(await studio.plan(request))


@router.get("/api/plans/{plan_id}", response_model=Plan, summary="A stored plan")
async def get_plan(studio: Backend, plan_id: str) -> Response:
    """The plan as it was made, with raw text and diagnostics."""
    try:
        return as_json(await studio.get_plan(plan_id))
    except KeyError:
        raise not_found("plan", plan_id) from None


@router.post("/api/runs", response_model=RunStartedReply, status_code=201, summary="Start a run")
async def start_run(studio: Backend, settings: Config, http: Request, request: RunRequest) -> Response:
    """Plans and runs a prompt; with `plan_id` runs a stored plan, with `workflow` plans nothing.

    Answers 201, or 200 with the earlier run when the `idempotency_key` came with the same request before;
    with another request it is 409.
    """
    run_id, is_new = await studio.start_run(request)
    return as_json(
        RunStartedReply(run_id=run_id, url=run_url(http, settings, run_id)), 201 if is_new else 200
    )


@router.get("/api/runs", response_model=RunPage, summary="List and search runs")
async def list_runs(
    studio: Backend,
    q: Annotated[str | None, Query(description="Words to find in prompts, instructions and outputs.")] = None,
    status: RunStatus | None = None,
    tag: str | None = None,
    conductor: str | None = None,
    worker: str | None = None,
    rating: Annotated[int | None, Query(ge=1, le=5)] = None,
    grade: Annotated[
        Literal["right", "wrong", "none"] | None, Query(description="`none`: nobody has graded it.")
    ] = None,
    since: Annotated[datetime | None, Query(description="Created then or later; UTC unless it says.")] = None,
    until: Annotated[datetime | None, Query(description="Created before.")] = None,
    origin: Annotated[list[Origin] | None, Query(description="Any of these; may be repeated.")] = None,
    sort: Sort = "newest",
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """Newest first unless `sort` says otherwise. Filters hold all at once."""
    wanted: dict[str, Any] = {"q": q, "status": status, "tag": tag, "conductor": conductor, "worker": worker}
    wanted |= {"rating": rating, "grade": grade, "since": _utc(since), "until": _utc(until)}
    origins = tuple(origin) if origin else None
    page = await studio.list_runs(**wanted, origins=origins, sort=sort, cursor=cursor, limit=limit)
    return as_json(page)


@router.get("/api/runs/facets", response_model=RunFacets, summary="What runs can be filtered by")
async def facets(studio: Backend) -> Response:
    """Tags, conductors, workers and origins, each with how many runs have it."""
    return as_json(await studio.facets())


@router.get("/api/runs/{run_id}", response_model=RunState, summary="A run as it stands")
async def state(studio: Backend, run_id: Readable, share: ShareKey = None) -> Response:
    """Everything that is known of the run: plan, steps with what they saw, outputs, usage, cost, times."""
    try:
        found = await studio.state(run_id)
    except KeyError:
        raise no_run(run_id) from None
    if share is not None:  # what people noted about a run is not part of what was shared
        found = found.model_copy(
            update={"note": None, "tags": (), "rating": None, "grade": None, "gold": None}
        )
    return as_json(found)


@router.patch("/api/runs/{run_id}", response_model=RunState, summary="Rate, grade, tag, annotate")
async def patch_run(studio: Backend, run_id: str, patch: RunPatch) -> Response:
    """Changes what people say about a run; keys that are left out stay as they are."""
    try:
        return as_json(await studio.patch_run(run_id, patch))
    except KeyError:
        raise no_run(run_id) from None


@router.delete("/api/runs/{run_id}", status_code=204, summary="Delete a run")
async def delete_run(studio: Backend, run_id: str, branch: bool = False) -> Response:
    """Hides it at once and purges it after 10 seconds, unless it is restored.

    With `branch` everything forked from it goes too, and the answer is 200 with their ids.
    """
    try:
        if branch:
            return as_json(BranchReply(run_ids=tuple(await studio.delete_branch(run_id))))
        await studio.delete_run(run_id)
    except KeyError:
        raise no_run(run_id) from None
    return Response(status_code=204)


@router.post("/api/runs/{run_id}/restore", status_code=204, summary="Undo a deletion")
async def restore_run(studio: Backend, run_id: str, branch: bool = False) -> Response:
    """Possible for 10 seconds after the deletion. With `branch` all that went with it comes back: 200."""
    try:
        if branch:
            return as_json(BranchReply(run_ids=tuple(await studio.restore_branch(run_id))))
        await studio.restore_run(run_id)
    except KeyError:
        raise not_found("deleted run", run_id, hint="A deletion can be undone for 10 seconds.") from None
    return Response(status_code=204)


@router.post("/api/runs/{run_id}/cancel", response_model=RunState, summary="Stop a run")
async def cancel(studio: Backend, run_id: str) -> Response:
    """Closes calls in flight and keeps their text, marked partial. Harmless once the run has ended."""
    try:
        await studio.cancel(run_id)
        return as_json(await studio.state(run_id))
    except KeyError:
        raise no_run(run_id) from None


@router.post(
    "/api/runs/{run_id}/fork",
    response_model=RunStartedReply | ForkPreview,
    status_code=201,
    summary="Edit and run what the edit touches",
)
async def fork(
    studio: Backend, settings: Config, http: Request, run_id: str, request: ForkRequest
) -> Response:
    """Applies the edits and starts a new run that reuses every step they do not touch.

    With `dry_run` starts nothing: answers 200 with which steps would run, which are reused, and an estimate.
    """
    try:
        forked = await studio.fork(run_id, request)
    except KeyError:
        raise no_run(run_id) from None
    if isinstance(forked, ForkPreview):
        return as_json(forked)
    new_id, is_new = forked
    return as_json(
        RunStartedReply(run_id=new_id, url=run_url(http, settings, new_id)), 201 if is_new else 200
    )


@router.get("/api/runs/{run_id}/lineage", response_model=Lineage, summary="Where a run comes from")
async def lineage(studio: Backend, run_id: str) -> Response:
    """Every run that shares an ancestor with this one, oldest first, with the edits between them."""
    try:
        return as_json(await studio.lineage(run_id))
    except KeyError:
        raise no_run(run_id) from None
