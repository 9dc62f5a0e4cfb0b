"""The catalogue: one home for each string, every key in use, every value filled in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conductor_client import catalogue

ROOT = Path(__file__).resolve().parents[2]
PAGE_AREAS = ("common", "studio", "edit", "history", "workers", "present")
"""Areas that only the page reads, so that a string without a reader can be found."""


def calls(package: str) -> Iterator[tuple[str, ast.expr, set[str], Path]]:
    """Every call of ``text`` or ``counted`` with its key and the names of its values."""
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in {"text", "counted"}
            ):
                names = {keyword.arg for keyword in node.keywords if keyword.arg}
                if node.args:
                    yield (
                        node.func.id,
                        node.args[0],
                        names | ({"n"} if node.func.id == "counted" else set()),
                        path,
                    )


def keys_of(kind: str, expression: ast.expr) -> list[str]:
    """The keys a call may mean; a key built at run time is a pattern with ``*``."""
    forms = ["", ""] if kind == "text" else [".one", ".other"]
    if isinstance(expression, ast.IfExp):
        return [*keys_of(kind, expression.body), *keys_of(kind, expression.orelse)]
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return [expression.value + form for form in dict.fromkeys(forms)]
    if isinstance(expression, ast.JoinedStr):
        said = "".join(
            str(part.value) if isinstance(part, ast.Constant) else "*" for part in expression.values
        )
        return [said + form for form in dict.fromkeys(forms)]
    return []


@pytest.mark.parametrize("package", ["app", "components", "conductor", "conductor_client"])
def test_every_key_that_is_read_is_there_with_its_values(package: str) -> None:
    known = catalogue.strings()
    wrong = []
    for kind, expression, names, path in calls(package):
        for key in keys_of(kind, expression):
            pattern = re.compile(re.escape(key).replace(r"\*", "[a-z_0-9.]+") + "$")
            fitting = [each for each in known if pattern.match(each)]
            if not fitting:
                wrong.append(f"{path.relative_to(ROOT)}: {key}")
            for each in fitting if "*" not in key else []:
                wanted = set(re.findall(r"\{(\w+)\}", known[each]))
                if not wanted <= names:
                    wrong.append(f"{path.relative_to(ROOT)}: {each} lacks {sorted(wanted - names)}")
    assert wrong == []


def test_every_string_of_the_page_is_read_somewhere() -> None:
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for package in ("app", "components")
        for path in (ROOT / package).rglob("*.py")
    )
    patterns = [
        re.compile(re.escape(key).replace(r"\*", "[a-z_0-9]+") + "$")
        for package in ("app", "components")
        for kind, expression, _, _ in calls(package)
        for key in keys_of(kind, expression)
    ]
    unused = [
        key
        for key in catalogue.strings()
        if key.split(".")[0] in PAGE_AREAS
        and f'"{key}"' not in sources
        and not any(pattern.match(key) for pattern in patterns)
    ]
    assert unused == []


def test_a_key_in_a_file_of_another_area_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xx").mkdir()
    (tmp_path / "xx" / "studio.json").write_text('{"history.title": "x"}', encoding="utf-8")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"belongs in history\.json"):
        catalogue.strings("xx")
    with pytest.raises(ValueError, match="no catalogue"):
        catalogue.strings("yy")


def test_values_are_filled_in_and_counted() -> None:
    assert catalogue.text("common.step_n", n=3) == "Step 3"
    assert catalogue.counted("common.steps", 1) == "1 step"
    assert catalogue.counted("common.steps", 1200) == "1,200 steps"
    assert catalogue.text("edit.did_worker", step="s1", worker="{x}") == "s1: now by {x}"


@pytest.mark.parametrize(
    "call", [lambda: catalogue.text("no.such"), lambda: catalogue.text("edit.did_worker", step="s1")]
)
def test_what_is_missing_is_an_error_and_no_hole_in_the_page(call: object) -> None:
    with pytest.raises(KeyError):
        call()  # type: ignore[operator]  # one of the lambdas above


def test_an_area_is_given_without_its_name() -> None:
    assert catalogue.under("common")["step_n"] == "Step {n}"
    assert not any(key.startswith("common.") for key in catalogue.under("common"))
