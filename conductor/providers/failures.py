"""What went wrong, from what the server said: one ``WorkerError`` for every status, body and error event.

Classified by code and text as well as by status, because an error inside a stream comes under HTTP 200, and
because vendors give one meaning to many statuses. Texts are scrubbed of keys and cut to 500 characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conductor.providers.base import Worker, WorkerError
from conductor.providers.retry_after import retry_after_s
from conductor.secrets import scrub
from conductor_client.errors import StepErrorKind

SHOWN_CHARACTERS = 500

OVERFLOW = re.compile(
    # OpenAI and what speaks like it, vLLM, OpenRouter, Mistral
    r"context[_ ]length[_ ]exceeded|maximum context length|maximum model length"
    r"|exceeds? the (?:model'?s? )?context (?:window|length|size)|exceed the configured limit"
    r"|(?:context window|context length) (?:is )?exceed(?:ed|s)|longer than the model'?s context"
    # Anthropic, Bedrock, Gemini, Kimi
    r"|prompt is too long|exceed context limit|model_context_window_exceeded|input is too long"
    r"|exceeds the maximum number of tokens allowed|exceeded model token limit|input_too_large"
    # llama.cpp, Ollama, LM Studio
    r"|exceed_context_size|available context size|exceeded max context length|configured context size"
    r"|greater than the context length"
    # xAI, Groq, Copilot, Qwen, Z.ai, Poolside
    r"|maximum prompt length|reduce the length of the messages|token count of [\d,]+ exceeds the limit"
    r"|range of input length should be|tokens in request more than max|maximum allowed input length",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|billing_hard_limit|billing_not_active|insufficient (?:balance|credits|funds)"
    r"|credit balance is too low|limit: 0\b|payment required",
    re.IGNORECASE,
)
_RATE = re.compile(r"rate_?limit|too many requests|resource_exhausted", re.IGNORECASE)
_OVERLOAD = re.compile(
    r"overloaded|server_is_overloaded|at capacity|loading model|\bunavailable\b", re.IGNORECASE
)
_REFUSED = re.compile(r"content_filter|content_policy|content management policy|safety system", re.IGNORECASE)
_AUTH = re.compile(r"authentication_error|invalid_api_key|permission_error|incorrect api key", re.IGNORECASE)

RETRYABLE: frozenset[StepErrorKind] = frozenset(
    {"rate_limited", "overloaded", "provider_error", "connection", "timeout", "stream_truncated"}
)


@dataclass(frozen=True)
class Said:
    """An error as a server put it. ``status`` is the HTTP status, or a code inside the body that is one."""

    status: int
    message: str = ""
    codes: tuple[str, ...] = ()
    param: str | None = None
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def all_text(self) -> str:
        """Everything that can tell what went wrong."""
        return " ".join((*self.codes, self.message))


def read_error(status: int, body: bytes | str | Any, headers: Mapping[str, str] | None = None) -> Said:
    """Finds message and codes in an error body of any form: object, list of one, plain text, HTML, empty."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        text = body.strip()
        try:
            body = json.loads(text) if text[:1] in {"{", "["} else None
        except (ValueError, RecursionError):
            body = None
        if body is None:
            return Said(status, _plain(text), headers=headers or {})
    if isinstance(body, list):
        body = body[0] if body else {}
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(inner, Mapping):
        return Said(status, str(inner), headers=headers or {})
    message = (
        inner.get("message") or inner.get("detail") or (body.get("message") if inner is not body else "")
    )
    codes = [inner.get(key) for key in ("code", "type", "status")]
    number = next((code for code in codes if isinstance(code, int) and 400 <= code <= 599), None)
    return Said(
        status=number if status < 400 and number is not None else status,
        message=message if isinstance(message, str) else json.dumps(message, ensure_ascii=False),
        codes=tuple(str(code) for code in codes if isinstance(code, str | int)),
        param=inner["param"] if isinstance(inner.get("param"), str) else None,
        body=inner,
        headers=headers or {},
    )


def scrubbed(worker: Worker, text: str) -> str:
    """What a server said of itself or of the request, without keys; the worker's own first of all."""
    return scrub(text, names=filter(None, [worker.api_key_env]))


def failure(worker: Worker, said: Said) -> WorkerError:
    """The error a step gets for what the server said."""
    kind = _kind(said)
    shown = scrubbed(worker, said.message)[:SHOWN_CHARACTERS].strip()
    status = f"HTTP {said.status}" if said.status != 200 else "an error in its answer"
    message = (
        f"Worker {worker.name} got {status}: {shown}" if shown else f"Worker {worker.name} got {status}."
    )
    wait = retry_after_s(said.headers, said.body) if kind in {"rate_limited", "overloaded"} else None
    return WorkerError(
        kind, message, hint=_hint(kind, said, worker), retryable=kind in RETRYABLE, retry_after_s=wait
    )


def _kind(said: Said) -> StepErrorKind:
    text, status = said.all_text, said.status
    if OVERFLOW.search(text) and status in {200, 400, 413, 422, 500}:
        return "context_overflow"
    if status == 402 or _QUOTA.search(text):
        return "quota"
    if status == 429 or (status == 200 and _RATE.search(text)):
        return "rate_limited"
    if status in {503, 529} or (status in {200, 500, 502} and _OVERLOAD.search(text)):
        return "overloaded"
    if status in {401, 403} or (status in {200, 400} and _AUTH.search(text)):
        return "auth"
    if _REFUSED.search(text):
        return "refused"
    if status in {408, 504}:
        return "timeout"
    if status >= 500 or status == 200:
        return "provider_error"
    return "bad_request"


def _hint(kind: StepErrorKind, said: Said, worker: Worker) -> str:
    key = f"the key in {worker.api_key_env}" if worker.api_key_env else "its key"
    match kind:
        case "context_overflow":
            return "Let the step see fewer outputs, or choose a worker with a larger context."
        case "quota":
            return "The account behind this key has no credit left or no access to this model."
        case "rate_limited":
            return "Wait, or lower the worker's concurrency in the pool file."
        case "auth":
            return f"Check {key} and what it may be used for."
        case "refused":
            return "Rephrase the instruction, or choose another worker."
        case "bad_request" if said.status == 404:
            return f"Check the model name {worker.model!r} and base_url in the pool file."
        case "bad_request" if 300 <= said.status < 400:
            return "The server redirects, which is not followed. Correct base_url in the pool file."
        case "bad_request":
            return "Correct the worker's settings in the pool file."
        case _:
            return "Run the step again, or choose another worker."


def _plain(text: str) -> str:
    """Readable text of a body that is no JSON; HTML loses its tags."""
    if text[:1] == "<":
        text = re.sub(r"<(script|style)\b.*?</\1\s*>", " ", text[:20_000], flags=re.DOTALL | re.IGNORECASE)
        text = re.sub(r"<[^<>]*>", " ", text)
    return " ".join(text.split())
