"""From a drawn graph to ordered steps: what Mermaid and DOT share once their text is understood."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence

from conductor_client.plan import Diagnostic

from .result import Format, Imported, ImportedStep, checked, refused

_OURS = re.compile(r"\d+ · (?P<worker>.+)", re.DOTALL)


def step_of(lines: Sequence[str]) -> tuple[str | None, str]:
    """Worker and instruction of a label: ``number · worker`` over the instruction, else instruction only."""
    head = _OURS.fullmatch(lines[0]) if len(lines) > 1 else None
    if head is None:
        return None, "\n".join(lines)
    return head["worker"], "\n".join(lines[1:])


def workflow_of_graph(
    format: Format,
    labels: Mapping[str, Sequence[str]],
    edges: Sequence[tuple[str, str]],
    noticed: Sequence[Diagnostic],
) -> Imported:
    """Orders the nodes so that each comes after what it sees, else as they appear. Refuses a cycle."""
    names = list(labels)
    place = {name: number for number, name in enumerate(names)}
    sees: dict[int, set[int]] = {number: set() for number in range(len(names))}
    for seen, by in edges:
        sees[place[by]].add(place[seen])
    order = _sorted(sees)
    if len(order) < len(names):
        ring = " → ".join(names[number] for number in _cycle(sees, set(order)))
        said = f"The arrows go round in a circle: {ring}. A step sees earlier steps only."
        return refused(format, "bad_access", ring[:200], said, *noticed)
    told = list(noticed)
    if order != sorted(order):
        said = "Steps were put in an order in which each comes after those it sees."
        told.append(Diagnostic(code="repaired_order", where="the whole text", said=said))
    new_place = {number: position for position, number in enumerate(order)}
    steps = []
    for number in order:
        worker, instruction = step_of(labels[names[number]])
        access = tuple(sorted(new_place[seen] for seen in sees[number]))
        steps.append(ImportedStep(worker, instruction, access))
    return checked(format, steps, told)


def _sorted(sees: Mapping[int, set[int]]) -> list[int]:
    readers: dict[int, list[int]] = {number: [] for number in sees}
    missing = {number: len(seen) for number, seen in sees.items()}
    for number, seen in sees.items():
        for each in seen:
            readers[each].append(number)
    ready = [number for number, count in missing.items() if not count]
    order = []
    while ready:
        number = heapq.heappop(ready)
        order.append(number)
        for reader in readers[number]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, reader)
    return order


def _cycle(sees: Mapping[int, set[int]], sorted_out: set[int]) -> list[int]:
    walk = next(number for number in sees if number not in sorted_out)
    trail: list[int] = []
    while walk not in trail:
        trail.append(walk)
        walk = min(seen for seen in sees[walk] if seen not in sorted_out)
    ring = [*trail[trail.index(walk) :], walk]
    return ring[::-1]
