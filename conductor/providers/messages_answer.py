"""An answer in Anthropic's Messages form, put together from its events. Pure: dicts in, deltas out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from conductor.providers.answer_text import AnswerText, Channel
from conductor.providers.base import Completion, Delta, Worker, WorkerError
from conductor.providers.chat_answer import refusal, spent_on_thinking, truncated_stream
from conductor.providers.failures import failure, read_error, scrubbed
from conductor.providers.usage_forms import anthropic_usage, so_far

_FINISHES: dict[str, Literal["stop", "length", "tool", "other"]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool",
}


class MessagesAnswer:
    """Collects one answer. ``feed`` each event (or the whole message), then ``completion``."""

    def __init__(self, worker: Worker, *, think_tags: bool = False) -> None:
        self._worker = worker
        self._text = AnswerText(think_tags=think_tags)
        self._usage: dict[str, Any] = {}
        self._model: str | None = None
        self._stop_reason: str | None = None
        self._refusal = ""

    def event(self, name: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data of a server-sent event as ``feed`` takes it."""
        return said if "type" in said else {"type": name, **said}

    def is_one(self, said: Mapping[str, Any]) -> bool:
        """Whether this can be an answer in one piece; any other object is an answer that never ended."""
        return True

    def feed(self, event: Mapping[str, Any]) -> list[Delta]:
        """Takes the next event. Raises ``WorkerError`` when it is an error."""
        match event.get("type"):
            case "content_block_delta":
                return self._delta(_table(event, "delta"))
            case "content_block_start":
                return self._block(_table(event, "content_block"))
            case "message_start":
                self._message(_table(event, "message"))
            case "message_delta":
                self._end(_table(event, "delta"))
                self._count(event.get("usage"))
            case "message":
                self._message(event)
                self._end(event)
                blocks = event.get("content")
                known = (
                    [each for each in blocks if isinstance(each, Mapping)] if isinstance(blocks, list) else []
                )
                return [delta for block in known for delta in self._block(block)]
            case "error":
                raise self.interrupted(failure(self._worker, read_error(200, event)))
        return []

    def completion(self, *, notes: tuple[str, ...] = ()) -> tuple[list[Delta], Completion]:
        """The last deltas and the end, once nothing more will come.

        Raises:
            WorkerError: the stream stopped before its end, the model refused, its context was too small, or
                the whole cap was spent on thinking.
        """
        deltas = self._text.close()
        self._text.settle()
        output, reasoning = self._text.output, self._text.reasoning
        usage = anthropic_usage(self._usage)
        match self._stop_reason:
            case None:
                raise self.interrupted(truncated_stream(self._worker))
            case "refusal":
                raise self.interrupted(refusal(self._worker, self._refusal))
            case "model_context_window_exceeded":
                raise self.interrupted(failure(self._worker, read_error(400, self._stop_reason)))
            case "max_tokens" if not output.strip():
                spent = usage.reasoning_tokens if usage else None
                raise self.interrupted(spent_on_thinking(self._worker, reasoning, spent))
        end = Completion(
            output=output,
            reasoning=reasoning,
            finish=_FINISHES.get(self._stop_reason, "other"),
            usage=usage,
            served_model=self._model,
            notes=notes,
        )
        return deltas, end

    def interrupted(self, error: WorkerError) -> WorkerError:
        """The error, with the text and usage so far."""
        self._text.close()
        error.partial_text, error.reasoning = self._text.output, self._text.reasoning
        usage = anthropic_usage(self._usage)
        error.usage = usage if self._stop_reason else so_far(usage)
        error.served_model = self._model
        return error

    def _delta(self, delta: Mapping[str, Any]) -> list[Delta]:
        match delta.get("type"):
            case "text_delta":
                return self._add("output", delta.get("text"))
            case "thinking_delta":
                return self._add("reasoning", delta.get("thinking"))
        return []

    def _block(self, block: Mapping[str, Any]) -> list[Delta]:
        match block.get("type"):
            case "text":
                return self._add("output", block.get("text"))
            case "thinking":
                return self._add("reasoning", block.get("thinking"))
        return []

    def _add(self, channel: Channel, text: Any) -> list[Delta]:
        deltas: list[Delta] = []
        if isinstance(text, str) and text:
            if channel == "output":
                self._text.say(text, deltas)
            else:
                self._text.add(channel, text, deltas)
        return deltas

    def _message(self, message: Mapping[str, Any]) -> None:
        model = message.get("model")
        if isinstance(model, str) and model:
            self._model = scrubbed(self._worker, model)
        self._count(message.get("usage"))

    def _end(self, said: Mapping[str, Any]) -> None:
        reason = said.get("stop_reason")
        self._stop_reason = reason if isinstance(reason, str) and reason else self._stop_reason
        details = said.get("stop_details")
        if isinstance(details, Mapping):
            self._refusal = str(
                details.get("explanation") or details.get("reason") or details.get("category") or ""
            )

    def _count(self, usage: Any) -> None:
        # Cumulative: a later figure replaces an earlier one, and one that is missing leaves it.
        if isinstance(usage, Mapping):
            self._usage |= {name: value for name, value in usage.items() if value is not None}


def _table(event: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = event.get(key)
    return value if isinstance(value, Mapping) else {}
