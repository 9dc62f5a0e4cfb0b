"""docs/providers.md says what the code does: kinds, profiles, failures, numbers, hosts, tables to copy."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from conductor.base_url import KEY_HOSTS
from conductor.pool import parse_pool
from conductor.pool.shelf import READY_POOLS
from conductor.prices import price_of
from conductor.providers.adapting import MOST_ADAPTATIONS
from conductor.providers.anthropic_messages import DEFAULT_MAX_TOKENS
from conductor.providers.base import Worker
from conductor.providers.failures import RETRYABLE, SHOWN_CHARACTERS
from conductor.providers.profiles import KINDS, Profile, kind_of
from conductor.runs.calls import IDLE_TIMEOUT_S
from conductor.runs.retry import RetryPolicy
from conductor_client.errors import StepErrorKind

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
TABLES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
NOT_OF_A_SERVER = {"limit_reached", "tool_error", "bad_input", "plan_failed", "interrupted", "internal"}


def rows(first_cell: str) -> dict[str, list[str]]:
    """The table whose head begins with this cell: rows by their first cell."""
    table = PAGE.split(f"\n| {first_cell} |")[1].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    return {row[0].strip("`"): row[1:] for row in cells}


def written(value: Any) -> str:
    return json.dumps(value)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: re.search('name = "(.*)"', table)[1])  # type: ignore[index]
def test_each_table_is_a_good_pool_file_of_a_priced_worker(table: str) -> None:
    pool = parse_pool(table, name="p")
    assert pool.problems == ()
    assert price_of(pool.workers[0]) is not None


def test_there_is_a_table_for_each_kind_and_every_ready_pool_is_named() -> None:
    kinds = {kind_of(parse_pool(table, name="p").workers[0]) for table in TABLES}
    assert kinds == set(KINDS)
    named = set(re.findall(r"`([a-z]+)`", " ".join(re.findall(r"Ready pools?: ([^.]+)\.", PAGE))))
    assert named == {path.stem for path in READY_POOLS.glob("*.toml")} - {"local", "frontier"}


def test_what_is_said_of_each_kind_is_its_profile() -> None:
    said = rows("kind | known by")
    assert list(said) == list(KINDS)
    for kind, profile in KINDS.items():
        differs = [
            f"`{each.name} = {written(value)}`"
            for each in fields(Profile)
            if (value := getattr(profile, each.name)) != each.default
        ]
        assert sorted(said[kind][-1].split(", ")) == sorted(differs or ["nothing"]), kind


def test_what_is_said_of_how_a_kind_is_known_is_true() -> None:
    for kind, (known_by, _) in rows("kind | known by").items():
        for host in re.findall(r"`([a-z.]+\.[a-z]+)`", known_by):
            asked = Worker("w", "openai", "m", base_url=f"https://eu.{host}/v1")
            assert kind_of(asked) == kind
        for port in re.findall(r"port (\d+)", known_by):
            assert kind_of(Worker("w", "openai", "m", base_url=f"http://localhost:{port}/v1")) == kind


def test_each_key_of_the_profile_has_its_default() -> None:
    said = rows("key | default | meaning")
    assert list(said) == [each.name for each in fields(Profile)]
    for each in fields(Profile):
        if each.default is not None:
            assert said[each.name][0] == f"`{written(each.default)}`"


def test_every_kind_of_failure_is_told_and_whether_it_is_tried_again() -> None:
    said = rows("kind | what the server said")
    assert set(said) == set(get_args(StepErrorKind)) - NOT_OF_A_SERVER - {"step_failed", "store"}
    for kind, (_, again, helps) in said.items():
        assert (again == "yes") is (kind in RETRYABLE), kind
        assert helps


def test_numbers_are_those_of_the_code() -> None:
    policy = RetryPolicy()
    for number in (
        f"tried {policy.max_attempts} times",
        f"from {policy.base_s:g} s to at most {policy.cap_s:g} s",
        f"up to {policy.retry_after_cap_s:g} s",
        f"{policy.deadline_s / 60:g} minutes after",
        f"At most {SHOWN_CHARACTERS} characters",
        f"at most {MOST_ADAPTATIONS} fields",
        f"in seconds | {IDLE_TIMEOUT_S:g} |",
        f"which wants one: {DEFAULT_MAX_TOKENS})",
        f"key share it | {Worker('w', 'openai', 'm').concurrency} |",
    ):
        assert number in PAGE, number


def test_every_well_known_key_is_named_with_its_hosts() -> None:
    keys = PAGE.split("A well-known key")[1]
    for name, hosts in KEY_HOSTS.items():
        assert f"`{name}`" in keys
        assert all(f"`{host}`" in keys for host in hosts)


def test_readme_leads_there() -> None:
    assert "docs/providers.md" in (ROOT / "README.md").read_text(encoding="utf-8")
