"""Limits act before the spend."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.providers.base import WorkerError
from conductor.runs.limits import Budget, DayBudget, LimitReached, Reservation, estimate_tokens, output_cap
from conductor_client.errors import StepErrorKind
from conductor_client.events import Limits
from conductor_client.usage import Price, Usage
from tests.virtual_time import run_virtually

DOLLAR_A_TOKEN = Price(input_usd_per_mtok=Decimal(1_000_000), output_usd_per_mtok=Decimal(1_000_000))


async def _reserve(budget: Budget, tokens: int, price: Price | None = DOLLAR_A_TOKEN) -> Reservation:
    return await _sent(budget, 0, tokens, price)


async def _sent(budget: Budget, input_tokens: int, tokens: int, price: Price | None = None) -> Reservation:
    held = await budget.reserve(worker="w", input_tokens=input_tokens, output_tokens=tokens, price=price)
    held.is_sent = True
    return held


def test_a_call_that_could_go_over_the_limit_is_not_made() -> None:
    async def scenario() -> None:
        budget = Budget(Limits(max_tokens=100))
        held = await _sent(budget, 40, 50)
        budget.settle(held, Usage(input_tokens=40, output_tokens=10), None, "")
        with pytest.raises(LimitReached, match="100 tokens; 50 are used") as caught:
            await budget.reserve(worker="w", input_tokens=1, output_tokens=50, price=None)
        assert caught.value.error.kind == "limit_reached" and caught.value.error.hint
        await budget.reserve(worker="w", input_tokens=0, output_tokens=50, price=None)

    run_virtually(scenario())


def test_a_call_that_does_not_fit_beside_others_waits_for_them_to_settle() -> None:
    async def scenario() -> float:
        budget = Budget(Limits(max_usd=Decimal(100)))
        held = await _reserve(budget, 90)

        async def settle_later() -> None:
            await asyncio.sleep(7)
            budget.settle(held, Usage(input_tokens=0, output_tokens=10), Decimal(10), "")

        settling = asyncio.create_task(settle_later())
        await _reserve(budget, 90)
        await settling
        return asyncio.get_running_loop().time()

    assert run_virtually(scenario()) == pytest.approx(7.0)


def test_an_unpriced_worker_is_refused_under_a_limit_in_usd_unless_allowed() -> None:
    async def scenario() -> None:
        with pytest.raises(LimitReached, match="price of worker w is unknown"):
            await _reserve(Budget(Limits(max_usd=Decimal(5))), 10, None)
        with pytest.raises(LimitReached, match="price of worker w is unknown"):
            await _reserve(Budget(Limits(), day=DayBudget(Decimal(5))), 10, None)
        await _reserve(Budget(Limits(max_usd=Decimal(5), allow_unpriced=True)), 10, None)
        await _reserve(Budget(Limits()), 10, None)

    run_virtually(scenario())


def test_all_runs_share_what_may_be_spent_in_a_day_and_a_new_day_begins_at_nothing() -> None:
    now = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)

    async def scenario() -> None:
        nonlocal now
        day = DayBudget(Decimal(10), spent=Decimal(3), now=lambda: now)
        one, other = Budget(Limits(), day=day), Budget(Limits(), day=day)
        held = await _reserve(one, 5)
        one.settle(held, Usage(input_tokens=0, output_tokens=5), Decimal(5), "")
        with pytest.raises(LimitReached, match="10 USD a day; 8"):
            await _reserve(other, 3)
        await _reserve(other, 2)
        now += timedelta(minutes=2)
        await _reserve(other, 8)

    run_virtually(scenario())


def test_unknown_usage_is_settled_by_an_estimate_of_the_text() -> None:
    async def scenario() -> None:
        budget = Budget(Limits(max_tokens=1000))
        held = await _sent(budget, 100, 800)
        budget.settle(held, None, None, "word " * 60)
        with pytest.raises(LimitReached, match="201 are used"):
            await budget.reserve(worker="w", input_tokens=0, output_tokens=800, price=None)

    run_virtually(scenario())


def test_a_workflow_over_the_limit_of_steps_is_refused_whole() -> None:
    budget = Budget(Limits(max_steps=2))
    budget.check_steps(2)
    with pytest.raises(LimitReached, match="has 3 steps, and the run may take 2"):
        budget.check_steps(3)


def test_steps_are_counted_when_they_are_called() -> None:
    budget = Budget(Limits(max_steps=2), steps=1)
    budget.count_step()
    with pytest.raises(LimitReached, match="may take 2 steps"):
        budget.count_step()


@pytest.mark.parametrize(
    ("limits", "worker", "cap"),
    [
        (Limits(), None, None),
        (Limits(), 500, 500),
        (Limits(max_output_tokens=100), 500, 100),
        (Limits(max_output_tokens=900), 500, 500),
        (Limits(max_tokens=10_000), None, 4096),
        (Limits(max_usd=Decimal(1)), None, 4096),
    ],
)
def test_the_cap_that_is_sent_is_the_smaller_one_and_never_missing_under_a_limit(
    limits: Limits, worker: int | None, cap: int | None
) -> None:
    assert output_cap(limits, worker) == cap


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=30))
def test_whatever_calls_come_the_limit_is_kept(calls: list[tuple[int, int]]) -> None:
    async def scenario() -> None:
        budget, used = Budget(Limits(max_tokens=100)), 0
        for cap, wanted in calls:
            try:
                held = await _sent(budget, 0, cap)
            except LimitReached:
                continue
            took = min(cap, wanted)
            used += took
            budget.settle(held, Usage(input_tokens=0, output_tokens=took), None, "")
            assert used <= 100

    run_virtually(scenario())


def test_an_estimate_is_never_nothing() -> None:
    assert estimate_tokens("") == 1
    assert estimate_tokens("слово") > estimate_tokens("words")


def test_a_call_that_was_never_sent_gives_back_all_it_had_set_aside() -> None:
    async def scenario() -> None:
        day = DayBudget(Decimal(100))
        budget = Budget(Limits(max_tokens=100), day=day)
        held = await budget.reserve(worker="w", input_tokens=60, output_tokens=40, price=DOLLAR_A_TOKEN)
        budget.settle(held, None, None, "")
        assert (day.held, day.spent) == (0, 0)
        await _reserve(budget, 100)

    run_virtually(scenario())


@pytest.mark.parametrize("kind", ["auth", "rate_limited", "unavailable"])
def test_whoever_was_turned_away_took_nothing(kind: StepErrorKind) -> None:
    assert WorkerError(kind, "no").was_turned_away
    assert not WorkerError(kind, "no", partial_text="half an ans").was_turned_away
    assert not WorkerError(kind, "no", usage=Usage(input_tokens=5, output_tokens=0)).was_turned_away
    assert not WorkerError("stream_truncated", "no").was_turned_away
