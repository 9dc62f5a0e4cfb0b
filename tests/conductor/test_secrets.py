"""Keys never survive in texts or logs."""

from __future__ import annotations

import io
import logging

import pytest

from conductor.secrets import MASK, ScrubFilter, guard_logs, looks_like_key, scrub

ENVIRONMENT = {
    "MY_API_KEY": "marker-value-1",
    "GATEWAY": "marker-value-2",
    "HOME": "/home/someone",
    "X_KEY": "on",
}


def test_values_of_secret_variables_are_masked_wherever_they_stand() -> None:
    text = "a marker-value-1 b, marker-value-2, /home/someone, on"
    clean = scrub(text, names=["GATEWAY"], environ=ENVIRONMENT)
    assert clean == f"a {MASK} b, {MASK}, /home/someone, on"


def test_longer_value_first() -> None:
    environ = {"A_KEY": "secret1", "B_KEY": "secret1-and-more"}
    assert scrub("x secret1-and-more x", environ=environ) == f"x {MASK} x"


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-AbC123def456GHI789",
        "sk-ant-api03-AbC123def456GHI789",
        "AIzaSyA1234567890abcdefgHIJ",
        "fish_0123456789abcdef",
        "ghp_0123456789abcdefABCDEF",
        "gsk_0123456789abcdefABCDEF",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sflKxwRJSMeKKF2QT4",
    ],
)
def test_what_looks_like_a_key_is_masked(key: str) -> None:
    assert scrub(f"token={key}.", environ={}) != f"token={key}."
    assert key[8:16] not in scrub(f"({key})", environ={})
    assert looks_like_key(key)


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abc123def456ghi7",
        '{"x-api-key": "abc123def456ghi7"}',
        "postgresql://user:abc123def456ghi7@host/db",
    ],
)
def test_headers_and_addresses(text: str) -> None:
    assert "abc123def456" not in scrub(text, environ={})


@pytest.mark.parametrize(
    "text",
    [
        "the sk-learn-pipeline-of-mine is fine",
        "bearer authentication failed; check the api_key parameter",
        "Write to https://host.example/path@2",
        "model gpt-5-mini got 429",
        "risk-management-for-everyone-1",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert scrub(text, environ={}) == text


def test_log_records_are_masked_with_arguments_and_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "marker-value-1")
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(ScrubFilter())
    log = logging.getLogger("test of secrets")
    log.propagate = False
    log.addHandler(handler)
    try:
        raise ValueError("failed with marker-value-1")
    except ValueError:
        log.exception("key %s and %s", "marker-value-1", {"Authorization": "Bearer abc123def456ghi7"})
    log.removeHandler(handler)
    assert "marker" not in out.getvalue()
    assert "abc123" not in out.getvalue()
    assert "ValueError" in out.getvalue()


def test_guarding_twice_adds_one_filter() -> None:
    handler = logging.NullHandler()
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        guard_logs()
        guard_logs()
        assert sum(isinstance(each, ScrubFilter) for each in handler.filters) == 1
    finally:
        root.removeHandler(handler)
        for each in root.handlers:
            each.filters = [kept for kept in each.filters if not isinstance(kept, ScrubFilter)]
