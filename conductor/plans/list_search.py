"""Finding the paper's three lists in a text that also holds thoughts, drafts, fences and mentions of them.

A label followed by ``:`` or ``=`` and a list is a candidate. Candidates are grouped into sets of all three;
the last set with equal lengths wins, so that a draft or a mention in the prose before it does no harm.
What is inside a list that was read is never searched for labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from conductor.plans.literals import NotALiteral, read_literal

Kind = Literal["model_id", "subtasks", "access_list"]
CANONICAL: tuple[Kind, Kind, Kind] = ("model_id", "subtasks", "access_list")

_label = re.compile(
    r"(?<![A-Za-z0-9_])(?P<name>model\\?[_ ]?ids?|sub\\?[_ ]?tasks?|access\\?[_ ]?lists?)(?![A-Za-z0-9_])"
    r"(?P<dress>[\"'“”`*_]*+\s*+[:=]\s*+[*_`]*+\s*+(?:(?<=`)\w+\s)?+\s*+)(?P<open>\[)?",
    re.IGNORECASE,
)
_objects = re.compile(r"\[\s*+\{|\{\s*+[\"'“](?:steps|workflow|plan)[\"'”]\s*+:")
_KEYS = {
    "worker": ("model_id", "model id", "worker", "worker_id", "model", "id"),
    "instruction": ("subtask", "subtasks", "instruction", "task"),
    "access": ("access_list", "access list", "access"),
}
WORK_PER_CHARACTER = 6
"""How often the whole text may be read again after false starts, so that no text takes quadratic time."""
FALSE_START = 400
"""What a false start costs at least, in characters."""


@dataclass(frozen=True)
class Candidate:
    """One labelled list: where its label and its list stand, its items, what was mended in it."""

    kind: Kind
    start: int
    end: int
    items: list[Any]
    repairs: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """The three lists. ``start`` is where their first label stands; ``skipped`` counts later candidates."""

    workers: list[Any]
    instructions: list[Any]
    access: list[Any]
    start: int
    repairs: tuple[str, ...] = ()
    skipped: int = 0


@dataclass(frozen=True)
class NotFound:
    """No usable set. ``lengths`` is given when a set was there whose lengths differ."""

    said: str
    lengths: tuple[int, int, int] | None = None


def find_lists(text: str) -> Found | NotFound:
    """Finds the three lists in ``text``, or says why there are none."""
    candidates, trouble = _candidates(text)
    found = _best_set(candidates)
    if isinstance(found, Found):
        return found
    if as_objects := _step_objects(text):
        return as_objects
    if found is not None:
        return found
    if trouble is not None:
        return NotFound(trouble)
    missing = [kind for kind in CANONICAL if kind not in {each.kind for each in candidates}]
    if len(missing) == 3:
        return NotFound("There is no list called model_id, subtasks or access_list.")
    return NotFound(
        f"There is no list called {' or '.join(missing)}." if missing else "No three lists belong together."
    )


def _candidates(text: str) -> tuple[list[Candidate], str | None]:
    candidates: list[Candidate] = []
    trouble: str | None = None
    at, left = 0, WORK_PER_CHARACTER * len(text) + 1000
    while found := _label.search(text, at):
        at = found.end()
        if found["open"] is None:
            continue
        begin = found.end() - 1
        kind = _kind(found["name"])
        try:
            literal = read_literal(text, begin)
        except NotALiteral as problem:
            left -= max(FALSE_START, problem.at - begin)
            trouble = f"The list {kind} cannot be read: {problem.said}."
            if left < 0:
                return candidates, "The text opens too many lists that never end."
            continue
        at = literal.end
        if isinstance(literal.value, list):
            repairs = tuple(literal.repairs)
            candidates.append(Candidate(kind, found.start(), at, literal.value, repairs))
    return candidates, trouble


def _kind(label: str) -> Kind:
    match label[0].lower():
        case "m":
            return "model_id"
        case "s":
            return "subtasks"
        case _:
            return "access_list"


def _best_set(candidates: Sequence[Candidate]) -> Found | NotFound | None:
    """The last set of equal lengths; else the last set of three, as a ``NotFound`` with its lengths."""
    runs: list[list[Candidate]] = []
    for each in candidates:
        if runs and runs[-1][0].kind == each.kind:
            runs[-1].append(each)
        else:
            runs.append([each])
    unequal: NotFound | None = None
    for in_order in (True, False):
        for first in range(len(runs) - 3, -1, -1):
            three = runs[first : first + 3]
            kinds = tuple(run[0].kind for run in three)
            if len(set(kinds)) < 3 or (kinds == CANONICAL) != in_order:
                continue
            chosen = next(_equal(three), None)
            if chosen is not None:
                return _found(chosen, candidates)
            if unequal is None:
                unequal = _unequal([run[-1] for run in three])
    return unequal


def _equal(runs: Sequence[Sequence[Candidate]]) -> Iterator[tuple[Candidate, ...]]:
    # The last few of each run are enough: a run longer than that is prose, not a plan.
    last = [run[-3:] for run in runs]
    shared = set.intersection(*({len(each.items) for each in run} for run in last))
    for choice in product(*(reversed(run) for run in last)) if shared else ():
        if len({len(each.items) for each in choice}) == 1:
            yield choice


def _found(chosen: Sequence[Candidate], candidates: Sequence[Candidate]) -> Found:
    by_kind = {each.kind: each for each in chosen}
    end = max(each.end for each in chosen)
    repairs = {name: None for each in chosen for name in each.repairs}
    return Found(
        workers=by_kind["model_id"].items,
        instructions=by_kind["subtasks"].items,
        access=by_kind["access_list"].items,
        start=min(each.start for each in chosen),
        repairs=tuple(repairs),
        skipped=sum(each.start >= end for each in candidates),
    )


def _unequal(chosen: Sequence[Candidate]) -> NotFound:
    length = {each.kind: len(each.items) for each in chosen}
    said = ", ".join(f"{kind} has {length[kind]}" for kind in CANONICAL)
    return NotFound(
        f"The lists differ in length: {said}.",
        (length["model_id"], length["subtasks"], length["access_list"]),
    )


def _step_objects(text: str) -> Found | None:
    """A list of objects, one per step. The last readable one counts."""
    best: Found | None = None
    at, left = 0, WORK_PER_CHARACTER * len(text) + 1000
    while (found := _objects.search(text, at)) and left > 0:
        try:
            literal = read_literal(text, found.start())
        except NotALiteral as problem:
            left -= max(FALSE_START, problem.at - found.start())
            at = found.start() + 1
            continue
        at = literal.end
        value = literal.value
        rows = (
            next((each for each in value.values() if isinstance(each, list)), [])
            if isinstance(value, dict)
            else value
        )
        if rows and all(isinstance(row, dict) for row in rows) and (lists := _columns(rows)):
            repairs = (*literal.repairs, "repaired_step_objects")
            best = Found(*lists, start=found.start(), repairs=repairs)
    return best


def _columns(rows: Sequence[dict[str, Any]]) -> tuple[list[Any], list[Any], list[Any]] | None:
    columns: list[list[Any]] = []
    for name, keys in _KEYS.items():
        values: list[Any] = [
            next((row[key] for key in keys if key in row), [] if name == "access" else None) for row in rows
        ]
        columns.append(values)
    workers, instructions, access = columns
    if all(value is None for value in workers) or all(value is None for value in instructions):
        return None
    return workers, instructions, access
