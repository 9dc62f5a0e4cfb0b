"""A workflow as a drawing: the live graph's coordinates and cards, and nothing that runs or loads.

Pure SVG text elements, no ``foreignObject``, so that it looks the same in a browser, an editor and a slide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conductor_client.catalogue import counted, text
from conductor_client.lanes import Lane, place_rounds
from conductor_client.layout import Box, Direction, Route, Size, curve, place
from conductor_client.run_state import Round, RunState
from conductor_client.workflow import Workflow

from .markup import Markup, el, joined
from .svg_card import Card, cards_of
from .svg_text import shortened, width, wrapped
from .svg_theme import ICON_PATHS, Theme, style

_EDGE = 32
_PAD = 16
_CARD = Size(288, 204)
"""Wide enough for a foot with all its figures; the live graph's cards are 248 to 316 px wide."""
_WIDEST = 1_700
"""A drawing that grows to the right beyond this goes down instead."""
_DASHED = ("failed", "skipped", "cancelled", "not_run")


def workflow_svg(
    workflow: Workflow,
    state: RunState | None = None,
    *,
    theme: Theme = "light",
    links: Mapping[str, str] | None = None,
) -> str:
    """The drawing as SVG text, with what the run has so far when ``state`` is given.

    ``links`` (step id → id of an element in the same page) makes each card lead there. ``auto`` follows
    what the viewer prefers and has no background of its own.
    """
    drawn = place(workflow, card=_CARD)
    if drawn.width > _WIDEST:
        drawn = place(workflow, direction="down", card=_CARD)
    routes = [*drawn.starts, *drawn.edges, *([drawn.end] if drawn.end else [])]
    inside = [*[_edge(route, drawn.direction) for route in routes], *_pills(drawn.prompt, drawn.answer)]
    inside += _cards([workflow], drawn.cards, state, links or {})
    return _document(inside, drawn.width, drawn.height, len(workflow.steps), theme)


def run_svg(state: RunState, *, theme: Theme = "light", links: Mapping[str, str] | None = None) -> str:
    """The drawing of a whole run: its workflow, or a lane for each of its rounds. It must have a workflow."""
    assert state.workflow is not None
    if len(state.rounds) < 2:
        return workflow_svg(state.workflow, state, theme=theme, links=links)
    rounds = [each.workflow for each in state.rounds]
    drawn = place_rounds(rounds, card=_CARD)
    if drawn.width > _WIDEST:
        drawn = place_rounds(rounds, direction="down", card=_CARD)
    inside = [_edge(route, drawn.direction) for route in drawn.routes]
    for each, lane in zip(state.rounds, drawn.lanes, strict=True):
        inside += [*_lane_head(each, lane, drawn.width), *_pills(lane.prompt, lane.answer)]
    workflows = [each for each in rounds if each is not None]
    inside += _cards(workflows, drawn.cards, state, links or {})
    return _document(inside, drawn.width, drawn.height, sum(len(each.steps) for each in workflows), theme)


def round_note(each: Round) -> str:
    """What is said of a round without a workflow; empty for any other."""
    if each.workflow is not None:
        return ""
    if each.decision == "keep":
        return text("graph.round_kept")
    if each.decision == "rejected":
        return text("graph.round_rejected")
    return (
        text("graph.round_failed", said=each.error.message) if each.error else text("graph.round_unfinished")
    )


def _lane_head(each: Round, lane: Lane, wide: float) -> list[Markup]:
    name = text("graph.round", n=each.round)
    left = width(name, 16, bold=True) + 12
    rule = el("path", d=f"M0 {lane.y + 30:g}H{wide:g}", class_="g-edge")
    note = _line(shortened(round_note(each), wide - left, 13.5), left, lane.y + 20, "g-note")
    return [rule, _line(name, 0, lane.y + 20, "g-name"), note]


def _cards(
    workflows: Sequence[Workflow], boxes: Sequence[Box], state: RunState | None, links: Mapping[str, str]
) -> list[Markup]:
    steps = [step for each in workflows for step in each.steps]
    said = [card for each in workflows for card in cards_of(each, state)]
    cards = []
    for step, box, words in zip(steps, boxes, said, strict=True):
        card, target = _card(box, words), links.get(step.step_id)
        cards.append(el("a", card, href=f"#{target}") if target else card)
    return cards


def _document(inside: Sequence[Markup], width_px: float, height_px: float, steps: int, theme: Theme) -> str:
    wide, high = f"{width_px + 2 * _EDGE:g}", f"{height_px + 2 * _EDGE:g}"
    return el(
        "svg",
        el("title", counted("report.drawing", steps)),
        Markup(style(theme)),
        None if theme == "auto" else el("rect", class_="g-page", width=wide, height=high),
        el("g", *inside, transform=f"translate({_EDGE} {_EDGE})"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {wide} {high}",
        width=wide,
        height=high,
        role="img",
        class_="g-root",
    )


def _edge(route: Route, direction: Direction) -> Markup:
    kind = "g-edge" if route.seen is not None and route.by is not None else "g-outer"
    x, y = route.points[-1]
    if direction == "down":
        head = f"M{x - 5:g} {y - 9:g}L{x:g} {y - 1:g}L{x + 5:g} {y - 9:g}"
    else:
        head = f"M{x - 9:g} {y - 5:g}L{x - 1:g} {y:g}L{x - 9:g} {y + 5:g}"
    line = el("path", d=curve(route, direction), class_=kind)
    return joined([line, el("path", d=head, class_=f"{kind} g-head")])


def _pills(prompt: Box | None, answer: Box | None) -> list[Markup]:
    pills = []
    for box, kind in ((prompt, "prompt"), (answer, "answer")):
        if box is not None:
            word = shortened(text(f"graph.{kind}"), box.width - 28, 13)
            left = box.x + (box.width - width(word, 13) - 20) / 2
            middle = box.y + box.height / 2
            shape = el("rect", class_="g-pill", rx=f"{box.height / 2:g}", **_place(box))
            glyph = _glyph(kind, left, middle - 8, "g-glyph")
            pills.append(joined([shape, glyph, _line(word, left + 20, middle + 4.5, "g-kind")]))
    return pills


def _place(box: Box) -> dict[str, str]:
    return {"x": f"{box.x:g}", "y": f"{box.y:g}", "width": f"{box.width:g}", "height": f"{box.height:g}"}


def _line(said: str, x: float, y: float, class_: str) -> Markup:
    return el("text", said, x=f"{x:g}", y=f"{y:g}", class_=class_)


def _glyph(name: str, x: float, y: float, class_: str) -> Markup:
    return el("path", d=ICON_PATHS[name], transform=f"translate({x:.1f} {y:.1f}) scale(.75)", class_=class_)


def _card(box: Box, said: Card) -> Markup:
    x, y, room = box.x + _PAD, box.y, box.width - 2 * _PAD
    dashed = " g-dashed" if said.status in _DASHED else ""
    border = f" g-{said.status}-line" if said.status in ("failed", "running") else ""
    lines = wrapped(said.instruction, room, 14.5, most=2)
    top, bottom = y + 66 + 20 * max(1, len(lines)), y + box.height - 38
    foot = shortened(" · ".join(said.foot), room, 13)
    return el(
        "g",
        el("rect", class_=f"g-card{border}{dashed}", rx="14", **_place(box)),
        *_head(box, said),
        *[_line(line, x, y + 71 + 20 * row, "g-said") for row, line in enumerate(lines)],
        *_body(said, Box(None, x, top, room, bottom - top)),
        _line(foot, x, y + box.height - 15, "g-foot") if foot else None,
        _line(said.tag, x + room, y - 6, "g-tag") if said.tag else None,
    )


def _head(box: Box, said: Card) -> list[Markup]:
    """Number, worker, and below it the status with the time."""
    x, y, room = box.x + _PAD, box.y, box.width - 2 * _PAD
    left = x + 40
    time = f"· {said.time}" if said.time else ""
    return [
        el("circle", cx=f"{x + 15:g}", cy=f"{y + 31:g}", r="15", class_=f"g-badge g-{said.status}-fill"),
        _line(str(said.number), x + 15, y + 36, f"g-number g-{said.status}-fill"),
        _line(shortened(said.worker, room - 40, 16, bold=True), left, y + 28, "g-name"),
        _glyph(said.status, left - 1, y + 34, f"g-glyph g-{said.status}-line"),
        _line(said.word, left + 20, y + 46.5, f"g-word g-{said.status}-fill"),
        _line(time, left + 26 + width(said.word, 13), y + 46.5, "g-foot"),
    ]


def _body(said: Card, box: Box) -> list[Markup]:
    """The lower half of a card: our note, and the worker's text in a well."""
    most = int((box.height - 14) // 19)
    room = box.width - 20 if said.body else box.width
    notes = wrapped(said.note, room, 13.5, most=1 if said.body else most)
    texts = wrapped(said.body, room, 13.5, most=max(1, most - len(notes)))
    parts = [el("rect", class_="g-well", rx="9", **_place(box))] if said.body else []
    left = box.x + (10 if said.body else 0)
    rows = [(line, "g-note g-bad" if said.is_bad else "g-note") for line in notes]
    rows += [(line, "g-text") for line in texts]
    return parts + [_line(line, left, box.y + 19 + 19 * row, kind) for row, (line, kind) in enumerate(rows)]
