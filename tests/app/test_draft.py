"""Drafts: immutable, undone batch by batch, added steps named for good."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app import edit_words
from app.draft import draft_of, edited, is_fresh, marks, request_of, toggled_fresh, undone, with_fresh
from conductor_client.api import LineageNode
from conductor_client.edits import AddStep, MoveStep, RemoveStep, SetAccess, SetInstruction, SetWorker
from conductor_client.errors import InvalidEdit
from conductor_client.workflow import workflow_of

BASE = workflow_of("p", [("a", "one", []), ("b", "two", [0])])


def test_a_draft_keeps_its_workflow_s_id_until_the_next_change() -> None:
    draft = edited(draft_of(BASE), [SetWorker(step_id="s1", worker="z")])
    assert draft.workflow.workflow_id == draft.workflow.workflow_id != BASE.workflow_id
    assert with_fresh(draft, True).workflow is draft.workflow


def test_a_refused_edit_leaves_the_draft_as_it_was() -> None:
    draft = edited(draft_of(BASE), [SetWorker(step_id="s1", worker="z")])
    with pytest.raises(InvalidEdit):
        edited(
            draft,
            [SetInstruction(step_id="s1", instruction="ok"), SetInstruction(step_id="s9", instruction="x")],
        )
    assert [edit.op for edit in draft.edits] == ["set_worker"]


def test_an_unknown_worker_is_refused_when_the_pool_is_known() -> None:
    with pytest.raises(InvalidEdit, match="no worker 'z'"):
        edited(draft_of(BASE), [SetWorker(step_id="s1", worker="z")], known_workers=["a", "b"])


def test_an_added_step_gets_an_id_that_later_edits_can_name() -> None:
    draft = edited(draft_of(BASE), [AddStep(instruction="three", worker="a")])
    draft = edited(draft, [SetInstruction(step_id="s3", instruction="third")])
    assert draft.workflow.step("s3").instruction == "third"
    draft = edited(draft, [RemoveStep(step_id="s3")])
    draft = edited(draft, [AddStep(instruction="four", worker="a")])
    assert draft.workflow.final_step.step_id == "s4", "a removed step's id is not given again"


def test_undo_takes_the_last_batch_and_then_the_wish_to_ask_again() -> None:
    draft = edited(draft_of(BASE), [SetWorker(step_id="s1", worker="z"), SetWorker(step_id="s2", worker="z")])
    draft = with_fresh(edited(draft, [RemoveStep(step_id="s1")]), True)
    draft = undone(draft)
    assert [step.worker for step in draft.workflow.steps] == ["z", "z"]
    draft = undone(draft)
    assert draft.workflow is BASE and draft.fresh is True
    assert not undone(draft).is_changed


def test_fresh_is_for_all_or_for_single_steps() -> None:
    draft = toggled_fresh(toggled_fresh(draft_of(BASE), "s1"), "s2")
    assert draft.fresh == ("s1", "s2") and is_fresh(draft, "s1")
    draft = toggled_fresh(draft, "s1")
    assert draft.fresh == ("s2",) and not is_fresh(draft, "s1")
    assert toggled_fresh(draft, "s2").is_changed is False
    assert is_fresh(with_fresh(draft, True), "s1")
    assert not is_fresh(None, "s1")


def test_without_a_preview_nothing_is_marked() -> None:
    assert marks(None) == {}


def test_a_request_keeps_the_step_ids() -> None:
    steps = request_of(BASE).steps
    assert [(step.step_id, step.access) for step in steps] == [("s1", ()), ("s2", ("s1",))]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (SetInstruction(step_id="s1", instruction="Do  it\nnow"), "s1: new instruction “Do it now”"),
        (SetWorker(step_id="s1", worker="z"), "s1: now by z"),
        (SetAccess(step_id="s2", access=()), "s2: sees only the prompt"),
        (SetAccess(step_id="s3", access=("s10", "s2", "s1")), "s3: sees s1, s2, s10"),
        (AddStep(instruction="x", worker="z"), "New step added, by z"),
        (AddStep(instruction="x", worker="z", position=1), "Step 2 added, by z"),
        (RemoveStep(step_id="s1"), "s1 removed"),
        (MoveStep(step_id="s1", position=1), "s1: moved to place 2"),
    ],
)
def test_each_edit_has_words(edit: object, said: str) -> None:
    assert edit_words.words(edit) == said  # type: ignore[arg-type]  # every member of the union


def test_many_edits_are_counted_after_the_third() -> None:
    edits = [SetWorker(step_id=f"s{n}", worker="z") for n in range(5)]
    assert edit_words.summary(edits).endswith("s2: now by z; and 2 more")
    gone = [AddStep(instruction="x", worker="z", step_id="s9", position=1), RemoveStep(step_id="s9")]
    assert edit_words.summary(gone) == "Step 2 added, by z; Step 2 removed"
    assert edit_words.without_ids("Step 1 (s1) sees step 3 (s3).") == "Step 1 sees step 3."
    assert edit_words.summary([]) == "Nothing changed"
    assert edit_words.step_names(BASE, ["s2", "gone"]) == "Step 2"
    assert edit_words.step_names(BASE, []) == "none"


def test_a_fork_s_first_change_has_the_numbers_of_its_time() -> None:
    def node(run_id: str, parent: str | None, minute: int, *edits: object) -> LineageNode:
        at = datetime(2026, 1, 1, 0, minute, tzinfo=UTC)
        return LineageNode(run_id=run_id, parent_run=parent, status="succeeded", edits=edits, created_at=at)  # type: ignore[arg-type]

    nodes = [
        node("a", None, 0),
        node("b", "a", 1, AddStep(instruction="x", worker="z", position=1, step_id="s3")),
        node("c", "b", 2, SetWorker(step_id="s2", worker="z"), SetWorker(step_id="s1", worker="z")),
        node("d", "gone", 3, SetWorker(step_id="s2", worker="z")),
        node("e", "a", 4),
    ]
    assert edit_words.first_changes(nodes, BASE) == {"b": "Step 2 added, by z", "c": "Step 3: now by z"}
