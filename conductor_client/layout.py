"""Where each card and edge of a workflow goes: pure arithmetic, the same figures as the live graph's.

``right`` puts layers into columns, ``down`` into rows, ``stack`` all cards one below another with the
edges in a gutter on the left (narrow screens). A prompt's pill starts the drawing, an answer's pill ends
it. No edge runs under a card. Nothing here knows colours or text. The browser's twin is
``components/workflow_graph/assets/layout.js``; a test holds the two together.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from . import layering, topology
from .workflow import Workflow

Direction = Literal["right", "down", "stack"]
Point = tuple[float, float]

LAYER_GAP = 52
END_GAP = 34
PART_GAP = 44
STACK_GAP = 36
LANE = 14
LEAST_LANE = 5
MOST_GUTTER = 112
GUTTER = 18
PORT_STEP = 16
PORT_MARGIN = 48


class Size(NamedTuple):
    """Width and height in px."""

    width: int
    height: int


CARD = Size(264, 220)
PILL = Size(90, 34)


class Box(NamedTuple):
    """A card or pill; ``x``, ``y`` is its upper left corner, in px from the drawing's."""

    step_id: str | None
    x: float
    y: float
    width: float
    height: float


class Route(NamedTuple):
    """An edge from ``seen`` to ``by`` (``None`` = the prompt's or the answer's pill), as points."""

    seen: str | None
    by: str | None
    points: tuple[Point, ...]


class Layout(NamedTuple):
    """A placed workflow. ``starts`` join the prompt to steps that see nothing else, ``end`` the answer."""

    direction: Direction
    width: float
    height: float
    cards: tuple[Box, ...]
    edges: tuple[Route, ...]
    prompt: Box | None
    answer: Box | None
    starts: tuple[Route, ...]
    end: Route | None


def place(
    workflow: Workflow,
    *,
    direction: Direction = "right",
    card: Size = CARD,
    pill: Size = PILL,
    ends: bool = True,
) -> Layout:
    """Lays a workflow out. ``ends=False`` leaves the prompt's and the answer's pill away."""
    if direction == "stack":
        return _stack(workflow, card, pill, ends)
    turned = direction == "down"
    along = (card.width, pill.width) if turned else (card.height, pill.height)
    across = (card.height, pill.height) if turned else (card.width, pill.width)
    placed = _Packed(workflow, along, across, ends)
    return _drawn(workflow, placed, along, across, ends, turned)


def curve(route: Route, direction: Direction) -> str:
    """The route as an SVG path. Smooth between layers, straight beside cards."""
    (x, y), *rest = route.points
    path = f"M{_figure(x)} {_figure(y)}"
    if direction == "stack" and len(rest) == 3:
        return path + _bracket(y, rest[0][0], rest[2][0], rest[2][1])
    for next_x, next_y in rest:
        if x == next_x or y == next_y:
            path += f"L{_figure(next_x)} {_figure(next_y)}"
        elif direction == "right":
            middle = (x + next_x) / 2
            path += "C" + _figures(middle, y, middle, next_y, next_x, next_y)
        else:
            middle = (y + next_y) / 2
            path += "C" + _figures(x, middle, next_x, middle, next_x, next_y)
        x, y = next_x, next_y
    return path


def _bracket(y: float, lane: float, end_x: float, end_y: float) -> str:
    corner = 8
    return (
        f"H{_figure(lane + corner)}Q{_figures(lane, y, lane, y + corner)}V{_figure(end_y - corner)}"
        f"Q{_figures(lane, end_y, lane + corner, end_y)}H{_figure(end_x)}"
    )


def _figure(value: float) -> str:
    return f"{value:.0f}" if value == math.floor(value) else f"{value:.2f}"


def _figures(*values: float) -> str:
    return " ".join(_figure(value) for value in values)


class _Packed:
    """Every part laid out and put on shelves: ``at[step]`` and ``bend_at`` in across/along terms."""

    def __init__(
        self, workflow: Workflow, along: tuple[int, int], across: tuple[int, int], ends: bool
    ) -> None:
        self.workflow = workflow
        self.depth = {step_id: row for row, ids in enumerate(topology.layers(workflow)) for step_id in ids}
        self.at: dict[str | None, tuple[float, float]] = {}
        """Step id, or ``None`` for the answer → where its layer starts, and its centre along the layer."""
        self.bends: dict[tuple[str, int], tuple[float, float, float]] = {}
        """(source, layer) → start and end of the layer there, and the bend's centre along it."""
        self.first: set[str] = set()
        """Steps in the leftmost column, which the prompt can be joined to."""
        drawn = [self._part(ids, along, across, ends) for ids in _parts(workflow)]
        self._shelve(drawn)

    def _part(self, ids: list[str], along: tuple[int, int], across: tuple[int, int], ends: bool) -> _Drawn:
        number = {step_id: at for at, step_id in enumerate(ids)}
        depths = [self.depth[step_id] for step_id in ids]
        access = [[number[seen] for seen in self.workflow.step(step_id).access] for step_id in ids]
        sizes = [along[0]] * len(ids)
        final = self.workflow.final_step.step_id
        if ends and final in number:
            depths.append(depths[number[final]] + 1)
            access.append([number[final]])
            sizes.append(along[1])
        part = layering.build(depths, access, sizes)
        layering.order(part)
        layering.align(part)
        starts, start = [], 0
        for row in part.rows:
            starts.append(start)
            holds_cards = any(part.nodes[each].is_card and each < len(ids) for each in row)
            start += across[0 if holds_cards else 1] + LAYER_GAP
        low = min(node.along - node.size / 2 for node in part.nodes)
        high = max(node.along + node.size / 2 for node in part.nodes)
        return _Drawn(ids, part, [*starts, start], low, start - LAYER_GAP, high - low)

    def _shelve(self, drawn: list[_Drawn]) -> None:
        area = sum((each.across + PART_GAP) * (each.along + PART_GAP) for each in drawn)
        room = max(max(each.across for each in drawn), math.sqrt(area * 1.6))
        self.across, self.along = 0.0, 0.0
        x, y, shelf = 0.0, 0.0, 0.0
        for each in drawn:
            if x > 0 and x + each.across > room:
                x, y, shelf = 0.0, y + shelf + PART_GAP, 0.0
            self._put(each, x, y)
            self.across, self.along = max(self.across, x + each.across), max(self.along, y + each.along)
            x, shelf = x + each.across + LAYER_GAP, max(shelf, each.along)

    def _put(self, drawn: _Drawn, x: float, y: float) -> None:
        for number, node in enumerate(drawn.part.nodes):
            if node.is_card:
                step_id = drawn.ids[number] if number < len(drawn.ids) else None
                self.at[step_id] = (x + drawn.starts[node.layer], y + node.along - drawn.low)
                if x == 0 and node.layer == 0 and step_id is not None:
                    self.first.add(step_id)
        for (source, layer), bend in drawn.part.bends.items():
            start, end = drawn.starts[layer], drawn.starts[layer + 1] - LAYER_GAP
            centre = y + drawn.part.nodes[bend].along - drawn.low
            self.bends[drawn.ids[source], layer] = (x + start, x + end, centre)


class _Drawn(NamedTuple):
    ids: list[str]
    part: layering.Part
    starts: list[int]
    low: float
    across: float
    along: float


def _parts(workflow: Workflow) -> list[list[str]]:
    """Step ids of each connected part; parts by their first step, steps by position."""
    label = {step.step_id: step.position for step in workflow.steps}
    for step in workflow.steps:
        for seen in step.access:
            old, new = sorted((label[seen], label[step.step_id]), reverse=True)
            if old != new:
                label = {step_id: new if mark == old else mark for step_id, mark in label.items()}
    groups: dict[int, list[str]] = {}
    for step in workflow.steps:
        groups.setdefault(label[step.step_id], []).append(step.step_id)
    return [groups[mark] for mark in sorted(groups)]


def _drawn(
    workflow: Workflow,
    placed: _Packed,
    along: tuple[int, int],
    across: tuple[int, int],
    ends: bool,
    turned: bool,
) -> Layout:
    shift = across[1] + END_GAP if ends else 0

    def box(step_id: str | None, start: float, centre: float, which: int) -> Box:
        x, y, width, height = start, centre - along[which] / 2, across[which], along[which]
        return Box(step_id, y, x, height, width) if turned else Box(step_id, x, y, width, height)

    def route(seen: str | None, by: str | None, points: list[Point]) -> Route:
        return Route(seen, by, tuple((y, x) for x, y in points) if turned else tuple(points))

    place_of = {step_id: (start + shift, centre) for step_id, (start, centre) in placed.at.items()}
    cards = tuple(box(step.step_id, *place_of[step.step_id], 0) for step in workflow.steps)
    edges = []
    for step in workflow.steps:
        start, centre = place_of[step.step_id]
        lines = [_line(placed, place_of, seen, step.step_id, shift, across[0]) for seen in step.access]
        ports = _ports([line[-1][1] for line in lines], centre, along[0])
        for seen, line, port in zip(step.access, lines, ports, strict=True):
            edges.append(route(seen, step.step_id, [*line, (start, port)]))
    reach, breadth = int(placed.across + shift), int(placed.along)
    width, height = (breadth, reach) if turned else (reach, breadth)
    direction: Direction = "down" if turned else "right"
    if not ends:
        return Layout(direction, width, height, cards, tuple(edges), None, None, (), None)
    roots = [step.step_id for step in workflow.steps if step.step_id in placed.first and not step.access]
    centres = [place_of[each][1] for each in roots]
    middle = math.floor((min(centres) + max(centres)) / 2)
    starts = [route(None, each, [(across[1], middle), place_of[each]]) for each in roots]
    final = workflow.final_step.step_id
    last = place_of[final]
    end = route(final, None, [(last[0] + across[0], last[1]), place_of[None]])
    prompt, answer = box(None, 0, middle, 1), box(None, *place_of[None], 1)
    return Layout(direction, width, height, cards, tuple(edges), prompt, answer, tuple(starts), end)


def _line(
    placed: _Packed,
    place_of: dict[str | None, tuple[float, float]],
    seen: str,
    by: str,
    shift: int,
    size: int,
) -> list[Point]:
    """From the seen card's port through its bends, up to the gap before the reader."""
    start, centre = place_of[seen]
    points = [(start + size, centre)]
    for layer in range(placed.depth[seen] + 1, placed.depth[by]):
        bend_start, bend_end, along = placed.bends[seen, layer]
        points += [(bend_start + shift, along), (bend_end + shift, along)]
    return points


def _ports(arrivals: list[float], centre: float, size: int) -> list[float]:
    """Where each edge meets its reader: in order of arrival, a straight one at the middle."""
    count = len(arrivals)
    if count < 2:
        return [centre] * count
    step = min(PORT_STEP, 2 * ((size - PORT_MARGIN) // (2 * (count - 1))))
    ranked = sorted(range(count), key=lambda at: (arrivals[at], at))
    straight = [rank for rank, at in enumerate(ranked) if arrivals[at] == centre]
    middle = (count - 1) / 2
    if straight and 2 * max(straight[0], count - 1 - straight[0]) * step <= size - PORT_MARGIN:
        middle = straight[0]
    ports = [0.0] * count
    for rank, at in enumerate(ranked):
        ports[at] = centre + (rank - middle) * step
    return ports


def _stack(workflow: Workflow, card: Size, pill: Size, ends: bool) -> Layout:
    lanes = _lanes(workflow)
    count = max(lanes.values(), default=-1) + 1
    lane_step = max(LEAST_LANE, min(LANE, MOST_GUTTER // max(1, count)))
    left = GUTTER + lane_step * count if lanes else 0
    top = pill.height + STACK_GAP if ends else 0
    tops = {step.step_id: top + step.position * (card.height + STACK_GAP) for step in workflow.steps}
    cards = tuple(Box(step_id, left, y, card.width, card.height) for step_id, y in tops.items())
    middle = left + card.width / 2
    before = {step.step_id: workflow.steps[step.position - 1].step_id for step in workflow.steps[1:]}
    edges = []
    for step in workflow.steps:
        y = tops[step.step_id]
        around = [seen for seen in step.access if seen != before.get(step.step_id)]
        around.sort(key=lambda seen: lanes[seen])
        entry = {seen: y + 26 + LANE * at for at, seen in enumerate(around)}
        for seen in step.access:
            leaves = tops[seen] + card.height
            if seen not in entry:
                points: tuple[Point, ...] = ((middle, leaves), (middle, y))
            else:
                lane, out = left - GUTTER - lane_step * lanes[seen], leaves - 26
                points = ((left, out), (lane, out), (lane, entry[seen]), (left, entry[seen]))
            edges.append(Route(seen, step.step_id, points))
    bottom = top + len(cards) * (card.height + STACK_GAP)
    width = left + card.width
    if not ends:
        return Layout("stack", width, bottom - STACK_GAP, cards, tuple(edges), None, None, (), None)
    prompt = Box(None, middle - pill.width / 2, 0, pill.width, pill.height)
    answer = Box(None, middle - pill.width / 2, bottom, pill.width, pill.height)
    first, final = workflow.steps[0].step_id, workflow.final_step.step_id
    starts = (Route(None, first, ((middle, pill.height), (middle, top))),)
    end = Route(final, None, ((middle, bottom - STACK_GAP), (middle, bottom)))
    return Layout("stack", width, bottom + pill.height, cards, tuple(edges), prompt, answer, starts, end)


def _lanes(workflow: Workflow) -> dict[str, int]:
    """A gutter lane for each step that a step other than the next one sees; short ones nearest."""
    reach: dict[str, int] = {}
    for step in workflow.steps:
        for seen in step.access:
            if workflow.step(seen).position + 1 < step.position:
                reach[seen] = step.position
    place = {step.step_id: step.position for step in workflow.steps}
    spans = sorted((last - place[seen], place[seen], seen) for seen, last in reach.items())
    taken: list[list[tuple[int, int]]] = []
    lanes: dict[str, int] = {}
    for length, start, seen in spans:
        lane = 0
        while lane < len(taken) and any(start < high and low < start + length for low, high in taken[lane]):
            lane += 1
        if lane == len(taken):
            taken.append([])
        taken[lane].append((start, start + length))
        lanes[seen] = lane
    return lanes
