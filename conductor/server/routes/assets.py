"""Files for browsers: the ES modules of the live graph, and where the API's own pages are."""

from __future__ import annotations

import os
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

MODULES_DIR = Path(__file__).resolve().parents[3] / "components" / "workflow_graph" / "assets"
BROWSER_FILES = frozenset({".js", ".mjs", ".css", ".svg"})


class FlowAssets(StaticFiles):
    """The modules and styles of the graph, and nothing else that lies beside them."""

    def __init__(self) -> None:
        super().__init__(directory=MODULES_DIR, check_dir=False)

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        if Path(path).suffix not in BROWSER_FILES:
            return "", None
        return super().lookup_path(path)

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        # Asked again each time and answered "not modified": an upgrade is never mixed with an old module.
        response.headers.setdefault("Cache-Control", "no-cache")
        return response
