"""Rounds as lanes: each round's workflow drawn on its own, one below another, under a head with its name.

Composed of what ``layout.place`` gives for each workflow. A round without one (the answer was kept, or no
plan came) is a head alone. The browser's twin is ``components/workflow_graph/assets/lanes.js``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .layout import CARD, PILL, Box, Direction, Layout, Route, Size, place
from .workflow import Workflow

HEAD = 40
LANE_GAP = 24


class Lane(NamedTuple):
    """One round's strip, head included, in px; ``prompt`` and ``answer`` are its own pills."""

    y: float
    height: float
    prompt: Box | None
    answer: Box | None


class Lanes(NamedTuple):
    """All rounds in one drawing. ``routes`` hold every edge, those of the pills included."""

    direction: Direction
    width: float
    height: float
    cards: tuple[Box, ...]
    routes: tuple[Route, ...]
    lanes: tuple[Lane, ...]


def place_rounds(
    workflows: Sequence[Workflow | None],
    *,
    direction: Direction = "right",
    card: Size = CARD,
    pill: Size = PILL,
) -> Lanes:
    """Lays the workflows of a run's rounds out, in their order; at least one is needed."""
    drawn = [
        None if each is None else place(each, direction=direction, card=card, pill=pill) for each in workflows
    ]
    width = max(each.width for each in drawn if each is not None)
    cards: list[Box] = []
    routes: list[Route] = []
    lanes: list[Lane] = []
    y = 0.0
    for each in drawn:
        height = HEAD + (each.height if each else 0)
        if each is None:
            lanes.append(Lane(y, height, None, None))
        else:
            # One below another, cards stand in one column however many lines pass on their left.
            x = width - each.width if direction == "stack" else 0
            moved = _moved(each, x, y + HEAD)
            cards += moved.cards
            routes += [*moved.starts, *moved.edges, *([moved.end] if moved.end else [])]
            lanes.append(Lane(y, height, moved.prompt, moved.answer))
        y += height + LANE_GAP
    return Lanes(direction, width, y - LANE_GAP, tuple(cards), tuple(routes), tuple(lanes))


def _moved(layout: Layout, x: float, y: float) -> Layout:
    def box(one: Box) -> Box:
        return one._replace(x=one.x + x, y=one.y + y)

    def route(one: Route) -> Route:
        return one._replace(points=tuple((left + x, top + y) for left, top in one.points))

    return layout._replace(
        cards=tuple(box(each) for each in layout.cards),
        edges=tuple(route(each) for each in layout.edges),
        prompt=box(layout.prompt) if layout.prompt else None,
        answer=box(layout.answer) if layout.answer else None,
        starts=tuple(route(each) for each in layout.starts),
        end=route(layout.end) if layout.end else None,
    )
