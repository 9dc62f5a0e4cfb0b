"""Trading the token for a cookie: one plain page without script, which works before anything else does."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from conductor.server.session import COOKIE, COOKIE_DAYS, same, sign_in
from conductor_client.catalogue import text

PATHS = frozenset({"/login", "/logout"})
MAX_FORM_BYTES = 10_000

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { display: grid; place-items: center; min-height: 90vh; margin: 1rem }
main { width: min(24rem, 100%) } h1 { font-size: 1.4rem }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit }
input, button { padding: .6rem; margin: .4rem 0 1rem }
[role=alert] { border-left: 3px solid; padding-left: .6rem }
"""


class Login:
    """The ASGI app behind ``/login`` and ``/logout``. ``token`` None: there is nothing to sign in to."""

    def __init__(self, token: str | None, *, secure: bool) -> None:
        self._token = token
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if scope["path"] == "/logout":
            reply = self._sign_out(request)
        elif self._token is None:
            reply = RedirectResponse("/", 303)
        elif request.method == "POST":
            reply = await self._sign_in(request, self._token)
        else:
            reply = _page(local_path(request.query_params.get("next", "/")))
        reply.headers["Cache-Control"] = "no-store"
        await reply(scope, receive, send)

    async def _sign_in(self, request: Request, token: str) -> Response:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_FORM_BYTES:
                return _page("/", problem=text("door.sign_in_wrong"), status=413)
        form = parse_qs(body.decode("utf-8", errors="replace"))
        after = local_path(form.get("next", ["/"])[0])
        if not same(form.get("token", [""])[0].strip(), token):
            return _page(after, problem=text("door.sign_in_wrong"), status=401)
        reply = RedirectResponse(after, 303)
        reply.set_cookie(
            COOKIE,
            sign_in(token),
            max_age=COOKIE_DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=self._secure or request.url.scheme == "https",
        )
        return reply

    def _sign_out(self, request: Request) -> Response:
        if request.method != "POST":
            return Response(status_code=405, headers={"Allow": "POST"})
        reply = RedirectResponse("/login", 303)
        reply.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return reply


def local_path(given: str) -> str:
    """An address on this server to go to, or ``/`` when the given one leads elsewhere."""
    printable = given.isprintable() and "\\" not in given
    return given if printable and given.startswith("/") and not given.startswith("//") else "/"


def once_more(path: str) -> Response:
    """A page that leads to this path of ours by itself."""
    target = escape(local_path(path), quote=True)
    link = f'<a href="{target}">{escape(text("door.go_on"))}</a>'
    return _html(f'<meta http-equiv="refresh" content="0;url={target}">{link}')


def closed_page(said: str, hint: str, *, status: int) -> Response:
    """A page for a browser that may not see what it asked for, in plain words."""
    return _html(f"<main><h1>{escape(said)}</h1><p>{escape(hint)}</p></main>", status)


def _page(after: str, *, problem: str = "", status: int = 200) -> Response:
    alert = f'<p role="alert">{escape(problem)}</p>' if problem else ""
    return _html(
        f"""<main><h1>{escape(text("door.sign_in_title"))}</h1>{alert}
<form method="post" action="/login"><input type="hidden" name="next" value="{escape(after, quote=True)}">
<label for="token">{escape(text("door.sign_in_token"))}</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>{escape(text("door.sign_in_button"))}</button></form><p>{escape(text("door.sign_in_help"))}</p></main>""",
        status,
    )


def _html(body: str, status: int = 200) -> Response:
    head = "<meta charset=utf-8><meta name=viewport content='width=device-width'>"
    head += f"<title>{escape(text('door.title'))}</title>"
    policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"
    return HTMLResponse(
        f"<!doctype html><html lang=en>{head}<style>{_STYLE}</style>{body}</html>",
        status,
        headers={"Content-Security-Policy": policy},
    )
