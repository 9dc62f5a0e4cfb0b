"""A run as one HTML file that explains itself: no script, no request, light and dark, good on paper.

The page forbids itself everything but its own style, so that even a mistake of ours in escaping could
not run or load anything.
"""

from __future__ import annotations

from pathlib import Path

from conductor_client import topology
from conductor_client.catalogue import counted, text
from conductor_client.figures import run_cost, tokens, total_tokens, usd
from conductor_client.run_state import GIVEN, RunState
from conductor_client.usage import sum_usage
from conductor_client.workflow import Workflow

from . import figures, markdown
from .markup import Markup, el, joined, pre
from .report_plan import lineage_section, plan_section, table
from .report_step import folded, long_text, status_tag, step_section
from .svg import round_note, workflow_svg

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = Path(__file__).with_name("report.css")
_TITLE_CHARS = 140


def run_report(state: RunState) -> str:
    """The whole report as HTML text."""
    title = title_of(state.prompt)
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", f"{title} · {text('report.brand')}"),
        el("style", Markup(_STYLE.read_text(encoding="utf-8"))),
    )
    body = el("body", el("main", *_sections(state, title)))
    return "<!doctype html>\n" + el("html", head, body, lang="en")


def _sections(state: RunState, title: str) -> list[Markup | None]:
    rounds = [(each.round, each.workflow) for each in state.rounds if each.workflow is not None]
    if not rounds and state.workflow is not None:
        rounds = [(1, state.workflow)]
    parts: list[Markup | None] = [run_head(state, title), answer_section(state), prompt_section(state)]
    for number, workflow in rounds:
        parts += _round(state, workflow, number if len(rounds) > 1 else None)
    parts += [
        _titled_text(text("graph.round", n=each.round), el("p", said, class_="note"))
        for each in state.rounds
        if (said := round_note(each))
    ]
    plans = [(each.round, each.plan) for each in state.rounds if each.plan is not None]
    if not plans and state.plan is not None:
        plans = [(1, state.plan)]
    for number, plan in plans:
        title = text("report.plan.title") if len(plans) == 1 else text("report.plan.of_round", n=number)
        parts.append(_titled_text(title, plan_section(plan, state)))
    return [
        *parts,
        _titled("report.lineage", lineage_section(state)),
        _titled("report.totals", _totals(state)),
        _titled("report.pool", _pool(state)),
        el("footer", text("report.footer", run=state.run_id)),
    ]


def _titled(key: str, section: Markup | None) -> Markup | None:
    return None if section is None else _titled_text(text(key), section)


def _titled_text(title: str, section: Markup) -> Markup:
    return joined([el("h2", title), section])


def title_of(prompt: str) -> str:
    """The prompt's first line, short enough for a heading."""
    line = next((line.strip() for line in prompt.splitlines() if line.strip()), text("report.no_prompt"))
    return line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1].rstrip() + "…"


def run_head(state: RunState, title: str, *, brand: str | None = None) -> Markup:
    """Title, status, and the run's figures as tiles."""
    used, _ = sum_usage([state.usage, state.orchestration_usage])
    tiles = [
        (text("report.tile.wall"), figures.seconds(state.wall_s)),
        (text("report.tile.critical"), figures.seconds(state.critical_path_s)),
        (text("report.tile.chained"), figures.seconds(state.chained_s)),
        (text("report.tile.tokens"), total_tokens(used, is_complete=state.complete.usage)),
        (text("report.tile.cost"), run_cost(state)),
    ]
    workflows = [each.workflow for each in state.rounds if each.workflow is not None]
    if not workflows and state.workflow is not None:
        workflows = [state.workflow]
    if workflows:
        tiles.insert(0, (text("report.tile.steps"), str(sum(len(each.steps) for each in workflows))))
    if len(state.rounds) > 1:
        tiles.insert(0, (text("report.tile.rounds"), str(len(state.rounds))))
    given = state.conductor == GIVEN
    written_by = text("common.given") if given else text("report.conductor", name=state.conductor)
    facts = [written_by, figures.moment(state.created_at), state.run_id]
    if len(workflows) == 1:
        facts.insert(0, text(f"report.topology.{topology.classify(workflows[0])}"))
    return el(
        "header",
        el("p", brand or text("report.brand"), class_="brand"),
        el("h1", title),
        el("p", status_tag(state.status, of="run"), *[el("span", fact) for fact in facts], class_="meta"),
        el("dl", *[el("div", el("dt", name), el("dd", value)) for name, value in tiles], class_="tiles"),
    )


def answer_section(state: RunState) -> Markup:
    """The answer as sanitised Markdown and raw; why there is none, if so."""
    parts: list[object] = []
    if state.error is not None:
        hint = el("p", state.error.hint) if state.error.hint else None
        parts.append(
            el("div", el("p", f"{state.error.kind}: {state.error.message}"), hint, class_="callout bad")
        )
    answer = state.final_output
    if answer is None:
        said = text("report.no_answer" if state.has_ended else "report.no_answer_yet")
        parts.append(el("div", el("p", said, class_="note"), class_="card"))
        return joined([el("h2", text("report.answer")), *parts])
    mark = el("span", text("report.partial"), class_="tag partial") if state.partial else None
    drawn = markdown.rendered(answer)
    shown = long_text(answer, "text plain") if drawn is None else Markup(drawn)
    parts.append(el("div", shown, class_="card answer"))
    if drawn is not None:
        parts.append(folded(text("report.raw"), pre(answer)))
    return joined([el("h2", text("report.answer"), " ", mark), *parts])


def prompt_section(state: RunState) -> Markup:
    """The prompt, and the conversation before it."""
    parts: list[object] = [long_text(state.prompt, "text plain")]
    if state.messages:
        said = [
            joined([el("p", each.role, class_="role"), long_text(each.content)]) for each in state.messages
        ]
        parts.append(folded(counted("report.earlier", len(state.messages)), *said))
    return joined([el("h2", text("report.prompt")), el("div", *parts, class_="card")])


def _round(state: RunState, workflow: Workflow, number: int | None) -> list[Markup | None]:
    anchors = {step.step_id: f"step-{number or 1}-{step.position + 1}" for step in workflow.steps}
    unused = topology.unused(workflow)
    graph = workflow_svg(workflow, state, theme="auto", links=anchors)
    title = text("report.graph") if number is None else text("report.graph_round", n=number)
    steps = [
        step_section(step, workflow, state, anchors=anchors, unused=step.step_id in unused)
        for step in workflow.steps
    ]
    return [
        joined([el("h2", title), el("div", Markup(graph), class_="card graph")]),
        joined([el("h2", text("report.steps")), *steps]),
    ]


def _totals(state: RunState) -> Markup:
    heads = ("who", "input", "cached", "output", "reasoning", "cost")
    rows = [
        el(
            "tr",
            *[
                el("th", text(f"report.total.{name}"), class_="n" if name != "who" else None)
                for name in heads
            ],
        )
    ]
    both, _ = sum_usage([state.usage, state.orchestration_usage])
    theirs, own = state.worker_complete, state.orchestration_complete
    spent = (
        ("workers", state.usage, theirs.usage, usd(state.cost_usd, is_complete=theirs.cost)),
        (
            "conductor",
            state.orchestration_usage,
            own.usage,
            usd(state.orchestration_cost_usd, is_complete=own.cost),
        ),
        ("together", both, state.complete.usage, run_cost(state)),
    )
    for who, usage, is_complete, cost in spent:
        counts = (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens, usage.reasoning_tokens)
        cells = [_count(count, is_complete) for count in counts] + [cost]
        rows.append(
            el(
                "tr",
                el("th", text(f"report.total.{who}"), scope="row"),
                *[el("td", cell, class_="n") for cell in cells],
            )
        )
    facts = [
        (text("report.limits"), _limits(state)),
        (text("report.seed"), state.seed),
        (text("report.origin"), text(f"report.origin.{state.origin}")),
        (text("report.resumed"), state.resumed or None),
        (text("report.tags"), ", ".join(state.tags) or None),
        (text("report.rating"), state.rating),
        (text("report.grade"), text(f"report.grade.{state.grade}") if state.grade else None),
        (text("report.note"), state.note),
    ]
    return el("section", el("div", el("table", *rows), class_="wide"), table(facts), class_="card")


def _count(count: int | None, is_complete: bool) -> str:
    return "–" if count is None else tokens(count, is_complete=is_complete)


def _limits(state: RunState) -> str | None:
    given = state.limits.model_dump(mode="json", exclude_none=True, exclude={"allow_unpriced"})
    return ", ".join(f"{name} {value}" for name, value in given.items()) or None


def _pool(state: RunState) -> Markup | None:
    if not state.pool_snapshot:
        return None
    heads = ("worker", "provider", "model", "price")
    rows = [el("tr", *[el("th", text(f"report.pool.{name}")) for name in heads])]
    for worker in state.pool_snapshot:
        price = text("common.unpriced")
        if worker.price is not None:
            price = text(
                "report.price_line",
                input=f"{worker.price.input_usd_per_mtok.normalize():f}",
                output=f"{worker.price.output_usd_per_mtok.normalize():f}",
                source=worker.price.source,
            )
        cells = (worker.name, worker.provider, worker.model, price)
        rows.append(el("tr", *[el("td", cell, class_="w") for cell in cells]))
    return el("section", el("div", el("table", *rows), class_="wide"), class_="card")
