"""Colours and icons of the drawing. Classes begin with ``g-``, so that a page may hold several drawings."""

from __future__ import annotations

from typing import Literal

Theme = Literal["light", "dark", "auto"]

ICON_PATHS = {
    "draft": "M10 3.2a6.8 6.8 0 1 0 .01 0Z",
    "waiting": "M10 3.2a6.8 6.8 0 1 0 .01 0ZM10 6.4V10l2.5 1.6",
    "running": "M10 3.2a6.8 6.8 0 1 0 .01 0ZM10 7.4a2.6 2.6 0 1 0 .01 0Z",
    "succeeded": "M4.4 10.6l3.8 3.8L15.8 6",
    "failed": "M5.4 5.4l9.2 9.2M14.6 5.4l-9.2 9.2",
    "skipped": "M4.4 5.2l6 4.8-6 4.8ZM14.6 5v10",
    "reused": (
        "M15.8 8.2A6.2 6.2 0 0 0 5 6.2L3.6 7.8M3.6 4v3.8h3.8M4.2 11.8A6.2 6.2 0 0 0 15 "
        "13.8l1.4-1.6M16.4 16v-3.8h-3.8"
    ),
    "cancelled": "M10 3.2a6.8 6.8 0 1 0 .01 0ZM7.8 7.8h4.4v4.4H7.8Z",
    "not_run": "M10 3.2a6.8 6.8 0 1 0 .01 0ZM6.8 10h6.4",
    "prompt": "M4 4.6h12v8.6H9.4L6 16v-2.8H4ZM7 7.6h6M7 10.2h4",
    "answer": "M5.4 17V3.6M5.4 4.4h9.2l-2 3.2 2 3.2H5.4",
}
"""The live graph's icons, in a box of 20 × 20; a test holds them to its ``icons.js``."""
COLOURS = {
    "light": {
        "page": "#fdfcfa",
        "card": "#ffffff",
        "well": "#f6f4ef",
        "line": "#e2ded5",
        "ink": "#23272f",
        "soft": "#5f5e5a",
        "edge": "#7b7a75",
        "running": "#315987",
        "good": "#2f6545",
        "bad": "#9c3431",
        "reused": "#614c88",
    },
    "dark": {
        "page": "#101316",
        "card": "#1c2026",
        "well": "#252a30",
        "line": "#2e343c",
        "ink": "#e4e2dc",
        "soft": "#aeb1b8",
        "edge": "#8d9097",
        "running": "#a9c6ea",
        "good": "#9ad1ae",
        "bad": "#f0a39d",
        "reused": "#c9b9e6",
    },
}
"""The page's own colours (``.streamlit/config.toml``); a test holds most of them to it."""

_RULES = """
.g-root{{font-family:"Source Sans 3","Source Sans Pro","Segoe UI",Helvetica,Arial,sans-serif}}
.g-page{{fill:{page}}}.g-card,.g-pill{{fill:{card};stroke:{line};stroke-width:1.5}}
.g-dashed{{stroke-dasharray:6 4}}.g-well{{fill:{well}}}
.g-edge,.g-outer{{fill:none;stroke:{edge};stroke-width:2;stroke-linecap:round;stroke-linejoin:round}}
.g-outer{{stroke-width:1.5;stroke-dasharray:1 5}}.g-head{{stroke-dasharray:none}}
.g-glyph{{fill:none;stroke:{soft};stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}}
.g-badge,.g-number,.g-word{{fill:{soft}}}.g-badge{{fill-opacity:.14}}
.g-number{{font-size:14px;font-weight:700;text-anchor:middle}}
.g-word{{font-size:13px;font-weight:600}}
.g-name{{fill:{ink};font-size:16px;font-weight:650}}.g-said{{fill:{ink};font-size:14.5px}}
.g-text{{fill:{ink};font-size:13.5px}}.g-note{{fill:{soft};font-size:13.5px}}.g-bad{{fill:{bad}}}
.g-foot{{fill:{soft};font-size:13px}}.g-tag{{fill:{soft};font-size:12px;font-weight:600;text-anchor:end}}
.g-kind{{fill:{ink};font-size:13px;font-weight:600}}
.g-running-fill{{fill:{running}}}.g-running-line{{stroke:{running}}}
.g-succeeded-fill{{fill:{good}}}.g-succeeded-line{{stroke:{good}}}
.g-failed-fill{{fill:{bad}}}.g-failed-line{{stroke:{bad}}}
.g-reused-fill{{fill:{reused}}}.g-reused-line{{stroke:{reused}}}
"""


def style(theme: Theme) -> str:
    """A ``<style>`` element; ``auto`` holds both sets and lets the viewer choose."""
    if theme != "auto":
        rules = _rules(theme)
    else:
        rules = _rules("light") + "@media (prefers-color-scheme:dark){" + _rules("dark") + "}"
    return f"<style>{rules}</style>"


def _rules(name: str) -> str:
    return _RULES.format(**COLOURS[name]).replace("\n", "")
