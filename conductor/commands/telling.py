"""A run told in lines of text, event by event. Knows no terminal and no backend."""

from __future__ import annotations

from typing import TextIO

from conductor_client.catalogue import text
from conductor_client.events import (
    Frame,
    PlanCreated,
    PlanFailed,
    PlanRejected,
    PlanStarted,
    RunEvent,
    StepCancelled,
    StepFailed,
    StepFinished,
    StepRetried,
    StepReused,
    StepSkipped,
    StepStarted,
)
from conductor_client.figures import run_cost, total_tokens
from conductor_client.run_state import RunState, fold
from conductor_client.usage import Usage, sum_usage
from conductor_client.workflow import Workflow


class Telling:
    """Writes a line for each event that a person waits for. ``last_seq`` is the last one heard."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._state: RunState | None = None

    @property
    def last_seq(self) -> int:
        return self._state.last_seq if self._state else 0

    def say(self, line: str) -> None:
        """Writes one line at once."""
        print(line, file=self._out, flush=True)

    def hear(self, item: RunEvent | Frame) -> None:
        """Takes the next event or frame of the run, in order."""
        if isinstance(item, Frame):
            if item.channel == "notice" and item.text:
                self.say(f"  … {item.text}")
            return
        had_workflow = self._state is not None and self._state.workflow is not None
        self._state = fold([item], self._state)
        if self._state.workflow is not None and (_brings_steps(item) or not had_workflow):
            self._tell_plan(self._state.workflow)
        line = self._line(item)
        if line:
            self.say(line)

    def _tell_plan(self, workflow: Workflow) -> None:
        places = {step.step_id: step.position + 1 for step in workflow.steps}
        for step in workflow.steps:
            sees = f" (sees {', '.join(str(places[seen]) for seen in step.access)})" if step.access else ""
            self.say(f"{step.position + 1}. {step.worker}{sees}: {_one_line(step.instruction)}")

    def _line(self, event: RunEvent) -> str:
        match event:
            case PlanStarted() if event.round > 1:
                return f"Round {event.round}: {event.conductor} looks at the answer …"
            case PlanCreated() if event.plan.decision == "keep":
                return f"Round {event.round}: the answer was kept."
            case PlanCreated() if event.plan.workflow is None:
                return f"Round {event.round}: no usable plan; the answer stands."
            case PlanStarted():
                return f"Planning with {event.conductor} …"
            case PlanRejected():
                said = "; ".join(each.said for each in event.diagnostics)
                return f"Plan {event.attempt} could not be used: {said}"
            case PlanFailed() if event.round > 1:
                return f"Round {event.round}: planning failed: {event.error.message} The answer stands."
            case PlanFailed():
                return f"Planning failed: {event.error.message}"
            case StepStarted():
                return f"▶ {self._name(event.step_id)}"
            case StepRetried():
                return f"↻ {self._name(event.step_id)}: {event.error.message} Again in {event.wait_s:.1f} s."
            case StepFinished():
                return f"✓ {self._name(event.step_id)}  {self._took(event.step_id)}{tokens(event.usage)}"
            case StepReused():
                return f"= {self._name(event.step_id)}  reused"
            case StepFailed():
                return f"✗ {self._name(event.step_id)}: {event.error.message}"
            case StepSkipped():
                return f"- {self._name(event.step_id)}: {event.said}"
            case StepCancelled():
                return f"■ {self._name(event.step_id)}  stopped"
            case _:
                return ""

    def _name(self, step_id: str) -> str:
        assert self._state is not None
        worker = self._state.steps[step_id].worker
        workflow = self._state.workflow
        places = {step.step_id: step.position + 1 for step in workflow.steps} if workflow else {}
        return f"step {places.get(step_id, step_id)} {worker}"

    def _took(self, step_id: str) -> str:
        assert self._state is not None
        seconds = self._state.steps[step_id].duration_s
        return "" if seconds is None else f"{seconds:.1f} s"


def _brings_steps(event: RunEvent) -> bool:
    return isinstance(event, PlanCreated) and event.plan.workflow is not None


def tokens(usage: Usage | None) -> str:
    """Tokens in and out, where they are known."""
    if usage is None or usage.total_tokens is None:
        return ""
    return f", {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"


def summary(state: RunState) -> str:
    """One line: how it ended, how long it took, tokens and cost, in the words of the page."""
    total, _ = sum_usage([state.usage, state.orchestration_usage])
    parts: list[str] = [state.status]
    if state.wall_s is not None:
        parts.append(f"{state.wall_s:.1f} s")
    parts.append(text("common.n_tokens", n=total_tokens(total, is_complete=state.complete.usage)))
    cost = run_cost(state)
    parts.append(text("graph.cost_unknown") if cost == text("common.unknown") else cost)
    return f"{', '.join(parts)}  ({state.run_id})"


def _one_line(said: str, limit: int = 160) -> str:
    line = " ".join(said.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
