"""The HTTP API as a Python object: one method per endpoint, typed answers, errors that say what to try.

Everything is synchronous: the page's script threads and people's scripts use it as it is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter, ValidationError

from . import errors
from .api import (
    BranchReply,
    ExamplePrompt,
    ForkPreview,
    ForkRequest,
    Health,
    ImportReply,
    ImportRequest,
    Lineage,
    PlanRequest,
    RunFacets,
    RunPage,
    RunPatch,
    RunRequest,
    RunsExportRequest,
    RunStartedReply,
    SavedWorkflow,
    SaveWorkflowRequest,
    ShareReply,
    WorkerTestReply,
)
from .events import Frame, RunEvent, event_from_dict, event_from_json
from .evidence_client import EvidenceClient
from .plan import Plan
from .pool import ConductorInfo, ModelState, PoolView
from .run_state import RunState
from .transport import Http, read, read_json, unreadable

if TYPE_CHECKING:
    from httpx import BaseTransport, Response

Model = TypeVar("Model", bound=BaseModel)
RUN_ENDS = frozenset({"run_finished", "run_failed", "run_cancelled"})
"""Event kinds after which nothing more comes."""
SILENCE_S = 45.0
"""A live stream that says nothing for three heartbeats is taken for broken and joined again."""
RECONNECTS = 5

_conductors = TypeAdapter(tuple[ConductorInfo, ...])
_examples = TypeAdapter(tuple[ExamplePrompt, ...])
_models = TypeAdapter(tuple[ModelState, ...])
_tests = TypeAdapter(tuple[WorkerTestReply, ...])
_workflows = TypeAdapter(tuple[SavedWorkflow, ...])


class Exported(NamedTuple):
    """A run in another form: the file's bytes, its media type and a name for it."""

    content: bytes
    media_type: str
    filename: str


class ConductorClient(EvidenceClient):
    """The backend at ``base_url``.

    Args:
        base_url: Such as ``http://127.0.0.1:8501``, without ``/api``.
        token: What ``CONDUCTOR_TOKEN`` holds there; ``None`` when it asks for none.
        timeout: Seconds to wait for an answer. Planning and worker tests wait longer, see ``slow_timeout``.
        slow_timeout: Seconds for the calls that make a model work: ``plan`` and ``test_worker``.
        transport: Another way to carry requests, for tests.

    Raises (every method):
        ConnectionFailed, TimedOut: nothing answered, or not in time.
        Unauthorized, NotFound, Conflict, InvalidRequest, StatusError: it answered with an error.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None = None,
        timeout: float = 15.0,
        *,
        slow_timeout: float = 300.0,
        transport: BaseTransport | None = None,
    ) -> None:
        self._http = Http(base_url, token, timeout=timeout, transport=transport)
        self._slow_timeout = slow_timeout

    @property
    def base_url(self) -> str:
        """The backend's address, without a slash at the end."""
        return self._http.base_url

    def close(self) -> None:
        """Closes the connections. Streams that are open end with ``ConnectionFailed``."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What there is

    def health(self) -> Health:
        """Version, engine, pool size, whether the store can be written, and problems in words."""
        return self._get(Health, "/healthz")

    def conductors(self, pool: str | None = None) -> tuple[ConductorInfo, ...]:
        """Every conductor that can be chosen for a pool (``None`` = the configured one), ready or not."""
        return read(_conductors, self._http.send("GET", "/api/conductors", params={"pool": pool}))

    def pool(self, name: str | None = None) -> PoolView:
        """The pool of that name; ``None`` = the configured one."""
        return self._get(PoolView, "/api/pool", name=name)

    def test_worker(self, worker: str, *, pool: str | None = None) -> WorkerTestReply:
        """Makes one tiny real call. A worker that fails is an answer with ``ok=False``, not an error."""
        address = f"/api/pool/{_part(worker)}/test"
        return self._post(WorkerTestReply, address, timeout=self._slow_timeout, pool=pool)

    def begin_worker_test(self, worker: str, *, pool: str | None = None) -> WorkerTestReply:
        """Starts such a call, or joins the one under way; ``worker_tests`` tells what it said."""
        return self._post(WorkerTestReply, f"/api/pool/{_part(worker)}/test", pool=pool, wait=False)

    def stop_worker_test(self, worker: str, *, pool: str | None = None) -> None:
        """Ends the test under way; harmless when there is none."""
        self._http.send("DELETE", f"/api/pool/{_part(worker)}/test", params={"pool": pool})

    def worker_tests(self, *, pool: str | None = None) -> tuple[WorkerTestReply, ...]:
        """Tests under way, and what the last one of each worker said."""
        return read(_tests, self._http.send("GET", "/api/pool/tests", params={"pool": pool}))

    def models(self) -> tuple[ModelState, ...]:
        """The local model files and how far each fetch is, in bytes."""
        return read(_models, self._http.send("GET", "/api/models"))

    def fetch_model(self, name: str) -> ModelState:
        """Starts fetching a local model, or joins the fetch under way. ``models`` tells the progress."""
        return self._post(ModelState, f"/api/models/{_part(name)}/fetch")

    def examples(self) -> tuple[ExamplePrompt, ...]:
        """Prompts to start from."""
        return read(_examples, self._http.send("GET", "/api/examples"))

    # Plans and runs

    def plan(self, request: PlanRequest) -> Plan:
        """Asks a conductor for a workflow; nothing is executed."""
        return self._post(Plan, "/api/plans", request, timeout=self._slow_timeout)

    def get_plan(self, plan_id: str) -> Plan:
        """A stored plan."""
        return self._get(Plan, f"/api/plans/{_part(plan_id)}")

    def start_run(self, request: RunRequest) -> RunStartedReply:
        """Starts a run, or names the earlier one with the same ``idempotency_key``."""
        return self._post(RunStartedReply, "/api/runs", request)

    def list_runs(
        self,
        q: str | None = None,
        *,
        status: str | None = None,
        tag: str | None = None,
        conductor: str | None = None,
        worker: str | None = None,
        rating: int | None = None,
        grade: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        origins: Sequence[str] | None = None,
        sort: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> RunPage:
        """Stored runs that pass every filter; ``sort`` is ``newest``, ``cost`` or ``time``.

        ``grade``: ``right``, ``wrong`` or ``none``; ``since`` counts in, ``until`` does not; ``origins``: any
        of them; ``cursor``: the last ``next_cursor``.
        """
        filters: dict[str, object] = {"q": q, "status": status, "tag": tag, "conductor": conductor}
        filters |= {"worker": worker, "rating": rating, "grade": grade, "origin": origins}
        filters |= {"since": since and since.isoformat(), "until": until and until.isoformat()}
        return self._get(RunPage, "/api/runs", **filters, sort=sort, cursor=cursor, limit=limit)

    def facets(self) -> RunFacets:
        """What ``list_runs`` can be filtered by: tags, conductors, workers, origins, with counts."""
        return self._get(RunFacets, "/api/runs/facets")

    def run(self, run_id: str) -> RunState:
        """A run as it stands now."""
        return self._get(RunState, f"/api/runs/{_part(run_id)}")

    def fork(self, run_id: str, request: ForkRequest) -> ForkPreview | RunStartedReply:
        """Edits a run into a new one; with ``dry_run`` only says what would run and what it would take."""
        path = f"/api/runs/{_part(run_id)}/fork"
        return (
            self._post(ForkPreview, path, request)
            if request.dry_run
            else self._post(RunStartedReply, path, request)
        )

    def lineage(self, run_id: str) -> Lineage:
        """Every run that shares an ancestor with this one, oldest first."""
        return self._get(Lineage, f"/api/runs/{_part(run_id)}/lineage")

    def cancel(self, run_id: str) -> RunState:
        """Stops a run; partial text is kept. A run that has ended stays as it is."""
        return self._post(RunState, f"/api/runs/{_part(run_id)}/cancel")

    def patch_run(self, run_id: str, patch: RunPatch) -> RunState:
        """Changes rating, grade, gold, tags or note; what ``patch`` leaves out stays."""
        reply = self._http.send("PATCH", f"/api/runs/{_part(run_id)}", body=patch, only_set=True)
        return read(TypeAdapter(RunState), reply)

    def delete_run(self, run_id: str) -> None:
        """Hides a run at once. ``restore_run`` brings it back for 10 seconds, then it is purged."""
        self._http.send("DELETE", f"/api/runs/{_part(run_id)}")

    def restore_run(self, run_id: str) -> None:
        """Undoes a deletion. ``NotFound`` when it is too late."""
        self._http.send("POST", f"/api/runs/{_part(run_id)}/restore")

    def delete_branch(self, run_id: str) -> BranchReply:
        """The same for a run and everything forked from it; ``restore_branch`` undoes it."""
        reply = self._http.send("DELETE", f"/api/runs/{_part(run_id)}", params={"branch": True})
        return read(TypeAdapter(BranchReply), reply)

    def restore_branch(self, run_id: str) -> BranchReply:
        """Brings back a run and all that was deleted with it. ``NotFound`` when it is too late."""
        return self._post(BranchReply, f"/api/runs/{_part(run_id)}/restore", branch=True)

    def share(self, run_id: str) -> ShareReply:
        """The read-only address of a run, without scheme and host."""
        return self._get(ShareReply, f"/api/runs/{_part(run_id)}/share")

    # Events

    def events(self, run_id: str, after: int = 0) -> tuple[RunEvent, ...]:
        """Stored events with ``seq`` above ``after``."""
        reply = self._http.send("GET", f"/api/runs/{_part(run_id)}/events", params={"after": after})
        try:
            return tuple(event_from_dict(each) for each in read_json(reply))
        except ValidationError as failure:
            raise unreadable(f"GET {reply.request.url}") from failure

    def events_stream(self, run_id: str, after: int = 0) -> Iterator[RunEvent | Frame]:
        """Events after ``after`` and text as it is written, until the run has ended.

        A broken connection is joined again from the last event; frames then start over at offset 0, as their
        ``offset`` says. Close the generator to stop listening; the run goes on.
        """
        failures = 0
        while True:
            try:
                for item in self._listen(run_id, after):
                    failures = 0
                    if item is None:
                        return
                    yield item
                    if not isinstance(item, Frame):
                        after = item.seq
                        if item.kind in RUN_ENDS:
                            return
            except (errors.ConnectionFailed, errors.TimedOut):
                if failures >= RECONNECTS:
                    raise
            failures += 1
            if failures > RECONNECTS:
                raise errors.ConnectionFailed(
                    f"The events of {run_id} at {self.base_url} broke off {failures} times before its end.",
                    hint="Open the run again; nothing of it is lost.",
                )
            time.sleep(min(2.0, 0.1 * 2**failures))

    def _listen(self, run_id: str, after: int) -> Iterator[RunEvent | Frame | None]:
        """One connection's items; ``None`` last when the server says that the run is over."""
        path = f"/api/runs/{_part(run_id)}/events/stream"
        for event in self._http.listen(path, params={"after": after}, silence_s=SILENCE_S):
            try:
                if event.event == "frame":
                    yield Frame.model_validate_json(event.data)
                elif event.event == "end":
                    yield None
                elif event.event != "heartbeat":
                    yield event_from_json(event.data)
            except ValidationError as failure:
                raise unreadable(f"GET {path} at {self.base_url}") from failure

    # In and out

    def export(self, run_id: str, format: str) -> Exported:
        """A run as ``json``, ``lists``, ``mermaid``, ``dot``, ``svg``, ``html`` or ``python``."""
        path = f"/api/runs/{_part(run_id)}/export"
        reply = self._http.send("GET", path, params={"format": format}, timeout=60.0)
        return _exported(reply, f"{run_id}.{format}")

    def export_runs(self, request: RunsExportRequest) -> Exported:
        """Several runs in one file: a CSV with a line each, or JSON with all of them whole."""
        reply = self._http.send("POST", "/api/runs/export", body=request, timeout=60.0)
        return _exported(reply, f"runs.{request.format}")

    def import_workflow(self, request: ImportRequest) -> ImportReply:
        """Reads a workflow from text; what could not be read is in ``diagnostics``, not an error."""
        return self._post(ImportReply, "/api/import", request)

    def workflows(self) -> tuple[SavedWorkflow, ...]:
        """Workflows kept under a name."""
        return read(_workflows, self._http.send("GET", "/api/workflows"))

    def save_workflow(self, request: SaveWorkflowRequest) -> SavedWorkflow:
        """Keeps a run's or a given workflow under a name. ``Conflict`` when taken and ``replace`` is off."""
        return self._post(SavedWorkflow, "/api/workflows", request)

    def delete_workflow(self, name: str) -> None:
        """Forgets a saved workflow."""
        self._http.send("DELETE", f"/api/workflows/{_part(name)}")

    # The OpenAI-compatible side

    def chat_models(self) -> tuple[str, ...]:
        """Model names that ``chat`` takes: ``conductor-mini``, ``conductor-ultra`` and each ready worker."""
        return tuple(each["id"] for each in read_json(self._http.send("GET", "/v1/models"))["data"])

    def chat(self, model: str, messages: list[dict[str, str]], **options: Any) -> Mapping[str, Any]:
        """One chat completion, whole. ``conductor_run`` in the answer names the run behind it."""
        body = {"model": model, "messages": messages, **options}
        path = "/v1/chat/completions"
        return dict(read_json(self._http.send("POST", path, body=body, timeout=self._slow_timeout)))

    # Transport

    def _get(self, model: type[Model], path: str, **params: object) -> Model:
        return read(TypeAdapter(model), self._http.send("GET", path, params=params))

    def _post(
        self,
        model: type[Model],
        path: str,
        request: BaseModel | None = None,
        *,
        timeout: float | None = None,
        **params: object,
    ) -> Model:
        reply = self._http.send("POST", path, body=request, timeout=timeout, params=params)
        return read(TypeAdapter(model), reply)


def _exported(reply: Response, otherwise: str) -> Exported:
    name = reply.headers.get("content-disposition", "").partition('filename="')[2].partition('"')[0]
    return Exported(reply.content, reply.headers.get("content-type", ""), name or otherwise)


def _part(name: str) -> str:
    return quote(name, safe="")
