"""Each kind of failure as an answer: its status, its shape, nothing secret in it."""

from __future__ import annotations

import logging

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from conductor.secrets import guard_logs
from conductor.server import errors
from conductor.store.errors import NameTaken, StoreError
from conductor_client.errors import ConductorError, InvalidEdit, StatusError

KEY = "sk-marker-0123456789abcdefABCDEF"


def failing(error: Exception, path: str = "/api/x") -> TestClient:
    app = FastAPI(telemetry={"tracing": False})
    errors.install(app)

    @app.get(path)
    async def fail() -> None:
        raise error

    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (StatusError("No.", status_code=402, kind="limit_reached", hint="Wait."), 402, "limit_reached"),
        (InvalidEdit("No.", hint="Move it.", details={"edge": ["s1", "s2"]}), 409, "conflict"),
        (NameTaken("No."), 409, "conflict"),
        (StoreError("disk", "No."), 507, "store"),
        (StoreError("unwritable", "No."), 503, "store"),
        (ConductorError("No."), 500, "internal"),
        (errors.not_found("run", "run_1"), 404, "not_found"),
    ],
)
def test_failures_of_ours_have_their_status(error: Exception, status: int, kind: str) -> None:
    reply = failing(error).get("/api/x")
    assert reply.status_code == status
    assert reply.json()["error"]["type"] == kind
    assert reply.json()["error"].get("details") == (getattr(error, "details", None) or None)


def test_a_database_that_cannot_be_used_is_named_without_its_folder() -> None:
    error = StoreError("disk", "No space on the disk of /srv/private/runs.sqlite.")
    assert failing(error).get("/api/x").json()["error"]["message"] == "No space on the disk of runs.sqlite."
    assert error.as_data().message == "No space on the disk of runs.sqlite."
    assert "/srv/private" in error.message  # the terminal says all


def test_mistake_of_ours_tells_its_kind_and_nothing_of_its_text(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = failing(RuntimeError(f"password {KEY}")).get("/api/x")
    assert reply.status_code == 500
    assert reply.json()["error"]["message"] == "GET /api/x failed: RuntimeError."
    assert KEY not in reply.text
    assert "Traceback" not in reply.text


def test_logs_of_the_server_are_scrubbed(capsys: pytest.CaptureFixture[str]) -> None:
    handler = logging.StreamHandler()
    server_log = logging.getLogger("uvicorn.error")
    server_log.addHandler(handler)
    try:
        guard_logs()
        try:
            raise RuntimeError(f"with {KEY}")
        except RuntimeError:
            server_log.exception("It failed for %s", KEY)
    finally:
        server_log.removeHandler(handler)
    said = capsys.readouterr().err
    assert "It failed" in said
    assert KEY not in said


@pytest.mark.parametrize("path", ["/api/x", "/v1/x"])
def test_secrets_do_not_leave_in_messages_hints_or_details(path: str) -> None:
    details = {"a": [KEY, {"b": f"x {KEY}"}], "n": 1}
    error = StatusError(f"It said {KEY}.", status_code=502, kind="x", hint=f"Try {KEY}.", details=details)
    reply = failing(error, path).get(path)
    assert reply.status_code == 502
    assert KEY not in reply.text
    if path.startswith("/api"):
        assert reply.json()["error"]["details"]["n"] == 1


def test_v1_has_openais_form() -> None:
    error = (
        failing(StatusError("Slow down.", status_code=429, kind="rate_limited"), "/v1/x").get("/v1/x").json()
    )
    assert error == {
        "error": {"message": "Slow down.", "type": "rate_limit_error", "param": None, "code": "rate_limited"}
    }
