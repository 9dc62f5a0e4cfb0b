"""Every error a client meets, in one shape: ``{error: {type, message, hint, details?}}``; ``/v1``: OpenAI's.

Handlers here turn exceptions into that shape and nothing else; what an exception means is said where it is
raised. Texts pass the scrubber, so that a key which got into a message does not get out.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from conductor.folders import without_folders
from conductor.secrets import scrub
from conductor.store.errors import KeyTaken, NameTaken, StoreError
from conductor_client.api import MAX_PROMPT_BYTES
from conductor_client.errors import ConductorError, InvalidEdit, StatusError, brief, quoted

log = logging.getLogger("conductor.server")

KINDS = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    422: "invalid_request",
    429: "too_many_requests",
    500: "internal",
    503: "unavailable",
    507: "store",
}
MOST_SAID = 1_000
"""Characters of a message, a hint or a detail, at most, whatever came into it."""
MOST_PROBLEMS = 8
"""How many places of a request are told to be wrong, at most."""
OPENAI_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def refused(
    status: int,
    message: str,
    *,
    hint: str = "",
    kind: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> StatusError:
    """An error to raise from a route."""
    return StatusError(
        message, status_code=status, kind=kind or KINDS.get(status, "error"), hint=hint, details=details
    )


def not_found(what: str, name: str, *, hint: str = "") -> StatusError:
    """404 for the thing of that name."""
    return refused(404, f"There is no {what} {quoted(name)}.", hint=hint)


def answer(
    path: str, status: int, kind: str, message: str, hint: str = "", details: Mapping[str, Any] | None = None
) -> JSONResponse:
    """The error body that clients of this path expect."""
    said, tried = _shown(message), _shown(hint)
    if path.startswith("/v1/"):
        whole = f"{said} {tried}".strip()
        family = OPENAI_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
        return JSONResponse(
            {"error": {"message": whole, "type": family, "param": None, "code": kind}}, status
        )
    body: dict[str, Any] = {"type": kind, "message": said, "hint": tried}
    if details:
        body["details"] = _all_shown(details)
    return JSONResponse({"error": body}, status)


def install(app: FastAPI) -> None:
    """Makes this app answer every failure in our shape."""
    app.add_exception_handler(ConductorError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ConductorError)
    status, kind, message = 500, "internal", error.message
    details: Mapping[str, Any] | None = getattr(error, "details", None)
    if isinstance(error, StatusError):
        status, kind = error.status_code, error.kind
    elif isinstance(error, InvalidEdit | NameTaken | KeyTaken):
        status, kind = 409, "conflict"
    elif isinstance(error, StoreError):
        status, kind = (507 if error.reason == "disk" else 503), error.kind
        message = without_folders(message)  # who holds a share link reads it too
    return answer(request.url.path, status, kind, message, error.hint, details)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    problems = in_words(found[:MOST_PROBLEMS])
    if len(found) > MOST_PROBLEMS:
        problems.append(f"and {len(found) - MOST_PROBLEMS:,} more problems")
    hint = "See /api/docs for what this address takes."
    details = {"problems": problems}
    return answer(request.url.path, 422, "invalid_request", "; ".join(problems) + ".", hint, details)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = error.status_code
    message, hint = str(error.detail), ""
    if status == 404:
        message, hint = f"There is nothing at {brief(request.url.path)}.", "See /api/docs for every address."
    elif status == 405:
        message = f"{brief(request.url.path)} does not take {request.method}."
        hint = "See /api/docs for every address and its methods."
    elif status == 413:
        return too_large(request.url.path)
    reply = answer(request.url.path, status, KINDS.get(status, "error"), message, hint)
    reply.headers.update({k: v for k, v in (error.headers or {}).items() if k.lower() != "content-length"})
    return reply


def too_large(path: str) -> JSONResponse:
    """413 for a body over the limit."""
    hint = f"Shorten it; a prompt with its conversation may have {MAX_PROMPT_BYTES:,} bytes."
    return answer(path, 413, "too_large", "The request is too large.", hint)


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    return answer(
        request.url.path,
        500,
        "internal",
        f"{request.method} {brief(request.url.path)} failed: {type(error).__name__}.",
        "This is a mistake of ours. The server's log has the details.",
    )


def in_words(problems: Sequence[Any]) -> list[str]:
    """pydantic's problems, one plain phrase each: where, and what is wrong there."""
    phrases = []
    for problem in problems:
        parts = [brief(str(part)) for part in problem["loc"] if part not in ("body", "query", "path")]
        place, said = ".".join(parts), str(problem["msg"]).removeprefix("Value error, ")
        if problem["type"] == "json_invalid":
            place, said = "the request", f"is no JSON ({problem.get('ctx', {}).get('error', said)})"
        elif problem["type"] in ("model_attributes_type", "dict_type", "model_type") and not place:
            place, said = (
                "the request",
                "is no JSON object, or lacks the header Content-Type: application/json",
            )
        elif problem["type"] == "missing":
            said = "is missing"
        elif problem["type"] == "extra_forbidden":
            said = "is not known here"
        phrases.append(
            f"{place or 'the request'}: {said}" if said[:3] != "is " else f"{place or 'the request'} {said}"
        )
    return phrases


def _shown(text: str) -> str:
    return brief(scrub(text), MOST_SAID)


def _all_shown(value: Any) -> Any:
    if isinstance(value, str):
        return _shown(value)
    if isinstance(value, Mapping):
        return {key: _all_shown(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_all_shown(each) for each in value]
    return value
