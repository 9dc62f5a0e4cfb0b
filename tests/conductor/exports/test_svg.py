"""The drawing: well-formed, harmless, and the same as the live graph's."""

from __future__ import annotations

import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Literal

import pytest

from conductor.exports import export
from conductor.exports.svg import workflow_svg
from conductor.exports.svg_text import shortened, width, wrapped
from conductor.exports.svg_theme import COLOURS, ICON_PATHS
from conductor_client.run_state import fold
from tests.conductor.exports.runs import (
    HOSTILE,
    RUNS,
    hostile_workflow,
)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
@pytest.mark.parametrize("run", RUNS)
def test_svg_is_well_formed_and_can_do_nothing(run: str, theme: str) -> None:
    state = fold(RUNS[run])
    drawn = ET.fromstring(export(state, [], "svg", theme=theme).body)  # type: ignore[arg-type]  # as above
    allowed = {"svg", "title", "style", "path", "rect", "circle", "g", "text"}
    for node in drawn.iter():
        assert node.tag.removeprefix(SVG) in allowed
        assert not any(name.startswith("on") or "href" in name for name in node.attrib)
    style = drawn.find(f"{SVG}style")
    assert style is not None and style.text is not None
    assert "url(" not in style.text and "@import" not in style.text
    assert ("prefers-color-scheme" in style.text) == (theme == "auto")


def test_svg_shows_every_step_with_worker_status_and_output() -> None:
    drawn = ET.fromstring(export(fold(RUNS["rich"]), [], "svg").body)
    said = " ".join(node.text or "" for node in drawn.iter(f"{SVG}text"))
    for word in (
        "qwen-0.5b",
        "calculator",
        "153",
        "Reused",
        "unused by the answer",
        "≥ 328 tokens · cost unknown",
        "Prompt",
    ):
        assert word in said
    classes = [node.get("class", "") for node in drawn.iter(f"{SVG}rect")]
    assert sum(each.startswith("g-card") for each in classes) == 4
    failed = ET.fromstring(export(fold(RUNS["failed"]), [], "svg").body)
    assert "The worker refused." in " ".join(node.text or "" for node in failed.iter(f"{SVG}text"))


def test_workflow_without_a_run_can_be_drawn() -> None:
    drawn = ET.fromstring(workflow_svg(hostile_workflow(), theme="dark"))
    cards = [node for node in drawn.iter(f"{SVG}rect") if (node.get("class") or "").startswith("g-card")]
    assert [node.get("class") for node in cards] == ["g-card"] * len(HOSTILE)


def test_same_run_is_the_same_drawing() -> None:
    assert export(fold(RUNS["rich"]), [], "svg").body == export(fold(RUNS["rich"]), [], "svg").body


def test_drawing_has_the_icons_of_the_live_graph() -> None:
    source = Path("components/workflow_graph/assets/icons.js").read_text(encoding="utf-8")
    theirs = dict(re.findall(r'^  (\w+): "([^"]+)",$', source, re.MULTILINE))
    assert {name: theirs[name] for name in ICON_PATHS} == ICON_PATHS


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_drawing_has_the_colours_of_the_page(theme: Literal["light", "dark"]) -> None:
    page = tomllib.loads(Path(".streamlit/config.toml").read_text(encoding="utf-8"))["theme"][theme]
    names = {
        "page": "backgroundColor",
        "line": "borderColor",
        "ink": "textColor",
        "soft": "grayTextColor",
        "running": "blueTextColor",
        "good": "greenTextColor",
        "bad": "redTextColor",
        "reused": "violetTextColor",
    }
    assert {name: page[key] for name, key in names.items()} == {name: COLOURS[theme][name] for name in names}


def test_wrapped_lines_fit_and_lose_no_word() -> None:
    said = "The quick brown fox, 敏捷的棕色狐狸跳过了懒狗, " + "unbreakable" * 9 + " and 👩‍👩‍👧‍👦 again."
    lines = wrapped(said, 120, 12, most=99)
    assert all(width(line, 12) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == said.replace(" ", "")
    short = wrapped(said, 120, 12, most=2)
    assert len(short) == 2
    assert short[-1].endswith("…")
    assert width(short[-1], 12) <= 120
    assert wrapped("fits", 120, 12, most=2) == ["fits"]
    assert wrapped(" \n ", 120, 12, most=2) == []
    assert shortened("a " * 100, 50, 12).endswith("…")
