"""Token counts of every vendor in the inclusive normal form."""

from __future__ import annotations

from typing import Any

import pytest

from conductor.providers.usage_forms import anthropic_usage, openai_usage, reported_cost
from conductor_client.usage import Usage


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        (None, None),
        ({}, None),
        ("many", None),
        ({"prompt_tokens": None, "completion_tokens": True}, None),
        ({"prompt_tokens": 5}, Usage(input_tokens=5)),
        (
            {
                "prompt_tokens": 17_903,
                "completion_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 17_817},
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            Usage(input_tokens=17_903, cached_input_tokens=17_817, output_tokens=9, reasoning_tokens=4),
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 17},
            Usage(input_tokens=5, output_tokens=12, reasoning_tokens=10),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 2,
                "total_tokens": 90,
                "orchestration_input_tokens": 83,
            },
            Usage(input_tokens=5, output_tokens=2),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 4},
            Usage(input_tokens=9, cached_input_tokens=4, output_tokens=2),
        ),
    ],
)
def test_chat_completions(said: Any, usage: Usage | None) -> None:
    assert openai_usage(said) == usage


def test_anthropic_counts_cached_tokens_apart() -> None:
    said = {
        "input_tokens": 80,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 3,
        "output_tokens": 1,
    }
    assert anthropic_usage(said) == Usage(
        input_tokens=103, cached_input_tokens=20, cache_write_tokens=3, output_tokens=1
    )
    assert anthropic_usage({}) is None


@pytest.mark.parametrize(
    ("said", "cost"),
    [
        ({"cost": 0.0000125}, "0.0000125"),
        ({"cost": 1}, "1"),
        ({"cost": 0}, "0"),
        ({"cost": True}, None),
        ({}, None),
    ],
)
def test_reported_cost_is_decimal_text(said: Any, cost: str | None) -> None:
    assert reported_cost(said) == cost
