"""Layered drawing of one connected part: which layer, which order in it, how far along it.

Axis-neutral: a layer is a column or a row, "along" runs inside it. Whole numbers and IEEE division only,
in a fixed order, so that ``components/workflow_graph/assets/layering.js`` gives the very same figures.
An edge over several layers bends around the cards between: it gets a bend in each of those layers,
and all edges of one source share its bends, so that a step many others see draws one rail, not a fan.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

CARD_GAP = 28
"""Least distance of two cards in a layer, in px; a bend keeps less."""
BEND_GAP = 16
BEND_SIZE = 4
SWEEPS = 8
PASSES = 6


@dataclass
class Node:
    """A card, the answer's pill (``size`` smaller) or a bend. ``along`` is the centre, in px."""

    layer: int
    size: int
    is_card: bool
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    along: float = 0.0


@dataclass
class Part:
    """Nodes of one connected part; ``rows`` are node numbers by layer, in order along it."""

    nodes: list[Node]
    rows: list[list[int]]
    bends: dict[tuple[int, int], int]
    """(source node, layer) → its bend there."""


def build(depths: Sequence[int], access: Sequence[Sequence[int]], sizes: Sequence[int]) -> Part:
    """A part from its cards: their layers, whom each sees (numbers of earlier cards), sizes along."""
    nodes = [Node(layer=depth, size=size, is_card=True) for depth, size in zip(depths, sizes, strict=True)]
    rows: list[list[int]] = [[] for _ in range(1 + max(depths))]
    for number, node in enumerate(nodes):
        rows[node.layer].append(number)
    part = Part(nodes, rows, {})
    for reader, seen in enumerate(access):
        for source in seen:
            _join(part, source, reader)
    return part


def _join(part: Part, source: int, reader: int) -> None:
    last = source
    for layer in range(part.nodes[source].layer + 1, part.nodes[reader].layer):
        bend = part.bends.get((source, layer))
        if bend is None:
            bend = len(part.nodes)
            part.nodes.append(Node(layer=layer, size=BEND_SIZE, is_card=False))
            part.rows[layer].append(bend)
            part.bends[source, layer] = bend
            _link(part, last, bend)
        last = bend
    _link(part, last, reader)


def _link(part: Part, upper: int, lower: int) -> None:
    part.nodes[upper].after.append(lower)
    part.nodes[lower].before.append(upper)


def order(part: Part) -> None:
    """Sorts each row so that few edges cross. The order given is kept where nothing is won."""
    best = [list(row) for row in part.rows]
    fewest = _crossings(part)
    for sweep in range(SWEEPS):
        if fewest == 0:
            break
        forth = sweep % 2 == 0
        layers = range(1, len(part.rows)) if forth else range(len(part.rows) - 2, -1, -1)
        for layer in layers:
            _sort_row(part, layer, forth)
        count = _crossings(part)
        if count < fewest:
            fewest, best = count, [list(row) for row in part.rows]
    part.rows[:] = best


def _sort_row(part: Part, layer: int, forth: bool) -> None:
    row = part.rows[layer]
    beside = part.rows[layer - 1 if forth else layer + 1]
    place = {number: at for at, number in enumerate(beside)}
    keyed = []
    for at, number in enumerate(row):
        near = part.nodes[number].before if forth else part.nodes[number].after
        if near:
            keyed.append((sum(place[other] for other in near) / len(near), at, number))
    slots = sorted(at for _, at, _ in keyed)
    for slot, (_, _, number) in zip(slots, sorted(keyed), strict=True):
        row[slot] = number


def _crossings(part: Part) -> int:
    total = 0
    for upper, lower in pairwise(part.rows):
        place = {number: at for at, number in enumerate(lower)}
        ends: list[int] = []
        for number in upper:
            targets = sorted(place[other] for other in part.nodes[number].after)
            total += sum(len(ends) - bisect_right(ends, target) for target in targets)
            for target in targets:
                insort(ends, target)
    return total


def align(part: Part) -> None:
    """Gives each node its ``along``: cards in line with what they see and who sees them, bends yield."""
    for row in part.rows:
        _spread(part, row)
    for turn in range(PASSES):
        forth = turn % 2 == 0
        layers = range(1, len(part.rows)) if forth else range(len(part.rows) - 2, -1, -1)
        for layer in layers:
            _align_row(part, part.rows[layer], forth)
    for node in part.nodes:
        node.along = float(int(node.along + 1_000_000.5) - 1_000_000)


def _spread(part: Part, row: Sequence[int]) -> None:
    starts = _offsets(part, row)
    for number, start in zip(row, starts, strict=True):
        part.nodes[number].along = start - starts[-1] / 2


def _offsets(part: Part, row: Sequence[int]) -> list[float]:
    """Least distance of each node in the row from its first one."""
    offsets = [0.0]
    for one, other in pairwise(row):
        left, right = part.nodes[one], part.nodes[other]
        gap = CARD_GAP if left.is_card and right.is_card else BEND_GAP
        offsets.append(offsets[-1] + (left.size + right.size) / 2 + gap)
    return offsets


def _align_row(part: Part, row: Sequence[int], forth: bool) -> None:
    offsets = _offsets(part, row)
    wish = [_wish(part, number, forth) - offset for number, offset in zip(row, offsets, strict=True)]
    cards = [at for at, number in enumerate(row) if part.nodes[number].is_card]
    placed = dict(zip(cards, _monotone([wish[at] for at in cards]), strict=True))
    for first, last in zip([-1, *cards], [*cards, len(row)], strict=True):
        between = range(first + 1, last)
        low, high = placed.get(first), placed.get(last)
        for at, value in zip(between, _monotone([wish[at] for at in between]), strict=True):
            above = value if low is None else max(low, value)
            placed[at] = above if high is None else min(high, above)
    for at, number in enumerate(row):
        part.nodes[number].along = placed[at] + offsets[at]


def _wish(part: Part, number: int, forth: bool) -> float:
    """The weighted median of the neighbours, so that most edges come out straight."""
    node = part.nodes[number]
    near = node.before if forth else node.after
    if not near:
        return node.along
    weighed = sorted((part.nodes[other].along, 4 if part.nodes[other].is_card else 1) for other in near)
    half = sum(weight for _, weight in weighed)
    reached = 0
    for at, (along, weight) in enumerate(weighed):
        reached += 2 * weight
        if reached == half:
            return (along + weighed[at + 1][0]) / 2
        if reached > half:
            return along
    raise AssertionError("the last weight reaches half")


def _monotone(values: Iterable[float]) -> list[float]:
    """The nearest non-decreasing row of numbers (least squares, pool adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before, size = blocks.pop()
            total, count = before + total, size + count
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]
