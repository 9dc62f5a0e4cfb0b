"""One chat with a local model as values: the request the engine understands, and the events of its answer.
Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conductor.local.engine_process import ENGINE_ENDED, LocalModelError

DEFAULT_SETTINGS: Mapping[str, Any] = {"temperature": 0.0}
"""Small models answer best without chance; a worker's own settings replace this."""
NUMBER_SETTINGS = frozenset(
    "temperature top_p top_k min_p repeat_penalty presence_penalty frequency_penalty".split()  # noqa: SIM905 - reads as a list
)


@dataclass(frozen=True)
class Loading:
    """The model isn't in memory yet; the answer starts once it is (a second or a few)."""

    model: str


@dataclass(frozen=True)
class Delta:
    """A piece of the answer, whole characters only."""

    channel: Literal["output"]
    text: str


@dataclass(frozen=True)
class LocalUsage:
    input_tokens: int
    """Tokens of the prompt, cached ones included."""
    cached_input_tokens: int
    """Tokens of the prompt that were still in memory from an earlier request."""
    output_tokens: int


@dataclass(frozen=True)
class TokenChoice:
    """One place in the answer where a token was chosen."""

    token: str
    logprobs: Mapping[str, float]
    """Natural logarithms of the probabilities of the likeliest tokens, before a grammar forbade any."""


@dataclass(frozen=True)
class Finished:
    """The end of an answer."""

    output: str
    finish: Literal["stop", "length"]
    """`length`: cut at the output limit or at the end of the context."""
    usage: LocalUsage
    served_model: str
    logprobs: tuple[TokenChoice, ...]
    """One entry per piece of text, in order; empty unless asked for. Tokens that make up one character
    together count once.
    """


LocalEvent = Loading | Delta | Finished


def finished(
    output: str, tokens: tuple[TokenChoice, ...], end: Mapping[str, Any], served_model: str
) -> Finished:
    usage = end["usage"]
    return Finished(
        output=output,
        finish="stop" if end["finish"] == "stop" else "length",
        usage=LocalUsage(
            input_tokens=usage["prompt_tokens"],
            cached_input_tokens=usage["prompt_tokens_details"]["cached_tokens"],
            output_tokens=usage["completion_tokens"],
        ),
        served_model=served_model,
        logprobs=tokens,
    )


def build_request(
    messages: Sequence[Mapping[str, str]],
    *,
    settings: Mapping[str, Any],
    max_output_tokens: int,
    seed: int | None,
    grammar: str | None,
    json_schema: Mapping[str, Any] | None,
    top_logprobs: int,
) -> dict[str, Any]:
    """The engine's request for these arguments. Raises `LocalModelError` (`bad_request`) for what it would
    not understand.
    """
    if grammar and json_schema:
        raise LocalModelError(
            "bad_request", "both a grammar and a JSON schema were given", "Give one of them."
        )
    if max_output_tokens < 1:
        raise LocalModelError(
            "bad_request", f"max_output_tokens is {max_output_tokens}", "Allow at least one token."
        )
    request: dict[str, Any] = {
        "messages": [{"role": message["role"], "content": message["content"]} for message in messages],
        "max_tokens": max_output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        # Progress messages while the prompt is read are moments at which a request can be cancelled.
        "return_progress": True,
        "cache_prompt": True,
        **_checked_settings({**DEFAULT_SETTINGS, **settings}),
    }
    if seed is not None:
        request["seed"] = seed & 0xFFFF_FFFF
    if grammar:
        request["grammar"] = grammar
    if json_schema:
        request["response_format"] = {"type": "json_schema", "json_schema": {"schema": dict(json_schema)}}
    if top_logprobs:
        request |= {"logprobs": True, "top_logprobs": top_logprobs}
    return request


def _checked_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    known = sorted(NUMBER_SETTINGS | {"stop"})
    for name, value in settings.items():
        if name not in known:
            raise LocalModelError(
                "bad_request", f"local models have no setting {name!r}", f"Known: {', '.join(known)}."
            )
        if name in NUMBER_SETTINGS and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise LocalModelError("bad_request", f"{name} is {value!r}", "Give a number.")
    return dict(settings)


def request_error(error: Mapping[str, Any]) -> LocalModelError:
    """What an error of the engine means to the caller."""
    kind, message = error.get("type"), str(error.get("message", "unknown error"))
    if kind == "exceed_context_size_error":
        has, takes = (_figure(error.get(name)) for name in ("n_prompt_tokens", "n_ctx"))
        said = f"the input has {has} tokens, the model takes {takes}"
        return LocalModelError(
            "context_overflow", said, "Shorten the instruction or let the step see fewer outputs."
        )
    if kind == "invalid_request_error":
        return LocalModelError(
            "bad_request", message, "Check the grammar, the schema and the settings of the worker."
        )
    if kind == ENGINE_ENDED:
        return LocalModelError("unavailable", message, str(error["hint"]), retryable=True)
    return LocalModelError("unavailable", message, "Try again; if it persists, restart the program.")


def _figure(number: object) -> str:
    return f"{number:,}" if isinstance(number, int) else str(number)
