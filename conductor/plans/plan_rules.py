"""What a plan must obey before any money is spent, whatever form it was written in.

Takes the raw values a reader found (ordinals, texts, access entries) and gives steps, or diagnostics that
refuse them. Every leniency is a ``repaired_*`` diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conductor.plans.literals import Word
from conductor_client.plan import Diagnostic, PlannedStep, PlanOptions, Rejection

_ordinal = re.compile(r"(?:(?:worker|model|agent|id)\s*#?\s*)?(\d{1,9})", re.IGNORECASE)


@dataclass(frozen=True)
class PlanRules:
    """Limits of one plan. ``round`` counts from 1; only a later round may keep the earlier answer."""

    n_workers: int
    max_steps: int = 5
    access: Literal["binary", "positions"] = "positions"
    round: int = 1

    @classmethod
    def of(cls, options: PlanOptions, *, n_workers: int, round: int = 1) -> PlanRules:
        """The rules that follow from how a conductor is asked."""
        return cls(n_workers, options.max_steps, options.access, round)


class Notes:
    """Diagnostics in the order they were made; each repair is told once per place."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Diagnostic] = {}

    def reject(self, code: Rejection, where: str, said: str) -> None:
        self._kept.setdefault((code, where), Diagnostic(code=code, where=where, said=said))

    def repair(self, code: str, where: str, said: str) -> None:
        self._kept.setdefault((code, where), Diagnostic(code=code, where=where, said=said))

    @property
    def rejects(self) -> bool:
        return any(each.rejects for each in self._kept.values())

    def all(self) -> tuple[Diagnostic, ...]:
        """Rejections first, then repairs."""
        return tuple(sorted(self._kept.values(), key=lambda each: not each.rejects))


def resolve(
    workers: Sequence[Any], instructions: Sequence[Any], access: Sequence[Any], rules: PlanRules, notes: Notes
) -> tuple[PlannedStep, ...]:
    """The steps these three equally long lists mean; empty when a rule refuses them."""
    n_steps = len(workers)
    if n_steps > rules.max_steps:
        notes.reject("too_many_steps", "plan", f"{n_steps} steps; at most {rules.max_steps} are allowed.")
        return ()
    steps = []
    for place in range(n_steps):
        worker = _worker(workers[place], place, rules, notes)
        instruction = _instruction(instructions[place], place, notes)
        seen = _access(access[place], place, rules, notes)
        if worker is not None and instruction is not None and seen is not None:
            steps.append(PlannedStep(worker=worker, instruction=instruction, access=seen))
    return () if notes.rejects else tuple(steps)


def _worker(value: Any, place: int, rules: PlanRules, notes: Notes) -> int | None:
    number = value if isinstance(value, int) and not isinstance(value, bool) else None
    if number is None and (text := _text_of(value)) and (found := _ordinal.fullmatch(text.strip())):
        number = int(found[1])
        notes.repair("repaired_number", f"step {place + 1}", f"{text!r} was read as worker {number}.")
    if number is not None and 0 <= number < rules.n_workers:
        return number
    there = f"worker numbers go from 0 to {rules.n_workers - 1}" if rules.n_workers else "the pool is empty"
    notes.reject("unknown_worker", f"step {place + 1}", f"{_shown(value)} is no worker: {there}.")
    return None


def _instruction(value: Any, place: int, notes: Notes) -> str | None:
    where = f"step {place + 1}"
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
        notes.repair("repaired_nesting", where, "The instruction stood in a list of its own.")
    if isinstance(value, Word):
        value = value.text
        notes.repair("repaired_quotes", where, "The instruction had no quotation marks.")
    if value is None or (isinstance(value, str) and not value.strip()):
        notes.reject("empty_instruction", where, "The instruction is empty.")
        return None
    if not isinstance(value, str):
        notes.reject("unparsable", where, f"The instruction is {_shown(value)}, not text.")
        return None
    return value


def _access(value: Any, place: int, rules: PlanRules, notes: Notes) -> tuple[int, ...] | None:
    where = f"step {place + 1}"
    entries = value if isinstance(value, list) else [value]
    if entries and any(_is_all(entry) for entry in entries):
        if len(entries) > 1:
            if rules.access == "binary":
                notes.reject("bad_access", where, f'{_shown(value)} is neither [] nor ["all"].')
                return None
            notes.repair("repaired_access", where, '"all" among other entries was read as all earlier steps.')
        return tuple(range(place))
    if not entries:
        return ()
    if rules.access == "binary":
        notes.reject("bad_access", where, f'{_shown(value)} is neither [] nor ["all"].')
        return None
    if not isinstance(value, list):
        notes.repair("repaired_access", where, f"{_shown(value)} was read as a list of one.")
    return _positions(entries, place, notes)


def _positions(entries: Sequence[Any], place: int, notes: Notes) -> tuple[int, ...] | None:
    where = f"step {place + 1}"
    seen: set[int] = set()
    for entry in entries:
        position = entry
        if isinstance(entry, str) and entry.strip().isdecimal() and len(entry) < 10:
            position = int(entry)
            notes.repair("repaired_number", where, f"{entry!r} was read as the number {position}.")
        if not isinstance(position, int) or isinstance(position, bool) or not 0 <= position < place:
            there = f"only positions 0 to {place - 1} come before it" if place else "no step comes before it"
            notes.reject("bad_access", where, f"It cannot see {_shown(entry)}: {there}.")
            return None
        seen.add(position)
    if len(seen) < len(entries):
        notes.repair("repaired_access", where, "A position stood twice on the access list.")
    return tuple(sorted(seen))


def _is_all(entry: Any) -> bool:
    text = _text_of(entry)
    return text is not None and text.strip().lower() == "all"


def _text_of(value: Any) -> str | None:
    if isinstance(value, Word):
        return value.text
    return value if isinstance(value, str) else None


def _shown(value: Any) -> str:
    text = value.text if isinstance(value, Word) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
