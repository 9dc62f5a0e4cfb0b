"""An answer in the Chat Completions form, put together from its chunks. Pure: dicts in, deltas out.

Reads what servers really send: usage with or without choices, once or cumulatively; thoughts under three
names or in tags; characters cut in two; errors under HTTP 200; streams that just stop.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from conductor.providers.answer_text import AnswerText
from conductor.providers.base import Completion, Delta, TokenLogprob, Worker, WorkerError
from conductor.providers.failures import OVERFLOW, SHOWN_CHARACTERS, failure, read_error, scrubbed
from conductor.providers.usage_forms import openai_usage, reported_cost, so_far

Finish = Literal["stop", "length", "tool", "other"]
FINISHES: dict[str, Finish] = {
    **dict.fromkeys(("stop", "eos", "end_turn", "stop_sequence", "complete", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length"), "length"),
    **dict.fromkeys(("tool_calls", "function_call"), "tool"),
}
_REFUSALS = frozenset(
    {"content_filter", "refusal", "safety", "sensitive", "prohibited_content", "recitation", "blocklist"}
)


class ChatAnswer:
    """Collects one answer. ``feed`` each chunk (or the whole response), then ``completion``."""

    def __init__(self, worker: Worker, *, think_tags: bool = True) -> None:
        self._worker = worker
        self._text = AnswerText(think_tags=think_tags)
        self._refusal: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._finish: str | None = None
        self._is_whole = False
        self._usage: Any = None
        self._model: str | None = None

    def event(self, name: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data of a server-sent event as ``feed`` takes it."""
        return {"error": said} if name == "error" and "error" not in said else said

    def is_one(self, said: Mapping[str, Any]) -> bool:
        """Whether this is an answer in one piece, or an error in the form of one."""
        return bool(said.get("choices") or said.get("error"))

    def feed(self, chunk: Mapping[str, Any]) -> list[Delta]:
        """Takes the next chunk. Raises ``WorkerError`` when it is an error."""
        if chunk.get("error"):
            raise self._with_text(failure(self._worker, read_error(200, chunk)))
        if usage := chunk.get("usage"):
            self._usage = usage
        if self._model is None and isinstance(chunk.get("model"), str):
            self._model = scrubbed(self._worker, chunk["model"]) or None
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and choice.get("index") in (0, None):
                return self._choice(choice)
        return []

    def completion(self, *, notes: tuple[str, ...] = ()) -> tuple[list[Delta], Completion]:
        """The last deltas and the end, once nothing more will come.

        Raises:
            WorkerError: the stream stopped before its end, the model refused, or the whole cap was spent on
                thinking.
        """
        deltas = self._text.close()
        self._text.settle()
        output, reasoning = self._text.output, self._text.reasoning
        finish = (self._finish or "").lower()
        if self._refusal or finish in _REFUSALS:
            raise self._with_text(refusal(self._worker, "".join(self._refusal)))
        if not finish:
            raise self._with_text(truncated_stream(self._worker))
        if OVERFLOW.search(finish):
            raise self._with_text(failure(self._worker, read_error(400, finish)))
        if finish == "error":
            raise self._with_text(
                failure(self._worker, read_error(502, "the model failed while it answered"))
            )
        if finish in {"length", "max_tokens"} and not output.strip():
            usage = openai_usage(self._usage)
            thought_tokens = usage.reasoning_tokens if usage else None
            raise self._with_text(spent_on_thinking(self._worker, reasoning, thought_tokens))
        end = Completion(
            output=output,
            reasoning=reasoning,
            finish=FINISHES.get(finish, "other"),
            usage=openai_usage(self._usage),
            served_model=self._model,
            logprobs=tuple(self._logprobs),
            reported_cost_usd=reported_cost(self._usage),
            notes=notes,
        )
        return deltas, end

    def interrupted(self, error: WorkerError) -> WorkerError:
        """The error, with the text and usage so far."""
        self._text.close()
        return self._with_text(error)

    def _choice(self, choice: Mapping[str, Any]) -> list[Delta]:
        if finish := choice.get("finish_reason"):
            self._finish = str(finish)
        said = choice.get("delta") or choice.get("message") or {}
        self._is_whole = "message" in choice
        if not isinstance(said, Mapping):
            return []
        deltas: list[Delta] = []
        if thought := said.get("reasoning_content") or said.get("reasoning"):
            self._text.add("reasoning", _text(thought), deltas)
        elif details := said.get("reasoning_details"):
            self._text.add("reasoning", _text(details), deltas)
        if refusal := said.get("refusal"):
            self._refusal.append(_text(refusal))
        if content := said.get("content"):
            if type(content) is str:
                text = content
            else:
                thought, text = _parts(content)
                self._text.add("reasoning", thought, deltas)
            self._text.say(text, deltas)
        elif old_style := choice.get("text"):
            self._text.add("output", _text(old_style), deltas)
        if (logprobs := choice.get("logprobs")) and isinstance(logprobs, Mapping):
            self._logprobs += _logprobs(logprobs)
        return deltas

    def _with_text(self, error: WorkerError) -> WorkerError:
        error.partial_text, error.reasoning = self._text.output, self._text.reasoning
        usage = openai_usage(self._usage)
        error.usage = usage if self._finish or self._is_whole else so_far(usage)
        error.served_model = self._model
        return error


def refusal(worker: Worker, said: str) -> WorkerError:
    """The model, or a filter before it, would not answer."""
    said = scrubbed(worker, said)[:SHOWN_CHARACTERS]
    return WorkerError(
        "refused",
        f"Worker {worker.name} refused: {said}" if said else f"Worker {worker.name} refused to answer.",
        hint="Rephrase the instruction, or choose another worker.",
    )


def truncated_stream(worker: Worker) -> WorkerError:
    """The stream ended without saying that the answer was complete."""
    return WorkerError(
        "stream_truncated",
        f"The answer of worker {worker.name} stopped before its end.",
        hint="Run the step again.",
        retryable=True,
    )


def spent_on_thinking(worker: Worker, reasoning: str, reasoning_tokens: int | None) -> WorkerError:
    """The output cap was reached before the first word of the answer."""
    spent = f"{reasoning_tokens} tokens" if reasoning_tokens else "all of it"
    thinking = (
        f"spent its output cap on thinking ({spent})" if reasoning or reasoning_tokens else "reached its cap"
    )
    return WorkerError(
        "truncated",
        f"Worker {worker.name} {thinking} and had none left for an answer.",
        hint="Raise max_output_tokens of the worker, or lower its reasoning_effort.",
    )


def _parts(content: Any) -> tuple[str, str]:
    """``(thought, answer)`` of content that is a list of typed parts."""
    parts = content if isinstance(content, list) else [content]
    thought: list[str] = []
    answer: list[str] = []
    for part in parts:
        kind = part.get("type") if isinstance(part, Mapping) else None
        (thought if kind in {"thinking", "reasoning"} else answer).append(_text(part))
    return "".join(thought), "".join(answer)


def _text(value: Any) -> str:
    """Text of a field that is a string, a list of parts, or something else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_text(part) for part in value)
    if isinstance(value, Mapping):
        return next(
            (_text(value[key]) for key in ("text", "thinking", "content", "summary") if value.get(key)), ""
        )
    return "" if value is None else json.dumps(value)


def _logprobs(said: Mapping[str, Any]) -> list[TokenLogprob]:
    """Tokens that are told in full; a list in any other form gives none."""
    found = []
    try:
        for each in said.get("content") or ():
            top = {str(other["token"]): float(other["logprob"]) for other in each.get("top_logprobs") or ()}
            token, logprob = str(each["token"]), float(each["logprob"])
            found.append(TokenLogprob(token, logprob, top or {token: logprob}))
    except (TypeError, KeyError, ValueError, AttributeError):
        return []
    return found
