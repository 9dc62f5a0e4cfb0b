"""Prompts to start from: ``data/examples.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from conductor_client.api import ExamplePrompt

FILE = Path(__file__).resolve().parents[1] / "data" / "examples.toml"


@cache
def example_prompts() -> tuple[ExamplePrompt, ...]:
    """The example prompts, in the order they are shown."""
    tables = tomllib.loads(FILE.read_text(encoding="utf-8"))["example"]
    return tuple(ExamplePrompt.model_validate(table) for table in tables)
