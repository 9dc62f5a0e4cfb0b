"""data/models.toml is complete, and a broken one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from conductor.local.catalog import catalog, model_spec, read_catalog


def test_the_pool_has_its_three_models_and_waits_for_the_small_ones() -> None:
    assert list(catalog()) == ["smollm2-135m", "qwen-0.5b", "qwen-1.5b"]
    assert [key for key, spec in catalog().items() if spec.foreground] == ["smollm2-135m", "qwen-0.5b"]


def test_every_model_has_a_hub_file_and_pinned_wheels_without_repeats() -> None:
    pins = []
    for spec in catalog().values():
        assert spec.licence == "Apache-2.0"
        assert spec.hub and spec.index
        pins += [wheel.sha256 for wheel in spec.index.wheels]
    assert len(pins) == len(set(pins)) == 1 + 6 + 22


def test_an_unknown_model_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"no model 'gpt'.*qwen-0\.5b"):
        model_spec("gpt")


def test_a_broken_entry_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[models.x]\ntitle = "X"\nlicence = "MIT"\n')
    with pytest.raises(ValidationError, match="sha256"):
        read_catalog(path)
