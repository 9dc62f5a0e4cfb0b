"""The client by itself: addresses, bodies, typed answers, errors. The real server: tests/conductor/server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import httpx
import pytest

from conductor_client import client as client_module
from conductor_client import errors
from conductor_client.api import ForkPreview, ForkRequest, RunPatch, RunRequest, RunStartedReply
from conductor_client.client import ConductorClient
from conductor_client.edits import SetWorker
from conductor_client.events import Frame, RunCreated, RunFinished, RunStarted
from conductor_client.plan import Estimate
from conductor_client.workflow import workflow_of

Handler = Callable[[httpx.Request], httpx.Response]


def client_of(handler: Handler, token: str | None = None) -> ConductorClient:
    return ConductorClient("http://127.0.0.1:9/", token, transport=httpx.MockTransport(handler))


def test_request_carries_token_and_json_body() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(201, json={"run_id": "run_1", "url": "/?run=run_1"})

    reply = client_of(handler, "secret").start_run(RunRequest(prompt="Hello", idempotency_key="k"))
    assert reply == RunStartedReply(run_id="run_1", url="/?run=run_1")
    assert str(seen[0].url) == "http://127.0.0.1:9/api/runs"
    assert seen[0].headers["authorization"] == "Bearer secret"
    assert RunRequest.model_validate_json(seen[0].content) == RunRequest(prompt="Hello", idempotency_key="k")


def test_names_are_quoted_into_the_address() -> None:
    paths = []

    def handler(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path.decode())
        return httpx.Response(200, json={"worker": "a/b c?", "ok": True})

    client_of(handler).test_worker("a/b c?")
    assert paths == ["/api/pool/a%2Fb%20c%3F/test"]


def test_fork_answer_has_the_type_that_was_asked_for() -> None:
    workflow = workflow_of("p", [("w", "do it", ())])
    estimate = Estimate(calls=1, basis="one call")
    preview = ForkPreview(workflow=workflow, will_run=("s1",), reused=(), estimate=estimate)

    def handler(request: httpx.Request) -> httpx.Response:
        if json.loads(request.content)["dry_run"]:
            return httpx.Response(200, content=preview.model_dump_json())
        return httpx.Response(201, json={"run_id": "run_2", "url": "/?run=run_2"})

    edits = (SetWorker(step_id="s1", worker="v"),)
    assert client_of(handler).fork("run_1", ForkRequest(edits=edits, dry_run=True)) == preview
    assert isinstance(client_of(handler).fork("run_1", ForkRequest(edits=edits)), RunStartedReply)


def test_patch_sends_only_what_was_set_and_null_to_take_back() -> None:
    bodies = []

    def handler(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json={"run_id": "run_1"})

    client_of(handler).patch_run("run_1", RunPatch(rating=4, note=None))
    assert bodies == [{"rating": 4, "note": None}]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, errors.InvalidRequest),
        (401, errors.Unauthorized),
        (403, errors.Unauthorized),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (413, errors.InvalidRequest),
        (422, errors.InvalidRequest),
        (503, errors.StatusError),
    ],
)
def test_error_answer_becomes_its_class_with_message_hint_and_details(
    status: int, expected: type[errors.StatusError]
) -> None:
    body = {
        "error": {
            "type": "some_kind",
            "message": "What happened.",
            "hint": "What to do.",
            "details": {"a": 1},
        }
    }
    with pytest.raises(errors.StatusError) as caught:
        client_of(lambda _: httpx.Response(status, json=body)).health()
    error = caught.value
    assert type(error) is expected
    assert (error.message, error.hint, error.kind) == ("What happened.", "What to do.", "some_kind")
    assert (error.status_code, error.details) == (status, {"a": 1})


@pytest.mark.parametrize("content", [b"<html>Bad gateway</html>", b'{"detail": "x"}', b"[]", b""])
def test_error_of_something_in_between_names_the_attempt(content: bytes) -> None:
    with pytest.raises(errors.StatusError) as caught:
        client_of(lambda _: httpx.Response(502, content=content)).health()
    assert "GET /healthz at http://127.0.0.1:9 answered 502" in caught.value.message
    assert caught.value.hint


def test_openai_shaped_error_keeps_its_message() -> None:
    body = {
        "error": {
            "message": "No such model.",
            "type": "not_found_error",
            "param": None,
            "code": "model_not_found",
        }
    }
    with pytest.raises(errors.NotFound, match="No such model"):
        client_of(lambda _: httpx.Response(404, json=body)).chat("x", [{"role": "user", "content": "hi"}])


def test_answer_of_another_version_is_no_traceback_of_pydantic() -> None:
    with pytest.raises(errors.StatusError, match="does not understand"):
        client_of(lambda _: httpx.Response(200, json={"unknown": 1})).health()
    with pytest.raises(errors.StatusError, match="does not understand"):
        client_of(lambda _: httpx.Response(200, json=[{"unknown": 1}])).conductors()
    with pytest.raises(errors.StatusError, match="does not understand"):
        client_of(lambda _: httpx.Response(200, content=b"<html>")).events("run_1")
    with pytest.raises(errors.StatusError, match="does not understand"):
        client_of(lambda _: httpx.Response(200, json=[{"kind": "run_painted"}])).events("run_1")
    painted = b'event: run_painted\ndata: {"kind": "run_painted"}\n\n'
    with pytest.raises(errors.StatusError, match="does not understand"):
        list(client_of(lambda _: httpx.Response(200, content=painted)).events_stream("run_1"))


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (httpx.ConnectError("refused"), errors.ConnectionFailed),
        (httpx.ReadError(""), errors.ConnectionFailed),
        (httpx.ReadTimeout("slow"), errors.TimedOut),
        (httpx.ConnectTimeout("slow"), errors.TimedOut),
    ],
)
def test_no_answer_says_what_was_attempted_where(
    failure: Exception, expected: type[errors.ConductorError]
) -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        raise failure

    with pytest.raises(expected, match=r"GET /api/pool at http://127\.0\.0\.1:9") as caught:
        client_of(handler).pool()
    assert caught.value.hint


def test_a_question_on_a_connection_that_was_just_closed_is_asked_again() -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        if len(asked) == 1:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        return httpx.Response(
            200, json={"version": "1", "engine": "embedded", "pool_size": 0, "store_writable": True}
        )

    assert client_of(handler).health().pool_size == 0
    assert asked == ["GET", "GET"]


def test_what_changes_something_is_not_sent_twice_by_itself() -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        raise httpx.RemoteProtocolError("Server disconnected without sending a response.")

    with pytest.raises(errors.ConnectionFailed):
        client_of(handler).cancel("run_1")
    assert asked == ["POST"]


def sse(*items: RunCreated | RunStarted | RunFinished | Frame, end: bool = False) -> bytes:
    text = ""
    for item in items:
        kind = "frame" if isinstance(item, Frame) else item.kind
        last_id = "" if isinstance(item, Frame) else f"id: {item.seq}\n"
        text += f"{last_id}event: {kind}\ndata: {item.model_dump_json()}\n\n"
    return (text + ("event: end\ndata: {}\n\n" if end else "")).encode()


CREATED = RunCreated(run_id="run_1", seq=1, prompt="p", conductor="c")
STARTED = RunStarted(run_id="run_1", seq=2)
FRAME = Frame(run_id="run_1", step_id="s1", attempt=1, channel="output", offset=0, text="a\u2028b\x85c\x0cd")
FINISHED = RunFinished(run_id="run_1", seq=3, final_output="done")


@pytest.fixture
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module.time, "sleep", lambda _: None)


@pytest.mark.usefixtures("_no_waiting")
def test_stream_joins_again_after_the_last_event_and_stops_at_the_end() -> None:
    asked = []
    answers: Iterator[bytes] = iter([sse(CREATED, STARTED), sse(FRAME, FINISHED)])

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.params["after"])
        return httpx.Response(200, content=next(answers), headers={"content-type": "text/event-stream"})

    got = list(client_of(handler).events_stream("run_1"))
    assert got == [CREATED, STARTED, FRAME, FINISHED]
    assert asked == ["0", "2"]


@pytest.mark.usefixtures("_no_waiting")
def test_stream_of_a_run_that_is_over_ends_without_events() -> None:
    got = list(
        client_of(lambda _: httpx.Response(200, content=sse(end=True))).events_stream("run_1", after=3)
    )
    assert got == []


@pytest.mark.usefixtures("_no_waiting")
def test_stream_that_never_comes_back_is_an_error() -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(errors.ConnectionFailed):
        list(client_of(handler).events_stream("run_1"))
    with pytest.raises(errors.ConnectionFailed, match="broke off 6 times"):
        list(client_of(lambda _: httpx.Response(200)).events_stream("run_1"))


def test_stream_of_an_unknown_run_is_not_found() -> None:
    body = {"error": {"type": "not_found", "message": "There is no run 'run_9'.", "hint": ""}}
    with pytest.raises(errors.NotFound, match="run_9"):
        list(client_of(lambda _: httpx.Response(404, json=body)).events_stream("run_9"))


def test_export_keeps_bytes_type_and_name() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        assert request.url.params["format"] == "svg"
        headers = {"content-type": "image/svg+xml", "content-disposition": 'attachment; filename="run_1.svg"'}
        return httpx.Response(200, content=b"<svg/>", headers=headers)

    assert client_of(handler).export("run_1", "svg") == (b"<svg/>", "image/svg+xml", "run_1.svg")


def test_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://203.0.113.1:3128")
    monkeypatch.setenv("ALL_PROXY", "http://203.0.113.1:3128")
    with (
        ConductorClient("http://127.0.0.1:9") as backend,
        pytest.raises(errors.ConnectionFailed, match=r"127\.0\.0\.1:9"),
    ):
        backend.health()
