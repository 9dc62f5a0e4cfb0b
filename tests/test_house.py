"""The rules of the house: who imports whom, how long a file may be, what README must tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("conductor_client", "conductor", "components", "app")

MAY_IMPORT = {
    "conductor_client": {"conductor_client"},
    "conductor": {"conductor_client", "conductor"},
    "components": {"conductor_client", "components"},
    "app": {"conductor_client", "components", "app"},
}
FRONT_DOOR = "app/__main__.py"
ONE_MODULE_ONLY = ("openai", "anthropic", "sqlite_utils", "xllamacpp", "dbos", "genai_prices")
"""Each is imported by exactly one module, and not before it is needed."""
STREAMLIT_STATE = re.compile(r"\bst\.(session_state|query_params)\b")


def sources(package: str) -> Iterator[Path]:
    return (path for path in sorted((ROOT / package).rglob("*.py")) if "__pycache__" not in path.parts)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports_of(path: Path) -> Iterator[tuple[str, bool]]:
    """Absolute module names a file imports, and whether at import time."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_top = set()
    for node in tree.body:
        guarded = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if not guarded and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            at_top.update(id(each) for each in ast.walk(node))
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        for name in names:
            yield name, id(node) in at_top


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_what_the_house_allows(package: str) -> None:
    wrong = []
    for path in sources(package):
        allowed = set(MAY_IMPORT[package])
        if name_of(path) == FRONT_DOOR:
            allowed.add("conductor")
        for name, _ in imports_of(path):
            top = name.split(".")[0]
            if top in PACKAGES and top not in allowed:
                wrong.append(f"{name_of(path)} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("library", ONE_MODULE_ONLY)
def test_library_is_imported_in_one_module_and_lazily(library: str) -> None:
    users = {}
    for package in PACKAGES:
        for path in sources(package):
            for name, at_top in imports_of(path):
                if name.split(".")[0] == library:
                    users.setdefault(name_of(path), []).append(at_top)
    assert len(users) == 1, f"{library} is imported by {sorted(users)}"
    if library != "sqlite_utils":
        assert not any(any(tops) for tops in users.values()), f"{library} is imported before it is needed"


def test_views_do_not_import_each_other() -> None:
    for path in (ROOT / "app" / "views").glob("*.py"):
        for name, _ in imports_of(path):
            assert not (name.startswith("app.views.") and name != f"app.views.{path.stem}"), (
                f"{name_of(path)}: {name}"
            )


def test_only_state_touches_the_session_and_the_address() -> None:
    for package in ("app", "components"):
        for path in sources(package):
            if not name_of(path).startswith("app/state/"):
                assert not STREAMLIT_STATE.search(path.read_text(encoding="utf-8")), name_of(path)


def test_page_has_no_raw_html_or_style() -> None:
    for path in sources("app"):
        text = path.read_text(encoding="utf-8")
        assert "unsafe_allow_html" not in text, name_of(path)
        assert "<style" not in text, name_of(path)


def test_conductor_client_is_a_leaf() -> None:
    allowed = {"pydantic", "httpx"}
    import sys

    for path in sources("conductor_client"):
        for name, _ in imports_of(path):
            top = name.split(".")[0]
            known = top in sys.stdlib_module_names or top in allowed or top == "conductor_client"
            assert known, f"{name_of(path)} imports {name}"


def test_files_stay_short() -> None:
    too_long = []
    for package in PACKAGES:
        folder = ROOT / package
        for path in [*sources(package), *folder.rglob("*.js"), *folder.rglob("*.css")]:
            limit = 120 if path.parent == ROOT / "app" / "views" else 400
            length = len(path.read_text(encoding="utf-8").splitlines())
            if length > limit:
                too_long.append(f"{name_of(path)}: {length} lines, at most {limit}")
    assert too_long == []


def test_readme_tells_every_setting() -> None:
    from conductor.settings import SETTINGS

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [row.name for row in SETTINGS if f"`{row.name}`" not in readme]
    assert missing == []


def test_readme_tree_names_every_package_folder_and_nothing_else() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = readme.split("## The house")[1].split("```")[1]
    for line in tree.splitlines():
        match = re.match(r"\s*([\w./-]+?)/?\s{2,}\S", line)
        if match and "/" in match.group(1):
            assert (ROOT / match.group(1)).exists(), (
                f"README's tree names {match.group(1)}, which is not there"
            )
    for package in PACKAGES:
        for path in sorted((ROOT / package).iterdir()):
            is_package = path.is_dir() and path.name != "__pycache__" and any(path.iterdir())
            if is_package:
                assert f"{package}/{path.name}/" in tree, f"README's tree lacks {package}/{path.name}/"


def test_make_help_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("install", "models", "run", "test", "check", "bench", "help"):
        assert re.search(rf"^{target}:.*## \S", makefile, re.MULTILINE), target


def test_no_address_of_a_package_registry_in_the_locks() -> None:
    for path in ROOT.glob("requirements*.lock"):
        text = path.read_text(encoding="utf-8")
        assert "--index-url" not in text
        assert not re.search(r"https?://", text)
        names = [line for line in text.splitlines() if line and line[0].isalnum()]
        assert all("==" in line for line in names)
        assert text.count("--hash=sha256:") >= len(names)
