"""What reading someone's file gives: steps as far as they could be understood, and what was noticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from conductor_client.plan import Diagnostic
from conductor_client.workflow import MAX_STEPS, Workflow, workflow_of

Format = Literal["json", "lists", "mermaid", "dot"]


@dataclass(frozen=True)
class ImportedStep:
    """One step as found. ``worker`` is ``None`` when the file names none; ``access`` holds positions."""

    worker: str | None
    instruction: str
    access: tuple[int, ...] = ()


@dataclass(frozen=True)
class Imported:
    """A file as understood. No step means that it was refused, for the reasons in ``diagnostics``.

    ``format`` is ``None`` when the text looks like nothing known; ``prompt`` is empty when it holds none.
    """

    format: Format | None
    steps: tuple[ImportedStep, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    prompt: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether nothing can be made of it."""
        return not self.steps

    def unknown_workers(self, pool: Sequence[str]) -> tuple[str, ...]:
        """Names in the file that this pool lacks, in order of appearance."""
        names = dict.fromkeys(step.worker for step in self.steps if step.worker is not None)
        return tuple(name for name in names if name not in pool)

    def workflow(self, prompt: str, *, default_worker: str | None = None) -> Workflow | None:
        """The workflow for that prompt (else for the file's own); steps without a worker get the default.

        ``None`` when the file was refused, or a step has no worker and there is no default.
        """
        rows = [(step.worker or default_worker or "", step.instruction, step.access) for step in self.steps]
        if not rows or not all(worker for worker, _, _ in rows):
            return None
        return workflow_of(prompt or self.prompt, rows)


def refused(format: Format | None, code: str, where: str, said: str, *more: Diagnostic) -> Imported:
    """A file that was understood so far and no further."""
    return Imported(format, diagnostics=(*more, Diagnostic(code=code, where=where, said=said)))


def checked(
    format: Format, steps: Sequence[ImportedStep], noticed: Sequence[Diagnostic] = (), *, prompt: str = ""
) -> Imported:
    """The steps if they make a workflow, else the reason why not. The rules are the workflow's own."""
    told = tuple(noticed)
    if any(each.rejects for each in told):
        return Imported(format, diagnostics=told, prompt=prompt)
    if not steps:
        return refused(format, "no_steps", "the whole text", "No step was found.", *told)
    if len(steps) > MAX_STEPS:
        said = f"It has {len(steps)} steps; at most {MAX_STEPS} are possible."
        return refused(format, "too_many_steps", "the whole text", said, *told)
    for place, step in enumerate(steps):
        if not step.instruction.strip():
            said = f"Step {place + 1} has no instruction."
            return refused(format, "empty_instruction", f"step {place + 1}", said, *told)
        outside = [seen for seen in step.access if not 0 <= seen < place]
        if outside:
            said = f"Step {place + 1} cannot see step {outside[0] + 1}: a step sees earlier steps only."
            return refused(format, "bad_access", f"step {place + 1}", said, *told)
    try:
        workflow_of(prompt, [(step.worker or "?", step.instruction, step.access) for step in steps])
    except ValidationError as problem:
        return refused(format, "unparsable", "the whole text", str(problem.errors()[0]["msg"]), *told)
    without = [place + 1 for place, step in enumerate(steps) if step.worker is None]
    if without:
        said = f"{len(without)} of {len(steps)} steps name no worker; the default worker takes them."
        told = (*told, Diagnostic(code="repaired_worker", where=f"step {without[0]}", said=said))
    return Imported(format, tuple(steps), told, prompt)
