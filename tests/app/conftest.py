"""The real page, run without a browser, talking through the real client to a real backend in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app import resources, state
from conductor.server.api import in_a_thread
from conductor.settings import Settings
from tests.app.backend import PLANNER, POOL, Backend

SCRIPT = Path(__file__).resolve().parents[2] / "app" / "streamlit_app.py"
Page = Callable[..., AppTest]
Serve = Callable[..., Backend]


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts the backend with the pool file given as text."""
    with ExitStack() as stack:

        def started(pool: str = POOL) -> Backend:
            file = tmp_path / "pool.toml"
            file.write_text(pool, encoding="utf-8")
            settings = Settings(
                port=0,
                db=tmp_path / "conductor.sqlite",
                pool=str(file),
                models_dir=tmp_path / "models",
                pools_dir=tmp_path / "pools",
            )
            address = stack.enter_context(in_a_thread(settings))
            assert address is not None
            backend = Backend(address)
            stack.callback(backend.close)
            monkeypatch.setattr(resources, "client", lambda: backend.client)
            return backend

        yield started


@pytest.fixture(autouse=True)
def _no_bugs(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The page tells bugs itself, so Streamlit reports none: the log does."""
    yield
    told = [
        each for when in ("setup", "call") for each in caplog.get_records(when) if each.name == "app.bugs"
    ]
    assert not told, told


@pytest.fixture
def backend(serve: Serve) -> Backend:
    return serve()


@pytest.fixture
def page() -> Page:
    """Opens the app at a page (its file's name), at a run; it is drawn without an exception."""

    def opened(
        name: str = "studio", *, run: str | None = None, plan: str | None = None, conductor: str = PLANNER
    ) -> AppTest:
        at = AppTest.from_file(str(SCRIPT), default_timeout=30)
        at.session_state[state.CONDUCTOR] = conductor
        if run is not None:
            at.query_params["run"] = run
        if plan is not None:
            at.query_params["plan"] = plan
        at.run()
        if name != "studio":
            at.switch_page(f"views/{name}.py").run()
        assert not at.exception, at.exception
        return at

    return opened
