"""Routes whose JSON bodies hold only text that can be stored and answered, whatever was sent."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from conductor.characters import whole_all


class _WholeRequest(Request):
    async def json(self) -> Any:
        """The body, each half of a UTF-16 pair in it (``"\\ud83d"`` is valid JSON) as ``�``."""
        return whole_all(await super().json())


class WholeText(APIRoute):
    """The route class of every router here. Query and path need none: percent signs decode to whole text."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler with the request put in place of its own."""
        handle = super().get_route_handler()

        async def handle_whole(request: Request) -> Response:
            return await handle(_WholeRequest(request.scope, request.receive))

        return handle_whole
