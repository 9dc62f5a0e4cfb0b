"""Between OpenAI's chat completions and runs: pure, so that each rule can be tested without a server."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from conductor.pool.fields import SERVED_NAMES
from conductor.server.errors import refused
from conductor_client.api import RunRequest
from conductor_client.errors import StatusError, StepErrorKind, quoted
from conductor_client.events import Frame, PlanCreated, RoundStarted, RunCreated, RunEvent, StepRetried
from conductor_client.pool import ConductorInfo, PoolView
from conductor_client.run_state import RunState
from conductor_client.usage import sum_usage
from conductor_client.workflow import Message, Workflow

MINI, ULTRA = SERVED_NAMES
PASSED_ON = ("temperature", "top_p", "stop", "presence_penalty", "frequency_penalty", "reasoning_effort")
"""Options that go to the workers as they are; ``max_tokens`` goes by its own name for each of them."""
STATUS_OF: Mapping[StepErrorKind, int] = {
    "rate_limited": 429,
    "quota": 429,
    "bad_input": 400,
    "limit_reached": 402,
}
"""What a failed run answers; any other kind is 502."""


class ChatMessage(BaseModel):
    """One turn. Content may come in parts; their texts are joined, other parts are refused."""

    model_config = ConfigDict(extra="allow")
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None

    def text(self) -> str:
        """The turn's text. Raises ``StatusError`` (400) for a part that is no text."""
        if isinstance(self.content, str) or self.content is None:
            return self.content or ""
        for part in self.content:
            if part.get("type") not in ("text", "input_text"):
                raise refused(
                    400, f"A message holds a part of type {quoted(part.get('type'))}; only text is taken."
                )
        return "".join(str(part.get("text", "")) for part in self.content)


class ChatRequest(BaseModel):
    """What is read of a chat completion request; anything else is accepted and has no effect."""

    model_config = ConfigDict(extra="allow")
    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    stream: bool = False
    stream_options: dict[str, Any] | None = None
    n: int | None = Field(default=None, ge=1, le=1)
    seed: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)


def conductor_for(model: str, conductors: Sequence[ConductorInfo], view: PoolView) -> str:
    """The conductor id behind a model name. Raises ``StatusError`` (404) for an unknown name."""
    ready = [each for each in conductors if each.ready]
    if model == ULTRA:
        planners = [each for each in ready if each.kind in ("local", "prompted")]
        if planners:
            return planners[0].conductor_id
    if model in (MINI, ULTRA):
        routers = [each.conductor_id for each in ready if each.kind == "router"]
        workers = [each.name for each in view.workers if each.ready and not each.is_tool]
        default = view.default_worker if view.default_worker in workers else next(iter(workers), None)
        if routers or default:
            return routers[0] if routers else f"single:{default}"
        raise refused(503, "No worker is ready.", hint="GET /api/pool says what each of them is missing.")
    if model in {each.name for each in view.workers}:
        return f"single:{model}"
    raise refused(
        404, f"There is no model {quoted(model)}.", hint="GET /v1/models lists them.", kind="model_not_found"
    )


def run_request(request: ChatRequest, conductor: str, idempotency_key: str | None) -> RunRequest:
    """The run that answers the last user turn; the turns before it are its conversation."""
    turns = [Message(role=_role(each.role), content=each.text()) for each in request.messages]
    if turns[-1].role != "user":
        raise refused(400, "The last message must be from the user.", hint="Put the question at the end.")
    options = {name: (request.model_extra or {}).get(name) for name in PASSED_ON}
    options["max_output_tokens"] = request.max_completion_tokens or request.max_tokens
    return RunRequest(
        prompt=turns[-1].content,
        messages=tuple(turns[:-1]),
        request_options={name: value for name, value in options.items() if value is not None},
        conductor=conductor,
        seed=request.seed,
        idempotency_key=idempotency_key,
        origin="api",
    )


def _role(role: str) -> Literal["system", "user", "assistant"]:
    if role == "tool":
        raise refused(400, "A message has the role 'tool'; calling tools is not part of this API.")
    return "system" if role == "developer" else role  # type: ignore[return-value]  # the other four are handled


def completion(state: RunState, model: str, link: Mapping[str, str]) -> dict[str, Any]:
    """The whole answer to a run that succeeded."""
    message = {"role": "assistant", "content": state.final_output or ""}
    choice = {"index": 0, "message": message, "finish_reason": finish_of(state), "logprobs": None}
    return {
        **_head(state.run_id, model, link, "chat.completion"),
        "choices": [choice],
        "usage": usage_of(state),
    }


def finish_of(state: RunState) -> str:
    """``length`` when the last step ran into its output cap, else ``stop``."""
    last = state.steps.get(state.workflow.final_step.step_id) if state.workflow else None
    return "length" if last is not None and last.finish == "length" else "stop"


def usage_of(state: RunState) -> dict[str, int] | None:
    """Tokens of workers and conductor together; ``None`` when any of them is unknown."""
    total, _ = sum_usage([state.usage, state.orchestration_usage])
    if not state.complete.usage:
        return None
    prompt, answer = total.input_tokens or 0, total.output_tokens or 0
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def as_refusal(state: RunState) -> StatusError:
    """The error for a run that did not succeed."""
    if state.error is None:
        return refused(499, f"The run {state.run_id} was stopped.", kind="cancelled")
    error = state.error
    details = {"run_id": state.run_id}
    return refused(
        STATUS_OF.get(error.kind, 502), error.message, hint=error.hint, kind=error.kind, details=details
    )


class ChunkWriter:
    """Turns a run's events and frames into chunks of one streamed answer: the last step's text."""

    def __init__(self, model: str, link: Mapping[str, str]) -> None:
        self._base = _head(link["run_id"], model, link, "chat.completion.chunk")
        self._final_step: str | None = None
        self._sent = ""
        self._is_broken = False

    def first(self) -> dict[str, Any]:
        """The chunk that opens the answer."""
        return self.chunk({"role": "assistant", "content": ""})

    def chunk(self, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        """One chunk with this delta."""
        return {
            **self._base,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}],
        }

    def text_of(self, item: RunEvent | Frame | None) -> str:
        """New text of the answer in this item, or nothing."""
        if isinstance(item, Frame):
            if item.step_id != self._final_step or item.channel != "output" or self._is_broken:
                return ""
            if item.offset > len(self._sent):
                self._is_broken = True  # a gap: the rest comes whole at the end
                return ""
            new = item.text[len(self._sent) - item.offset :]
            self._sent += new
            return new
        if isinstance(item, RunCreated | PlanCreated | RoundStarted):
            workflow: Workflow | None = getattr(item, "workflow", None) or getattr(
                getattr(item, "plan", None), "workflow", None
            )
            self._final_step = workflow.final_step.step_id if workflow else self._final_step
        elif isinstance(item, StepRetried) and item.step_id == self._final_step and self._sent:
            self._is_broken = True
        return ""

    def last(self, state: RunState, *, with_usage: bool) -> Iterator[dict[str, Any]]:
        """What closes the answer: text not sent yet and the reason, or an error; usage when asked for."""
        answer = state.final_output or ""
        if state.status != "succeeded":
            refusal = as_refusal(state)
            yield {
                "error": {
                    "message": refusal.message,
                    "type": "server_error",
                    "param": None,
                    "code": refusal.kind,
                }
            }
            return
        if not answer.startswith(self._sent):
            said = "The last step was tried again after text of it had been sent. Ask without stream."
            yield {
                "error": {"message": said, "type": "server_error", "param": None, "code": "answer_changed"}
            }
            return
        if len(answer) > len(self._sent):
            yield self.chunk({"content": answer[len(self._sent) :]})
        yield self.chunk({}, finish_of(state))
        if with_usage:
            yield {**self._base, "choices": [], "usage": usage_of(state)}


def _head(run_id: str, model: str, link: Mapping[str, str], kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{run_id}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "conductor_run": dict(link),
    }
