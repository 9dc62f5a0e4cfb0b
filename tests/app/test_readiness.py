"""Whether a prompt can run, and what is chosen for a person who has chosen nothing."""

from __future__ import annotations

from app import readiness
from conductor_client.pool import ConductorInfo, ModelState, PoolView, WorkerInfo

READY = WorkerInfo(name="a", provider="openai", model="m")
TOOL = WorkerInfo(name="t", provider="tool", model="calculator")
MISSING = WorkerInfo(
    name="b",
    provider="local",
    model="b",
    ready=False,
    missing="Its file is not there.",
    how_to_get="Fetch it.",
)
POOL = PoolView(name="local", workers=(READY, MISSING))
LOCAL = ConductorInfo(
    conductor_id="local",
    kind="local",
    title="Local",
    ready=False,
    missing="its file is not there",
    how_to_get="Fetch.",
)
ALONE = ConductorInfo(conductor_id="single:a", kind="generator", title="a alone")
PROMPTED = ConductorInfo(conductor_id="prompted:a", kind="prompted", title="a, prompted")


def test_what_was_chosen_is_kept_even_when_it_is_not_ready() -> None:
    assert readiness.chosen_conductor([LOCAL, PROMPTED], "local") is LOCAL


def test_without_a_choice_the_first_ready_writer_is_taken() -> None:
    assert readiness.chosen_conductor([LOCAL, ALONE, PROMPTED], None) is PROMPTED


def test_no_single_worker_is_taken_for_a_conductor() -> None:
    assert readiness.chosen_conductor([LOCAL, ALONE], None) is LOCAL
    assert readiness.chosen_conductor([], None) is None


def test_obstacles_say_what_helps() -> None:
    nobody = readiness.obstacle(POOL.model_copy(update={"workers": (MISSING,)}), PROMPTED)
    assert nobody is not None and nobody.hint == "Fetch it."
    chosen = readiness.obstacle(POOL, PROMPTED, chosen=["b"])
    assert chosen is not None and "chosen" in chosen.message
    unready = readiness.obstacle(POOL, LOCAL)
    assert unready is not None and "its file is not there" in unready.message and unready.hint == "Fetch."
    assert readiness.obstacle(POOL, None) is not None
    empty = readiness.obstacle(POOL.model_copy(update={"workers": ()}), PROMPTED)
    assert empty is not None and "CONDUCTOR_POOL" in empty.hint


def test_tools_alone_answer_no_prompt_unless_one_is_asked_directly() -> None:
    pool = POOL.model_copy(update={"workers": (TOOL, MISSING)})
    only = readiness.obstacle(pool, PROMPTED)
    assert only is not None and "Only tools" in only.message and only.hint == "Fetch it."
    both = POOL.model_copy(update={"workers": (TOOL, READY)})
    assert readiness.obstacle(both, PROMPTED) is None
    chosen = readiness.obstacle(both, PROMPTED, chosen=["t"])
    assert chosen is not None and "model" in chosen.hint
    assert readiness.obstacle(pool, ALONE) is None
    assert readiness.obstacle(pool, PROMPTED, is_planned=True) is None


def test_nothing_stands_in_the_way_of_a_workflow_that_is_there() -> None:
    assert readiness.obstacle(POOL, LOCAL, is_planned=True) is None
    assert readiness.obstacle(POOL, PROMPTED) is None


def test_progress_is_a_share_and_never_more_than_all() -> None:
    assert readiness.progress(ModelState(name="m", state="fetching", bytes_done=25, bytes_total=100)) == 0.25
    assert readiness.progress(ModelState(name="m", state="fetching", bytes_done=200, bytes_total=100)) == 1.0
    assert readiness.progress(ModelState(name="m", state="fetching")) == 0.0


def test_what_is_missing_is_told_once_with_the_workers_it_keeps_away() -> None:
    def worker(name: str, variable: str | None) -> WorkerInfo:
        return WorkerInfo(
            name=name,
            provider="openai",
            model="m",
            ready=False,
            missing=f"{variable or 'A file'} is missing.",
            how_to_get=f"Get {variable or 'it'}.",
            api_key_env=variable,
            has_key=None if variable is None else False,
        )

    pool = PoolView(
        name="p",
        workers=(worker("a", "A_KEY"), worker("b", "B_KEY"), worker("c", "A_KEY"), worker("d", None)),
    )
    assert [gap.workers for gap in readiness.gaps(pool)] == [("a", "c"), ("b",), ("d",)]
    assert [gap.missing for gap in readiness.gaps(pool, only_keys=True)] == [
        "A_KEY is missing.",
        "B_KEY is missing.",
    ]
    said = readiness.obstacle(pool, None)
    assert said is not None and said.hint == "Get A_KEY. Get B_KEY. Get it.", "every variable, before Run"
