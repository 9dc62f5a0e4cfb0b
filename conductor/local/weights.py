"""The models folder: which weight files are there, and whether they are the right bytes.

A file is `ready` when its SHA-256 is the catalog's. Hashing a gigabyte takes seconds, so the answer is kept
in a small JSON file beside the weights together with the size and modification time it was true for; a file
that changed since is hashed again. Half-finished fetches live in a hidden work folder, so nothing incomplete
ever carries a weight file's name.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Literal

from conductor.local.catalog import ModelSpec, catalog

Status = Literal["ready", "fetching", "missing", "broken"]
CHUNK_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class ModelState:
    """What the models folder holds of one model."""

    key: str
    status: Status
    """`ready`: usable; `fetching`: another process or thread is at it; `missing`: not there, or only partly;
    `broken`: a file is there whose bytes are not the catalog's."""
    path: Path
    """Where the file is, or would be."""
    bytes_on_disk: int
    """Bytes of the finished file, else of everything a fetch has saved so far."""
    size_bytes: int
    """Bytes of the finished file according to the catalog."""


def weight_path(spec: ModelSpec, models_dir: Path) -> Path:
    return models_dir / spec.file


def work_dir(spec: ModelSpec, models_dir: Path) -> Path:
    """Where a fetch keeps partial files. Survives a kill, is removed after success."""
    return models_dir / ".fetching" / spec.file


def sha256_of(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """The SHA-256 of a file in lower-case hex; `on_bytes` hears how many bytes were read so far."""
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            if on_bytes:
                on_bytes(done)
    return digest.hexdigest()


def marker_path(path: Path) -> Path:
    return path.with_name(path.name + ".sha256.json")


def write_marker(path: Path, sha256: str) -> None:
    """Remember that `path`, as it is now, has this hash. A read-only folder is no error, only slower next
    time.
    """
    stat = path.stat()
    marker = {"sha256": sha256, "size_bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    partial = marker_path(path).with_suffix(f".{os.getpid()}.part")
    with contextlib.suppress(OSError):
        partial.write_text(json.dumps(marker) + "\n", encoding="utf-8")
        partial.replace(marker_path(path))


def _remembered_sha256(path: Path, size_bytes: int, mtime_ns: int) -> str | None:
    try:
        marker = json.loads(marker_path(path).read_text(encoding="utf-8"))
        if (marker["size_bytes"], marker["mtime_ns"]) == (size_bytes, mtime_ns):
            return str(marker["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


@lru_cache(maxsize=32)
def _hash_once(path: Path, size_bytes: int, mtime_ns: int) -> str:
    return sha256_of(path)


def is_ready(spec: ModelSpec, models_dir: Path) -> bool:
    """True when the file is there with the right bytes. Hashes it at most once per change of the file."""
    path = weight_path(spec, models_dir)
    try:
        stat = path.stat()
    except OSError:
        return False
    if stat.st_size != spec.size_bytes:
        return False
    known = _remembered_sha256(path, stat.st_size, stat.st_mtime_ns)
    if known is None:
        known = _hash_once(path, stat.st_size, stat.st_mtime_ns)
        write_marker(path, known)
    return known == spec.sha256


def state(models_dir: Path, models: dict[str, ModelSpec] | None = None) -> dict[str, ModelState]:
    """What the folder holds, per model of the catalog (or of `models`). A folder that isn't there holds
    nothing.
    """
    return {key: model_state(spec, models_dir) for key, spec in (models or catalog()).items()}


def model_state(spec: ModelSpec, models_dir: Path) -> ModelState:
    """What the folder holds of one model."""
    path = weight_path(spec, models_dir)
    status: Status
    if is_ready(spec, models_dir):
        status, on_disk = "ready", spec.size_bytes
    elif _is_locked(lock_path(spec, models_dir)):
        status, on_disk = "fetching", saved_bytes(spec, models_dir)
    elif path.is_file():
        status, on_disk = "broken", path.stat().st_size
    else:
        status, on_disk = "missing", saved_bytes(spec, models_dir)
    return ModelState(spec.key, status, path, min(on_disk, spec.size_bytes), spec.size_bytes)


def saved_bytes(spec: ModelSpec, models_dir: Path) -> int:
    """Bytes that an unfinished fetch of this model has on disk."""
    return tree_bytes(work_dir(spec, models_dir))


def tree_bytes(folder: Path) -> int:
    """Bytes in all files below a folder; files that vanish while counting count as nothing."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(root, name).stat().st_size
    return total


def lock_path(spec: ModelSpec, models_dir: Path) -> Path:
    return models_dir / ".fetching" / f"{spec.file}.lock"


@contextlib.contextmanager
def locked(path: Path, *, poll: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file at `path`. While someone else has it, `poll` is called again and again; it sleeps,
    or raises to give up.

    The operating system drops the lock when its holder dies, so a killed fetch never blocks the next one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        while not _try_lock(file):
            poll()
        try:
            yield
        finally:
            _unlock(file)


def _is_locked(path: Path) -> bool:
    try:
        with path.open("r+b") as file:
            if _try_lock(file):
                _unlock(file)
                return False
            return True
    except OSError:
        return False


# mypy follows this test of the platform, so each system's half is checked on that system.
if sys.platform == "win32":  # pragma: no cover - exercised on Windows only
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
