"""Who is let in, with and without a token; cross-site requests; DNS rebinding; what a share link reaches."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from conductor.server.guard import NOT_ALLOWED, RIGHTS, Access, Guard
from conductor.server.login import local_path
from conductor.server.session import COOKIE, sign_in

TOKEN = "a-long-and-secret-token"
INTERNAL = "made-by-this-process"
HERE = "http://127.0.0.1:8501"
SOCKET = "ws://127.0.0.1:8501/_stcore/stream"


async def everything(request: Request) -> Response:
    return PlainTextResponse(f"{request.method} {request.scope[RIGHTS]}")


async def listen(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text(str(websocket.scope[RIGHTS]))
    await websocket.close()


METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
INNER = Starlette(
    routes=[
        WebSocketRoute("/{path:path}", listen),
        Route("/{path:path}", everything, methods=METHODS),
    ]
)


def visitor(access: Access, base_url: str = HERE) -> TestClient:
    return TestClient(Guard(INNER, access), base_url=base_url, follow_redirects=False)


OPEN = Access()
LOCKED = Access(token=TOKEN, internal_token=INTERNAL, host="0.0.0.0")
BEARER = {"Authorization": f"Bearer {TOKEN}"}


# Without a token, on loopback


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8501", "localhost:8501", "LOCALHOST", "[::1]:8501", "studio.localhost:1", "127.1.2.3"]
)
def test_this_machine_is_let_in_by_its_names(host: str) -> None:
    assert visitor(OPEN).get("/api/runs", headers={"Host": host}).text == "GET all"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8501",
        "127.0.0.1.evil.example",
        "127.evil.example",
        "localhost.evil.example",
        "192.168.1.5:8501",
        "",
        "127.0.0.1@evil.example",
        "evil.example/127.0.0.1",
        "[::1",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/runs", "/_stcore/health", "/v1/models", "/flow-assets/main.js"])
def test_another_name_is_refused_everywhere(host: str, path: str) -> None:
    reply = visitor(OPEN).get(path, headers={"Host": host})
    assert reply.status_code == 403
    assert "CONDUCTOR_PUBLIC_URL" in reply.text


def test_public_address_is_a_name_of_ours() -> None:
    access = Access(public_url="https://studio.example.org")
    headers = {"Host": "studio.example.org", "Origin": "https://studio.example.org"}
    assert visitor(access).post("/api/runs", headers=headers).text == "POST all"


def test_proxy_that_changes_the_host_is_no_other_site() -> None:
    async def said(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse(Headers(scope=scope)["host"])(scope, receive, send)

    access = Access(token=TOKEN, public_url="https://studio.example.org")
    client = TestClient(Guard(said, access), base_url=HERE)
    headers = {**BEARER, "Origin": "https://studio.example.org"}
    assert client.post("/api/runs", headers=headers).text == "studio.example.org"
    assert (
        client.post("/api/runs", headers={**BEARER, "Origin": "https://evil.example"}).text != "evil.example"
    )
    assert client.post("/api/runs", headers={**BEARER, "Origin": "https://[bad"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "http://[bad"},
        {"Origin": "//[::1", "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"},
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_another_site_cannot_write(method: str, headers: dict[str, str]) -> None:
    reply = visitor(OPEN).request(method, "/api/runs", headers=headers)
    assert reply.status_code == 403
    assert reply.json()["error"]["type"] == "forbidden"


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": HERE}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}],
)
def test_our_page_and_programs_can_write(headers: dict[str, str]) -> None:
    assert visitor(OPEN).post("/api/runs", headers=headers).text == "POST all"


@pytest.mark.parametrize("path", ["/api/runs/run_1/ws", "/_stcore/stream"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://[bad"])
def test_another_site_cannot_listen(path: str, origin: str) -> None:
    client = visitor(OPEN)
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        client.websocket_connect(path, headers={"Origin": origin}) as ws,
    ):
        ws.receive_text()
    assert closed.value.code == (NOT_ALLOWED if path.startswith("/api/") else 1008)


def test_rebound_name_cannot_listen() -> None:
    headers = {"Host": "evil.example:8501", "Origin": "http://evil.example:8501"}
    client = visitor(OPEN)
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        client.websocket_connect("/api/runs/r/ws", headers=headers) as ws,
    ):
        ws.receive_text()
    assert closed.value.code == NOT_ALLOWED


def test_our_page_can_listen() -> None:
    with visitor(OPEN).websocket_connect(SOCKET, headers={"Origin": HERE}) as ws:
        assert ws.receive_text() == "all"


# With a token


@pytest.mark.parametrize(
    "path", ["/api/runs", "/v1/models", "/healthz", "/_stcore/health", "/media/x", "/api/docs"]
)
@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}]
)
def test_nothing_without_the_token(path: str, headers: dict[str, str]) -> None:
    reply = visitor(LOCKED).get(path, headers=headers)
    assert reply.status_code == 401
    assert TOKEN not in reply.text


@pytest.mark.parametrize("token", [TOKEN, INTERNAL])
def test_bearer_opens_page_and_api(token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    assert visitor(LOCKED).get("/", headers=headers).text == "GET all"
    assert visitor(LOCKED).post("/api/runs", headers=headers).text == "POST all"
    with visitor(LOCKED).websocket_connect("/api/runs/r/ws", headers=headers) as ws:
        assert ws.receive_text() == "all"


@pytest.mark.parametrize("path", ["/api/runs/run_1/ws", "/_stcore/stream"])
@pytest.mark.parametrize("query", ["", "?token=" + TOKEN, "?after=0"])
def test_socket_needs_the_token_too(path: str, query: str) -> None:
    client = visitor(LOCKED)
    with pytest.raises(WebSocketDisconnect) as closed, client.websocket_connect(path + query) as ws:
        ws.receive_text()
    assert closed.value.code == (NOT_ALLOWED if path.startswith("/api/") else 1008)


def test_person_is_sent_to_the_sign_in_page_and_back() -> None:
    client = visitor(LOCKED)
    asked = client.get("/?run=run_1", headers={"Accept": "text/html"})
    assert (asked.status_code, asked.headers["location"]) == (303, "/login?next=%2F%3Frun%3Drun_1")
    page = client.get(asked.headers["location"])
    assert 'value="/?run=run_1"' in page.text
    wrong = client.post("/login", data={"token": "wrong", "next": "/?run=run_1"})
    assert wrong.status_code == 401
    assert COOKIE not in wrong.cookies
    right = client.post("/login", data={"token": TOKEN, "next": "/?run=run_1"}, headers={"Origin": HERE})
    assert (right.status_code, right.headers["location"]) == (303, "/?run=run_1")
    cookie = right.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert client.get("/").text == "GET all"
    with client.websocket_connect(SOCKET, headers={"Origin": HERE}) as ws:
        assert ws.receive_text() == "all"
    client.post("/logout")
    assert client.get("/api/runs").status_code == 401


def test_cookie_is_secure_behind_https() -> None:
    access = Access(token=TOKEN, public_url="https://studio.example.org")
    reply = visitor(access).post("/login", data={"token": TOKEN})
    assert "secure" in reply.headers["set-cookie"].lower()


def test_cookie_does_not_let_another_site_write_or_listen() -> None:
    client = visitor(LOCKED)
    client.cookies.set(COOKIE, sign_in(TOKEN))
    assert client.post("/api/runs", headers={"Origin": HERE}).text == "POST all"
    assert client.post("/api/runs", headers={"Origin": "http://evil.example"}).status_code == 403
    headers = {"Origin": "http://evil.example"}
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(SOCKET, headers=headers) as ws:
        ws.receive_text()


def test_another_site_cannot_sign_a_person_in() -> None:
    reply = visitor(LOCKED).post("/login", data={"token": TOKEN}, headers={"Origin": "http://evil.example"})
    assert reply.status_code == 403


def test_link_followed_from_elsewhere_comes_back_as_a_visit_of_our_own() -> None:
    elsewhere = {"Accept": "text/html", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    reply = visitor(LOCKED).get('/?run="><script>', headers=elsewhere)
    assert reply.status_code == 200
    assert "http-equiv" in reply.text
    assert "<script" not in reply.text


@pytest.mark.parametrize(
    "given", ["http://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "", "/a\nb"]
)
def test_sign_in_leads_nowhere_else(given: str) -> None:
    assert local_path(given) == "/"
    reply = visitor(LOCKED).post("/login", data={"token": TOKEN, "next": given})
    assert reply.headers["location"] == "/"


def test_sign_in_form_of_any_size_is_answered() -> None:
    assert visitor(LOCKED).post("/login", content=b"token=" + b"x" * 100_000).status_code == 413


def test_assets_are_open_and_nothing_beside_them() -> None:
    assert visitor(LOCKED).get("/flow-assets/main.js").status_code == 200
    assert visitor(LOCKED).get("/flow-assetsX").status_code == 401


# Share links


SHARED = ["/share/run_1?key=k", "/api/runs/run_1?share=k", "/api/runs/run_1/events?share=k"]
NOT_SHARED = [
    "/api/runs?share=k",
    "/api/pool?share=k",
    "/api/runs/run_1/export?share=k",
    "/v1/models?share=k",
    "/api/runs/run_1/lineage?share=k",
    "/api/runs/run_1/share?share=k",
    "/api/runs/run_1/fork?share=k",
    "/api/runs/run_1/events/more?share=k",
    "/api/models?share=",
    "/api/docs?share=k",
]


@pytest.mark.parametrize("access", [OPEN, LOCKED])
@pytest.mark.parametrize("path", SHARED)
def test_share_link_reads_with_the_rights_of_a_share_link(access: Access, path: str) -> None:
    assert visitor(access).get(path).text == "GET share"


@pytest.mark.parametrize("access", [OPEN, LOCKED])
@pytest.mark.parametrize("path", [*SHARED, *NOT_SHARED])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_share_link_never_writes(access: Access, path: str, method: str) -> None:
    assert visitor(access).request(method, path).status_code == 403


@pytest.mark.parametrize("access", [OPEN, LOCKED])
@pytest.mark.parametrize("path", NOT_SHARED)
def test_share_link_reads_nothing_else(access: Access, path: str) -> None:
    assert visitor(access).get(path).status_code == 403


def test_share_link_takes_rights_away_even_from_who_has_the_token() -> None:
    assert visitor(LOCKED).get("/api/runs/run_1?share=k", headers=BEARER).text == "GET share"
    assert visitor(LOCKED).post("/api/runs/run_1/cancel?share=k", headers=BEARER).status_code == 403


def test_share_link_listens_with_the_rights_of_a_share_link() -> None:
    with visitor(LOCKED).websocket_connect("/api/runs/run_1/ws?share=k") as ws:
        assert ws.receive_text() == "share"


# Headers


def test_every_answer_forbids_framing_sniffing_and_leaking_addresses() -> None:
    for path in ("/", "/api/runs", "/share/run_1?key=k"):
        headers = visitor(OPEN).get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'self'" in headers["content-security-policy"]
    assert visitor(OPEN).get("/api/runs").headers["cache-control"] == "no-store"
