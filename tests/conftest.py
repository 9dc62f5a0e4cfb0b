"""What holds for every test: no network but loopback, no key from the environment, no state shared."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.chromium import chromium_path

settings.register_profile("house", parent=settings(), deadline=None)  # the machine may be busy
settings.load_profile("house")

_SECRET_ENDINGS = ("_API_KEY", "_TOKEN", "_SECRET")
_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex


class NetworkForbidden(AssertionError):
    """A test tried to leave the machine."""


def _is_loopback(address: Any) -> bool:
    if not isinstance(address, tuple):
        return True
    host = str(address[0])
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.split("%")[0]).is_loopback
    except ValueError:
        return False


def _guarded(real: Any) -> Any:
    def connect(self: socket.socket, address: Any) -> Any:
        if not _is_loopback(address):
            raise NetworkForbidden(f"a test tried to connect to {address!r}; tests stay on this machine")
        return real(self, address)

    return connect


@pytest.fixture(autouse=True)
def _stay_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", _guarded(_connect))
    monkeypatch.setattr(socket.socket, "connect_ex", _guarded(_connect_ex))


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(_SECRET_ENDINGS) or name.startswith("CONDUCTOR_"):
            monkeypatch.delenv(name)


@pytest.fixture
def models_dir() -> Path:
    """Where local models lie, if anywhere; tests only read it."""
    from conductor.settings import Settings

    return Settings.from_environment().models_dir


def _is_model_ready(name: str) -> bool:
    from conductor.local.catalog import model_spec
    from conductor.settings import Settings

    return (Settings.from_environment().models_dir / model_spec(name).file).is_file()


@pytest.hookimpl(trylast=True)  # other conftest files mark their tests first
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    has_browser = chromium_path() is not None
    has_node = shutil.which("node") is not None
    for item in items:
        if item.get_closest_marker("browser"):
            # A real browser on a busy machine misses a deadline now and then; the summary names each rerun.
            item.add_marker(pytest.mark.flaky(reruns=1))
        if item.get_closest_marker("browser") and not has_browser:
            item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))
        if item.get_closest_marker("node") and not has_node:
            item.add_marker(pytest.mark.skip(reason="no Node on this machine"))
        for marker in item.iter_markers("model"):
            if not _is_model_ready(marker.args[0]):
                item.add_marker(pytest.mark.skip(reason=f"the local model {marker.args[0]} is not fetched"))


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: Any) -> Iterator[None]:
    yield
    missing = {str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])}
    for reason in sorted(missing):
        terminalreporter.write_line(
            f"!! NOT TESTED: {reason.removeprefix('Skipped: ')}", yellow=True, bold=True
        )
