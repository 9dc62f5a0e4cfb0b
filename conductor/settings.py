"""What the environment decides: one frozen `Settings`, read once from `CONDUCTOR_*` variables.

`SETTINGS` is the list README is tested against. Nothing else in the backend reads a `CONDUCTOR_*` variable.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

APP_FOLDER = "conductor-studio"


@dataclass(frozen=True)
class SettingRow:
    """One line of the settings table: the variable, what holds without it, what it does."""

    name: str
    default: str
    help: str


SETTINGS: tuple[SettingRow, ...] = (
    SettingRow("CONDUCTOR_HOST", "127.0.0.1", "Address to listen on. Any but this machine needs a token."),
    SettingRow("CONDUCTOR_PORT", "8501", "Port of page, API and WebSocket; 0 takes any free one."),
    SettingRow("CONDUCTOR_DB", "conductor.sqlite in the data folder", "File that holds runs and results."),
    SettingRow("CONDUCTOR_POOL", "local", "Pool file (TOML), or the name of one in the pool folders."),
    SettingRow("CONDUCTOR_MODELS_DIR", "models in the data folder", "Folder of the local models' weights."),
    SettingRow("CONDUCTOR_TOKEN", "none", "Secret that page, API and WebSocket ask for."),
    SettingRow("CONDUCTOR_PUBLIC_URL", "none", "Address people see, when a proxy stands in front."),
    SettingRow("CONDUCTOR_BACKEND_URL", "none", "Backend elsewhere: this process then serves the page only."),
    SettingRow("CONDUCTOR_ENGINE", "embedded", "Who executes runs; there is the embedded engine only."),
    SettingRow("CONDUCTOR_DAILY_USD", "none", "Most US dollars this installation may spend in a day (UTC)."),
)


@dataclass(frozen=True)
class SettingProblem:
    """One variable that cannot be used: its name, the value given (``None`` = secret), the form wanted."""

    name: str
    value: str | None
    wanted: str

    def __str__(self) -> str:
        given = "its value" if self.value is None else repr(self.value)
        return f"{self.name}: {given} cannot be used; wanted: {self.wanted}"


class SettingsError(Exception):
    """The environment cannot be used. The message has one line per problem."""

    def __init__(self, problems: Sequence[SettingProblem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Settings:
    """Everything the environment decides. Secrets never show in its ``repr``."""

    host: str = "127.0.0.1"
    port: int = 8501
    db: Path = field(default_factory=lambda: default_data_dir() / "conductor.sqlite")
    pool: str | None = None
    """A path to a pool file or the name of a pool; ``None`` is the pool ``local``."""
    models_dir: Path = field(default_factory=lambda: default_data_dir() / "models")
    token: str | None = field(default=None, repr=False)
    """``None`` means that anyone who reaches the port may use it."""
    public_url: str | None = None
    """Without a slash at its end; ``None`` means that no proxy stands in front."""
    backend_url: str | None = None
    engine: Literal["embedded"] = "embedded"
    """Runs are executed in this process, and recorded in files beside the database."""
    daily_usd: Decimal | None = None
    """``None`` is no limit."""
    pools_dir: Path = field(default_factory=lambda: default_data_dir() / "pools")
    """The user's own pool files."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        """Reads the variables; an empty one counts as not set.

        Raises:
            SettingsError: with every problem at once, a listening address without a token among them.
        """
        values, problems = _read(environ)
        host = values.get("host", cls.host)
        if not is_loopback(host) and "token" not in values and "CONDUCTOR_TOKEN" not in _names(problems):
            wanted = "an address of this machine (127.0.0.1), or CONDUCTOR_TOKEN set as well"
            problems.append(SettingProblem("CONDUCTOR_HOST", host, wanted))
        if problems:
            raise SettingsError(problems)
        data_dir = default_data_dir(environ)
        places = {"db": data_dir / "conductor.sqlite", "models_dir": data_dir / "models"}
        return cls(**{**places, "pools_dir": data_dir / "pools", **values})


def default_data_dir(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The user's data folder for this program, by the custom of each system."""
    home = Path(environ.get("HOME") or Path.home())
    if data_home := environ.get("XDG_DATA_HOME"):
        base = Path(data_home).expanduser()
    elif platform == "darwin":
        base = home / "Library" / "Application Support"
    elif platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        base = home / ".local" / "share"
    return base / APP_FOLDER


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on ``host``."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _names(problems: Sequence[SettingProblem]) -> set[str]:
    return {problem.name for problem in problems}


def _read(environ: Mapping[str, str]) -> tuple[dict[str, Any], list[SettingProblem]]:
    values: dict[str, Any] = {}
    problems: list[SettingProblem] = []
    for name, (key, read, wanted) in _READERS.items():
        given = environ.get(name, "").strip()
        if not given:
            continue
        try:
            values[key] = read(given)
        except ValueError:
            is_secret = key in {"token", "engine"}  # the address of an engine elsewhere may hold a password
            problems.append(SettingProblem(name, None if is_secret else given, wanted))
    return values, problems


def _host(given: str) -> str:
    if any(mark in given for mark in "/ @?#"):
        raise ValueError(given)
    return given


def _port(given: str) -> int:
    if not given.isdecimal() or not 0 <= int(given) <= 65535:
        raise ValueError(given)
    return int(given)


def _path(given: str) -> Path:
    if "\0" in given:
        raise ValueError(given)
    return Path(given).expanduser().absolute()


def _token(given: str) -> str:
    # It travels in a header and a cookie.
    if not given.isascii() or not given.isprintable() or set(given) & set(' ";,\\'):
        raise ValueError("token")
    return given


def _url(given: str) -> str:
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(given)
    if parts.username or parts.password:
        raise ValueError("an address with a password")
    _ = parts.port  # raises ValueError for one that is no number
    return given.rstrip("/")


def _engine(given: str) -> str:
    if given != "embedded":
        raise ValueError("engine")
    return given


def _usd(given: str) -> Decimal:
    try:
        amount = Decimal(given)
    except InvalidOperation:
        raise ValueError(given) from None
    if not amount.is_finite() or amount < 0:
        raise ValueError(given)
    return amount


_READERS: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "CONDUCTOR_HOST": ("host", _host, "a host name or an address, without port or path"),
    "CONDUCTOR_PORT": ("port", _port, "a whole number from 0 to 65535"),
    "CONDUCTOR_DB": ("db", _path, "a path to a file"),
    "CONDUCTOR_POOL": ("pool", str, "a path to a TOML file, or a pool's name"),
    "CONDUCTOR_MODELS_DIR": ("models_dir", _path, "a path to a folder"),
    "CONDUCTOR_TOKEN": ("token", _token, "printable ASCII without spaces, quotes, commas or semicolons"),
    "CONDUCTOR_PUBLIC_URL": ("public_url", _url, "http://… or https://…, without query or password"),
    "CONDUCTOR_BACKEND_URL": ("backend_url", _url, "http://… or https://…, without query or password"),
    "CONDUCTOR_ENGINE": (
        "engine",
        _engine,
        "embedded; one over several machines is not in this version",
    ),
    "CONDUCTOR_DAILY_USD": ("daily_usd", _usd, "an amount of US dollars such as 5 or 2.50"),
}
