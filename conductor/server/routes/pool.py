"""What there is: health, conductors, the pool, local models."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from conductor.examples import example_prompts
from conductor.server.access import Backend, as_json, as_json_list
from conductor.server.errors import not_found
from conductor.server.whole_text import WholeText
from conductor_client.api import ExamplePrompt, Health, WorkerTestReply
from conductor_client.pool import ConductorInfo, ModelState, PoolView

router = APIRouter(route_class=WholeText, tags=["What there is"])


@router.get("/healthz", response_model=Health, summary="How the backend is")
async def health(studio: Backend) -> Response:
    """Version, engine, pool size, whether the store can be written, and problems in words."""
    return as_json(await studio.health())


@router.get("/api/conductors", response_model=list[ConductorInfo], summary="Every conductor")
async def conductors(studio: Backend, pool: str | None = None) -> Response:
    """Ready or not; one that is not ready says what is missing."""
    return as_json_list(await studio.conductors(pool))


@router.get("/api/pool", response_model=PoolView, summary="The pool")
async def pool(studio: Backend, name: str | None = None) -> Response:
    """Workers in the order a conductor is given them, what each lacks, and mistakes of the file by line."""
    try:
        return as_json(await studio.pool_view(name))
    except KeyError:
        raise not_found(
            "pool", name or "", hint="GET /api/pool lists the pools that can be chosen."
        ) from None


@router.post("/api/pool/{worker:path}/test", response_model=WorkerTestReply, summary="Test a worker")
async def test_worker(studio: Backend, worker: str, pool: str | None = None, wait: bool = True) -> Response:
    """Makes one tiny real call and times it, or joins the one under way. The answer never holds the key.

    With `wait=false` it answers at once, with 202; `GET /api/pool/tests` tells what came of it.
    """
    try:
        if not wait:
            return as_json(await studio.begin_worker_test(worker, pool), 202)
        return as_json(await studio.test_worker(worker, pool))
    except KeyError:
        raise not_found("worker", worker, hint="GET /api/pool lists the workers.") from None


@router.delete(
    "/api/pool/{worker:path}/test", response_model=WorkerTestReply | None, summary="Stop a worker's test"
)
async def stop_worker_test(studio: Backend, worker: str, pool: str | None = None) -> Response:
    """Ends the test under way, its socket included, and gives what is known; harmless when there is none."""
    try:
        reply = await studio.stop_worker_test(worker, pool)
    except KeyError:
        raise not_found("worker", worker, hint="GET /api/pool lists the workers.") from None
    return Response(status_code=204) if reply is None else as_json(reply)


@router.get("/api/pool/tests", response_model=list[WorkerTestReply], summary="Tests of workers")
async def worker_tests(studio: Backend, pool: str | None = None) -> Response:
    """Tests under way, and what the last one of each worker said since the backend started."""
    try:
        return as_json_list(await studio.worker_tests(pool))
    except KeyError:
        raise not_found("pool", pool or "", hint="GET /api/pool lists the pools.") from None


@router.get("/api/examples", response_model=list[ExamplePrompt], summary="Prompts to start from")
async def examples() -> Response:
    """A few kinds of task that the default pool can do."""
    return as_json_list(example_prompts())


@router.get("/api/models", response_model=list[ModelState], summary="Local models")
async def models(studio: Backend) -> Response:
    """Each local model file: ready, being fetched (with bytes), missing or broken."""
    return as_json_list(await studio.models())


@router.post(
    "/api/models/{name}/fetch", response_model=ModelState, status_code=202, summary="Fetch a local model"
)
async def fetch_model(studio: Backend, name: str) -> Response:
    """Starts a fetch, or joins the one under way, and answers at once. `GET /api/models` tells how far."""
    try:
        return as_json(await studio.fetch_model(name), 202)
    except KeyError:
        raise not_found("local model", name, hint="GET /api/models lists them.") from None
