"""One step in the report: what it was told, what it saw and did not see, what it wrote, what it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from conductor_client._base import seconds_between
from conductor_client.catalogue import counted, text
from conductor_client.figures import attempt_cost, step_cost, tokens
from conductor_client.run_state import RunState
from conductor_client.step_state import Attempt, StepState
from conductor_client.usage import Usage
from conductor_client.workflow import Step, Workflow

from . import figures
from .markup import Markup, el, joined, pre

MAX_SHOWN_CHARS = 200_000
"""More of one text makes a report that no browser scrolls; the JSON export always has all of it."""

_NOTHING = {"waiting": "report.not_started", "running": "report.at_work"}


def status_tag(status: str, *, of: Literal["run", "step"] = "step") -> Markup:
    """A pill with a sign and a word, so that the colour is not needed."""
    word = text(f"graph.{'run' if of == 'run' else 'status'}.{status}")
    return el("span", f"{figures.ICONS[status]} {word}", class_=f"tag {status}")


def long_text(content: str, class_: str = "text") -> Markup:
    """The text as it is, cut at ``MAX_SHOWN_CHARS`` with a word about the rest."""
    rest = len(content) - MAX_SHOWN_CHARS
    if rest <= 0:
        return pre(content, class_)
    cut = el("p", counted("report.cut", rest), class_="note")
    return joined([pre(content[:MAX_SHOWN_CHARS], class_), cut])


def folded(title: str, *content: object) -> Markup:
    """A part that is closed until somebody opens it; printing shows it."""
    return el("details", el("summary", title), *content)


def step_section(
    step: Step, workflow: Workflow, state: RunState, *, anchors: Mapping[str, str], unused: bool
) -> Markup:
    """The step's card. ``anchors``: step id → the id of its card in this page."""
    now = state.steps.get(step.step_id, StepState(worker=step.worker))
    has_messages = bool(now.messages)
    visible = now.visible if has_messages else step.access
    earlier = [each.step_id for each in workflow.steps[: step.position]]
    withheld = now.withheld if has_messages else tuple(each for each in earlier if each not in step.access)
    names = {each.step_id: str(each.position + 1) for each in workflow.steps}
    return el(
        "section",
        _head(step, now, unused),
        _callouts(now, names),
        el(
            "p",
            _seen(text("report.sees"), visible, names, anchors),
            " · ",
            _kept(withheld, names, anchors),
            class_="sees",
        ),
        el("h4", text("report.instruction")),
        long_text(step.instruction, "text plain"),
        _sent(now),
        _output(now),
        folded(text("report.reasoning"), long_text(now.reasoning)) if now.reasoning else None,
        _took(now),
        class_="card step",
        id=anchors[step.step_id],
        data_step=step.step_id,
    )


def _head(step: Step, now: StepState, unused: bool) -> Markup:
    worker = now.worker or step.worker
    figured = [figures.seconds(now.duration_s)] if now.duration_s is not None else []
    if now.usage is not None and now.status != "reused":
        figured.append(text("report.tokens", n=tokens(now.usage.total_tokens)))
    if now.finished_at is not None and now.status in ("succeeded", "failed", "reused"):
        figured.append(step_cost(now))
    return el(
        "header",
        el("span", step.position + 1, class_="badge"),
        el("h3", worker),
        el("span", now.served_model, class_="note")
        if now.served_model and now.served_model != worker
        else None,
        status_tag(now.status),
        el("span", text("graph.unused"), class_="tag") if unused else None,
        el("span", " · ".join(figured), class_="figures"),
    )


def _callouts(now: StepState, names: Mapping[str, str]) -> Markup | None:
    said = []
    if now.error is not None:
        hint = el("p", now.error.hint) if now.error.hint else None
        said.append(el("div", el("p", f"{now.error.kind}: {now.error.message}"), hint, class_="callout bad"))
    if now.status == "skipped":
        cause = (
            text("report.cause", step=names[now.cause])
            if now.cause is not None and now.cause in names
            else ""
        )
        said.append(el("div", el("p", f"{now.said} {cause}".strip()), class_="callout"))
    if now.reused_from is not None:
        said.append(el("p", text("report.reused_from", run=now.reused_from.run_id), class_="note"))
    said += [el("p", note, class_="note") for note in now.notes]
    return joined(said) if said else None


def _links(step_ids: tuple[str, ...], names: Mapping[str, str], anchors: Mapping[str, str]) -> Markup:
    links = []
    for step_id in step_ids:
        shown = text("report.step", n=names.get(step_id, step_id))
        links.append(el("a", shown, href=f"#{anchors[step_id]}") if step_id in anchors else el("span", shown))
    return joined(links, ", ")


def _seen(
    said: str, step_ids: tuple[str, ...], names: Mapping[str, str], anchors: Mapping[str, str]
) -> Markup:
    return (
        joined([said, " ", _links(step_ids, names, anchors)])
        if step_ids
        else el("span", text("report.sees_nothing"))
    )


def _kept(step_ids: tuple[str, ...], names: Mapping[str, str], anchors: Mapping[str, str]) -> Markup:
    if not step_ids:
        return el("span", text("report.withheld_nothing"))
    return joined([text("report.withheld"), " ", _links(step_ids, names, anchors)])


def _sent(now: StepState) -> Markup | None:
    if not now.messages:
        return None
    size = sum(len(message.content) for message in now.messages)
    title = text("report.sent", messages=counted("report.messages", len(now.messages)), n=f"{size:,}")
    parts = [
        joined([el("p", message.role, class_="role"), long_text(message.content)]) for message in now.messages
    ]
    return folded(title, *parts)


def _output(now: StepState) -> Markup:
    done = "1" if now.finished_at is not None else None
    mark, shown = None, el("p", text(_NOTHING.get(now.status, "report.no_output")), class_="note")
    if now.output is not None:
        shown = long_text(now.output)
    elif now.partial_text:
        mark, shown = el("span", text("report.partial"), class_="tag partial"), long_text(now.partial_text)
    title = el("h4", text("report.output"), " ", mark)
    return joined([title, el("div", shown, class_="output", data_done=done)])


def _took(now: StepState) -> Markup | None:
    if not now.attempts and now.reused_from is None:
        return None
    usage = now.usage or (now.reused_from.usage if now.reused_from else None) or Usage()
    rows = [
        el(
            "tr",
            el("th", text(f"report.usage.{name}"), scope="row"),
            el("td", tokens(getattr(usage, name)), class_="n"),
        )
        for name in Usage.model_fields
        if getattr(usage, name) is not None or name in ("input_tokens", "output_tokens")
    ]
    if now.price is not None:
        shown = text(
            "report.price_line",
            input=f"{now.price.input_usd_per_mtok.normalize():f}",
            output=f"{now.price.output_usd_per_mtok.normalize():f}",
            source=now.price.source,
        )
        rows.append(el("tr", el("th", text("report.price"), scope="row"), el("td", shown, class_="n")))
    return folded(text("report.took"), el("table", *rows), _attempts(now))


def _attempts(now: StepState) -> Markup | None:
    if not now.attempts:
        return None
    heads = (
        "attempt",
        "worker",
        "started",
        "waited",
        "first_token",
        "duration",
        "tokens_total",
        "cost",
        "outcome",
    )
    head = el("tr", *[el("th", text(f"report.attempts.{name}")) for name in heads])
    return joined(
        [
            el("h4", text("report.attempts.title")),
            el("div", el("table", head, *[_attempt(each, now) for each in now.attempts]), class_="wide"),
        ]
    )


def _attempt(tried: Attempt, now: StepState) -> Markup:
    first = seconds_between(tried.started_at, tried.first_token_at)
    outcome = (
        f"{tried.error.kind}: {tried.error.message}" if tried.error else text("report.attempts.went_well")
    )
    if tried.finished_at is None:
        outcome = text("report.attempts.not_ended")
    cells = (
        tried.attempt,
        tried.worker,
        figures.moment(tried.started_at),
        figures.seconds(tried.waited_s),
        figures.seconds(first),
        figures.seconds(seconds_between(tried.started_at, tried.finished_at)),
        tokens(tried.usage.total_tokens if tried.usage else None),
        attempt_cost(tried, now),
        outcome,
    )
    return el("tr", *[el("td", cell, class_="w") for cell in cells])
