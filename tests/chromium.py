"""The machine's own Chromium: where it is and how it is started headless."""

from __future__ import annotations

import shutil

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Needed as root in a container, and so that no test waits for the browser's own look-ups."""


def chromium_path() -> str | None:
    """The browser's path, or ``None``."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None
