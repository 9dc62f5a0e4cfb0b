"""Edits: access follows a moved or renamed step, a bad edit says why and changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor_client.edits import (
    AddStep,
    Edit,
    MoveStep,
    RemoveStep,
    SetAccess,
    SetInstruction,
    SetWorker,
    apply_edits,
    next_step_id,
)
from conductor_client.errors import InvalidEdit
from conductor_client.workflow import Workflow, workflow_of
from tests.strategies import WORKERS, texts, workflows

DIAMOND = workflow_of(
    "p", [("alpha", "a", []), ("beta", "b", [0]), ("gamma", "c", [0]), ("alpha", "d", [1, 2])]
)


def edits_of(workflow: Workflow) -> st.SearchStrategy[Edit]:
    ids = st.sampled_from([*(step.step_id for step in workflow.steps), "nobody"])
    places = st.integers(0, 8)
    many = st.lists(ids, max_size=4).map(tuple)
    return st.one_of(
        st.builds(SetInstruction, step_id=ids, instruction=st.one_of(texts, st.just("  "))),
        st.builds(SetWorker, step_id=ids, worker=st.sampled_from([*WORKERS, "stranger"])),
        st.builds(SetAccess, step_id=ids, access=many),
        st.builds(
            AddStep,
            instruction=texts,
            worker=st.sampled_from(WORKERS),
            access=many,
            position=st.none() | places,
        ),
        st.builds(RemoveStep, step_id=ids),
        st.builds(MoveStep, step_id=ids, position=places),
    )


@given(workflows(), st.data())
def test_any_edits_give_a_sound_workflow_or_say_why_not(workflow: Workflow, data: st.DataObject) -> None:
    edits = data.draw(st.lists(edits_of(workflow), max_size=5))
    before = workflow.model_dump_json()
    try:
        edited = apply_edits(workflow, edits, known_workers=WORKERS).workflow
    except InvalidEdit as refusal:
        assert refusal.message
    else:
        assert edited.parent == workflow.workflow_id
        assert Workflow.model_validate(edited.model_dump()) == edited
    assert workflow.model_dump_json() == before


@given(workflows(), st.data())
def test_a_move_keeps_who_sees_whom(workflow: Workflow, data: st.DataObject) -> None:
    """Behaviour row 22: whoever sees a step that is moved still sees it."""
    step = data.draw(st.sampled_from(workflow.steps))
    place = data.draw(st.integers(0, len(workflow.steps) - 1))
    try:
        moved = apply_edits(workflow, [MoveStep(step_id=step.step_id, position=place)]).workflow
    except InvalidEdit as refusal:
        seen, by = refusal.details["edge"]
        assert seen in workflow.step(by).access
    else:
        assert moved.steps[place].step_id == step.step_id
        for each in workflow.steps:
            assert set(moved.step(each.step_id).access) == set(each.access)


def test_a_removal_drops_its_edges_and_says_which() -> None:
    edited = apply_edits(DIAMOND, [RemoveStep(step_id="s2")])
    assert edited.dropped == (("s2", "s4"),)
    assert [(step.step_id, step.access) for step in edited.workflow.steps] == [
        ("s1", ()),
        ("s3", ("s1",)),
        ("s4", ("s3",)),
    ]


def test_a_move_past_a_step_that_sees_it_names_the_edge() -> None:
    with pytest.raises(InvalidEdit, match=r"step 2 \(s2\) sees step 1 \(s1\)") as refusal:
        apply_edits(DIAMOND, [MoveStep(step_id="s1", position=2)])
    assert refusal.value.details == {"edge": ["s1", "s2"]}
    assert "Remove that access" in refusal.value.hint


def test_a_step_cannot_see_itself_or_a_later_one() -> None:
    for seen in ("s2", "s4"):
        with pytest.raises(InvalidEdit, match="does not come before it"):
            apply_edits(DIAMOND, [SetAccess(step_id="s2", access=(seen,))])


def test_the_only_step_stays() -> None:
    single = workflow_of("p", [("alpha", "a", [])])
    with pytest.raises(InvalidEdit, match="only step"):
        apply_edits(single, [RemoveStep(step_id="s1")])


def test_a_new_step_gets_an_id_no_removed_step_had() -> None:
    edited = apply_edits(
        DIAMOND, [RemoveStep(step_id="s4"), AddStep(instruction="e", worker="beta", access=("s2", "s1"))]
    ).workflow
    assert edited.final_step.step_id == "s5"
    assert edited.final_step.access == ("s1", "s2")
    assert next_step_id(["s1", "s9", "other"]) == "s10"


def test_two_edits_on_top_of_each_other_are_one_new_workflow() -> None:
    edited = apply_edits(
        DIAMOND, [SetWorker(step_id="s2", worker="gamma"), SetInstruction(step_id="s2", instruction="other")]
    ).workflow
    assert edited.step("s2").worker == "gamma"
    assert edited.step("s2").instruction == "other"
    assert edited.parent == DIAMOND.workflow_id
