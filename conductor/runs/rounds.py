"""Rounds: after a workflow has run, its conductor sees the answer and keeps it or writes another workflow.

Only a conductor that planned the run, can judge an answer, and may (``max_rounds``) is asked. Every limit
holds over all rounds; a round that has no step left is not begun.
"""

from __future__ import annotations

from dataclasses import replace

from conductor.conductors import EarlierRound
from conductor.plans.planning import PlanningRequest
from conductor.runs.work import Work
from conductor_client.events import RoundStarted


def take_up(work: Work) -> None:
    """Notes the rounds that an earlier process, or the request, has brought along."""
    state = work.before
    for each in state.rounds:
        if each.plan is not None and each.workflow is not None:
            work.plans.append(each.plan)
            ended = state.steps[each.workflow.final_step.step_id]
            if each.workflow is not state.workflow and ended.output is not None:
                work.answers.append(ended.output)
        else:
            work.is_settled = bool(work.plans)


def may_go_on(work: Work) -> bool:
    """Whether the conductor is to be asked again, now that a round has come to a good end."""
    if work.is_settled or not work.plans or work.plans[-1].fallback is not None:
        return False
    return len(work.plans) < work.plans[0].options.max_rounds and _steps_left(work) != 0


def next_request(work: Work, first: PlanningRequest) -> PlanningRequest:
    """What to ask after the rounds so far, from what was asked in the first."""
    options = work.plans[0].options
    if (left := _steps_left(work)) is not None:
        options = options.model_copy(update={"max_steps": min(left, options.max_steps)})
    return replace(
        first,
        options=options,
        round=len(work.plans) + 1,
        earlier=tuple(
            EarlierRound(plan.raw_text, answer) for plan, answer in zip(work.plans, work.answers, strict=True)
        ),
        first_step=_steps_planned(work) + 1,
    )


def check_steps(work: Work) -> None:
    """Refuses a workflow that cannot be run whole. Raises ``LimitReached``."""
    if work.find is None and work.workflow is not None:
        work.budget.check_steps(_steps_planned(work) or len(work.workflow.steps))


def begin(work: Work) -> None:
    """Tells that another round's workflow begins to run."""
    assert work.workflow is not None
    work.journal.post(RoundStarted(run_id=work.run_id, round=len(work.plans), workflow=work.workflow))


def _steps_planned(work: Work) -> int:
    return sum(len(plan.workflow.steps) for plan in work.plans if plan.workflow is not None)


def _steps_left(work: Work) -> int | None:
    most = work.created.limits.max_steps
    return None if most is None else max(0, most - _steps_planned(work))
