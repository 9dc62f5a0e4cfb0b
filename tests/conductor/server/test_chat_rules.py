"""The rules between OpenAI's chat completions and runs, without a server."""

from __future__ import annotations

from typing import Any

import pytest

from conductor.server.chat import (
    MINI,
    ULTRA,
    ChatRequest,
    ChunkWriter,
    completion,
    conductor_for,
    run_request,
    usage_of,
)
from conductor_client.errors import StatusError, StepError
from conductor_client.events import Frame, RunCreated, StepRetried
from conductor_client.pool import ConductorInfo, PoolView, WorkerInfo
from conductor_client.run_state import RunState, StepState
from conductor_client.usage import Complete, Usage
from conductor_client.workflow import Message, workflow_of

LINK = {"run_id": "run_1", "url": "http://127.0.0.1/?run=run_1"}
VIEW = PoolView(
    name="p",
    workers=(
        WorkerInfo(name="calculator", provider="tool", model="calculator"),
        WorkerInfo(name="missing", provider="local", model="m", ready=False),
        WorkerInfo(name="first", provider="local", model="m"),
        WorkerInfo(name="second", provider="local", model="m"),
    ),
    default_worker="second",
)
LOCAL = ConductorInfo(conductor_id="local", kind="local", title="Local")
ROUTER = ConductorInfo(conductor_id="router", kind="router", title="Router")
WORKFLOW = workflow_of("p", [("first", "a", ()), ("second", "b", (0,))])


def asked(**more: Any) -> ChatRequest:
    return ChatRequest.model_validate(
        {"model": ULTRA, "messages": [{"role": "user", "content": "hi"}], **more}
    )


@pytest.mark.parametrize(
    ("model", "conductors", "expected"),
    [
        (ULTRA, [ROUTER, LOCAL], "local"),
        (MINI, [ROUTER, LOCAL], "router"),
        (MINI, [LOCAL], "single:second"),
        (ULTRA, [LOCAL.model_copy(update={"ready": False})], "single:second"),
        ("first", [LOCAL], "single:first"),
        ("missing", [], "single:missing"),
    ],
)
def test_model_names_lead_to_conductors(model: str, conductors: list[ConductorInfo], expected: str) -> None:
    assert conductor_for(model, conductors, VIEW) == expected


def test_default_worker_that_is_not_ready_is_passed_over() -> None:
    assert conductor_for(MINI, [], VIEW.model_copy(update={"default_worker": "missing"})) == "single:first"
    assert conductor_for(MINI, [], VIEW.model_copy(update={"default_worker": None})) == "single:first"


def test_unknown_model_and_empty_pool_are_refused() -> None:
    with pytest.raises(StatusError) as caught:
        conductor_for("gpt-99", [LOCAL], VIEW)
    assert (caught.value.status_code, caught.value.kind) == (404, "model_not_found")
    with pytest.raises(StatusError) as caught:
        conductor_for(MINI, [], VIEW.model_copy(update={"workers": VIEW.workers[:2]}))
    assert caught.value.status_code == 503


def test_last_turn_is_the_prompt_and_the_rest_its_conversation() -> None:
    messages = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "Tw"}, {"type": "text", "text": "o?"}]},
    ]
    request = run_request(
        asked(messages=messages, temperature=0.5, max_tokens=7, seed=3, user="x"), "local", "key"
    )
    assert request.prompt == "Two?"
    assert request.messages == (
        Message(role="system", content="Be brief."),
        Message(role="user", content="One?"),
        Message(role="assistant", content=""),
    )
    assert request.request_options == {"temperature": 0.5, "max_output_tokens": 7}
    assert (request.seed, request.idempotency_key, request.origin) == (3, "key", "api")


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "assistant", "content": "hi"}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
        [{"role": "tool", "content": "42"}, {"role": "user", "content": "hi"}],
    ],
)
def test_what_cannot_be_run_is_refused(messages: list[Any]) -> None:
    with pytest.raises(StatusError) as caught:
        run_request(asked(messages=messages), "local", None)
    assert caught.value.status_code == 400


def state(**more: Any) -> RunState:
    steps = {"s1": StepState(status="succeeded"), "s2": StepState(status="succeeded", finish="stop")}
    return RunState(
        run_id="run_1", status="succeeded", workflow=WORKFLOW, steps=steps, final_output="Paris."
    ).model_copy(update=more)


def test_completion_holds_answer_usage_and_link() -> None:
    done = state(
        usage=Usage(input_tokens=10, output_tokens=4),
        orchestration_usage=Usage(input_tokens=3, output_tokens=2),
    )
    answer = completion(done, ULTRA, LINK)
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "Paris."}
    assert answer["usage"] == {"prompt_tokens": 13, "completion_tokens": 6, "total_tokens": 19}
    assert answer["conductor_run"] == LINK
    assert answer["model"] == ULTRA


def test_unknown_usage_is_null_and_not_zero() -> None:
    assert usage_of(state(complete=Complete(usage=False))) is None


def frame(step_id: str, offset: int, text: str, channel: str = "output") -> Frame:
    return Frame.model_validate(
        {"run_id": "run_1", "step_id": step_id, "attempt": 1, "channel": channel}
        | {"offset": offset, "text": text}
    )


CREATED = RunCreated(run_id="run_1", prompt="p", conductor="c", workflow=WORKFLOW)


def written(items: list[Any], end: RunState) -> tuple[str, list[dict[str, Any]]]:
    writer = ChunkWriter(ULTRA, LINK)
    text = "".join(writer.text_of(item) for item in items)
    last = list(writer.last(end, with_usage=True))
    return text + "".join(c["choices"][0]["delta"].get("content", "") for c in last if c.get("choices")), last


@pytest.mark.parametrize(
    "items",
    [
        [CREATED, frame("s2", 0, "Par"), frame("s2", 3, "is.")],
        [CREATED, frame("s1", 0, "draft"), frame("s2", 0, "Par"), frame("s2", 0, "Paris")],
        [CREATED, frame("s2", 0, "thinking", "reasoning"), frame("s2", 0, "P")],
        [CREATED, frame("s2", 4, "s.")],
        [CREATED],
        [],
    ],
)
def test_stream_is_the_last_steps_text_whatever_arrived(items: list[Any]) -> None:
    text, last = written(items, state(usage=Usage(input_tokens=1, output_tokens=1)))
    assert text == "Paris."
    assert [chunk["choices"][0]["finish_reason"] for chunk in last if chunk["choices"]][-1] == "stop"
    assert last[-1]["choices"] == []
    assert last[-1]["usage"]["total_tokens"] == 2


def test_answer_that_changed_after_text_was_sent_is_an_error_and_no_mixture() -> None:
    retried = StepRetried(
        run_id="run_1",
        step_id="s2",
        attempt=1,
        worker="second",
        error=StepError(kind="connection", message="Gone."),
        wait_s=0,
        next_worker="second",
    )
    text, last = written([CREATED, frame("s2", 0, "Lyo"), retried, frame("s2", 0, "Paris.")], state())
    assert text == "Lyo"
    assert [chunk["error"]["code"] for chunk in last] == ["answer_changed"]


def test_failed_run_ends_the_stream_with_its_error() -> None:
    error = StepError(kind="rate_limited", message="Too many.", hint="Wait.")
    _, last = written([CREATED], state(status="failed", error=error, final_output=None))
    assert last[0]["error"]["message"] == "Too many."
    assert last[0]["error"]["code"] == "rate_limited"
