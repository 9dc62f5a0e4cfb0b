"""Pool files: good ones read exactly, mistakes told with line, key and what was expected."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.pool import parse_pool, read_pool
from conductor.pool.file import MOST_BYTES
from conductor.pool.pool import ConductorSpec
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
        (
            {"price": 'price = { input_usd_per_mtok = "1", output_usd_per_mtok = "2", per_call = "1" }'},
            5,
            "A price has no per_call",
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
    assert found.line == 3
    assert found.said.startswith("No valid TOML: Invalid value. Expected [[worker]]")
    assert found.told.startswith("p.toml:3: No valid TOML")


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ('{ jsn_mode = "none" }', "profile has no key jsn_mode; expected some of"),
        ('{ seed = "yes" }', "profile.seed: expected true or false."),
        ('{ json_mode = "xml" }', "profile.json_mode: expected one of schema, object, none."),
        ("{ context_tokens = 0 }", "profile.context_tokens: expected a whole number from 1."),
        ('{ like = "olama" }', "profile.like: expected one of openai, "),
    ],
)
def test_a_wrong_profile_names_its_key_and_what_was_expected(profile: str, said: str) -> None:
    text = '[[worker]]\nname = "a"\nprovider = "openai"\nmodel = "m"\nprofile = ' + profile + "\n"
    found = problems(text)[0]
    assert found[:2] == (5, "profile")
    assert said in found[2]


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
    (tmp_path / "utf16.toml").write_bytes(table().encode("utf-16"))
    assert "Save it as UTF-8" in read_pool(tmp_path / "utf16.toml").problems[0].said
    assert "it is a folder" in read_pool(tmp_path).problems[0].said
    os.mkfifo(tmp_path / "pipe.toml")
    assert "no ordinary file" in read_pool(tmp_path / "pipe.toml").problems[0].said
    (tmp_path / "huge.toml").write_text("# " + "x" * MOST_BYTES)
    assert "more than any pool needs" in read_pool(tmp_path / "huge.toml").problems[0].said
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbf" + table().encode())
    assert read_pool(tmp_path / "bom.toml").problems == ()


def test_windows_line_ends_and_odd_separators_leave_the_lines_right(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes((table() + "x = 1\n").replace("\n", "\r\n").encode())
    assert [(each.line, each.key) for each in read_pool(path).problems] == [(5, "x")]
    text = table(description='description = "one\u2028two\x85three"') + "x = 1\n"
    assert [(line, key) for line, key, _ in problems(text)] == [(6, "x")]


def test_names_that_may_not_be_taken() -> None:
    found = problems(table() + table() + table(name='name = "conductor-mini"'))
    assert [(line, key) for line, key, _ in found] == [(6, "name"), (10, "name")]
    assert "already a worker 'a', on line 2" in found[0][2]
    assert "this program's own API" in found[1][2]


def test_fallbacks_that_lead_nowhere_or_in_a_circle() -> None:
    def worker(name: str, fallback: str) -> str:
        return table(name=f'name = "{name}"', fallback=f'fallback = "{fallback}"')

    pool = parse_pool(worker("big", "big") + worker("small", "bgi"), name="p")
    assert [(each.line, each.key) for each in pool.problems] == [(5, "fallback"), (10, "fallback")]
    assert "Did you mean 'big'?" in pool.problems[1].said
    circle = parse_pool(worker("a", "b") + worker("b", "c") + worker("c", "a") + worker("d", "a"), name="p")
    (found,) = circle.problems
    assert (found.line, found.key) == (15, "fallback")
    assert "a → b → c → a" in found.said
    assert circle.worker("c").fallback == "a", "each is tried once, so it stays"


def test_a_name_that_is_not_there_offers_the_close_one_or_a_few() -> None:
    many = "".join(table(name=f'name = "worker number {n}"') for n in range(30))
    (found,) = problems(f'default_worker = "nobody"\n{many}')
    assert found[2].endswith("worker number 7 and 22 more.")
    (found,) = problems(f'default_worker = "worker numbr 12"\n{many}')
    assert found[2].endswith("Did you mean 'worker number 12'?")


def test_names_may_hold_anything_printable() -> None:
    names = ["<b>bold</b>", 'say \\"hi\\"', "🦊 fox", "x" * 80, "a/b:c", "'"]
    pool = parse_pool("".join(table(name=f'name = "{name}"') for name in names), name="p")
    assert pool.problems == ()
    assert len(pool.workers) == len(names)
    assert "1 to 80" in problems(table(name=f'name = "{"x" * 81}"'))[0][2]


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
