"""Each required row of the behaviour table is named by the docstring of a test: "Behaviour row 7: …"."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
REQUIRED = (*range(1, 23), 24, 25)
NAMED = re.compile(r"behaviour rows? ((?:\d+(?:, | and )?)+)", re.IGNORECASE)


def _docstrings() -> Iterator[tuple[str, str]]:
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield f"{path.relative_to(TESTS)}::{node.name}", ast.get_docstring(node) or ""


def rows() -> dict[int, list[str]]:
    """Which tests hold which row."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for test, said in _docstrings():
        for match in NAMED.finditer(said):
            for number in re.findall(r"\d+", match.group(1)):
                found[int(number)].append(test)
    return dict(found)


def test_every_required_row_is_held_by_a_test() -> None:
    held = rows()
    assert [row for row in REQUIRED if row not in held] == []
    assert set(held) <= {*REQUIRED, 23}, "a docstring names a row that does not exist"
