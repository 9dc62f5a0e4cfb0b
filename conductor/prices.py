"""What a call costs in US dollars: an override of the pool file, else the bundled price list, else unknown.

Unknown is ``None``, never 0. What runs on this machine costs exactly 0. The only module with
``genai_prices``; it never goes online.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from conductor.providers.base import Worker
from conductor_client.usage import Price, Usage

OWN_HARDWARE = Price(input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(0), source="own hardware")
MTOK = Decimal(1_000_000)


def price_of(worker: Worker, *, served_model: str | None = None) -> Price | None:
    """Unit prices of a worker; ``None`` = unpriced. ``served_model``: the model that really answered.

    An override counts whichever model served. A served model that the list does not know is priced as the
    one asked for when its name only adds a date or version to it.
    """
    if worker.provider in {"local", "tool"}:
        return OWN_HARDWARE
    if worker.price is not None:
        return Price(
            input_usd_per_mtok=Decimal(worker.price["input_usd_per_mtok"]),
            output_usd_per_mtok=Decimal(worker.price["output_usd_per_mtok"]),
            cached_input_usd_per_mtok=_decimal(worker.price.get("cached_input_usd_per_mtok")),
        )
    found = _listed(worker, _priced_model(worker, served_model), _ONE_TOKEN)
    return None if found is None else found[1]


def cost_of(
    worker: Worker,
    usage: Usage | None,
    *,
    frozen: Price | None = None,
    served_model: str | None = None,
    reported: str | None = None,
) -> tuple[Decimal | None, Price | None]:
    """``(cost, the price it was reckoned by)`` of one call; either may be unknown.

    ``frozen``: the price kept with the run, which counts as long as the model asked for is the one that
    served. ``reported``: what the provider says it charged, which beats every reckoning.
    """
    if worker.provider in {"local", "tool"}:
        return Decimal(0), OWN_HARDWARE
    is_as_asked = served_model is None or served_model == worker.model
    price = frozen if frozen is not None and (is_as_asked or worker.price is not None) else None
    price = price or price_of(worker, served_model=served_model)
    if (charged := _decimal(reported)) is not None:
        return charged, price
    if price is None or usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None, price
    if worker.price is None:
        found = _listed(worker, _priced_model(worker, served_model), usage)
        # The list knows steps by length and prices of cache writes; it counts while it still says the same.
        if found is not None and _units(found[1]) == _units(price):
            return found[0], price
    return _by_units(usage, price), price


def _by_units(usage: Usage, price: Price) -> Decimal:
    cached = min(usage.cached_input_tokens or 0, usage.input_tokens or 0)
    fresh = (usage.input_tokens or 0) - cached
    cached_price = price.cached_input_usd_per_mtok
    if cached_price is None:
        cached_price = price.input_usd_per_mtok
    total = fresh * price.input_usd_per_mtok + cached * cached_price
    return (total + (usage.output_tokens or 0) * price.output_usd_per_mtok) / MTOK


_ONE_TOKEN = Usage(input_tokens=1, output_tokens=1)


def _priced_model(worker: Worker, served_model: str | None) -> str:
    if served_model is None or _listed(worker, served_model, _ONE_TOKEN) is None:
        is_version = served_model is None or served_model.startswith(worker.model)
        return worker.model if is_version else served_model or worker.model
    return served_model


def _listed(worker: Worker, model: str, usage: Usage) -> tuple[Decimal, Price] | None:
    """``(cost, unit prices)`` by the bundled list; ``None`` when it does not know provider or model."""
    if worker.provider not in {"openai", "anthropic"}:
        return None
    import genai_prices

    where: dict[str, Any] = (
        {"provider_id": worker.provider} if worker.base_url is None else {"provider_api_url": worker.base_url}
    )
    try:
        found = genai_prices.calc_price(
            genai_prices.Usage(
                input_tokens=usage.input_tokens,
                cache_read_tokens=usage.cached_input_tokens,
                cache_write_tokens=usage.cache_write_tokens,
                output_tokens=usage.output_tokens,
            ),
            model,
            **where,
        )
    except (LookupError, ValueError):
        return None
    units = found.model_price
    input_price, output_price = _unit(units.input_mtok), _unit(units.output_mtok)
    if input_price is None or output_price is None:
        return None
    price = Price(
        input_usd_per_mtok=input_price,
        output_usd_per_mtok=output_price,
        cached_input_usd_per_mtok=_unit(units.cache_read_mtok),
        source="genai-prices",
        version=genai_prices.__version__,
        as_of=datetime.now(UTC).date(),
        model=found.model.id if found.model.id != worker.model else None,
    )
    return Decimal(found.total_price), price


def _units(price: Price) -> tuple[Decimal | None, ...]:
    return price.input_usd_per_mtok, price.output_usd_per_mtok, price.cached_input_usd_per_mtok


def _unit(value: Any) -> Decimal | None:
    """A unit price; of one with steps the first."""
    return _decimal(getattr(value, "base", value))


def _decimal(value: Any) -> Decimal | None:
    return None if value is None else Decimal(str(value))
