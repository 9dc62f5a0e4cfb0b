"""Prices: override, list, own hardware, unknown."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from conductor.prices import OWN_HARDWARE, cost_of, price_of
from conductor.providers.base import Worker
from conductor_client.usage import Price, Usage

USAGE = Usage(input_tokens=1_000, output_tokens=100)


def worker(**fields: Any) -> Worker:
    return Worker(**{"name": "w", "provider": "openai", "model": "gpt-5"} | fields)


@pytest.mark.parametrize("provider", ["local", "tool"])
def test_own_hardware_costs_exactly_nothing(provider: str) -> None:
    mine = worker(provider=provider, model="qwen-0.5b")
    assert price_of(mine) == OWN_HARDWARE
    assert cost_of(mine, None) == (Decimal(0), OWN_HARDWARE)


def test_price_list() -> None:
    price = price_of(worker())
    assert price is not None
    assert (price.source, price.model) == ("genai-prices", None)
    assert price.version and price.as_of, "which list, and for which day"
    cost, by = cost_of(worker(), USAGE)
    assert by == price
    assert cost == (1_000 * price.input_usd_per_mtok + 100 * price.output_usd_per_mtok) / 1_000_000


def test_cached_tokens_are_cheaper() -> None:
    cached = Usage(input_tokens=1_000, cached_input_tokens=900, output_tokens=100)
    dear, cheap = cost_of(worker(), USAGE)[0], cost_of(worker(), cached)[0]
    assert dear is not None
    assert cheap is not None
    assert cheap < dear


@pytest.mark.parametrize(
    "unknown",
    [
        worker(model="nobody-knows-this-7b"),
        worker(base_url="http://127.0.0.1:11434/v1"),
        worker(base_url="https://models.example/v1"),
        worker(provider="scripted"),
    ],
)
def test_unknown_is_none_and_never_zero(unknown: Worker) -> None:
    assert price_of(unknown) is None
    assert cost_of(unknown, USAGE) == (None, None)


@pytest.mark.parametrize("usage", [None, Usage(), Usage(input_tokens=5)])
def test_unknown_usage_is_unknown_cost(usage: Usage | None) -> None:
    cost, price = cost_of(worker(), usage)
    assert cost is None
    assert price is not None


def test_override_beats_the_list_whoever_served() -> None:
    mine = worker(price={"input_usd_per_mtok": "1", "output_usd_per_mtok": "10"})
    assert cost_of(mine, USAGE, served_model="other-model")[0] == Decimal("0.002")
    price = price_of(mine)
    assert price is not None
    assert price.source == "pool file"


def test_override_with_a_cached_price() -> None:
    price = {"input_usd_per_mtok": "1", "output_usd_per_mtok": "10", "cached_input_usd_per_mtok": "0"}
    usage = Usage(input_tokens=1_000, cached_input_tokens=400, output_tokens=0)
    assert cost_of(worker(price=price), usage)[0] == Decimal("0.0006")


def test_served_model_is_what_counts() -> None:
    as_asked, as_served = cost_of(worker(), USAGE), cost_of(worker(), USAGE, served_model="gpt-5-mini")
    assert as_served[0] is not None
    assert as_asked[0] is not None
    assert as_served[0] < as_asked[0]
    assert as_served[1] is not None
    assert as_served[1].model == "gpt-5-mini"
    assert cost_of(worker(), USAGE, served_model="gpt-5-2099-01-01")[0] == as_asked[0]
    assert cost_of(worker(), USAGE, served_model="nobody-knows-this-7b")[0] is None


def test_frozen_price_counts_for_the_model_asked_for() -> None:
    frozen = Price(input_usd_per_mtok=Decimal(2), output_usd_per_mtok=Decimal(0), source="genai-prices")
    assert cost_of(worker(), USAGE, frozen=frozen) == (Decimal("0.002"), frozen)
    assert cost_of(worker(), USAGE, frozen=frozen, served_model="gpt-5-mini")[1] != frozen


def test_what_the_provider_charged_beats_everything() -> None:
    assert cost_of(worker(model="nobody"), None, reported="0.5")[0] == Decimal("0.5")
    assert cost_of(worker(), USAGE, reported="0")[0] == Decimal(0)


def test_long_prompts_cost_what_their_step_says() -> None:
    gemini = worker(
        model="gemini-2.5-pro", base_url="https://generativelanguage.googleapis.com/v1beta/openai/"
    )
    short = cost_of(gemini, Usage(input_tokens=100_000, output_tokens=0))[0]
    long = cost_of(gemini, Usage(input_tokens=300_000, output_tokens=0))[0]
    assert short is not None
    assert long is not None
    assert long > 3 * short
