"""A backend at the HTTP layer: the page's real client talks to it through a transport, no socket.

It answers in the API's own shapes from events folded by the product's own fold. Workers here are scripted:
``echo`` repeats its instruction, ``fails`` fails, ``silent`` never ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
from pydantic import BaseModel

from conductor_client import api, events
from conductor_client.edits import apply_edits
from conductor_client.errors import InvalidEdit, StepError
from conductor_client.plan import Estimate, Plan, PlanOptions
from conductor_client.pool import ConductorInfo, ModelState, PoolView, WorkerInfo
from conductor_client.run_state import RunState, fold
from conductor_client.topology import classify
from conductor_client.usage import Price, Usage
from conductor_client.workflow import Message, Step, Workflow, workflow_of

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
FREE = Price(input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(0))
PRICED = Price(input_usd_per_mtok=Decimal("1.25"), output_usd_per_mtok=Decimal(10))


def worker(name: str, **changes: Any) -> WorkerInfo:
    return WorkerInfo(
        **{"name": name, "provider": "scripted", "model": f"model-of-{name}", "price": FREE, **changes}
    )


class Refused(Exception):
    def __init__(self, status: int, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.reply = httpx.Response(
            status,
            content=api.ErrorReply(
                error=api.ErrorBody(type=kind, message=message, hint=hint)
            ).model_dump_json(),
        )


class ScriptedBackend:
    """Holds runs in memory. ``asked`` lists every request as ``METHOD path``."""

    def __init__(self) -> None:
        self.workers = [worker("echo", tags=("small",)), worker("fails"), worker("silent", price=None)]
        self.conductors = [
            ConductorInfo(conductor_id="local", kind="local", title="Local conductor", model="tiny"),
            ConductorInfo(conductor_id="single:echo", kind="generator", title="echo alone"),
        ]
        self.models = [ModelState(name="tiny", state="ready", bytes_done=100, bytes_total=100)]
        self.examples = [api.ExamplePrompt(title="A word problem", prompt="How many apples are left?")]
        self.steps: list[tuple[str, str, list[int]]] = [
            ("echo", "Write an expression", []),
            ("echo", "Check the expression", [0]),
            ("echo", "Give the answer", [0, 1]),
        ]
        self.runs: dict[str, list[events.RunEvent]] = {}
        self.hidden: set[str] = set()
        self.keys: dict[str, str] = {}
        self.plans: dict[str, Plan] = {}
        self.saved: dict[str, api.SavedWorkflow] = {}
        self.asked: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.is_down = False
        self.stops_after_plan = False

    # The transport

    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if self.is_down:
            raise httpx.ConnectError("refused", request=request)
        self.asked.append(f"{request.method} {request.url.path}")
        body = json.loads(request.content) if request.content else {}
        if body:
            self.bodies.append(body)
        parts = request.url.path.strip("/").split("/")[1:]
        try:
            found = self._route(request.method, parts, body, dict(request.url.params))
        except Refused as refused:
            return refused.reply
        except InvalidEdit as problem:
            return Refused(409, "invalid_edit", problem.message, problem.hint).reply
        if found is None:
            return httpx.Response(204)
        return httpx.Response(200, json=_plain(found))

    def _route(self, method: str, parts: list[str], body: dict[str, Any], query: dict[str, str]) -> Any:
        match method, *parts:
            case "GET", "pool":
                return self.pool()
            case "GET", "conductors":
                return self.conductors
            case "GET", "models":
                return self.models
            case "POST", "models", name, "fetch":
                return self._fetch(name)
            case "GET", "examples":
                return self.examples
            case "POST", "pool", name, "test":
                return api.WorkerTestReply(
                    worker=name, ok=name != "fails", latency_s=0.2, output="OK", message="no"
                )
            case "POST", "plans":
                return self.plan(body["prompt"])
            case "POST", "runs":
                return self.start(body)
            case "GET", "runs":
                return self.list_runs(query)
            case "GET", "workflows":
                return list(self.saved.values())
            case "POST", "workflows":
                return self._save(body)
            case "DELETE", "workflows", name:
                self.saved.pop(name)
                return None
            case "POST", "import":
                return self._import(body["text"])
            case verb, "runs", run_id, *rest:
                return self._of_run(verb, run_id, rest, body, query)
        raise Refused(404, "not_found", f"nothing at {parts}")

    def _of_run(
        self, verb: str, run_id: str, rest: Sequence[str], body: dict[str, Any], query: dict[str, str]
    ) -> Any:
        if run_id not in self.runs or (run_id in self.hidden and list(rest) != ["restore"]):
            raise Refused(404, "not_found", f"There is no run {run_id!r}.", "It may have been deleted.")
        match verb, *rest:
            case ("GET",):
                return self.state(run_id)
            case ("DELETE",):
                self.hidden.add(run_id)
                return None
            case "POST", "restore":
                self.hidden.discard(run_id)
                return None
            case "GET", "events":
                return [each for each in self.runs[run_id] if each.seq > int(query.get("after", 0))]
            case "GET", "share":
                return api.ShareReply(path=f"/share/{run_id}?key=k")
            case "GET", "lineage":
                return self.lineage(run_id)
            case "POST", "cancel":
                return self.cancel(run_id)
            case "POST", "fork":
                return self.fork(run_id, api.ForkRequest.model_validate(body))
        raise Refused(404, "not_found", f"nothing at {rest}")

    # What it does

    def pool(self) -> PoolView:
        return PoolView(name="local", workers=tuple(self.workers), default_worker="echo", pools=("local",))

    def _fetch(self, name: str) -> ModelState:
        self.models = [
            each.model_copy(update={"state": "fetching"}) if each.name == name else each
            for each in self.models
        ]
        return next(each for each in self.models if each.name == name)

    def plan(self, prompt: str) -> Plan:
        workflow = workflow_of(prompt, self.steps)
        plan = Plan(
            plan_id=f"plan_{len(self.plans) + 1}",
            workflow=workflow,
            decision="new",
            conductor="local",
            pool=tuple(each.name for each in self.workers),
            options=PlanOptions(),
            raw_text="A: Write an expression",
            reasoning="I would rather check it.",
            choices={"s1": {"echo": 0.9, "fails": 0.1}},
            usage=Usage(input_tokens=50, output_tokens=20),
            cost_usd=Decimal(0),
            latency_s=0.4,
            estimate=Estimate(
                calls=3, input_tokens=300, output_tokens=90, usd=Decimal(0), seconds=2.5, basis="A guess."
            ),
        )
        self.plans[plan.plan_id] = plan
        return plan

    def start(self, body: dict[str, Any]) -> api.RunStartedReply:
        wanted = api.RunRequest.model_validate(body)
        if wanted.idempotency_key in self.keys:
            return _started(self.keys[str(wanted.idempotency_key)])
        plan: Plan | None = None
        if wanted.workflow is not None:
            rows = [
                (each.worker, each.instruction, _places(each, wanted.workflow))
                for each in wanted.workflow.steps
            ]
            workflow = workflow_of(wanted.prompt, rows)
        else:
            plan = self.plans[wanted.plan_id] if wanted.plan_id else self.plan(wanted.prompt)
            workflow = plan.workflow or workflow_of(wanted.prompt, self.steps)
        return self._begin(
            wanted.prompt, workflow, key=wanted.idempotency_key, plan=plan, messages=wanted.messages
        )

    def _begin(
        self,
        prompt: str,
        workflow: Workflow,
        *,
        key: str | None,
        plan: Plan | None = None,
        messages: tuple[Message, ...] = (),
        parent: str | None = None,
        reused: Sequence[str] = (),
        edits: Sequence[Any] = (),
    ) -> api.RunStartedReply:
        run_id = f"run_{len(self.runs) + 1}"
        if key:
            self.keys[key] = run_id
        self.runs[run_id] = []
        self.add(
            run_id,
            events.RunCreated(
                run_id=run_id,
                prompt=prompt,
                messages=messages,
                conductor="local" if plan else "",
                parent_run=parent,
                workflow=None if plan else workflow,
                edits=tuple(edits),
                pool="local",
                pool_snapshot=tuple(self.workers),
            ),
            events.RunStarted(run_id=run_id),
        )
        if plan:
            self.add(run_id, events.PlanStarted(run_id=run_id, conductor="local"))
            self.add(run_id, events.PlanCreated(run_id=run_id, plan=plan))
        if not self.stops_after_plan:
            self._execute(run_id, workflow, reused, parent)
        return _started(run_id)

    def add(self, run_id: str, *more: events.RunEvent) -> None:
        held = self.runs[run_id]
        for event in more:
            seq = len(held) + 1
            held.append(
                event.model_copy(update={"seq": seq, "at": START + timedelta(milliseconds=200 * seq)})
            )

    def _execute(self, run_id: str, workflow: Workflow, reused: Sequence[str], parent: str | None) -> None:
        outputs: dict[str, str] = {}
        for step in workflow.steps:
            if step.worker == "silent":
                self.add(run_id, *_begun(run_id, step, workflow))
                return
            if step.worker == "fails":
                self.add(run_id, *_begun(run_id, step, workflow), _failed(run_id, step))
                error = StepError(
                    kind="step_failed", message=f"Step {step.position + 1} failed.", hint="Edit it."
                )
                self.add(run_id, events.RunFailed(run_id=run_id, error=error))
                return
            outputs[step.step_id] = f"**{step.instruction}**"
            if step.step_id in reused and parent:
                self.add(run_id, _reused(run_id, step, parent, outputs[step.step_id]))
            else:
                self.add(
                    run_id, *_begun(run_id, step, workflow), _finished(run_id, step, outputs[step.step_id])
                )
        self.add(run_id, events.RunFinished(run_id=run_id, final_output=outputs[workflow.final_step.step_id]))

    def state(self, run_id: str) -> RunState:
        return fold(self.runs[run_id])

    def cancel(self, run_id: str) -> RunState:
        state = self.state(run_id)
        for step_id, step in state.steps.items():
            if step.status == "running":
                self.add(
                    run_id,
                    events.StepCancelled(run_id=run_id, step_id=step_id, attempt=1, partial_text="so far"),
                )
        if not state.has_ended:
            self.add(run_id, events.RunCancelled(run_id=run_id, final_output=None))
        return self.state(run_id)

    def fork(self, run_id: str, wanted: api.ForkRequest) -> BaseModel:
        state = self.state(run_id)
        assert state.workflow is not None
        known = [each.name for each in self.workers]
        edited = apply_edits(state.workflow, wanted.edits, known_workers=known)
        changed = {getattr(edit, "step_id", None) for edit in wanted.edits}
        will_run: list[str] = []
        for step in edited.workflow.steps:
            is_new = step.step_id not in state.steps or state.steps[step.step_id].output is None
            is_fresh = wanted.fresh is True or (
                isinstance(wanted.fresh, tuple) and step.step_id in wanted.fresh
            )
            if is_new or is_fresh or step.step_id in changed or set(step.access) & set(will_run):
                will_run.append(step.step_id)
        reused = [step.step_id for step in edited.workflow.steps if step.step_id not in will_run]
        if wanted.dry_run:
            estimate = Estimate(
                calls=len(will_run),
                input_tokens=100 * len(will_run),
                output_tokens=30 * len(will_run),
                usd=None,
                seconds=1.5,
                basis="From the run before.",
            )
            return api.ForkPreview(
                workflow=edited.workflow,
                will_run=tuple(will_run),
                reused=tuple(reused),
                dropped=edited.dropped,
                estimate=estimate,
            )
        if wanted.idempotency_key in self.keys:
            return _started(self.keys[str(wanted.idempotency_key)])
        return self._begin(
            state.prompt,
            edited.workflow,
            key=wanted.idempotency_key,
            parent=run_id,
            reused=reused,
            edits=wanted.edits,
        )

    def lineage(self, run_id: str) -> api.Lineage:
        nodes = []
        for each in self.runs:
            state = self.state(each)
            nodes.append(
                api.LineageNode(
                    run_id=each,
                    parent_run=state.parent_run,
                    status=state.status,
                    edits=state.edits,
                    created_at=state.created_at or START,
                    final_output=state.final_output,
                    n_steps=len(state.workflow.steps) if state.workflow else 0,
                    cost_usd=state.cost_usd,
                    wall_s=state.wall_s,
                )
            )
        return api.Lineage(root=next(iter(self.runs)), runs=tuple(nodes))

    def list_runs(self, query: dict[str, str]) -> api.RunPage:
        found = []
        for run_id in reversed(self.runs):
            state = self.state(run_id)
            words = query.get("q", "").lower()
            if run_id in self.hidden or words not in state.prompt.lower():
                continue
            if query.get("status") not in (None, state.status):
                continue
            found.append(self._summary(state, words))
        begin, limit = int(query.get("cursor", 0)), int(query.get("limit", 50))
        following = begin + limit if begin + limit < len(found) else None
        return api.RunPage(
            runs=tuple(found[begin : begin + limit]),
            total=len(found),
            next_cursor=None if following is None else str(following),
        )

    def _summary(self, state: RunState, words: str) -> api.RunSummary:
        workflow = state.workflow
        return api.RunSummary(
            run_id=state.run_id,
            status=state.status,
            prompt=state.prompt[:300],
            conductor=state.conductor,
            workers=tuple(step.worker for step in workflow.steps) if workflow else (),
            n_steps=len(workflow.steps) if workflow else 0,
            topology=classify(workflow) if workflow else None,
            cost_usd=state.cost_usd,
            cost_complete=state.complete.cost,
            total_tokens=state.usage.total_tokens,
            tokens_complete=state.complete.usage,
            wall_s=state.wall_s,
            created_at=state.created_at or START,
            parent_run=state.parent_run,
            snippet=f"a ⟦{words}⟧ b" if words else None,
        )

    def _save(self, body: dict[str, Any]) -> api.SavedWorkflow:
        wanted = api.SaveWorkflowRequest.model_validate(body)
        if wanted.name in self.saved:
            raise Refused(409, "conflict", f"The name {wanted.name!r} is taken.", "Choose another.")
        workflow = self.state(wanted.run_id).workflow if wanted.run_id else None
        assert workflow is not None
        self.saved[wanted.name] = api.SavedWorkflow(name=wanted.name, workflow=workflow, created_at=START)
        return self.saved[wanted.name]

    def _import(self, text: str) -> api.ImportReply:
        if not text.startswith("model_id"):
            from conductor_client.plan import Diagnostic

            told = Diagnostic(code="unparsable", where="line 1", said="this is no workflow")
            return api.ImportReply(format=None, workflow=None, diagnostics=(told,))
        workflow = workflow_of("", [("stranger", "Do it", []), ("echo", "Check it", [0])])
        return api.ImportReply(format="lists", workflow=workflow, unknown_workers=("stranger",))


def _plain(found: Any) -> Any:
    if isinstance(found, BaseModel):
        return json.loads(found.model_dump_json())
    return [json.loads(each.model_dump_json()) for each in found]


def _started(run_id: str) -> api.RunStartedReply:
    return api.RunStartedReply(run_id=run_id, url=f"http://studio.test/?run={run_id}")


def _places(step: api.StepRequest, workflow: api.WorkflowRequest) -> list[int]:
    ids = [each.step_id for each in workflow.steps]
    return [seen if isinstance(seen, int) else ids.index(seen) for seen in step.access]


def _messages(step: Step) -> tuple[Message, ...]:
    return (Message(role="user", content=f"Question\n\nTask: {step.instruction}"),)


def _begun(run_id: str, step: Step, workflow: Workflow) -> list[events.RunEvent]:
    before = [each.step_id for each in workflow.steps[: step.position]]
    withheld = tuple(each for each in before if each not in step.access)
    return [
        events.StepQueued(
            run_id=run_id,
            step_id=step.step_id,
            attempt=1,
            worker=step.worker,
            messages=_messages(step),
            visible=step.access,
            withheld=withheld,
        ),
        events.StepStarted(run_id=run_id, step_id=step.step_id, attempt=1, worker=step.worker, waited_s=0.1),
    ]


def _finished(run_id: str, step: Step, output: str) -> events.RunEvent:
    return events.StepFinished(
        run_id=run_id,
        step_id=step.step_id,
        attempt=1,
        worker=step.worker,
        output=output,
        reasoning="Hm.",
        usage=Usage(input_tokens=100, output_tokens=30),
        cost_usd=Decimal(0),
        price=FREE,
        served_model="tiny-1",
    )


def _failed(run_id: str, step: Step) -> events.RunEvent:
    error = StepError(kind="refused", message="The worker refused.", hint="Give the step to another worker.")
    return events.StepFailed(
        run_id=run_id, step_id=step.step_id, attempt=1, worker=step.worker, error=error, partial_text="I can"
    )


def _reused(run_id: str, step: Step, parent: str, output: str) -> events.RunEvent:
    return events.StepReused(
        run_id=run_id,
        step_id=step.step_id,
        worker=step.worker,
        output=output,
        messages=_messages(step),
        visible=step.access,
        withheld=(),
        reused_from=events.ReusedFrom(run_id=parent, step_id=step.step_id, duration_s=1.2),
    )


Backend = Callable[[], ScriptedBackend]
