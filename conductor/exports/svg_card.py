"""What a card says, in the words of the live graph (its ``cards.js``): pure, no coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conductor_client import topology
from conductor_client.catalogue import counted, text
from conductor_client.figures import is_unpriced, seconds, usd
from conductor_client.run_state import RunState
from conductor_client.step_state import StepState
from conductor_client.usage import sum_usage
from conductor_client.workflow import Step, Workflow

_IDLE = ("draft", "waiting", "running", "skipped", "not_run")


@dataclass(frozen=True)
class Card:
    """One card. ``note`` is said by us, ``body`` is a worker's text; ``is_bad`` colours the note."""

    number: int
    worker: str
    status: str
    word: str
    instruction: str
    note: str = ""
    body: str = ""
    is_bad: bool = False
    foot: tuple[str, ...] = ()
    time: str = ""
    tag: str = ""


def cards_of(workflow: Workflow, state: RunState | None) -> list[Card]:
    """A card for each step; without a run they show the plan."""
    unused = topology.unused(workflow)
    numbers = {step.step_id: step.position + 1 for step in workflow.steps}
    cards = []
    for step in workflow.steps:
        now = state.steps.get(step.step_id) if state is not None else None
        status: str = "draft" if now is None else now.status
        if state is not None and state.has_ended and status in ("waiting", "running"):
            status = "not_run"
        note, body = _content(step, now, status, numbers, state)
        cards.append(
            Card(
                number=step.position + 1,
                worker=(now.worker if now is not None else None) or step.worker,
                status=status,
                word=text(f"graph.status.{status}"),
                instruction=step.instruction,
                note=note,
                body=body,
                is_bad=status == "failed",
                foot=_foot(now, status),
                time=_time(now, status),
                tag=text("graph.unused") if step.step_id in unused else "",
            )
        )
    return cards


def listed(numbers: list[int]) -> str:
    """``1``, ``1 and 2``, ``1, 2 and 3``."""
    if len(numbers) < 2:
        return "".join(map(str, numbers))
    return text("graph.list_and", most=", ".join(map(str, numbers[:-1])), last=numbers[-1])


def _content(
    step: Step, now: StepState | None, status: str, numbers: Mapping[str, int], state: RunState | None
) -> tuple[str, str]:
    if now is None:
        return _of_steps("graph.will_see", step, numbers), ""
    match status:
        case "waiting":
            return _of_steps("graph.waits_for", step, numbers), ""
        case "not_run":
            return text("graph.never_finished" if now.started_at else "graph.never_started"), ""
        case "running":
            return "", now.partial_text
        case "failed":
            error = now.error.message if now.error is not None else text("graph.failed_unknown")
            return error, now.partial_text or (now.error.hint if now.error is not None else "")
        case "skipped":
            return _skipped(now, numbers, state), ""
        case "cancelled":
            return ("", now.partial_text) if now.partial_text else (text("graph.stopped_empty"), "")
        case _:
            return ("", now.output) if now.output else (text("graph.empty_output"), "")


def _of_steps(key: str, step: Step, numbers: Mapping[str, int]) -> str:
    if not step.access:
        return text(f"{key}.none")
    form = "one" if len(step.access) == 1 else "other"
    return text(f"{key}.{form}", steps=listed([numbers[each] for each in step.access]))


def _skipped(now: StepState, numbers: Mapping[str, int], state: RunState | None) -> str:
    if now.cause is None or now.cause not in numbers:
        return now.said or text("graph.skipped_unknown")
    cause = state.steps.get(now.cause) if state is not None else None
    how = text(f"graph.was.{cause.status if cause is not None else 'failed'}")
    return text("graph.skipped_because", n=numbers[now.cause], status=how)


def _time(now: StepState | None, status: str) -> str:
    """How long the step took, and in how many tries."""
    if now is None or status in _IDLE:
        return ""
    took = seconds(now.duration_s) if now.duration_s is not None else ""
    if took and status == "reused":
        return text("graph.took_then", seconds=took)
    tries = counted("graph.tries", len(now.attempts)) if len(now.attempts) > 1 else ""
    return " · ".join(filter(None, [took, tries]))


def _foot(now: StepState | None, status: str) -> tuple[str, ...]:
    """The figures under a card, in order; an unknown one says so."""
    if now is None or status in _IDLE:
        return ()
    if status == "reused":
        then = now.reused_from.usage.total_tokens if now.reused_from and now.reused_from.usage else None
        return ("$0",) if then is None else (counted("graph.tokens_then", then), "$0")
    total = now.usage.total_tokens if now.usage is not None else None
    is_told = now.cost_usd is not None or is_unpriced(now)
    if total is None and not is_told:
        return (text("graph.both_unknown"),)
    cost = usd(now.cost_usd) if is_told else text("graph.cost_unknown")
    if total is None:
        return (text("graph.tokens_unknown"), cost)
    sent = [each.usage for each in now.attempts if each.started_at is not None or each.usage is not None]
    return (("" if sum_usage(sent)[1] else "≥ ") + counted("graph.tokens", total), cost)
