"""Where the page finds its backend: set once by the front door, read by the page's scripts.

The page's scripts run in threads of the same process, so this is a plain holder and no environment variable:
the token in it is made anew by each process and must not reach child processes.
"""

from __future__ import annotations

import os
from typing import NamedTuple


class Backend(NamedTuple):
    """Address without ``/api``, and the token to send; ``None`` when it asks for none."""

    url: str
    token: str | None


_held: list[Backend] = []


def hold(url: str, token: str | None) -> None:
    """Tells the page's scripts where the backend is."""
    _held[:] = [Backend(url, token)]


def backend() -> Backend:
    """The backend of this page.

    Without a front door (``streamlit run`` on the page's file, for development) it is the one that
    ``CONDUCTOR_BACKEND_URL`` names, else this machine's own at port 8501, with ``CONDUCTOR_TOKEN``.
    """
    if _held:
        return _held[0]
    url = os.environ.get("CONDUCTOR_BACKEND_URL") or "http://127.0.0.1:8501"
    return Backend(url.rstrip("/"), os.environ.get("CONDUCTOR_TOKEN") or None)
