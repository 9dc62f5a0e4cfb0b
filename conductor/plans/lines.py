"""Worker-first lines, the form small conductors write: ``B: instruction``, ``C 1 2: instruction``.

One line per step. The letter is the worker's place in the pool (A is the first), the numbers are the earlier
lines it sees, counted from 1. Gives the same ``Reading`` as the paper's three lists.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Any

from conductor.characters import whole
from conductor.plans.plan_rules import Notes, PlanRules, resolve
from conductor.thoughts import split_thoughts
from conductor_client.plan import PlannedStep, Reading

_line = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\d{1,3}[.)]\s+)?\**(?P<letter>[A-Za-z])\**"
    r"(?P<seen>[ ,\d()\[\]]{0,200}):\**\s*(?P<said>.*)"
)
TOO_MANY = 100
"""Steps beyond the limit after which no more are read: the plan is refused anyway."""
_PLAIN = re.compile(r"[A-Z](?: \d+)*: ?\S.*")


def read_lines(text: str, rules: PlanRules, *, was_cut: bool = False) -> Reading:
    """Reads a conductor's lines.

    Lines of another form are reasoning before the first step and left out after it, which is told.
    ``was_cut``: the text ended at an output cap, so its last instruction may be half of one; that is told.
    """
    notes = Notes()
    thoughts, answer = split_thoughts(whole(text))
    workers: list[Any] = []
    instructions: list[str] = []
    access: list[list[int]] = []
    before: list[str] = [thoughts] if thoughts else []
    for written in answer.splitlines():
        if len(workers) > rules.max_steps + TOO_MANY:
            break
        found = _line.fullmatch(written)
        if found is None:
            if written.strip() and not written.strip().startswith("```"):
                _other(written, before, bool(workers), notes)
            continue
        if not _PLAIN.fullmatch(written):
            notes.repair(
                "repaired_line", f"step {len(workers) + 1}", f"Read {written.strip()[:80]!r} as a step."
            )
        workers.append(string.ascii_uppercase.index(found["letter"].upper()))
        instructions.append(found["said"].strip())
        access.append([int(number) - 1 for number in re.findall(r"\d{1,9}", found["seen"])])
    reasoning = "\n".join(before).strip()
    if not workers:
        notes.reject("unparsable", "text", "No line has the form “worker letter: instruction”.")
        return Reading(decision="rejected", reasoning=reasoning, diagnostics=notes.all())
    if was_cut:
        notes.repair("repaired_cut", f"step {len(workers)}", "The text ended at its output cap.")
    as_given = PlanRules(rules.n_workers, rules.max_steps, "positions", rules.round)
    steps = resolve(workers, instructions, access, as_given, notes)
    steps = _in_scheme(steps, rules, notes)
    decision: Any = "new" if steps else "rejected"
    return Reading(decision=decision, steps=steps, reasoning=reasoning, diagnostics=notes.all())


def write_lines(steps: Sequence[PlannedStep]) -> str:
    """Writes steps as lines. Line breaks inside an instruction become spaces: a step is one line.

    Raises:
        ValueError: a worker beyond the 26th; letters end there.
    """
    written = []
    for step in steps:
        if not 0 <= step.worker < 26:
            raise ValueError(f"worker {step.worker} has no letter; only 26 workers have one")
        seen = "".join(f" {position + 1}" for position in step.access)
        written.append(f"{string.ascii_uppercase[step.worker]}{seen}: {' '.join(step.instruction.split())}")
    return "\n".join(written)


def _other(written: str, before: list[str], is_after: bool, notes: Notes) -> None:
    if is_after:
        notes.repair("repaired_other_line", "text", f"Left out: {written.strip()[:80]!r}.")
    else:
        before.append(written)


def _in_scheme(steps: tuple[PlannedStep, ...], rules: PlanRules, notes: Notes) -> tuple[PlannedStep, ...]:
    """Under the binary scheme a step that sees some earlier steps gets all of them, which is told."""
    if rules.access != "binary":
        return steps
    widened = []
    for place, step in enumerate(steps):
        everything = tuple(range(place))
        if step.access and step.access != everything:
            notes.repair(
                "repaired_access", f"step {place + 1}", "Widened to all earlier steps (binary access)."
            )
            step = step.model_copy(update={"access": everything})
        widened.append(step)
    return tuple(widened)
