"""What a run of several rounds looks like outside the page."""

from __future__ import annotations

import io

import pytest

from conductor.commands.telling import Telling
from conductor.exports import export
from conductor.imports import read_workflow
from conductor_client.catalogue import text
from conductor_client.run_state import fold
from tests.components.scenes import rounds_story


@pytest.mark.parametrize("kind", ["svg", "html"])
def test_every_round_is_drawn_and_a_kept_answer_said(kind: str) -> None:
    events = rounds_story().events
    page = export(fold(events), events, kind).body.decode()  # type: ignore[arg-type]
    assert "round 1" in page.lower() and "round 2" in page.lower() and "Round 3" in page
    assert "Solve it in one go." in page and "Calculate it." in page
    assert text("graph.round_kept") in page


def test_the_terminal_tells_the_rounds() -> None:
    out = io.StringIO()
    telling = Telling(out)
    for event in rounds_story().events:
        telling.hear(event)
    lines = out.getvalue().splitlines()
    assert [line for line in lines if line.startswith("Round")] == [
        "Round 2: local looks at the answer …",
        "Round 3: local looks at the answer …",
        "Round 3: the answer was kept.",
    ]
    assert sum("Calculate it." in line for line in lines) == 1


@pytest.mark.parametrize("kind", ["lists", "mermaid", "dot", "python"])
def test_a_format_that_holds_one_workflow_says_of_which_round(kind: str) -> None:
    events = rounds_story().events
    state = fold(events)
    said = text("report.one_round", n=2, all=3)
    page = export(state, events, kind).body.decode()  # type: ignore[arg-type]
    assert said in page and "Calculate it." in page and "Solve it in one go." not in page
    alone = state.model_copy(update={"rounds": state.rounds[:1]})
    assert "Round" not in export(alone, events, kind).body.decode()  # type: ignore[arg-type]
    if kind != "python":
        assert [step.instruction for step in read_workflow(page).steps] == [
            "Write the amount as one expression.",
            "Calculate it.",
        ]
