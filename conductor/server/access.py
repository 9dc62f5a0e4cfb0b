"""What routes take from the request: the backend, the settings, and proof that a run may be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Query
from fastapi.requests import HTTPConnection
from pydantic import BaseModel
from starlette.responses import Response

from conductor.server import errors
from conductor.server.guard import RIGHTS
from conductor.server.session import is_share_key
from conductor.service import Studio
from conductor.settings import Settings

SHARE_SECRET = "share"
"""Name under which the store keeps the secret that share links are signed with."""


def _studio(connection: HTTPConnection) -> Studio:
    studio: Studio = connection.app.state.studio
    return studio


def _settings(connection: HTTPConnection) -> Settings:
    settings: Settings = connection.app.state.settings
    return settings


Backend = Annotated[Studio, Depends(_studio)]
Config = Annotated[Settings, Depends(_settings)]
ShareKey = Annotated[str | None, Query(description="The key of a share link, instead of a token.")]


async def may_read(connection: HTTPConnection, studio: Studio, run_id: str, key: str | None) -> bool:
    """Whether this request may read this run: it has a token, or the run's own share key."""
    if key is None and connection.scope.get(RIGHTS, "all") == "all":
        return True
    return is_share_key(key or "", await studio.secret(SHARE_SECRET), run_id)


async def _readable(connection: HTTPConnection, studio: Backend, run_id: str, share: ShareKey = None) -> str:
    if not await may_read(connection, studio, run_id, share):
        raise errors.refused(403, "This share link does not open this run.", hint="Ask for a new link.")
    return run_id


Readable = Annotated[str, Depends(_readable)]
"""A run id that the request may read."""


def base_url(connection: HTTPConnection, settings: Settings) -> str:
    """Scheme and host that people reach us by, without a slash at the end."""
    return settings.public_url or str(connection.base_url).rstrip("/")


def run_url(connection: HTTPConnection, settings: Settings, run_id: str) -> str:
    """The address that opens a run in the Studio."""
    return f"{base_url(connection, settings)}/?run={run_id}"


def as_json(value: BaseModel, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as its answer. Skips FastAPI's second validation, which costs more than writing the JSON."""
    return Response(value.model_dump_json(), status, headers, media_type="application/json")


def as_json_list(values: Any) -> Response:
    """Several values as a JSON array."""
    return Response(
        "[" + ",".join(value.model_dump_json() for value in values) + "]", media_type="application/json"
    )
