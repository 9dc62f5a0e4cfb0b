"""Which version this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """The installed version, or ``0`` when run from a plain source tree."""
    try:
        return version("conductor-studio")
    except PackageNotFoundError:
        return "0"
