"""The conductor's part of the report: what it was given, wrote, and how sure it was."""

from __future__ import annotations

from collections.abc import Sequence

from conductor_client.catalogue import counted, text
from conductor_client.edits import AddStep, Edit, MoveStep, RemoveStep, SetAccess, SetInstruction, SetWorker
from conductor_client.figures import tokens, usd
from conductor_client.plan import Diagnostic, Plan
from conductor_client.run_state import RunState

from . import figures
from .markup import Markup, el, joined
from .report_step import folded, long_text


def plan_section(plan: Plan, state: RunState) -> Markup:
    """Everything known about one plan: pool order, raw text, diagnostics, choices, refused texts."""
    rejected = [each for each in state.rejected if each.round == _round_of(plan, state)]
    return el(
        "section",
        _facts(plan),
        _fallback(plan),
        _choices(plan),
        _pool(plan),
        _told(text("report.plan.diagnostics"), plan.diagnostics),
        el("h4", text("report.plan.reasoning")) if plan.reasoning else None,
        long_text(plan.reasoning, "text plain") if plan.reasoning else None,
        folded(text("report.plan.raw"), long_text(plan.raw_text)) if plan.raw_text else None,
        *[
            folded(
                text("report.plan.rejected", n=each.attempt),
                _told(text("report.plan.diagnostics"), each.diagnostics),
                long_text(each.raw_text),
            )
            for each in rejected
        ],
        class_="card",
    )


def _round_of(plan: Plan, state: RunState) -> int:
    return next((each.round for each in state.rounds if each.plan is plan), 1)


def _facts(plan: Plan) -> Markup:
    rows = [
        (text("report.plan.conductor"), plan.conductor),
        (text("report.plan.model"), plan.model),
        (text("report.plan.decision"), text(f"report.decision.{plan.decision}")),
        (
            text("report.plan.limits"),
            counted("report.plan.max_steps", plan.options.max_steps, access=plan.options.access),
        ),
        (text("report.plan.seed"), plan.seed),
        (
            text("report.plan.latency"),
            figures.seconds(plan.latency_s) if plan.latency_s is not None else None,
        ),
    ]
    if plan.usage is not None:
        rows.append((text("report.plan.tokens"), tokens(plan.usage.total_tokens)))
    if plan.latency_s is not None:
        rows.append((text("report.plan.cost"), usd(plan.cost_usd)))
    if plan.estimate is not None:
        shown = text(
            "report.plan.estimate_line",
            calls=counted("report.plan.calls", plan.estimate.calls),
            usd=usd(plan.estimate.usd),
            seconds=figures.seconds(plan.estimate.seconds),
            basis=plan.estimate.basis,
        )
        rows.append((text("report.plan.estimate"), shown))
    return table(rows)


def table(rows: Sequence[tuple[str, object]]) -> Markup:
    """Two columns, name and value; rows without a value are left out."""
    shown = [
        el("tr", el("th", name, scope="row"), el("td", value, class_="w"))
        for name, value in rows
        if value is not None
    ]
    return el("table", *shown)


def _fallback(plan: Plan) -> Markup | None:
    if plan.fallback is None:
        return None
    said = text("report.plan.fallback", worker=plan.fallback.worker)
    return el("div", el("p", said), el("p", plan.fallback.reason), class_="callout")


def _pool(plan: Plan) -> Markup | None:
    if not plan.pool:
        return None
    title = el("h4", text("report.plan.pool"))
    return joined([title, el("ol", *[el("li", name) for name in plan.pool], class_="pool", start=0)])


def _told(title: str, diagnostics: Sequence[Diagnostic]) -> Markup | None:
    if not diagnostics:
        return None
    said = [el("li", el("code", each.code), f" {each.where}: {each.said}") for each in diagnostics]
    return joined([el("h4", title), el("ul", *said)])


def _choices(plan: Plan) -> Markup | None:
    rows = []
    for step in plan.workflow.steps if plan.workflow else ():
        spread = plan.choices.get(step.step_id)
        for place, (worker, share) in enumerate(sorted((spread or {}).items(), key=lambda item: -item[1])):
            first = text("report.step", n=step.position + 1) if not place else ""
            chosen = el("strong", worker) if worker == step.worker else worker
            width = f"width:{max(0.0, min(1.0, share)) * 100:.1f}%"
            bar = el("td", el("span", class_="bar", style=width), class_="bars")
            rows.append(
                el(
                    "tr",
                    el("td", first),
                    el("td", chosen, class_="w"),
                    bar,
                    el("td", figures.percent(share), class_="n"),
                )
            )
    if not rows:
        return None
    note = el("p", text("report.plan.choices_note"), class_="note")
    return joined([el("h4", text("report.plan.choices")), el("table", *rows), note])


def lineage_section(state: RunState) -> Markup | None:
    """Which run this one was forked from, and what was changed, in words. ``None`` when it was not forked."""
    if state.parent_run is None:
        return None
    said = [el("li", edit_in_words(edit, state)) for edit in state.edits]
    return el(
        "section",
        el("p", text("report.forked_from", run=state.parent_run)),
        el("ul", *said) if said else el("p", text("report.no_edits"), class_="note"),
        class_="card",
    )


def edit_in_words(edit: Edit, state: RunState) -> str:
    """One edit as a sentence; steps by their number in this run, else by their id."""
    numbers = (
        {step.step_id: str(step.position + 1) for step in state.workflow.steps} if state.workflow else {}
    )

    def number(step_id: str | None) -> str:
        return numbers.get(step_id or "", step_id or "–")

    match edit:
        case SetInstruction():
            return text("report.edit.instruction", step=number(edit.step_id), instruction=edit.instruction)
        case SetWorker():
            return text("report.edit.worker", step=number(edit.step_id), worker=edit.worker)
        case SetAccess():
            seen = ", ".join(map(number, edit.access)) or text("report.edit.nothing")
            return text("report.edit.access", step=number(edit.step_id), seen=seen)
        case AddStep():
            return text("report.edit.added", worker=edit.worker, instruction=edit.instruction)
        case RemoveStep():
            return text("report.edit.removed", step=number(edit.step_id))
        case MoveStep():
            return text("report.edit.moved", step=number(edit.step_id), place=edit.position + 1)
