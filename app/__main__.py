"""The front door: page, API and engine in one process on one port. The one place that knows both sides.

Commands and their flags are the backend's (``conductor/cli.py``), which finds ``serve`` and ``ui`` here;
``python -m app`` is the same program.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import secrets
import socket
import sys
import threading
import tomllib
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from conductor.service import Studio
    from conductor.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "app" / "streamlit_app.py"
THEME = ROOT / ".streamlit" / "config.toml"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code; ``None`` reads the command line."""
    from conductor import cli

    return cli.main(argv, serve=serve, ui=ui)


def serve(settings: Settings, *, open_browser: bool = False, models_behind: bool = False) -> int:
    """Page, API and engine until Ctrl-C. Raises ``CannotListen`` when the port cannot be had."""
    from conductor.server.serving import bind

    with bind(settings.host, settings.port) as sock:
        return asyncio.run(
            _whole_house(settings, sock, open_browser=open_browser, models_behind=models_behind)
        )


def ui(settings: Settings, *, open_browser: bool = False) -> int:
    """The page alone, with the backend at ``settings.backend_url``. Raises ``CannotListen``."""
    from conductor.server.serving import bind

    with bind(settings.host, settings.port) as sock:
        return asyncio.run(_page_only(settings, sock, open_browser=open_browser))


async def _whole_house(
    settings: Settings, sock: socket.socket, *, open_browser: bool, models_behind: bool
) -> int:
    from app import door
    from conductor.cli import opened
    from conductor.server.app import PREFIXES, access_of, create_app
    from conductor.server.guard import Guard
    from conductor.server.live import Streams
    from conductor.server.serving import address_of
    from conductor.server.serving import serve as serve_asgi

    async with opened(settings) as studio:
        if studio is None:
            return 1
        address, internal_token, streams = address_of(sock), secrets.token_urlsafe(32), Streams()
        door.hold(address, internal_token)
        app = Front(create_app(studio, settings, streams), PREFIXES, _page(settings, sock))
        guard = Guard(app, access_of(settings, internal_token))
        announce = _announcement(settings, address, open_browser=open_browser)
        behind: set[asyncio.Task[None]] = set()

        def ready(stop: object) -> None:
            announce(stop)
            behind.add(asyncio.create_task(studio.warm_up()))
            if models_behind:
                behind.add(asyncio.create_task(_fetch_missing(studio)))

        try:
            has_served = await serve_asgi(
                guard, sock, on_stop=streams.end, on_ready=ready, secret_names=studio.key_variables()
            )
            return 0 if has_served else 1
        finally:
            for task in behind:
                task.cancel()


async def _page_only(settings: Settings, sock: socket.socket, *, open_browser: bool) -> int:
    from app import door
    from app.relay import Relay
    from conductor.server.app import PREFIXES, access_of
    from conductor.server.guard import Guard
    from conductor.server.serving import address_of
    from conductor.server.serving import serve as serve_asgi

    assert settings.backend_url is not None
    door.hold(settings.backend_url, settings.token)
    relay = Relay(settings.backend_url, settings.token)
    await relay.open()
    guard = Guard(Front(relay, PREFIXES, _page(settings, sock)), access_of(settings))
    try:
        ready = _announcement(settings, address_of(sock), open_browser=open_browser)
        return 0 if await serve_asgi(guard, sock, on_stop=relay.end, on_ready=ready) else 1
    finally:
        await relay.close()


class Front:
    """Sends some addresses to the backend and the rest, with the lifespan, to the page.

    Not routes of ``st.App``: its middleware stack would cost each API request more than the API itself.
    """

    def __init__(self, backend: ASGIApp, prefixes: Sequence[str], page: ASGIApp) -> None:
        self._backend = backend
        self._exact = frozenset(prefixes)
        self._below = tuple(f"{prefix}/" for prefix in prefixes)
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        is_backends = scope["type"] != "lifespan" and (path in self._exact or path.startswith(self._below))
        await (self._backend if is_backends else self._page)(scope, receive, send)


def _page(settings: Settings, sock: socket.socket) -> ASGIApp:
    import streamlit as st
    from streamlit.web import bootstrap

    bootstrap.load_config_options(page_config(settings, sock.getsockname()[1]))
    return st.App(SCRIPT)


def page_config(settings: Settings, port: int) -> dict[str, Any]:
    """Every Streamlit option we set: ``.streamlit/config.toml`` wherever we were started from, and these."""
    fixed = {
        "server.address": settings.host,
        "server.port": port,
        "server.headless": True,
        "server.fileWatcherType": "none",
        "server.maxUploadSize": 25,
        "browser.gatherUsageStats": False,
        "server.corsAllowedOrigins": [settings.public_url] if settings.public_url else [],
        # A full collection after each script run would hold the whole process for 40 to 100 ms, just when the
        # browser opens the run's stream. Python collects by itself when enough has gathered.
        "runner.postScriptGC": False,
    }
    return {**_flat(tomllib.loads(THEME.read_text(encoding="utf-8")) if THEME.is_file() else {}), **fixed}


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, value in table.items():
        inner = _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
        options.update(inner)
    return options


def _settle_memory() -> None:
    """Loads what the first session will need, then keeps it out of every later garbage collection.

    A full collection holds the whole process meanwhile: 50 to 170 ms with these libraries loaded.
    """
    for library in ("pandas", "pyarrow"):
        importlib.import_module(library)

    gc.collect()
    gc.freeze()


async def _fetch_missing(studio: Studio) -> None:
    """Starts what is not there yet; the Workers page shows how far each is."""
    for model in await studio.models():
        if model.state == "missing":
            await studio.fetch_model(model.name)


def _announcement(settings: Settings, address: str, *, open_browser: bool) -> Callable[[object], None]:
    def announce(_: object) -> None:
        # Beside the first requests, which need none of it: the port answers a second earlier. A daemon, so
        # that a stop in that second does not wait for an import.
        threading.Thread(target=_settle_memory, name="settle-memory", daemon=True).start()
        print(f"Conductor Studio is at {settings.public_url or address}", flush=True)
        if settings.token:
            print("Sign in with what CONDUCTOR_TOKEN holds.", flush=True)
        print(f"API: {address}/api/docs   Stop: Ctrl-C", flush=True)
        if open_browser:
            webbrowser.open(settings.public_url or address)

    return announce


if __name__ == "__main__":
    sys.exit(main())
