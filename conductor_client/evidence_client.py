"""The endpoints behind "Why this worker?" as methods; a part of ``ConductorClient``."""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter

from .counterfactuals import (
    CounterfactualsPreview,
    CounterfactualsRequest,
    CounterfactualsStarted,
    CounterfactualTable,
)
from .evidence import Evidence
from .record import WorkerRecord
from .transport import Http, read
from .votes import VoteSet, VotesPreview, VotesRequest

Model = TypeVar("Model", bound=BaseModel)

_evidence = TypeAdapter(Evidence)
_votes: TypeAdapter[VoteSet | None] = TypeAdapter(VoteSet | None)
_table = TypeAdapter(CounterfactualTable)
_record = TypeAdapter(WorkerRecord)


class EvidenceClient:
    """See ``ConductorClient`` for what every method raises."""

    _http: Http

    def evidence(self, run_id: str, step_id: str) -> Evidence:
        """Six kinds of evidence why a step has its worker; nothing is called for it."""
        return read(_evidence, self._http.send("GET", f"{_step(run_id, step_id)}/evidence"))

    def votes(self, run_id: str) -> VoteSet | None:
        """The latest votes for the run's prompt, conductor and pool, as far as they have come."""
        return read(_votes, self._http.send("GET", f"{_run(run_id)}/votes"))

    def preview_votes(self, run_id: str, request: VotesRequest) -> VotesPreview:
        """What votes would take; nothing is called."""
        return self._asked(VotesPreview, f"{_run(run_id)}/votes", request, dry_run=True)

    def start_votes(self, run_id: str, request: VotesRequest) -> VoteSet:
        """Asks the conductor for more plans and answers at once; ``votes`` tells what has come."""
        return self._asked(VoteSet, f"{_run(run_id)}/votes", request, dry_run=False)

    def stop_votes(self, run_id: str) -> VoteSet | None:
        """Ends the votes under way; what has come stays."""
        return read(_votes, self._http.send("DELETE", f"{_run(run_id)}/votes"))

    def counterfactuals(self, run_id: str, step_id: str) -> CounterfactualTable:
        """Every alternative of a step that was run, beside the run itself."""
        return read(_table, self._http.send("GET", f"{_step(run_id, step_id)}/counterfactuals"))

    def preview_counterfactuals(
        self, run_id: str, step_id: str, request: CounterfactualsRequest
    ) -> CounterfactualsPreview:
        """Which forks would be run, what each reuses, and what they would take."""
        path = f"{_step(run_id, step_id)}/counterfactuals"
        return self._asked(CounterfactualsPreview, path, request, dry_run=True)

    def start_counterfactuals(
        self, run_id: str, step_id: str, request: CounterfactualsRequest
    ) -> CounterfactualsStarted:
        """Starts the forks and answers at once; ``counterfactuals`` tells what has come of them."""
        path = f"{_step(run_id, step_id)}/counterfactuals"
        return self._asked(CounterfactualsStarted, path, request, dry_run=False)

    def worker_record(self, worker: str, *, pool: str | None = None) -> WorkerRecord:
        """What came of every run in which a worker had a part."""
        path = f"/api/workers/{quote(worker, safe='')}/record"
        return read(_record, self._http.send("GET", path, params={"pool": pool}))

    def _asked(self, model: type[Model], path: str, request: BaseModel, *, dry_run: bool) -> Model:
        body = request.model_copy(update={"dry_run": dry_run})
        return read(TypeAdapter(model), self._http.send("POST", path, body=body))


def _run(run_id: str) -> str:
    return f"/api/runs/{quote(run_id, safe='')}"


def _step(run_id: str, step_id: str) -> str:
    return f"{_run(run_id)}/steps/{quote(step_id, safe='')}"
