"""Runs over HTTP, by the client against a real server."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from conductor.server.api import in_a_thread
from conductor.settings import Settings
from conductor_client import errors
from conductor_client.api import ForkPreview, ForkRequest, PlanRequest, RunPatch, RunRequest, RunStartedReply
from conductor_client.client import ConductorClient
from conductor_client.edits import MoveStep, SetInstruction, SetWorker
from conductor_client.run_state import fold
from tests.conductor.server.conftest import asking, finished

ONE = ("quick", "Name it.", ())


def test_health_says_what_is_there(client: ConductorClient) -> None:
    health = client.health()
    assert health.store_writable
    assert health.pool_size == 4
    assert health.version


def test_health_names_no_folder(settings: Settings) -> None:
    lost = replace(settings, pool=str(settings.db.parent / "gone.toml"))
    with in_a_thread(lost) as address:
        said = httpx.get(f"{address}/healthz").text
    assert "no file gone.toml" in said
    assert str(settings.db.parent) not in said
    assert str(Path(__file__).parents[3]) not in said


def test_pool_tells_readiness_and_no_secret(
    client: ConductorClient, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDUCTOR_TEST_NO_SUCH_KEY", "sk-marker-0123456789abcdef")
    pool = client.pool()
    assert [worker.name for worker in pool.workers] == ["quick", "slow", "org/odd name:1", "no-key"]
    assert pool.default_worker == "quick"
    assert pool.worker("no-key").api_key_env == "CONDUCTOR_TEST_NO_SUCH_KEY"
    for path in ("/api/pool", "/api/conductors", "/healthz", "/api/models"):
        assert "sk-marker" not in httpx.get(address + path).text
    with pytest.raises(errors.NotFound, match="no-such-pool"):
        client.pool("no-such-pool")
    assert client.conductors() == client.conductors(client.pool().name)
    with pytest.raises(errors.InvalidRequest, match="no pool 'nowhere'"):
        client.conductors("nowhere")
    assert client.models()


def test_worker_is_tested_by_a_real_call(client: ConductorClient) -> None:
    for name in ("quick", "org/odd name:1"):
        reply = client.test_worker(name)
        assert reply.ok
        assert reply.latency_s is not None
    failed = client.test_worker("no-key")
    assert not failed.ok
    assert failed.message
    with pytest.raises(errors.NotFound, match="nobody"):
        client.test_worker("nobody")


def test_run_of_a_given_workflow(client: ConductorClient, address: str) -> None:
    reply = client.start_run(asking(ONE, ("org/odd name:1", "Check it.", (0,))))
    assert reply.url == f"{address}/?run={reply.run_id}"
    for _ in client.events_stream(reply.run_id):
        pass
    state = client.run(reply.run_id)
    assert state.status == "succeeded"
    assert state.steps["s1"].output == "Paris"
    assert state.steps["s2"].visible == ("s1",)
    assert fold(client.events(reply.run_id)) == state


def test_run_planned_by_a_generator(client: ConductorClient) -> None:
    plan = client.plan(PlanRequest(prompt="The capital of France?", conductor="single:quick"))
    assert plan.workflow is not None
    assert plan.estimate is not None
    assert client.get_plan(plan.plan_id) == plan
    run_id = finished(client, RunRequest(prompt="The capital of France?", plan_id=plan.plan_id))
    assert client.run(run_id).final_output == "Paris"
    with pytest.raises(errors.NotFound, match="plan_none"):
        client.get_plan("plan_none")


def test_same_key_is_the_same_run(client: ConductorClient, address: str) -> None:
    request = asking(ONE, idempotency_key="key-1")
    codes = [httpx.post(f"{address}/api/runs", json=request.model_dump(mode="json")) for _ in range(2)]
    assert [reply.status_code for reply in codes] == [201, 200]
    assert codes[0].json() == codes[1].json()
    assert client.list_runs().total in (1, None)
    assert len(client.list_runs().runs) == 1


def test_an_empty_list_of_workers_is_refused_with_what_to_do(client: ConductorClient) -> None:
    for call in (
        lambda: client.start_run(RunRequest(prompt="x", workers=())),
        lambda: client.plan(PlanRequest(prompt="x", workers=())),
    ):
        with pytest.raises(errors.InvalidRequest, match="workers is empty") as caught:
            call()
        assert (caught.value.status_code, bool(caught.value.hint)) == (422, True)


def test_same_key_with_another_request_is_a_conflict(client: ConductorClient) -> None:
    request = asking(ONE, idempotency_key="key-1", request_options={"a": 1, "b": 2})
    run_id = client.start_run(request).run_id
    same = request.model_copy(update={"request_options": {"b": 2, "a": 1}})
    assert client.start_run(same).run_id == run_id
    for other in (
        lambda: client.start_run(request.model_copy(update={"prompt": "Of Spain?"})),
        lambda: client.start_run(request.model_copy(update={"tags": ("x",)})),
        lambda: client.fork(run_id, ForkRequest(idempotency_key="key-1")),
    ):
        with pytest.raises(errors.Conflict, match=f"another request.*{run_id}") as caught:
            other()
        assert "new key" in caught.value.hint
    assert len(client.list_runs().runs) == 1


@pytest.mark.parametrize("prompt", ["", "  \n\t "])
def test_empty_prompt_is_refused_with_what_to_do(client: ConductorClient, prompt: str) -> None:
    for call in (
        lambda: client.start_run(asking(ONE, prompt=prompt)),
        lambda: client.plan(PlanRequest(prompt=prompt)),
    ):
        with pytest.raises(errors.InvalidRequest, match="empty") as caught:
            call()
        assert caught.value.status_code == 422
        assert caught.value.hint


def test_prompt_of_a_megabyte_runs_and_three_are_refused(client: ConductorClient) -> None:
    run_id = finished(client, asking(ONE, prompt="é" * 500_000))
    assert client.run(run_id).status == "succeeded"
    with pytest.raises(errors.InvalidRequest, match="at most 2,000,000") as caught:
        client.start_run(asking(ONE, prompt="é" * 1_500_000))
    assert caught.value.status_code == 413
    with pytest.raises(errors.InvalidRequest, match="too large") as caught:
        client.start_run(asking(ONE, prompt="x" * 17_000_000))
    assert caught.value.status_code == 413


def test_body_without_announced_length_is_limited_too(address: str) -> None:
    reply = httpx.post(
        f"{address}/api/runs",
        content=iter([b" " * 1_000_000] * 17),
        headers={"Content-Type": "application/json"},
    )
    assert reply.status_code == 413
    assert reply.json()["error"]["type"] == "too_large"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{}", "prompt is missing"),
        ("[]", "no JSON object"),
        ("{", "no JSON"),
        ('{"prompt": "x", "typo": 1}', "typo is not known here"),
        ('{"prompt": 1}', "prompt: Input should be a valid string"),
        ('{"prompt": "x", "limits": {"max_usd": "-1"}}', "limits.max_usd"),
    ],
)
def test_invalid_request_is_said_in_words(address: str, body: str, said: str) -> None:
    reply = httpx.post(f"{address}/api/runs", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422
    error = reply.json()["error"]
    assert said in error["message"]
    assert set(error) == {"type", "message", "hint", "details"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/nothing", 404), ("PUT", "/api/runs", 405), ("GET", "/api/runs/run_none", 404)],
)
def test_every_status_has_the_same_shape(address: str, method: str, path: str, status: int) -> None:
    reply = httpx.request(method, address + path)
    assert reply.status_code == status
    assert set(reply.json()["error"]) == {"type", "message", "hint"}


def test_unknown_run_is_not_found_everywhere(client: ConductorClient) -> None:
    for call in (client.run, client.events, client.lineage, client.cancel, client.share, client.delete_run):
        with pytest.raises(errors.NotFound, match="run_none"):
            call("run_none")
    with pytest.raises(errors.NotFound):
        client.fork("run_none", ForkRequest())
    with pytest.raises(errors.NotFound):
        client.patch_run("run_none", RunPatch(rating=3))
    with pytest.raises(errors.NotFound):
        client.export("run_none", "json")
    with pytest.raises(errors.NotFound):
        client.restore_run("run_none")


def test_cancel_keeps_partial_text_within_a_second(client: ConductorClient) -> None:
    run_id = client.start_run(asking(("slow", "Count.", ()))).run_id
    for item in client.events_stream(run_id):
        if getattr(item, "channel", "") == "output":
            break
    started = time.monotonic()
    state = client.cancel(run_id)
    assert time.monotonic() - started < 5
    assert state.status == "cancelled"
    assert state.steps["s1"].partial_text
    assert client.cancel(run_id).status == "cancelled"


def test_fork_says_first_and_runs_what_the_edit_touches(client: ConductorClient) -> None:
    run_id = finished(client, asking(ONE, ("org/odd name:1", "Check it.", (0,))))
    edit = SetInstruction(step_id="s2", instruction="Check it twice.")
    preview = client.fork(run_id, ForkRequest(edits=(edit,), dry_run=True))
    assert isinstance(preview, ForkPreview)
    assert (preview.will_run, preview.reused) == (("s2",), ("s1",))
    assert len(client.list_runs().runs) == 1
    reply = client.fork(run_id, ForkRequest(edits=(edit,)))
    assert isinstance(reply, RunStartedReply)
    for _ in client.events_stream(reply.run_id):
        pass
    state = client.run(reply.run_id)
    assert (state.steps["s1"].status, state.steps["s2"].status) == ("reused", "succeeded")
    assert state.parent_run == run_id
    assert [node.run_id for node in client.lineage(run_id).runs] == [run_id, reply.run_id]


def test_edit_that_does_not_fit_is_a_conflict_and_names_the_edge(client: ConductorClient) -> None:
    run_id = finished(client, asking(ONE, ("quick", "Check it.", (0,))))
    with pytest.raises(errors.Conflict) as caught:
        client.fork(run_id, ForkRequest(edits=(MoveStep(step_id="s2", position=0),), dry_run=True))
    assert caught.value.details["edge"] == ["s1", "s2"]
    with pytest.raises(errors.Conflict, match="nobody"):
        client.fork(run_id, ForkRequest(edits=(SetWorker(step_id="s1", worker="nobody"),), dry_run=True))


def test_remarks_search_deletion_and_undo(client: ConductorClient) -> None:
    run_id = finished(client, asking(ONE, prompt="About zebras", tags=("animals",)))
    other = finished(client, asking(ONE, prompt="About stones"))
    state = client.patch_run(run_id, RunPatch(rating=4, note="Good.", grade="right"))
    assert (state.rating, state.note, state.grade, state.tags) == (4, "Good.", "right", ("animals",))
    assert client.patch_run(run_id, RunPatch(note=None)).note is None
    assert [run.run_id for run in client.list_runs("zebras").runs] == [run_id]
    assert [run.run_id for run in client.list_runs(tag="animals").runs] == [run_id]
    assert [run.run_id for run in client.list_runs('zeb" OR (').runs] == []
    assert [run.run_id for run in client.list_runs(limit=1).runs] == [other]
    page = client.list_runs(limit=1)
    assert [run.run_id for run in client.list_runs(limit=1, cursor=page.next_cursor).runs] == [run_id]
    client.delete_run(run_id)
    assert [run.run_id for run in client.list_runs().runs] == [other]
    with pytest.raises(errors.NotFound):
        client.run(run_id)
    client.restore_run(run_id)
    assert client.run(run_id).prompt == "About zebras"


def test_list_refuses_what_it_does_not_know(client: ConductorClient) -> None:
    for wrong in ({"cursor": "nonsense"}, {"sort": "colour"}, {"status": "happy"}):
        with pytest.raises(errors.InvalidRequest):
            client.list_runs(**wrong)
    with pytest.raises(errors.InvalidRequest, match="limit"):
        client.list_runs(limit=100_000)


def test_key_that_gets_into_an_error_does_not_get_out(
    client: ConductorClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = "sk-marker-0123456789abcdef"
    monkeypatch.setenv("CONDUCTOR_TEST_NO_SUCH_KEY", marker)
    with pytest.raises(errors.ConductorError) as caught:
        client.run(f"run_{marker}")
    assert marker not in caught.value.message
    with pytest.raises(errors.ConductorError) as caught:
        client.test_worker(marker)
    assert marker not in caught.value.message


def test_store_that_cannot_be_opened_is_said_and_no_backend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.sqlite"
    wrong.write_bytes(b"this is no database" * 100)
    with in_a_thread(Settings(db=wrong)) as address:
        assert address is None
    said = capsys.readouterr().err
    assert str(wrong) in said
    assert "CONDUCTOR_DB" in said
    assert "Traceback" not in said
    assert wrong.read_bytes() == b"this is no database" * 100


def test_history_is_filtered_over_http(client: ConductorClient) -> None:
    first, second = (finished(client, asking(ONE, tags=(tag,), origin="api")) for tag in ("a", "b"))
    client.patch_run(first, RunPatch(grade="wrong", rating=1))
    made = client.run(second).created_at
    assert made is not None

    def ids(**wanted: object) -> list[str]:
        return [run.run_id for run in client.list_runs(**wanted).runs]  # type: ignore[arg-type]

    assert ids(grade="wrong", rating=1) == [first] and ids(grade="none") == [second]
    assert ids(since=made) == [second] and ids(until=made) == [first]
    assert ids(origins=("page", "evaluation")) == [] and ids(origins=("api", "page")) == [second, first]
    assert client.facets().tags == {"a": 1, "b": 1}
    with pytest.raises(errors.InvalidRequest, match="rating"):
        client.list_runs(rating=6)


def test_a_branch_is_deleted_and_brought_back_over_http(client: ConductorClient) -> None:
    parent = finished(client, asking(ONE))
    edit = SetInstruction(step_id="s1", instruction="Name it again.")
    child = client.fork(parent, ForkRequest(edits=(edit,)))
    assert isinstance(child, RunStartedReply)
    slow = client.fork(child.run_id, ForkRequest(edits=(SetWorker(step_id="s1", worker="slow"),)))
    assert isinstance(slow, RunStartedReply)
    gone = client.delete_branch(child.run_id)
    assert gone.run_ids == (child.run_id, slow.run_id)
    assert [run.run_id for run in client.list_runs().runs] == [parent]
    assert client.restore_branch(child.run_id) == gone
    assert client.run(slow.run_id).status == "cancelled", "what ran was stopped before it was hidden"
    nodes = client.lineage(parent).runs
    assert [node.run_id for node in nodes] == [parent, *gone.run_ids] and nodes[1].origin == "page"
    with pytest.raises(errors.NotFound):
        client.delete_branch("run_none")
