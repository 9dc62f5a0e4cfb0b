"""Requests and answers over HTTP, failures turned into ours. The one module here that imports httpx.

It knows addresses and status codes, and nothing of what a run means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from . import errors
from .api import ErrorReply
from .sse import ServerSentEvent, read_events

T = TypeVar("T")


class Http:
    """One backend and the token to send it. See ``ConductorClient`` for the arguments and errors."""

    def __init__(
        self, base_url: str, token: str | None, *, timeout: float, transport: httpx.BaseTransport | None
    ) -> None:
        self.base_url = base_url.rstrip("/")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # trust_env=False: a proxy of the machine must not carry the token of a loopback backend away.
        self._client = httpx.Client(
            base_url=self.base_url, headers=headers, timeout=timeout, transport=transport, trust_env=False
        )

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def send(
        self,
        method: str,
        path: str,
        *,
        body: BaseModel | Mapping[str, Any] | None = None,
        only_set: bool = False,
        timeout: float | None = None,
        params: Mapping[str, object] | None = None,
    ) -> httpx.Response:
        """One request and its whole answer. ``only_set`` leaves out what the body's maker left out."""
        options: dict[str, Any] = {"params": {k: v for k, v in (params or {}).items() if v is not None}}
        if isinstance(body, BaseModel):
            options["content"] = body.model_dump_json(exclude_unset=only_set).encode()
            options["headers"] = {"Content-Type": "application/json"}
        elif body is not None:
            options["json"] = body
        if timeout is not None:
            options["timeout"] = timeout
        with self._spoken(method, path):
            try:
                reply = self._client.request(method, path, **options)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                # An idle connection that the other side closed just then. Only reading is safe to say again.
                if method != "GET":
                    raise
                reply = self._client.request(method, path, **options)
        if not reply.is_success:
            self._raise_for(reply, method, path)
        return reply

    def listen(self, path: str, *, params: Mapping[str, Any], silence_s: float) -> Iterator[ServerSentEvent]:
        """Server-sent events of one connection. ``TimedOut`` after ``silence_s`` seconds without a byte."""
        timeout = httpx.Timeout(self._client.timeout.connect, read=silence_s)
        stream = self._client.stream("GET", path, params=params, timeout=timeout)
        with self._spoken("GET", path), stream as reply:
            if reply.is_error:
                reply.read()
                self._raise_for(reply, "GET", path)
            yield from read_events(reply.iter_bytes())

    @contextmanager
    def _spoken(self, method: str, path: str) -> Iterator[None]:
        """Turns transport failures into ours, saying what was attempted at which address."""
        attempted = f"{method} {path} at {self.base_url}"
        try:
            yield
        except httpx.TimeoutException as failure:
            raise errors.TimedOut(
                f"{attempted} did not answer in time.", hint="Try again; a busy model may need longer."
            ) from failure
        except (httpx.TransportError, httpx.InvalidURL) as failure:
            raise errors.ConnectionFailed(
                f"{attempted} could not be reached: {failure or type(failure).__name__}.",
                hint="Is the backend running at this address? `conductor-studio api` starts one.",
            ) from failure

    def _raise_for(self, reply: httpx.Response, method: str, path: str) -> None:
        try:
            body = ErrorReply.model_validate_json(reply.content).error
            kind, said, hint, details = body.type, body.message, body.hint, body.details
        except ValidationError:
            kind, said, hint, details = _foreign_error(reply)
        raise _class_of(reply.status_code)(
            said or f"{method} {path} at {self.base_url} answered {reply.status_code}.",
            status_code=reply.status_code,
            kind=kind,
            hint=hint,
            details=details,
        )


def _foreign_error(reply: httpx.Response) -> tuple[str, str, str, dict[str, Any] | None]:
    """An error in OpenAI's shape (``/v1``), or from something between us and the backend."""
    try:
        error = reply.json()["error"]
        return str(error["type"]), str(error["message"]), "", None
    except (ValueError, KeyError, TypeError):
        return "unknown", "", "Something between this page and the backend answered; check the address.", None


def _class_of(status: int) -> type[errors.StatusError]:
    if status in (401, 403):
        return errors.Unauthorized
    if status in (400, 413, 422):
        return errors.InvalidRequest
    return {404: errors.NotFound, 409: errors.Conflict}.get(status, errors.StatusError)


def read_json(reply: httpx.Response) -> Any:
    """The answer as parsed JSON. Raises ``StatusError`` when it is none."""
    try:
        return reply.json()
    except ValueError as failure:
        raise unreadable(_asked(reply), reply.status_code) from failure


def read(values: TypeAdapter[T], reply: httpx.Response) -> T:
    """The answer as a value. Raises ``StatusError`` when it is of another form."""
    try:
        return values.validate_json(reply.content)
    except ValidationError as failure:
        raise unreadable(_asked(reply), reply.status_code) from failure


def _asked(reply: httpx.Response) -> str:
    return f"{reply.request.method} {reply.request.url}"


def unreadable(asked: str, status_code: int = 200) -> errors.StatusError:
    """The error for an answer in a form that is not known here; ``asked`` is method and address."""
    return errors.StatusError(
        f"{asked} answered something this version does not understand.",
        status_code=status_code,
        kind="unreadable",
        hint="Page and backend may be of different versions; update both.",
    )
