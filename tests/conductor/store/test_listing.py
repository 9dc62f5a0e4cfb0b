"""The history: order, pages, filters."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal

import pytest

from conductor.store import Store
from conductor.store.listing import Sort
from conductor_client.api import RunPatch, RunSummary
from conductor_client.events import RunCancelled, RunStarted
from tests.conductor.store.logs import START, called, chain, created, failed_run, whole_run


async def everything(store: Store, sort: Sort, limit: int) -> list[RunSummary]:
    runs: list[RunSummary] = []
    cursor = None
    while True:
        page = await store.list_runs(sort=sort, cursor=cursor, limit=limit)
        runs += page.runs
        assert len(page.runs) <= limit
        assert len(runs) < 100, "pages that never end"
        cursor = page.next_cursor
        if cursor is None:
            return runs


async def filled(store: Store, n_runs: int = 23) -> None:
    dice = random.Random(7)
    for number in range(n_runs):
        log = whole_run(
            f"run_{number:02}",
            minutes=dice.randrange(8),  # many share a moment
            cost_usd=dice.choice([None, Decimal("0.01"), Decimal(dice.randrange(1, 400)) / 1000]),
            seconds=dice.choice([1.0, 2.5, 4.0]),
        )
        await store.append(f"run_{number:02}", log[: dice.choice([1, 4, len(log), len(log)])])


def order(run: RunSummary, sort: Sort) -> tuple[float, object, str]:
    figure = {"newest": 0.0, "cost": run.cost_usd, "time": run.wall_s}[sort]
    return (-1.0 if figure is None else float(figure), run.created_at, run.run_id)


@pytest.mark.parametrize("sort", ["newest", "cost", "time"])
@pytest.mark.parametrize("limit", [1, 4, 23, 50])
async def test_pages_hold_every_run_once_in_order(store: Store, sort: Sort, limit: int) -> None:
    await filled(store)
    runs = await everything(store, sort, limit)
    assert len(runs) == 23
    assert len({run.run_id for run in runs}) == 23
    assert runs == sorted(runs, key=lambda run: order(run, sort), reverse=True)


async def test_runs_that_arrive_while_paging_neither_repeat_nor_hide_one(store: Store) -> None:
    for number in range(6):
        await store.append(f"run_{number}", whole_run(f"run_{number}", minutes=number))
    first = await store.list_runs(limit=3)
    await store.append("run_new", whole_run("run_new", minutes=99))
    await store.delete_run("run_4")
    second = await store.list_runs(limit=3, cursor=first.next_cursor)
    assert [run.run_id for run in first.runs] == ["run_5", "run_4", "run_3"]
    assert [run.run_id for run in second.runs] == ["run_2", "run_1", "run_0"]
    assert second.next_cursor is None
    assert (first.total, second.total) == (6, 6)


async def test_filters_and_their_sum(store: Store) -> None:
    await store.append("run_a", whole_run("run_a", chain(workers=("alpha", "beta"))))
    await store.append("run_b", whole_run("run_b", chain(workers=("beta", "gamma")), conductor="single:beta"))
    await store.append("run_c", failed_run("run_c"))
    await store.append("run_d", [created("run_d"), RunStarted(run_id="run_d"), RunCancelled(run_id="run_d")])
    await store.patch_run("run_b", RunPatch(tags=("demo", "x")))
    await store.patch_run("run_c", RunPatch(tags=("demonstration",)))

    async def ids(**wanted: str) -> set[str]:
        page = await store.list_runs(**wanted)  # type: ignore[arg-type]  # every filter here is a text
        assert page.total == len(page.runs)
        return {run.run_id for run in page.runs}

    assert await ids(status="succeeded") == {"run_a", "run_b"}
    assert await ids(status="failed") == {"run_c"}
    assert await ids(worker="gamma") == {"run_b"}
    assert await ids(worker="beta") == {"run_a", "run_b"}
    assert await ids(tag="demo") == {"run_b"}
    assert await ids(conductor="local") == {"run_a", "run_c", "run_d"}
    assert await ids(q="moon", status="succeeded", worker="beta", tag="demo") == {"run_b"}
    assert await ids(worker="nobody") == set()
    assert await ids(tag="x' OR 1=1 --") == set()


async def test_what_people_said_when_and_where_from_filter_too(store: Store) -> None:
    for number, said in enumerate(({"rating": 5, "grade": "right"}, {"rating": 2, "grade": "wrong"}, {}, {})):
        run_id = f"run_{number}"
        await store.append(run_id, whole_run(run_id, minutes=60 * number))
        await store.patch_run(run_id, RunPatch.model_validate({"note": "seen"} | said))
    fork = created("run_fork", minutes=300).model_copy(update={"origin": "counterfactual"})
    await store.append("run_fork", [fork])

    async def ids(**wanted: object) -> list[str]:
        page = await store.list_runs(**wanted)  # type: ignore[arg-type]  # filters of every type
        assert page.total == len(page.runs)
        return sorted(run.run_id for run in page.runs)

    assert await ids(rating=5) == ["run_0"] and await ids(rating=3) == []
    assert await ids(grade="wrong") == ["run_1"]
    assert await ids(grade="none") == ["run_2", "run_3", "run_fork"]
    assert await ids(since=START + timedelta(hours=1), until=START + timedelta(hours=3)) == ["run_1", "run_2"]
    assert await ids(origins=("counterfactual",)) == ["run_fork"]
    assert await ids(origins=("page", "api"), grade="none", status="succeeded") == ["run_2", "run_3"]
    assert await ids(origins=()) == []


async def test_what_can_be_chosen_is_counted_without_deleted_runs(store: Store) -> None:
    await store.append("run_a", whole_run("run_a", chain(workers=("alpha", "alpha"))))
    await store.append("run_b", whole_run("run_b", chain(workers=("alpha", "beta")), conductor="single:beta"))
    await store.append("run_c", whole_run("run_c", chain(workers=("gamma",)), outputs=("x",)))
    for run_id in ("run_a", "run_b", "run_c"):
        await store.patch_run(run_id, RunPatch(tags=("demo", run_id)))
    await store.delete_run("run_c")
    found = await store.facets()
    assert list(found.tags.items()) == [("demo", 2), ("run_a", 1), ("run_b", 1)]
    assert found.workers == {"alpha": 2, "beta": 1}
    assert found.conductors == {"local": 1, "single:beta": 1} and found.origins == {"page": 2}


async def test_a_summary_says_what_a_line_of_the_history_needs(store: Store) -> None:
    await store.append("run_a", whole_run("run_a"))
    said = RunPatch(tags=(" demo ", " "), rating=5, grade="right", gold=" 384,400 km", note="n" * 400)
    await store.patch_run("run_a", said)
    run = (await store.list_runs()).runs[0]
    assert run.prompt == "How far is the moon?"
    assert (run.status, run.workers, run.n_steps, run.topology) == (
        "succeeded",
        ("alpha", "beta"),
        2,
        "chain",
    )
    assert (run.cost_usd, run.cost_complete) == (Decimal("0.002"), True)
    assert (run.total_tokens, run.tokens_complete, run.wall_s) == (30, True, 4.0)
    assert (run.tags, run.rating, run.grade, run.snippet) == (("demo",), 5, "right", None)
    assert (run.gold, run.note) == ("384,400 km", "n" * 300)


async def test_unknown_is_none_and_partly_known_is_marked(store: Store) -> None:
    workflow = chain()
    unknown = called("run_a", workflow, "s1", "x", cost_usd=None, usage=None)
    await store.append("run_a", [created("run_a", workflow), *unknown])
    run = (await store.list_runs()).runs[0]
    assert (run.cost_usd, run.cost_complete) == (None, False)
    assert (run.total_tokens, run.tokens_complete, run.wall_s) == (None, False, None)
    await store.append("run_a", called("run_a", workflow, "s2", "y"))
    run = (await store.list_runs()).runs[0]
    assert (run.cost_usd, run.cost_complete) == (Decimal("0.001"), False)
    assert (run.total_tokens, run.tokens_complete) == (15, False)


async def test_a_long_prompt_is_cut_and_a_wrong_limit_is_put_right(store: Store) -> None:
    await store.append("run_a", [created("run_a", prompt="é" * 2_000_000)])
    await store.append("run_b", [created("run_b", minutes=1)])
    page = await store.list_runs(limit=0)
    assert [run.run_id for run in page.runs] == ["run_b"]
    page = await store.list_runs(limit=10_000, cursor=page.next_cursor)
    assert page.runs[0].prompt == "é" * 300


@pytest.mark.parametrize("cursor", ["x", "%%%", "bnVsbA", "WyJuZXdlc3QiLDEsMiwzXQ", "é", "W10"])
async def test_a_cursor_that_is_none_of_ours_is_refused(store: Store, cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await store.list_runs(cursor=cursor)


async def test_a_cursor_of_another_order_is_refused(store: Store) -> None:
    await filled(store, 5)
    page = await store.list_runs(sort="cost", limit=2)
    with pytest.raises(ValueError, match="another order"):
        await store.list_runs(sort="newest", cursor=page.next_cursor)
    with pytest.raises(ValueError, match="choose newest"):
        await store.list_runs(sort="oldest")  # type: ignore[arg-type]  # what an API request may hold
