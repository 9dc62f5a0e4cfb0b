"""``models list`` and ``models fetch`` in the terminal."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from conductor import cli
from conductor.commands import models
from conductor.local.catalog import catalog
from conductor.local.fetch import FetchResult, ModelFetchError, foreground_models

Progress = Callable[[str, int, int, str], None]


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONDUCTOR_MODELS_DIR", str(tmp_path))


def test_list_says_what_is_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["models", "list"]) == 0
    out = capsys.readouterr().out
    assert str(tmp_path) in out
    for key in catalog():
        assert f"{key} " in out
    assert out.count(" missing ") == len(catalog())


def fetching(ready: set[str], asked: list[Any]) -> Callable[..., list[FetchResult]]:
    def fetch(
        keys: Iterable[str], models_dir: Path, on_progress: Progress, *, folders: list[Path]
    ) -> list[FetchResult]:
        asked.append((list(keys), folders))
        results = []
        for key in asked[-1][0]:
            on_progress(key, 0, 100, "downloading")
            on_progress(key, 100, 100, "ready")
            error = (
                None if key in ready else ModelFetchError("no source has it", "hub: offline", "Try later.")
            )
            results.append(FetchResult(key, key in ready, models_dir / key, error=error))
        return results

    return fetch


def test_fetch_without_names_brings_what_the_page_waits_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(models, "fetch_models", fetching(set(catalog()), asked))
    assert cli.main(["models", "fetch", "--from", "/somewhere"]) == 0
    assert asked == [(list(foreground_models()), [Path("/somewhere")])]
    assert capsys.readouterr().out.count("is ready") == len(foreground_models())
    assert cli.main(["models", "fetch", "--all"]) == 0
    assert asked[-1][0] == list(catalog())


def test_fetch_that_lacks_a_model_says_so_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(models, "fetch_models", fetching({"qwen-0.5b"}, []))
    assert cli.main(["models", "fetch", "qwen-0.5b", "smollm2-135m"]) == 1
    captured = capsys.readouterr()
    assert "qwen-0.5b is ready" in captured.out
    assert "smollm2-135m is missing: no source has it (hub: offline). Try later." in captured.err


def test_unknown_model_is_refused_before_anything_is_fetched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(models, "fetch_models", fetching(set(), asked))
    assert cli.main(["models", "fetch", "gpt-99"]) == 1
    assert asked == []
    assert "gpt-99" in capsys.readouterr().err


def test_stopped_fetch_says_that_the_next_one_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: Any, **__: Any) -> list[FetchResult]:
        raise KeyboardInterrupt

    monkeypatch.setattr(models, "fetch_models", stopped)
    assert cli.main(["models", "fetch"]) == 130
    assert "goes on" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bar_is_redrawn_in_place_on_a_terminal() -> None:
    out = Terminal()
    bar = models.Bar(out)
    for done in range(101):
        bar.show("m", done, 100, "downloading")
    bar.end()
    assert out.getvalue().count("\n") == 1
    assert "100%" in out.getvalue()


def test_bar_is_a_few_lines_in_a_log() -> None:
    out = io.StringIO()
    bar = models.Bar(out)
    for done in range(1_001):
        bar.show("m", done, 1_000, "downloading")
    bar.end()
    assert len(out.getvalue().splitlines()) == 11
    assert "\r" not in out.getvalue()


def test_progress_of_unknown_size_is_no_division_by_zero() -> None:
    assert "0%" in models.line("m", 0, 0, "waiting")
