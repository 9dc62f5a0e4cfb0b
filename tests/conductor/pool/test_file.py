"""Pool files: good ones read exactly, mistakes told with line, key and what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.pool import parse_pool, read_pool
from conductor.pool.pool import ConductorSpec
from conductor.pool.shelf import READY_POOLS
from conductor.providers.base import Worker
from conductor_client.plan import PlanOptions

FULL = """
default_worker = "b"

[[worker]]
name = "a"
provider = "openai"
model = "gpt-5"
base_url = "https://models.example/v1/"
api_key_env = "MODELS_KEY"
max_output_tokens = 4096
concurrency = 3
tags = ["x", "y"]
description = "good at things"
price = { input_usd_per_mtok = "1.25", output_usd_per_mtok = 0.1 }
fallback = "b"
timeout_s = 60
idle_timeout_s = 9.5

[worker.settings]
temperature = 0.2
reasoning_effort = "low"

[[worker]]
name = "b"
provider = "tool"
model = "calculator"

[[conductor]]
name = "mine"
kind = "prompted"
worker = "a"
max_steps = 3
access = "binary"
describe = true
"""


def problems(text: str) -> list[tuple[int | None, str | None, str]]:
    return [(each.line, each.key, each.said) for each in parse_pool(text, name="p").problems]


def table(**changes: str) -> str:
    """A worker's table; each change is a line of TOML for its key, or empty to leave the key out."""
    lines = {"name": 'name = "a"', "provider": 'provider = "openai"', "model": 'model = "m"'} | changes
    return "\n".join(["[[worker]]", *filter(None, lines.values()), ""])


def test_everything_a_file_can_say() -> None:
    pool = parse_pool(FULL, name="p")
    assert pool.problems == ()
    assert pool.default_worker == "b"
    assert pool.workers == (
        Worker(
            name="a",
            provider="openai",
            model="gpt-5",
            base_url="https://models.example/v1",
            api_key_env="MODELS_KEY",
            max_output_tokens=4096,
            concurrency=3,
            tags=("x", "y"),
            description="good at things",
            settings={"temperature": 0.2, "reasoning_effort": "low"},
            price={"input_usd_per_mtok": "1.25", "output_usd_per_mtok": "0.1"},
            fallback="b",
            timeout_s=60.0,
            idle_timeout_s=9.5,
        ),
        Worker(name="b", provider="tool", model="calculator"),
    )
    assert pool.conductors == (
        ConductorSpec("mine", "prompted", "a", PlanOptions(max_steps=3, access="binary"), describe=True),
    )
    assert pool.key_variables == ("MODELS_KEY",)


@pytest.mark.parametrize(
    ("change", "line", "expected"),
    [
        ({"provider": 'provider = "opnai"'}, 3, "one of openai, anthropic, local, tool, scripted"),
        ({"model": ""}, 1, "The key model is missing"),
        ({"name": "name = 7"}, 2, "expected a name"),
        ({"tags": 'tags = "x"'}, 5, "a list of words"),
        ({"concurrency": "concurrency = 0"}, 5, "a whole number from 1"),
        ({"concurrency": "concurrency = true"}, 5, "a whole number from 1"),
        ({"timeout_s": "timeout_s = -1"}, 5, "seconds above 0"),
        ({"price": 'price = { input_usd_per_mtok = "1" }'}, 5, "input_usd_per_mtok and output_usd_per_mtok"),
        (
            {"price": 'price = { input_usd_per_mtok = "one", output_usd_per_mtok = "2" }'},
            5,
            "input_usd_per_mtok must be an amount",
        ),
        ({"base_url": 'base_url = "models.example"'}, 5, "no web address"),
        ({"base_url": 'base_url = "http://169.254.169.254/latest"'}, 5, "metadata address"),
        ({"settings": 'settings = "warm"'}, 5, "a table such as"),
        ({"provider": 'provider = "local"'}, 4, "no local model 'm'"),
        ({"provider": 'provider = "tool"'}, 4, "expected one of calculator, python"),
    ],
)
def test_a_mistake_names_its_line_and_what_was_expected(
    change: dict[str, str], line: int, expected: str
) -> None:
    good = '[[worker]]\nname = "good"\nprovider = "scripted"\nmodel = "m"\n'
    pool = parse_pool(table(**change) + good, name="p")
    found = pool.problems[0]
    assert (found.file, found.line) == ("p.toml", line)
    assert found.key in {*change, "model"}
    assert expected.lower() in found.said.lower()
    assert [each.name for each in pool.workers] == ["good"], "the rest of the file is used"


def test_unknown_keys_are_flagged_with_the_closest_name() -> None:
    (found,) = problems(table(tmeout_s="tmeout_s = 3"))
    assert found == (5, "tmeout_s", "Unknown key tmeout_s; did you mean timeout_s?")
    assert parse_pool(table(tmeout_s="tmeout_s = 3"), name="p").workers


@pytest.mark.parametrize(
    "line",
    [
        'api_key = "sk-marker0123456789AB"',
        'api_key_env = "sk-marker0123456789AB"',
        'base_url = "https://u:marker0123456789AB@h/v1"',
        'token = "marker0123456789AB"',
    ],
)
def test_a_key_in_the_file_is_refused_and_never_repeated(line: str) -> None:
    found = problems(table(extra=line))
    assert found
    assert "marker" not in str(found)
    assert found[0][0] == 5


def test_syntax_error_names_its_line() -> None:
    pool = parse_pool('[[worker]]\nname = "a"\nprovider = \n', name="p")
    assert pool.workers == ()
    (found,) = pool.problems
    assert (found.line, found.said) == (3, "No valid TOML: Invalid value.")


def test_duplicate_name_and_wrong_references() -> None:
    text = (
        'default_worker = "nobody"\n'
        + table()
        + table()
        + table(name='name = "b"', fallback='fallback = "c"')
    )
    for name, worker in (("x", 'worker = "c"\n'), ("y", "")):
        text += f'[[conductor]]\nname = "{name}"\nkind = "prompted"\n{worker}'
    found = problems(text)
    assert [(line, key) for line, key, _ in found] == [
        (7, "name"),
        (14, "fallback"),
        (18, "worker"),
        (19, "worker"),
        (1, "default_worker"),
    ]
    pool = parse_pool(text, name="p")
    assert [each.name for each in pool.workers] == ["a", "b"]
    assert pool.worker("b").fallback is None
    assert (pool.conductors, pool.default_worker) == ((), None)


def test_lines_are_right_after_strings_of_many_lines() -> None:
    text = table(description='description = """\nname = "not a key"\n[[worker]]\n"""') + "x = 1\n"
    assert problems(text) == [(9, "x", "Unknown key x; it is ignored.")]


def test_single_brackets_and_emptiness_are_told() -> None:
    assert "two brackets" in problems('[worker]\nname = "a"\n')[0][2]
    assert problems("") == [(None, None, "It has no usable [[worker]] table.")]


def test_file_that_is_missing_or_no_text(tmp_path: Path) -> None:
    assert "cannot be read" in read_pool(tmp_path / "none.toml").problems[0].said
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in read_pool(tmp_path / "bad.toml").problems[0].said
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbf" + table().encode())
    assert read_pool(tmp_path / "bom.toml").problems == ()


@pytest.mark.parametrize("path", sorted(READY_POOLS.glob("*.toml")), ids=lambda path: path.stem)
def test_pools_that_come_with_the_program_have_no_problem(path: Path) -> None:
    pool = read_pool(path)
    assert pool.problems == ()
    assert all(worker.description for worker in pool.workers)


values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True), st.text(max_size=8))
keys = st.sampled_from(
    ["name", "provider", "model", "price", "tags", "settings", "base_url", "api_key_env", "zzz"]
)


@given(st.text())
def test_no_text_crashes_it(text: str) -> None:
    assert parse_pool(text, name="p").problems


@given(
    st.lists(
        st.dictionaries(
            keys, st.one_of(values, st.lists(values), st.dictionaries(st.text(max_size=3), values))
        )
    )
)
def test_no_value_crashes_it(tables: list[dict[str, Any]]) -> None:
    import json

    text = "".join(
        "[[worker]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in each.items())
        for each in tables
    )
    parse_pool(text, name="p")
