"""Where the component's modules lie and under which address a page finds them. Knows no Streamlit."""

from __future__ import annotations

import hashlib
from pathlib import Path

ASSETS = Path(__file__).with_name("assets")
"""Folder of the ES modules and the style sheet, to be served as they are."""

ROUTE = "/flow-assets/{version}"
"""Where to mount that folder. The version is part of the path, so that modules that import each other by
relative path all carry it and no browser keeps an old one beside a new one."""


def version() -> str:
    """A short hash of every file in the folder: it changes when any of them does."""
    digest = hashlib.sha256()
    for path in sorted(ASSETS.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def entry() -> str:
    """Address of the module that exports ``mount``."""
    return f"{ROUTE.format(version=version())}/main.js"
