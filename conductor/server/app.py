"""The HTTP API as one FastAPI app around a backend. Composition only; who may come in is the guard's."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import Response

from conductor.server import docs_page, errors
from conductor.server.body_limit import BodyLimit
from conductor.server.guard import Access
from conductor.server.live import Streams
from conductor.server.routes import chat, events, exchange, pool, runs
from conductor.server.routes.assets import FlowAssets
from conductor.service import Studio
from conductor.settings import Settings
from conductor.version import own_version
from conductor_client.api import MAX_PROMPT_BYTES

PREFIXES = ("/api", "/v1", "/healthz", "/share", "/flow-assets")
"""Everything this app answers; the front door sends these here and the rest to the page."""
MAX_BODY_BYTES = 8 * MAX_PROMPT_BYTES
"""JSON may write one byte of a prompt with up to six, and a conversation comes along."""


def create_app(studio: Studio, settings: Settings, streams: Streams | None = None) -> FastAPI:
    """The API around an open backend. ``streams`` lets its owner end every live stream at once."""
    app = FastAPI(
        title="Conductor Studio",
        version=own_version(),
        description=docs_page.DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # FastAPI's pages load scripts from elsewhere; ours works offline
        redoc_url=None,
        telemetry={"tracing": False},
    )
    app.state.studio, app.state.settings = studio, settings
    app.state.streams = streams or Streams()
    errors.install(app)
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    for group in (pool, runs, events, exchange, chat):
        app.include_router(group.router)
    app.mount("/flow-assets", FlowAssets())

    @app.get("/api/docs", include_in_schema=False)
    async def docs() -> Response:
        return docs_page.page(app.openapi())

    return app


def access_of(settings: Settings, internal_token: str | None = None) -> Access:
    """Who is let in under these settings."""
    return Access(
        token=settings.token,
        internal_token=internal_token,
        public_url=settings.public_url,
        host=settings.host,
    )
