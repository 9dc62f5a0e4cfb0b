"""What a workflow will probably take, before anything is spent. Pure arithmetic; says what it rests on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from conductor.prices import cost_of
from conductor.providers.base import Worker
from conductor_client.plan import Estimate
from conductor_client.topology import critical_path
from conductor_client.usage import Usage, sum_cost
from conductor_client.workflow import Message, Step, Workflow

CHARACTERS_PER_TOKEN = 4
ASSUMED_OUTPUT_TOKENS = 250
FRAME_CHARACTERS = 80
"""Labels around question, instruction and each output that a step sees."""
REMOTE_TOKENS_PER_S = 60.0
LOCAL_TOKENS_PER_S = 20.0
READING_SPEEDUP = 3.0
"""How much faster a local model reads its prompt than it writes."""
REMOTE_WAIT_S = 1.0
TOOL_S = 0.1


@dataclass(frozen=True)
class Typical:
    """What earlier calls of a worker took on average, over ``calls`` of them."""

    output_tokens: float
    duration_s: float
    calls: int


def estimate(
    workflow: Workflow,
    workers: Mapping[str, Worker],
    *,
    messages: Sequence[Message] = (),
    only: Collection[str] | None = None,
    outputs: Mapping[str, str] | None = None,
    typical: Mapping[str, Typical] | None = None,
) -> Estimate:
    """Calls, tokens, USD and seconds of running ``workflow``.

    ``only``: the step ids that will run, ``None`` = all; the others are reused and cost nothing. ``outputs``:
    what is known already, by step id. ``typical``: by worker name. A step whose worker is not in ``workers``
    makes USD unknown.
    """
    typical, outputs = typical or {}, outputs or {}
    before = sum(len(each.content) for each in messages)
    written = {step.step_id: _output_tokens(step, workers, typical, outputs) for step in workflow.steps}
    running = [step for step in workflow.steps if only is None or step.step_id in only]
    read = {
        step.step_id: _input_tokens(step, workflow, workers.get(step.worker), before, written)
        for step in running
    }
    costs: list[Decimal | None] = []
    seconds: dict[str, float] = {}
    input_tokens = output_tokens = 0
    for step in running:
        worker = workers.get(step.worker)
        is_tool = worker is not None and worker.provider == "tool"
        usage = Usage(input_tokens=read[step.step_id], output_tokens=written[step.step_id])
        if not is_tool:
            input_tokens += read[step.step_id]
            output_tokens += written[step.step_id]
        costs.append(None if worker is None else cost_of(worker, usage)[0])
        seconds[step.step_id] = _seconds(worker, usage, typical.get(step.worker))
    total, is_priced = sum_cost(costs)
    return Estimate(
        calls=len(running),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        usd=total if is_priced else None,
        seconds=round(critical_path(workflow, seconds)[1], 1) if running else 0.0,
        basis=_basis(running, workers, typical),
    )


def _output_tokens(
    step: Step, workers: Mapping[str, Worker], typical: Mapping[str, Typical], outputs: Mapping[str, str]
) -> int:
    if step.step_id in outputs:
        return len(outputs[step.step_id]) // CHARACTERS_PER_TOKEN + 1
    worker = workers.get(step.worker)
    if worker is not None and worker.provider == "tool":
        return 10
    known = typical.get(step.worker)
    tokens = round(known.output_tokens) if known else ASSUMED_OUTPUT_TOKENS
    cap = worker.max_output_tokens if worker is not None else None
    return tokens if cap is None else min(tokens, cap)


def _input_tokens(
    step: Step, workflow: Workflow, worker: Worker | None, before: int, written: Mapping[str, int]
) -> int:
    characters = before + (len(worker.system) if worker is not None else 0)
    characters += len(workflow.prompt) + len(step.instruction) + FRAME_CHARACTERS
    characters += sum(len(workflow.step(seen).instruction) + FRAME_CHARACTERS for seen in step.access)
    return characters // CHARACTERS_PER_TOKEN + 1 + sum(written[seen] for seen in step.access)


def _seconds(worker: Worker | None, usage: Usage, known: Typical | None) -> float:
    if known is not None:
        return known.duration_s
    if worker is not None and worker.provider == "tool":
        return TOOL_S
    is_local = worker is not None and worker.provider == "local"
    speed = worker.profile.get("tokens_per_s") if worker is not None else None
    if not isinstance(speed, int | float) or speed <= 0:
        speed = LOCAL_TOKENS_PER_S if is_local else REMOTE_TOKENS_PER_S
    writing = (usage.output_tokens or 0) / speed
    reading = (usage.input_tokens or 0) / speed / READING_SPEEDUP if is_local else REMOTE_WAIT_S
    return writing + reading


def _basis(running: Sequence[Step], workers: Mapping[str, Worker], typical: Mapping[str, Typical]) -> str:
    if not running:
        return "Nothing runs; every step is reused."
    names = list(dict.fromkeys(step.worker for step in running))
    models = [name for name in names if name not in workers or workers[name].provider != "tool"]
    parts = [f"{CHARACTERS_PER_TOKEN} characters counted as one token"]
    known = [f"{name} ({typical[name].calls} calls)" for name in models if name in typical]
    if known:
        parts.append(f"output and time from earlier calls of {', '.join(known)}")
    if any(name not in typical for name in models):
        parts.append(f"up to {ASSUMED_OUTPUT_TOKENS} output tokens a step and usual speeds assumed")
    unpriced = [name for name in models if name not in workers or cost_of(workers[name], _ONE)[0] is None]
    if unpriced:
        parts.append(f"no price known for {', '.join(unpriced)}")
    parts.append("retries and the planning itself not counted")
    return "; ".join(parts) + "."


_ONE = Usage(input_tokens=1, output_tokens=1)
