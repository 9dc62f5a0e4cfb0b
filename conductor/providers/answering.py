"""What both SDK providers do with a response: read its raw lines into an answer, and tell how it ended.

Also the connections they send through. The SDKs' own clients send and know the errors; an object of theirs
per token would cost four times the CPU of the bytes.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol

import httpx2

from conductor.providers.base import Call, Completion, Delta, WorkerError
from conductor.providers.failures import failure, read_error
from conductor.providers.profiles import Profile
from conductor.providers.prompt_cuts import cut_note
from conductor.providers.sse import UNREADABLE, Event, SseDecoder
from conductor.providers.transport import connection_failure, http_client


class Answer(Protocol):
    """An answer that is put together from what a server says."""

    def event(self, name: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data of a server-sent event as ``feed`` takes it."""
        ...

    def is_one(self, said: Mapping[str, Any]) -> bool:
        """Whether this is an answer in one piece, or an error in the form of one."""
        ...

    def feed(self, said: Mapping[str, Any], /) -> Sequence[Delta]:
        """Takes the next part. Raises ``WorkerError`` when it is an error."""
        ...

    def completion(self, *, notes: tuple[str, ...] = ()) -> tuple[Sequence[Delta], Completion]:
        """The last deltas and the end. Raises ``WorkerError`` when it is no good end."""
        ...

    def interrupted(self, error: WorkerError) -> WorkerError:
        """The error, with the text and usage so far."""
        ...


class Connections:
    """One connection pool for workers of the operator, who may be anywhere, and one for all others."""

    def __init__(self) -> None:
        self._http: dict[bool, httpx2.AsyncClient] = {}

    def http(self, *, from_operator: bool) -> httpx2.AsyncClient:
        """The client to send through; see ``http_client``."""
        if from_operator not in self._http:
            self._http[from_operator] = http_client(from_operator=from_operator)
        return self._http[from_operator]

    async def close(self) -> None:
        """Closes every connection."""
        for client in self._http.values():
            await client.aclose()
        self._http.clear()


async def answered(
    call: Call, profile: Profile, response: httpx2.Response, answer: Answer, notes: tuple[str, ...]
) -> AsyncGenerator[Delta | Completion, None]:
    """Yields an answer's deltas as they come, then its end; closes the response. Raises ``WorkerError``."""
    try:
        if "event-stream" not in response.headers.get("content-type", ""):
            for delta in answer.feed(_in_one_piece(await response.aread(), answer, call)):
                yield delta
        else:
            decoder = SseDecoder()
            async with aclosing(response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    for delta in _deltas(decoder.feed(piece), answer):
                        yield delta
            for delta in _deltas(decoder.flush(), answer):
                yield delta
    except httpx2.HTTPError as error:
        raise answer.interrupted(connection_failure(call.worker, error, is_under_way=True)) from error
    except UNREADABLE as error:
        said = read_error(502, "its stream cannot be read")
        raise answer.interrupted(failure(call.worker, said)) from error
    finally:
        await response.aclose()
    last, completion = answer.completion(notes=notes)
    for delta in last:
        yield delta
    cut = cut_note(profile, call, completion.usage)
    yield replace(completion, notes=(*completion.notes, cut), prompt_cut=True) if cut else completion


def _deltas(events: Iterable[Event], answer: Answer) -> Iterator[Delta]:
    for name, data in events:
        if data[:1] == b"{":
            yield from answer.feed(answer.event(name, json.loads(data)))


def _in_one_piece(content: bytes, answer: Answer, call: Call) -> Mapping[str, Any]:
    """An answer in one piece: asked for, or from a server that does not stream."""
    try:
        body = json.loads(content)
    except UNREADABLE:
        body = None
    if not isinstance(body, dict) or not answer.is_one(body):
        raise failure(call.worker, read_error(502, content))
    return body
