"""The real page, run without a browser, talking through the real client to a backend in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app import resources
from conductor_client.client import ConductorClient
from tests.app.scripted_backend import ScriptedBackend

SCRIPT = Path(__file__).resolve().parents[2] / "app" / "streamlit_app.py"
Page = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> ScriptedBackend:
    scripted = ScriptedBackend()
    client = ConductorClient("http://studio.test", transport=scripted.transport())
    monkeypatch.setattr(resources, "client", lambda: client)
    return scripted


@pytest.fixture
def page(backend: ScriptedBackend) -> Page:
    """Opens the app at a page (its file's name) with query parameters; it is drawn without an exception."""

    def opened(name: str = "studio", **query: str) -> AppTest:
        at = AppTest.from_file(str(SCRIPT), default_timeout=20)
        for key, value in query.items():
            at.query_params[key] = value
        at.run()
        if name != "studio":
            at.switch_page(f"views/{name}.py").run()
        assert not at.exception, at.exception
        return at

    return opened
