"""An answer or an error said once, and its four forms: Chat Completions and Messages, streamed and whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.bad_server.replies import Reply, body, events, named_events

Form = Literal["openai", "anthropic"]
Json = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """An error. ``status`` 200 puts it into a body that looks like success."""

    status: int
    message: str
    code: str = ""
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def told(self, form: Form) -> Json:
        """Its body."""
        if form == "anthropic":
            kind = self.code or "invalid_request_error"
            return {"type": "error", "error": {"type": kind, "message": self.message}}
        said = {"message": self.message, "type": "invalid_request_error", "param": self.param}
        return {"error": {**said, "code": self.code or None}}

    def reply(self, form: Form) -> Reply:
        """The response."""
        return body(self.told(form), self.status, **self.headers)


@dataclass(frozen=True)
class Answer:
    """What a model says, and how its server lets go of it.

    ``finish``: ``None`` = never said. ``usage``: where the counts stand; ``alone`` in a chunk without choices
    (Messages have no such place), ``with_choice`` beside one, ``every_chunk`` cumulatively, ``never``.
    ``input_tokens`` includes ``cached_tokens``. ``problem`` comes in place of the end. ``model``: who served,
    empty = as asked.
    """

    texts: tuple[str, ...] = ("All ", "is ", "well.")
    thought: str = ""
    finish: Literal["stop", "length", "refusal"] | None = "stop"
    refusal: str = ""
    usage: Literal["alone", "with_choice", "every_chunk", "never"] = "alone"
    input_tokens: int = 12
    cached_tokens: int = 0
    output_tokens: int = 5
    thinking_tokens: int = 0
    model: str = ""
    problem: Problem | None = None
    is_cut: bool = False
    is_stuck: bool = False

    def reply(self, form: Form, *, model: str, streamed: bool) -> Reply:
        """The response to a request for ``model``."""
        served = self.model or model
        if form == "openai":
            return _chat_stream(self, served) if streamed else _whole(_chat_body(self, served), self, form)
        return (
            _messages_stream(self, served) if streamed else _whole(_messages_body(self, served), self, form)
        )


def _whole(said: Json, answer: Answer, form: Form) -> Reply:
    if answer.problem is not None:
        return body(answer.problem.told(form))
    whole = body(said)
    if answer.is_cut:
        return Reply((whole.pieces[0][:40],), headers=whole.headers, is_cut=True)
    return Reply(whole.pieces, headers=whole.headers, is_mute=answer.is_stuck)


_CHAT_FINISH = {"stop": "stop", "length": "length", "refusal": "content_filter", None: None}
_MESSAGES_FINISH = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", None: None}


def _chat_usage(answer: Answer, output_tokens: int) -> Json:
    thinking = {"completion_tokens_details": {"reasoning_tokens": answer.thinking_tokens}}
    cached = {"prompt_tokens_details": {"cached_tokens": answer.cached_tokens}}
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": answer.input_tokens + output_tokens,
        **(thinking if answer.thinking_tokens else {}),
        **(cached if answer.cached_tokens else {}),
    }


def _chat_body(answer: Answer, model: str) -> Json:
    said: Json = {"role": "assistant", "content": "".join(answer.texts) or None}
    if answer.thought:
        said["reasoning_content"] = answer.thought
    if answer.refusal:
        said["refusal"] = answer.refusal
    choice = {"index": 0, "message": said, "finish_reason": _CHAT_FINISH[answer.finish]}
    usage = {} if answer.usage == "never" else {"usage": _chat_usage(answer, answer.output_tokens)}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [choice],
        **usage,
    }


def _chat_stream(answer: Answer, model: str) -> Reply:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunk(finish: str | None = None, **delta: Any) -> Json:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    said = [chunk(reasoning_content=answer.thought)] if answer.thought else []
    said += [chunk(refusal=answer.refusal)] if answer.refusal else []
    said += [chunk(content=text) for text in answer.texts or (None,)]
    if answer.usage == "every_chunk":
        said = [each | {"usage": _chat_usage(answer, count)} for count, each in enumerate(said, 1)]
    if answer.problem is not None:
        return events(*said, answer.problem.told("openai"), done=False)
    if answer.is_cut or answer.is_stuck:
        return events(*said, done=False, is_cut=answer.is_cut, is_stuck=answer.is_stuck)
    counts = {"usage": _chat_usage(answer, answer.output_tokens)}
    if answer.finish is not None:
        last = chunk(_CHAT_FINISH[answer.finish])
        said.append(last if answer.usage in {"alone", "never"} else last | counts)
    if answer.usage == "alone":
        said.append({**head, "choices": [], **counts})
    return events(*said, done=answer.finish is not None)


def _messages_usage(answer: Answer, output_tokens: int) -> Json:
    thinking = {"output_tokens_details": {"thinking_tokens": answer.thinking_tokens}}
    return {
        "input_tokens": answer.input_tokens - answer.cached_tokens,
        "cache_read_input_tokens": answer.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": output_tokens,
        **(thinking if answer.thinking_tokens else {}),
    }


def _messages_body(answer: Answer, model: str) -> Json:
    blocks: list[Json] = [{"type": "thinking", "thinking": answer.thought}] if answer.thought else []
    text = "".join(answer.texts)
    blocks += [{"type": "text", "text": text}] if text else []
    usage = {} if answer.usage == "never" else {"usage": _messages_usage(answer, answer.output_tokens)}
    head = {"id": "m1", "type": "message", "role": "assistant", "model": model}
    return {**head, "content": blocks, **_messages_end(answer), **usage}


def _messages_end(answer: Answer) -> Json:
    details = {"type": "refusal", "explanation": answer.refusal} if answer.refusal else None
    return {"stop_reason": _MESSAGES_FINISH[answer.finish], "stop_details": details}


def _messages_stream(answer: Answer, model: str) -> Reply:
    message: Json = {"id": "m1", "type": "message", "role": "assistant", "model": model, "content": []}
    is_counted = answer.usage != "never"
    if is_counted:
        message["usage"] = _messages_usage(answer, 1)
    said: list[Json] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    parts = [("thinking", answer.thought)] if answer.thought else []
    parts += [("text", text) for text in answer.texts]
    for count, (kind, text) in enumerate(parts, 1):
        delta = {"type": f"{kind}_delta", kind: text}
        said.append({"type": "content_block_delta", "index": 0, "delta": delta})
        if answer.usage == "every_chunk":
            usage = {"output_tokens": count}
            said.append({"type": "message_delta", "delta": {"stop_reason": None}, "usage": usage})
    if answer.problem is not None:
        return named_events(*said, answer.problem.told("anthropic"))
    if answer.is_cut or answer.is_stuck:
        return named_events(*said, is_cut=answer.is_cut, is_stuck=answer.is_stuck)
    if answer.finish is not None:
        usage = _messages_usage(answer, answer.output_tokens)
        counts = {"usage": {"output_tokens": usage["output_tokens"], **_only(usage, "output_tokens_details")}}
        said.append(
            {"type": "message_delta", "delta": _messages_end(answer), **(counts if is_counted else {})}
        )
        said.append({"type": "message_stop"})
    return named_events(*said)


def _only(said: Json, key: str) -> Json:
    return {key: said[key]} if key in said else {}
