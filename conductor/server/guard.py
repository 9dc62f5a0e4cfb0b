"""What stands before page, API and WebSocket alike: token or cookie, Host, Origin, and what a share link may.

Plain ASGI, so that nothing is buffered. It decides by the request alone and never reads a body. For whom it
lets in it leaves ``scope["conductor.rights"]``: ``all``, or ``share`` for somebody who holds at most the key
of one run; the routes that a share link can reach check that key.

Without a token (loopback only) a foreign page in the same browser is the danger: the Host header must name
this machine (DNS rebinding), and writing requests and WebSockets must come from our own pages. With a token
nobody gets past without it, and those two rules still hold for whoever comes with the cookie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conductor.server import errors, login
from conductor.server.session import COOKIE, is_signed_in, same
from conductor_client.errors import quoted

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
SHARED = re.compile(r"/share/[^/]+|/api/runs/[^/]+(/events|/events/stream|/ws)?")
"""All that a share link may read."""
RIGHTS = "conductor.rights"
NOT_ALLOWED = 4403
"""WebSocket close code: this address or person may not listen."""


@dataclass(frozen=True)
class Access:
    """Who is let in. ``token`` None: everyone who can reach a loopback address."""

    token: str | None = None
    internal_token: str | None = None
    """Made anew by each process, for the page's own calls to the API beside it."""
    public_url: str | None = None
    """Where people find us behind a proxy, such as ``https://studio.example.org``."""
    host: str = "127.0.0.1"
    """The address we are bound to."""

    def knows_host(self, host: str) -> bool:
        """Whether a Host header names this machine or the public address."""
        name = host_name(host)
        own = {"localhost", self.host, host_name(urlsplit(self.public_url or "").netloc)}
        return bool(name) and (name in own or name.endswith(".localhost") or is_loopback(name))

    def knows_origin(self, origin: str, host: str) -> bool:
        """Whether an Origin header names our own pages, as this request reached them."""
        if not is_readable(origin):
            return False
        parts, public = urlsplit(origin), urlsplit(self.public_url or "")
        return bool(parts.netloc) and (
            parts.netloc == host or (parts.scheme, parts.netloc) == (public.scheme, public.netloc)
        )


def is_loopback(host: str) -> bool:
    """Whether this is a loopback address in figures."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_readable(address: str) -> bool:
    """Whether this can be taken for an address at all."""
    try:
        urlsplit(address)
    except ValueError:
        return False
    return True


def host_name(netloc: str) -> str:
    """The host of ``host:port``, lower case, without port or brackets; empty when it is none."""
    try:
        parts = urlsplit(f"//{netloc}")
        if parts.username is not None or parts.path or parts.query or parts.fragment:
            return ""
        return (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""


class Guard:
    """Wraps an ASGI app; see the module."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access
        self._login = login.Login(access.token, secure=(access.public_url or "").startswith("https:"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        send = _with_headers(scope, send)
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, receive, send, refusal)
        elif scope["path"] in login.PATHS and scope["type"] == "http":
            await self._login(scope, receive, send)
        else:
            await self.app(self._as_reached(scope, headers), receive, send)

    def _as_reached(self, scope: Scope, headers: Headers) -> Scope:
        """The request with the host people see, when a proxy put another in its place.

        Streamlit compares Origin and Host once more, and where they differ it would ask a web service for
        this machine's public address.
        """
        origin, public = headers.get("origin"), self.access.public_url
        if public is None or origin is None or not self.access.knows_origin(origin, headers.get("host", "")):
            return scope
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        return {**scope, "headers": [(b"host", urlsplit(origin).netloc.encode("latin-1")), *others]}

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Why this request goes no further; ``None`` when it does, with its rights in the scope."""
        path, access = scope["path"], self.access
        by_bearer = self._has_bearer(headers)
        if access.token is None and not access.knows_host(headers.get("host", "")):
            return errors.answer(
                path,
                403,
                "forbidden",
                f"This server does not answer under the name {quoted(headers.get('host', ''))}.",
                "Use http://127.0.0.1 with its port, or set CONDUCTOR_PUBLIC_URL to the address people use.",
            )
        # An Origin that is no address is nobody's own page; Streamlit would stumble over it.
        is_foreign = not is_readable(headers.get("origin", ""))
        if is_foreign or (not by_bearer and self._is_cross_site(scope, headers)):
            return errors.answer(
                path,
                403,
                "forbidden",
                "This request came from a page of another site.",
                "Behind a proxy, set CONDUCTOR_PUBLIC_URL to the address people use.",
            )
        scope[RIGHTS] = "all"
        if _is_shared(scope):
            scope[RIGHTS] = "share"
            return (
                None
                if _may_be_shared(scope)
                else errors.answer(
                    path, 403, "forbidden", "A share link reads one run and does nothing else."
                )
            )
        open_to_all = path in login.PATHS or path.startswith("/flow-assets/")
        if access.token is None or by_bearer or open_to_all or self._has_cookie(scope):
            return None
        return _ask_to_sign_in(scope, headers)

    def _has_bearer(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return False
        known = [each for each in (self.access.token, self.access.internal_token) if each]
        return any([same(given.strip(), each) for each in known])  # noqa: C419 - compares all, tells nothing

    def _has_cookie(self, scope: Scope) -> bool:
        cookie = HTTPConnection(scope).cookies.get(COOKIE)
        return bool(cookie and self.access.token and is_signed_in(cookie, self.access.token))

    def _is_cross_site(self, scope: Scope, headers: Headers) -> bool:
        """Whether a browser says that another site made it write or listen. Programs say nothing and pass."""
        if scope["type"] == "http" and scope["method"] in SAFE_METHODS:
            return False
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and self.access.knows_origin(origin, headers.get("host", "")):
            return False
        if site is not None:
            return site not in ("same-origin", "none")
        return origin is not None


def _is_shared(scope: Scope) -> bool:
    path = scope["path"]
    if path.startswith("/share/"):
        return True
    query = scope.get("query_string", b"")
    return path.startswith(("/api/", "/v1/")) and "share" in parse_qs(
        query.decode("latin-1"), keep_blank_values=True
    )


def _may_be_shared(scope: Scope) -> bool:
    reads = scope["type"] == "websocket" or scope["method"] in ("GET", "HEAD")
    return reads and SHARED.fullmatch(scope["path"]) is not None


def _ask_to_sign_in(scope: Scope, headers: Headers) -> Response:
    path = scope["path"]
    if scope["type"] == "http" and scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
        asked = path + ("?" + scope["query_string"].decode("latin-1") if scope["query_string"] else "")
        if (
            headers.get("sec-fetch-site") in ("cross-site", "same-site")
            and headers.get("sec-fetch-mode") == "navigate"
        ):
            # A strict cookie is not sent along when a link elsewhere was followed. A page of ours that leads
            # to the same address makes it a visit from our own site, with the cookie if there is one.
            return login.once_more(asked)
        return RedirectResponse(
            f"/login?next={quote(asked, safe='')}", 303, headers={"Cache-Control": "no-store"}
        )
    return errors.answer(
        path,
        401,
        "unauthorized",
        "This server asks for a token.",
        "Send `Authorization: Bearer` with what CONDUCTOR_TOKEN holds on the server, or sign in at /login.",
    )


async def _refuse(scope: Scope, receive: Receive, send: Send, refusal: Response) -> None:
    if scope["type"] == "http":
        await refusal(scope, receive, send)
        return
    await receive()
    if scope["path"].startswith("/api/"):
        # Only an accepted socket can tell a script in a browser why it was closed.
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": NOT_ALLOWED, "reason": "not allowed"})
    else:
        await send({"type": "websocket.close", "code": 1008})


def _with_headers(scope: Scope, send: Send) -> Send:
    private = scope["path"].startswith(("/api/", "/v1/", "/share/", "/healthz"))

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Referrer-Policy", "same-origin")
            headers.append("Content-Security-Policy", "frame-ancestors 'self'")
            if private:
                headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sender
