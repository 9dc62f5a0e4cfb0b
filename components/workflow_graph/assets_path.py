"""Where the component's modules lie and under which address a page finds them. Knows no Streamlit."""

from __future__ import annotations

import hashlib
from pathlib import Path

ASSETS = Path(__file__).with_name("assets")
"""Folder of the ES modules and the style sheet, to be served as they are."""

ROUTE = "/flow-assets"
"""Where to mount that folder, with ``Cache-Control: no-cache``: the modules import each other by relative
path, so a browser must ask for each again and may only keep what has not changed."""


def version() -> str:
    """A short hash of every file in the folder, so that an open page asks anew after an upgrade."""
    digest = hashlib.sha256()
    for path in sorted(ASSETS.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def entry() -> str:
    """Address of the module that exports ``mount``."""
    return f"{ROUTE}/main.js?v={version()}"


def modules() -> list[str]:
    """Addresses of the modules behind the entry, as they import each other."""
    return [f"{ROUTE}/{path.name}" for path in sorted(ASSETS.glob("*.js")) if path.name != "main.js"]
