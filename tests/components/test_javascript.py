"""The component's modules under node's own test runner: no packages, no browser."""

from __future__ import annotations

import re

import pytest

from .node import HERE, run_node

ASSETS = HERE.parents[1] / "components" / "workflow_graph" / "assets"
LABELS = HERE.parents[1] / "conductor_client" / "catalogue" / "en" / "graph.json"


@pytest.mark.node
def test_modules_do_what_their_tests_say() -> None:
    told = run_node("--test", *sorted(str(path) for path in (HERE / "js").glob("*.test.mjs")))
    assert int(re.search(r"# pass (\d+)", told)[1]) >= 40
    assert "# fail 0" in told


def test_no_module_writes_html_or_reaches_for_another_server() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://(?!www\.w3\.org/2000/svg)"
    )
    for path in ASSETS.glob("*.js"):
        assert not forbidden.findall(path.read_text(encoding="utf-8")), path.name


def test_modules_stay_small_and_import_only_each_other() -> None:
    for path in ASSETS.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 400, path.name
        for target in re.findall(r'from "([^"]+)"', text):
            assert (ASSETS / target).is_file(), f"{path.name} imports {target}"


def keys_in_code() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(ASSETS.glob("*.js")))


def labels() -> list[str]:
    return re.findall(r'"graph\.([^"]+)":', LABELS.read_text(encoding="utf-8"))


def test_every_label_a_module_asks_for_is_in_the_catalogue() -> None:
    asked = set(re.findall(r'\b(?:say|sayCount)\([\w.]*labels, "([\w.]+)"', keys_in_code()))
    asked |= set(re.findall(r'\b(?:this\.|editing\.)?(?:word|note|accessNote)\("([\w.]+)"', keys_in_code()))
    asked |= set(re.findall(r'"((?:refused|edge|edit|key|help|save|line)_[a-z_]+)"', keys_in_code()))
    known = {*labels(), *(label.rsplit(".", 1)[0] for label in labels())}
    assert len(asked) > 90, "the patterns no longer find the labels"
    assert asked - known - {"edit_instruction"} == set()


def test_every_label_of_the_catalogue_is_used() -> None:
    code = keys_in_code() + (ASSETS.parent / "__init__.py").read_text(encoding="utf-8")
    families = ("status.", "run.", "was.")
    stems = {
        re.sub(r"\.(one|other|none)$", "", label) for label in labels() if not label.startswith(families)
    }
    made = {f"save_{kind}_{theme}" for kind in ("svg", "png") for theme in ("light", "dark")}
    assert {stem for stem in stems - made if not re.search(rf'["\'.]{stem}\b', code)} == set()
