"""A table that was changed anyhow becomes edits that lead exactly there, or says what is wrong with a row."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.table_edits import Row, edits_between, rows_of, typed
from conductor_client.edits import apply_edits
from conductor_client.errors import InvalidEdit
from conductor_client.workflow import Workflow, workflow_of

CHAIN = workflow_of("p", [("a", "one", []), ("b", "two", [0]), ("c", "three", [0, 1])])


def applied(workflow: Workflow, rows: list[Row]) -> list[tuple[str, str, tuple[int, ...]]]:
    edits = edits_between(workflow, rows)
    result = apply_edits(workflow, edits).workflow if edits else workflow
    places = {step.step_id: step.position for step in result.steps}
    return [
        (step.worker, step.instruction, tuple(places[seen] for seen in step.access)) for step in result.steps
    ]


def test_an_untouched_table_is_no_edit() -> None:
    assert edits_between(CHAIN, rows_of(CHAIN)) == ()


def test_cells_become_the_smallest_edits() -> None:
    one, two, three = rows_of(CHAIN)
    edits = edits_between(
        CHAIN, [one, replace(two, instruction="new"), replace(three, worker="z", sees=(1,))]
    )
    assert [edit.op for edit in edits] == ["set_access", "set_instruction", "set_worker"]


def test_a_row_between_two_others_becomes_a_step_there() -> None:
    rows = [*rows_of(CHAIN), Row(number=None, order=1.5, worker="z", instruction="between", sees=(1,))]
    assert applied(CHAIN, rows)[1] == ("z", "between", (0,))


def test_a_row_without_a_place_comes_last() -> None:
    rows = [*rows_of(CHAIN), Row(number=None, order=None, worker="z", instruction="last", sees=(2, 3))]
    assert applied(CHAIN, rows)[3] == ("z", "last", (1, 2))


def test_a_deleted_row_takes_its_edges_along() -> None:
    _, two, three = rows_of(CHAIN)
    assert applied(CHAIN, [replace(two, sees=()), replace(three, sees=(2,))]) == [
        ("b", "two", ()),
        ("c", "three", (0,)),
    ]


def test_an_edge_cut_in_the_same_table_lets_a_step_pass() -> None:
    one, two, three = rows_of(CHAIN)
    rows = [replace(one, order=2), replace(two, order=1, sees=()), three]
    assert applied(CHAIN, rows) == [("b", "two", ()), ("a", "one", ()), ("c", "three", (0, 1))]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (Row(number=None, order=9, worker="", instruction="x"), "Row 4 has no worker"),
        (Row(number=None, order=9, worker="a", instruction="  "), "Row 4 has no instruction"),
        (Row(number=None, order=9, worker="a", instruction="x", sees=(8,)), "sees step 8"),
    ],
)
def test_a_row_that_is_no_step_is_named(row: Row, said: str) -> None:
    with pytest.raises(InvalidEdit, match=said):
        edits_between(CHAIN, [*rows_of(CHAIN), row])


def test_a_step_that_would_see_a_later_one_is_refused() -> None:
    one, two, three = rows_of(CHAIN)
    with pytest.raises(InvalidEdit, match="does not come before it"):
        applied(CHAIN, [replace(one, sees=(2,)), replace(two, sees=()), three])


@st.composite
def changes(draw: st.DrawFn) -> tuple[Workflow, list[Row]]:
    """A workflow, and any table of which every row sees only rows above it."""
    size = draw(st.integers(1, 6))
    workflow = workflow_of(
        "p",
        [
            (f"w{n}", f"do {n}", sorted(draw(st.sets(st.integers(0, n - 1))) if n else []))
            for n in range(size)
        ],
    )
    kept = draw(st.permutations(draw(st.lists(st.integers(1, size), unique=True, min_size=1))))
    rows: list[Row] = []
    for place, number in enumerate(kept):
        sees = tuple(sorted(draw(st.sets(st.sampled_from(kept[:place]))))) if place else ()
        old = rows_of(workflow)[number - 1]
        rows.append(
            replace(old, order=float(place), sees=sees, worker=draw(st.sampled_from([old.worker, "z"])))
        )
        if draw(st.booleans()):
            seen = tuple(sorted(draw(st.sets(st.sampled_from(kept[: place + 1])))))
            rows.append(
                Row(number=None, order=place + 0.5, worker="n", instruction=f"new {place}", sees=seen)
            )
    return workflow, rows


@settings(max_examples=200, deadline=None)
@given(changes())
def test_any_sound_table_is_reached_by_its_edits(change: tuple[Workflow, list[Row]]) -> None:
    workflow, rows = change
    places = {row.number: place for place, row in enumerate(rows) if row.number is not None}
    wanted = [(row.worker, row.instruction, tuple(sorted(places[seen] for seen in row.sees))) for row in rows]
    assert applied(workflow, rows) == wanted


def test_what_was_typed_in_the_moment_of_the_click_is_in_the_rows() -> None:
    cells = [{"number": 1, "worker": "a"}, {"number": 2, "worker": "b"}, {"number": 3, "worker": "c"}]
    change = {"edited_rows": {0: {"worker": "z"}}, "deleted_rows": [1], "added_rows": [{"worker": "new"}]}
    assert typed(cells, change) == [
        {"number": 1, "worker": "z"},
        {"number": 3, "worker": "c"},
        {"worker": "new"},
    ]
    assert typed(cells, None) == cells
