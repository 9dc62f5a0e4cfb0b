"""``models list`` and ``models fetch``: honest about what is missing, resumable, one line per model."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TextIO

from conductor.cli import complain
from conductor.local.catalog import catalog
from conductor.local.fetch import fetch_models, foreground_models
from conductor.local.weights import state
from conductor.settings import Settings

BAR_CELLS = 24
REDRAW_S = 0.1
MEGABYTE = 1_000_000


def list_all(settings: Settings) -> int:
    """Prints every model of the catalog with where it stands. Exit code 0, whatever is missing."""
    print(f"Models are kept in {settings.models_dir}")
    for key, found in state(settings.models_dir).items():
        spec = catalog()[key]
        size = f"{found.size_bytes / MEGABYTE:,.0f} MB"
        have = "" if found.status == "ready" else f" ({found.bytes_on_disk / MEGABYTE:,.0f} MB there)"
        print(f"{key:<16} {found.status:<9} {size:>9}{have}  {spec.licence}  {spec.title}")
    return 0


def fetch(options: argparse.Namespace, settings: Settings) -> int:
    """Fetches models with a progress bar. Exit code 1 when one of them is not ready afterwards."""
    names = list(options.names) or list(catalog() if options.all else foreground_models())
    unknown = [name for name in names if name not in catalog()]
    if unknown:
        return complain(f"there is no model {unknown[0]!r}.", f"There are {', '.join(catalog())}.")
    bar = Bar(sys.stderr)
    folders = [Path(folder).expanduser() for folder in options.folders]
    try:
        results = fetch_models(names, settings.models_dir, bar.show, folders=folders)
    except KeyboardInterrupt:
        bar.end()
        complain("stopped; the next fetch goes on from here.")
        return 130
    bar.end()
    missing = [result for result in results if not result.ready]
    for result in results:
        if result.ready:
            print(f"{result.model} is ready: {result.path}")
    for result in missing:
        complain(f"{result.model} is missing: {result.error}")
    if missing:
        print(
            "Everything else works without; the Workers page shows what each model is for.", file=sys.stderr
        )
    return 1 if missing else 0


class Bar:
    """Progress as text: redrawn in place on a terminal, a line per tenth elsewhere (a log file, CI)."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._drawn_at = 0.0
        self._last: tuple[str, str, int] | None = None
        self._is_open = False

    def show(self, model: str, done: int, total: int, phase: str) -> None:
        """Hears how far a fetch is, in bytes."""
        tenth = 10 * done // total if total else 0
        step = (model, phase, tenth)
        if self._is_terminal:
            now = time.monotonic()
            if step == self._last and now - self._drawn_at < REDRAW_S:
                return
            self._drawn_at = now
            if self._last is not None and self._last[0] != model:
                self.end()
            self._out.write(f"\r\033[K{line(model, done, total, phase)}")
            self._is_open = True
        elif step != self._last:
            self._out.write(line(model, done, total, phase) + "\n")
        self._out.flush()
        self._last = step

    def end(self) -> None:
        """Leaves the line, so that what follows starts on its own."""
        if self._is_open:
            self._out.write("\n")
            self._out.flush()
            self._is_open = False


def line(model: str, done: int, total: int, phase: str) -> str:
    """One line of progress."""
    part = done / total if total else 0.0
    filled = round(part * BAR_CELLS)
    bar = "#" * filled + "." * (BAR_CELLS - filled)
    return f"{model:<16} [{bar}] {part:4.0%} {done / MEGABYTE:,.0f} of {total / MEGABYTE:,.0f} MB  {phase}"
