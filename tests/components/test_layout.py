"""The layout: one drawing in Python and JavaScript, no edge under a card, stable, quick."""

from __future__ import annotations

import time
from typing import Any, get_args

import pytest

from conductor_client.lanes import HEAD, place_rounds
from conductor_client.layout import Box, Direction, Layout, Route, curve, place
from conductor_client.workflow import Workflow

from .node import run_node
from .workflows import SHAPES, random_workflow, workflow_from

DIRECTIONS = get_args(Direction)
NAMED = [workflow_from(access) for access in SHAPES.values()]
RANDOM = [
    random_workflow(seed, steps=1 + seed % 14, density=(0.05, 0.15, 0.3, 0.6)[seed % 4])
    for seed in range(120)
] + [random_workflow(seed, steps=60, density=0.04 * (1 + seed)) for seed in range(4)]


def box_json(box: Box | None) -> dict[str, Any] | None:
    return None if box is None else box._asdict()


def route_json(route: Route | None) -> dict[str, Any] | None:
    return None if route is None else {**route._asdict(), "points": [list(point) for point in route.points]}


def layout_json(layout: Layout) -> dict[str, Any]:
    return {
        "direction": layout.direction,
        "width": layout.width,
        "height": layout.height,
        "cards": [box_json(box) for box in layout.cards],
        "edges": [route_json(route) for route in layout.edges],
        "prompt": box_json(layout.prompt),
        "answer": box_json(layout.answer),
        "starts": [route_json(route) for route in layout.starts],
        "end": route_json(layout.end),
    }


@pytest.mark.node
def test_python_and_javascript_draw_the_same() -> None:
    cases = []
    for at, workflow in enumerate([*NAMED, *RANDOM]):
        for direction in DIRECTIONS:
            layout = place(workflow, direction=direction, ends=at % 3 != 0)
            cases.append(
                {
                    "workflow": workflow.model_dump(mode="json"),
                    "direction": direction,
                    "ends": at % 3 != 0,
                    "layout": layout_json(layout),
                    "curves": [curve(route, direction) for route in layout.edges],
                }
            )
    rounds = [_rounds_case(at, direction) for at in range(0, len(RANDOM), 3) for direction in DIRECTIONS]
    said = run_node("check_layout.mjs", given={"layouts": cases, "rounds": rounds})
    assert said == f"{len(cases)} layouts and {len(rounds)} drawings of rounds agree\n"


def _rounds_case(at: int, direction: Direction) -> dict[str, Any]:
    workflows = [RANDOM[at], None, RANDOM[(at + 1) % len(RANDOM)]][: 2 + at % 2]
    lanes = place_rounds(workflows, direction=direction)
    return {
        "workflows": [each and each.model_dump(mode="json") for each in workflows],
        "direction": direction,
        "lanes": {
            "direction": lanes.direction,
            "width": lanes.width,
            "height": lanes.height,
            "cards": [box_json(box) for box in lanes.cards],
            "routes": [route_json(route) for route in lanes.routes],
            "lanes": [
                {
                    "y": each.y,
                    "height": each.height,
                    "prompt": box_json(each.prompt),
                    "answer": box_json(each.answer),
                }
                for each in lanes.lanes
            ],
        },
    }


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_round_stays_in_its_own_lane(direction: Direction) -> None:
    workflows = [NAMED[1], None, NAMED[2]]
    lanes = place_rounds(workflows, direction=direction)
    first, kept, last = lanes.lanes
    assert first.y + first.height < kept.y and kept.y + kept.height < last.y
    assert last.y + last.height == lanes.height
    for at, lane in ((0, first), (2, last)):
        workflow = workflows[at]
        assert workflow is not None
        offset = 0 if at == 0 else len(NAMED[1].steps)
        for box in lanes.cards[offset : offset + len(workflow.steps)]:
            assert lane.y + HEAD <= box.y and box.y + box.height <= lane.y + lane.height
            assert box.x >= 0 and box.x + box.width <= lanes.width


def pieces(route: Route, direction: Direction) -> list[tuple[float, float, float, float]]:
    """Bounding boxes of a route's segments; a curve runs monotonously between its ends, inside its box."""
    pairs = zip(route.points, route.points[1:], strict=False)
    return [(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])) for a, b in pairs]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_no_edge_runs_under_a_card_and_no_two_cards_touch(direction: Direction) -> None:
    for workflow in [*NAMED, *RANDOM]:
        layout = place(workflow, direction=direction)
        boxes = [*layout.cards, layout.prompt, layout.answer]
        assert all(box is not None for box in boxes)
        for at, box in enumerate(boxes):
            assert box.x >= 0 and box.y >= 0
            assert box.x + box.width <= layout.width and box.y + box.height <= layout.height
            for other in boxes[:at]:
                apart_x = box.x >= other.x + other.width or other.x >= box.x + box.width
                apart_y = box.y >= other.y + other.height or other.y >= box.y + box.height
                assert apart_x or apart_y, (workflow, box, other)
        for route in [*layout.edges, *layout.starts, layout.end]:
            for low_x, low_y, high_x, high_y in pieces(route, direction):
                for box in boxes:
                    inside_x = high_x > box.x and low_x < box.x + box.width
                    inside_y = high_y > box.y and low_y < box.y + box.height
                    assert not (inside_x and inside_y), (route, box)


def test_every_edge_starts_at_what_is_seen_and_ends_at_the_reader() -> None:
    for workflow in NAMED:
        layout = place(workflow)
        boxes = {box.step_id: box for box in layout.cards}
        for route in layout.edges:
            seen, by = boxes[route.seen], boxes[route.by]
            assert route.points[0] == (seen.x + seen.width, seen.y + seen.height / 2)
            assert route.points[-1][0] == by.x and by.y < route.points[-1][1] < by.y + by.height


def test_a_chain_is_drawn_as_one_straight_line() -> None:
    layout = place(workflow_from(SHAPES["chain"]))
    assert len({box.y for box in layout.cards}) == 1
    assert all(len(route.points) == 2 and route.points[0][1] == route.points[1][1] for route in layout.edges)


def test_the_same_workflow_is_placed_the_same_every_time() -> None:
    for workflow in RANDOM[:20]:
        assert place(workflow) == place(Workflow.model_construct(**dict(workflow)))


def test_an_added_last_step_leaves_a_chain_where_it_was() -> None:
    before = place(workflow_from(SHAPES["chain"]))
    after = place(workflow_from([*SHAPES["chain"], [4]]))
    assert after.cards[:5] == before.cards


def test_disconnected_parts_are_packed_and_not_one_tall_column() -> None:
    layout = place(workflow_from([[] for _ in range(12)]), ends=False)
    assert layout.height < 6 * 204
    assert len({box.x for box in layout.cards}) > 1


def test_sixty_steps_take_less_than_fifty_milliseconds() -> None:
    workflow = random_workflow(1, steps=60, density=0.15)
    took = []
    for _ in range(5):
        start = time.process_time()  # a busy machine does not count
        place(workflow)
        took.append(time.process_time() - start)
    assert min(took) < 0.05
