"""What the browser tests do with a page: give the graph new data, read what it told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

See = Callable[..., Page]
"""Opens a scene; see the fixture ``see``."""


def show(page: Page, payload: dict[str, Any]) -> None:
    """Gives the mounted graph new data, as a script run of the page would."""
    page.evaluate("(payload) => { window.payload = payload; window.graph.update(payload); }", payload)


def update(page: Page, **more: Any) -> None:
    """The same data again, with a few changes."""
    page.evaluate("(more) => window.graph.update({ ...window.payload, ...more })", more)


def heard(page: Page, name: str) -> list[Any]:
    """All values of that state or trigger, in order."""
    script = "(name) => window.heard.filter((each) => each.name === name).map((each) => each.value)"
    told: list[Any] = page.evaluate(script, name)
    return told


def edits(page: Page) -> list[dict[str, Any]]:
    """All edits that were sent, in order."""
    return [edit for each in heard(page, "edit") for edit in each["edits"]]


def transform(page: Page) -> str:
    """Which part of the drawing is shown, and how large."""
    found: str = page.locator(".layer").evaluate("(layer) => layer.style.transform")
    return found
