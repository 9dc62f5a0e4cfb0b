"""Settings from the environment: good values, and errors that name variable, value and wanted form."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from conductor.settings import SETTINGS, Settings, SettingsError, default_data_dir, is_loopback

HOME = {"HOME": "/home/someone"}


def problem_of(**environ: str) -> str:
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({**HOME, **environ})
    return str(caught.value)


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = Settings.from_environment(HOME)
    data = default_data_dir(HOME)
    assert (settings.host, settings.port) == ("127.0.0.1", 8501)
    assert settings.db == data / "conductor.sqlite"
    assert (settings.models_dir, settings.pools_dir) == (data / "models", data / "pools")
    assert (settings.token, settings.daily_usd, settings.pool) == (None, None, None)
    assert settings.engine == "embedded"
    assert Settings.from_environment({**HOME, "CONDUCTOR_PORT": "  ", "CONDUCTOR_TOKEN": ""}) == settings


def test_every_variable_is_read_and_listed() -> None:
    environ = {
        "CONDUCTOR_HOST": "0.0.0.0",
        "CONDUCTOR_PORT": "0",
        "CONDUCTOR_DB": "/data/runs.sqlite",
        "CONDUCTOR_POOL": "/data/pool.toml",
        "CONDUCTOR_MODELS_DIR": "/data/models",
        "CONDUCTOR_TOKEN": "correct-horse",
        "CONDUCTOR_PUBLIC_URL": "https://studio.example/team/",
        "CONDUCTOR_BACKEND_URL": "http://127.0.0.1:9000",
        "CONDUCTOR_ENGINE": "embedded",
        "CONDUCTOR_DAILY_USD": "2.50",
    }
    assert set(environ) == {row.name for row in SETTINGS}
    settings = Settings.from_environment({**HOME, **environ})
    assert (settings.host, settings.port) == ("0.0.0.0", 0)
    assert (settings.db, settings.models_dir) == (Path("/data/runs.sqlite"), Path("/data/models"))
    assert settings.pool == "/data/pool.toml"
    assert settings.public_url == "https://studio.example/team"
    assert settings.backend_url == "http://127.0.0.1:9000"
    assert settings.daily_usd == Decimal("2.50")
    assert "correct-horse" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("CONDUCTOR_PORT", "eighty", "0 to 65535"),
        ("CONDUCTOR_PORT", "70000", "0 to 65535"),
        ("CONDUCTOR_HOST", "http://x", "host name"),
        ("CONDUCTOR_PUBLIC_URL", "studio.example", "http"),
        ("CONDUCTOR_BACKEND_URL", "ftp://x", "http"),
        ("CONDUCTOR_BACKEND_URL", "http://host:port", "http"),
        ("CONDUCTOR_DAILY_USD", "five", "US dollars"),
        ("CONDUCTOR_DAILY_USD", "-1", "US dollars"),
        ("CONDUCTOR_DAILY_USD", "NaN", "US dollars"),
    ],
)
def test_errors_name_variable_value_and_wanted_form(name: str, value: str, wanted: str) -> None:
    said = problem_of(**{name: value})
    assert name in said
    assert value in said
    assert wanted in said


@pytest.mark.parametrize(
    ("name", "value"),
    [("CONDUCTOR_TOKEN", "with space"), ("CONDUCTOR_ENGINE", "postgresql://u:secret-pw@h/db")],
)
def test_errors_never_repeat_a_secret(name: str, value: str) -> None:
    said = problem_of(**{name: value})
    assert name in said
    assert value not in said


def test_all_problems_at_once() -> None:
    said = problem_of(CONDUCTOR_PORT="x", CONDUCTOR_DAILY_USD="y")
    assert len(said.splitlines()) == 2


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.4", "studio.example", "::"])
def test_listening_elsewhere_without_a_token_is_refused(host: str) -> None:
    said = problem_of(CONDUCTOR_HOST=host)
    assert "CONDUCTOR_TOKEN" in said
    assert Settings.from_environment({**HOME, "CONDUCTOR_HOST": host, "CONDUCTOR_TOKEN": "t"}).host == host


@pytest.mark.parametrize(
    ("host", "is_local"), [("localhost", True), ("127.8.8.8", True), ("[::1]", True), ("a", False)]
)
def test_loopback(host: str, is_local: bool) -> None:
    assert is_loopback(host) is is_local


@pytest.mark.parametrize(
    ("platform", "environ", "place"),
    [
        ("linux", {"XDG_DATA_HOME": "/x"}, "/x/conductor-studio"),
        ("linux", {}, "/home/someone/.local/share/conductor-studio"),
        ("darwin", {}, "/home/someone/Library/Application Support/conductor-studio"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/conductor-studio"),
    ],
)
def test_data_folder_of_each_system(platform: str, environ: dict[str, str], place: str) -> None:
    assert default_data_dir({**HOME, **environ}, platform) == Path(place)
