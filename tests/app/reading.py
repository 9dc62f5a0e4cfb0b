"""What a person reads on a page under test, and what the graph was given."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest

from app.markdown import WORD_JOINER


def texts(at: AppTest) -> str:
    """All text of a page, Markdown escapes taken away."""
    found: list[str] = []
    for kind in (
        "title",
        "header",
        "subheader",
        "markdown",
        "caption",
        "error",
        "warning",
        "info",
        "success",
        "code",
    ):
        found += [str(element.value) for element in getattr(at, kind)]
    found += [button.label for button in at.button]
    found += [button.label for button in at.download_button]
    found += [f"{metric.label}: {metric.value}" for metric in at.metric]
    found += [element.label for element in at.page_link]
    found += [element.proto.label for element in at.get("link_button")]
    return "\n".join(found).replace("\\", "").replace(WORD_JOINER, "")


def graph(at: AppTest) -> dict[str, Any]:
    """The data the workflow graph was drawn with."""
    for element in at.get("bidi_component"):
        if "workflow" in element.proto.component_name:
            return dict(json.loads(element.proto.json))
    raise AssertionError("no graph on the page")


def has_graph(at: AppTest) -> bool:
    return any("workflow" in element.proto.component_name for element in at.get("bidi_component"))
