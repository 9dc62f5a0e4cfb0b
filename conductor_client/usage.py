"""Tokens and money: what was reported, what is unknown, and honest sums of both."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal

from pydantic import Field

from ._base import Value

TokenCount = int | None
"""A count of tokens; ``None`` means the provider did not say, never zero."""


class Usage(Value):
    """Tokens of one call or a sum of calls, in the inclusive normal form.

    ``input_tokens`` includes cached ones, ``output_tokens`` includes reasoning.
    """

    input_tokens: TokenCount = Field(default=None, ge=0)
    cached_input_tokens: TokenCount = Field(default=None, ge=0)
    cache_write_tokens: TokenCount = Field(default=None, ge=0)
    output_tokens: TokenCount = Field(default=None, ge=0)
    reasoning_tokens: TokenCount = Field(default=None, ge=0)

    @property
    def total_tokens(self) -> TokenCount:
        """Input and output together; ``None`` when either is unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


class Price(Value):
    """Unit prices frozen with a run. USD per million tokens; ``source`` says where they are from."""

    input_usd_per_mtok: Decimal = Field(ge=0)
    output_usd_per_mtok: Decimal = Field(ge=0)
    cached_input_usd_per_mtok: Decimal | None = Field(default=None, ge=0)
    source: str = "pool file"
    version: str | None = None
    """Version of the price list, when it is from one."""
    as_of: date | None = None
    """The day (UTC) for which the price list was read."""
    model: str | None = None
    """The model id that the price list matched, when it is not the one asked for."""


class Complete(Value):
    """Whether a sum covers everything: ``False`` reads "at least this much"."""

    usage: bool = True
    cost: bool = True


def sum_usage(parts: Iterable[Usage | None]) -> tuple[Usage, bool]:
    """Adds what is known. The flag is ``False`` when input or output of any part is unknown."""
    totals: dict[str, int] = {}
    complete = True
    for part in parts:
        if part is None or part.total_tokens is None:
            complete = False
        for name in Usage.model_fields:
            count = getattr(part, name, None)
            if count is not None:
                totals[name] = totals.get(name, 0) + count
    return Usage(**totals), complete


def sum_cost(parts: Iterable[Decimal | None]) -> tuple[Decimal, bool]:
    """Adds known costs in USD. The flag is ``False`` when any part is unpriced."""
    total, complete = Decimal(0), True
    for part in parts:
        if part is None:
            complete = False
        else:
            total += part
    return total, complete
