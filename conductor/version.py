"""Which version this is."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def own_version() -> str:
    """The installed version, else that of the source tree we run from; ``0`` when neither says."""
    try:
        return version("conductor-studio")
    except PackageNotFoundError:
        pass
    try:
        stated: str = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    except (OSError, ValueError, KeyError):
        return "0"
    return stated
