"""How a run ends: its last event, and a last word on every step that was interrupted or never began.

Each function may be called when another one was before: a run ends once.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from conductor.runs.limits import LimitReached
from conductor.runs.scheduler import GOOD, Outcome
from conductor.runs.steps import Steps
from conductor.runs.work import Work
from conductor_client.errors import StepError
from conductor_client.events import (
    RunCancelled,
    RunFailed,
    RunFinished,
    StepCancelled,
    StepFailed,
)
from conductor_client.workflow import Step

log = logging.getLogger("conductor.runs.runner")


class PlanningFailed(Exception):
    """There is no workflow to run. The plan's own events are in the journal already."""

    def __init__(self, error: StepError) -> None:
        super().__init__(error.message)
        self.error = error


async def complete(work: Work, outcomes: Mapping[str, Outcome]) -> None:
    """Every step has ended: success if each of them succeeded or was reused, else failure."""
    assert work.workflow is not None
    final = work.workflow.final_step
    if all(outcome in GOOD for outcome in outcomes.values()):
        work.is_over = True
        event = RunFinished(run_id=work.run_id, final_output=work.outputs[final.step_id])
        await work.journal.write_last(event)
        return
    limit = next((each for each in work.errors.values() if each.kind == "limit_reached"), None)
    first, *others = (step for step in work.workflow.steps if step.step_id in work.errors)
    error = work.errors[first.step_id]
    said = StepError(
        kind="step_failed",
        message=f"Step {first.position + 1} failed: {error.message}{_and_so_did(others)}",
        hint=error.hint,
        retryable=error.retryable,
    )
    await _fail(work, limit or said)


def _and_so_did(others: Sequence[Step]) -> str:
    if not others:
        return ""
    *most, last = (str(step.position + 1) for step in others)
    return f" Steps {', '.join(most)} and {last} failed too." if most else f" Step {last} failed too."


async def cancelled(work: Work, steps: Steps | None) -> None:
    """Somebody stopped the run: text so far is kept, nothing more begins."""
    if work.is_over:
        return
    _end_planning(work, StepError(kind="interrupted", message="The run was stopped while it was planned."))
    for step_id, left in list(work.under_way.items()):
        work.end(step_id)
        event = StepCancelled(
            run_id=work.run_id,
            step_id=step_id,
            attempt=left.attempt,
            partial_text=left.text("output"),
            reasoning=left.text("reasoning"),
            cost_usd=work.terms.cost_of_unfinished(left.worker),
        )
        work.partial_texts[step_id] = event.partial_text
        work.journal.post(event)
    _skip_rest(work, steps, "The run was stopped before this step began.")
    work.is_over = True
    output = _last_text(work)
    await work.journal.write_last(
        RunCancelled(run_id=work.run_id, final_output=output, partial=_is_partial(work, output))
    )


async def failed(work: Work, steps: Steps | None, problem: BaseException) -> None:
    """The execution itself ended with an error: no plan, a limit of the whole run, or a mistake of ours."""
    if work.is_over:
        return
    error = _as_error(work, problem)
    _end_planning(work, error)
    for step_id, left in list(work.under_way.items()):
        work.end(step_id)
        event = StepFailed(
            run_id=work.run_id,
            step_id=step_id,
            attempt=left.attempt,
            worker=left.worker,
            error=error,
            partial_text=left.text("output"),
            reasoning=left.text("reasoning"),
            cost_usd=work.terms.cost_of_unfinished(left.worker),
        )
        work.partial_texts[step_id] = event.partial_text
        work.journal.post(event)
    _skip_rest(work, steps, f"The run had ended: {error.message}")
    await _fail(work, error)


def not_stored(work: Work) -> RunFailed:
    """What those who watch are told when the store failed: not stored, so without ``seq``."""
    problem = work.journal.broken
    as_data = getattr(problem, "as_data", None)
    error = as_data() if as_data is not None else StepError(kind="store", message=str(problem))
    output = _last_text(work)
    return RunFailed(run_id=work.run_id, error=error, final_output=output, partial=_is_partial(work, output))


async def _fail(work: Work, error: StepError) -> None:
    work.is_over = True
    output = _last_text(work)
    await work.journal.write_last(
        RunFailed(run_id=work.run_id, error=error, final_output=output, partial=_is_partial(work, output))
    )


def _end_planning(work: Work, error: StepError) -> None:
    if work.planning is not None:
        work.journal.post(work.planning.failed(work.run_id, error))
        work.planning = None


def _skip_rest(work: Work, steps: Steps | None, said: str) -> None:
    if work.workflow is None or steps is None:
        return
    for step in work.workflow.steps:
        if step.step_id not in work.ended:
            steps.skip_for(step, None, said)


def _is_partial(work: Work, output: str | None) -> bool:
    return output is not None and not work.answers


def _last_text(work: Work) -> str | None:
    """The text nearest to an answer: an earlier round's, else what the last step that has any text wrote."""
    if work.answers:
        return work.answers[-1]
    for step in reversed(work.workflow.steps if work.workflow is not None else ()):
        text = work.outputs.get(step.step_id) or work.partial_texts.get(step.step_id)
        if text:
            return text
    return None


def _as_error(work: Work, problem: BaseException) -> StepError:
    match problem:
        case PlanningFailed() | LimitReached():
            return problem.error
        case TimeoutError():
            return StepError(
                kind="limit_reached",
                message=f"The run took longer than its limit of {work.created.limits.max_wall_s:g} s.",
                hint="Raise the limit of seconds, or choose faster workers.",
            )
    log.error("run %s failed by a mistake of ours", work.run_id, exc_info=problem)
    return StepError(
        kind="internal",
        message=f"The run failed by a mistake of ours: {type(problem).__name__}.",
        hint="The server's log has the details. What was done is kept.",
    )
