"""A model server that repeats the key it was sent wherever it can. Only for tests of where keys end up."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class RogueServer:
    """Answers ``/KIND/v1/chat/completions`` and ``/KIND/v1/messages``, with the key wherever it fits.

    ok, denied, page (HTML), cut (error in mid-stream), picky (400 until ``temperature`` is left out), never
    (400 whatever is left out), echo (all headers and the address), moved (a redirect), refuses (in words that
    hold the key), named (the served model is called so).

    ``heard`` counts the requests that carried a key.
    """

    def __init__(self) -> None:
        self.heard = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> RogueServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        rogue = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                key = self.headers.get("Authorization") or self.headers.get("x-api-key") or ""
                rogue.heard += bool(key)
                kind, bare = self.path.split("/")[1], key.removeprefix("Bearer ")
                if kind == "echo":
                    status, form, body = _complaint(401, f"{self.path}?key={bare} {self.headers}", bare)
                elif kind == "never" or (kind == "picky" and "temperature" in asked):
                    status, form, body = _complaint(400, f"Unsupported parameter: temperature ({bare})", bare)
                else:
                    status, form, body = _answer(kind, bare)
                self.send_response(status)
                self.send_header("Content-Type", form)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("X-Seen", key)
                if kind == "moved":
                    self.send_header("Location", f"http://127.0.0.1:9/{bare}?key={bare}")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        return Handler


def _complaint(status: int, said: str, key: str) -> tuple[int, str, bytes]:
    told = {"message": said, "param": "temperature", "code": key, "type": f"error-{key}", "details": [key]}
    return status, "application/json", json.dumps({"type": "error", "error": told}).encode()


def _answer(kind: str, key: str) -> tuple[int, str, bytes]:
    denied = {"error": {"message": f"Incorrect API key provided: {key}", "type": "auth", "code": key}}
    if kind == "denied":
        return 401, "application/json", json.dumps(denied).encode()
    if kind == "page":
        return 403, "text/html", f"<h1>Error</h1><pre>Authorization: Bearer {key}</pre>".encode()
    if kind == "moved":
        return 307, "text/plain", f"Moved to /{key}".encode()
    said: dict[str, Any] = {"role": "assistant", "content": "All is well."}
    if kind == "refuses":
        said = {"role": "assistant", "refusal": f"I refuse whoever holds {key}."}
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": said}]}]
    if kind == "cut":
        chunks.append(denied)
    else:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 3}})
    lines = "".join(
        f"data: {json.dumps({'id': 'x', 'model': key if kind == 'named' else 'm', **chunk})}\n\n"
        for chunk in chunks
    )
    return 200, "text/event-stream", f"{lines}data: [DONE]\n\n".encode()
