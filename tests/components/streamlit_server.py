"""The Streamlit test page: ``python -m tests.components.streamlit_server PORT``."""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from components.workflow_graph import ASSETS, ROUTE

ROUTES = [Mount(ROUTE, StaticFiles(directory=ASSETS))]

if __name__ == "__main__":
    app = st.App(str(Path(__file__).with_name("streamlit_page.py")), routes=ROUTES)
    app.run(
        config={
            "server.port": int(sys.argv[1]),
            "server.address": "127.0.0.1",
            "server.headless": True,
            "browser.gatherUsageStats": False,
            "server.fileWatcherType": "none",
        }
    )
