"""The keys a pool file may hold: for each, how its value is read and what is expected. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from conductor.base_url import ForbiddenAddress, check_address, host_of, is_address
from conductor.secrets import looks_like_key

Field = tuple[Callable[[Any], Any], str]
PROVIDERS = ("openai", "anthropic", "local", "tool", "scripted")


class Wrong(ValueError):
    """A value that cannot be used. The message, if any, replaces the usual “expected …”."""


def _text(limit: int) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or len(value) > limit:
            raise Wrong
        return value.strip()

    return read


def _name(value: Any) -> str:
    if (
        not isinstance(value, str)
        or not value.isprintable()
        or value != value.strip()
        or not 1 <= len(value) <= 80
    ):
        raise Wrong
    return value


def _one_of(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            raise Wrong
        return str(value)

    return read


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise Wrong
        return value

    return read


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not 0 < value < 1e7:
        raise Wrong
    return float(value)


def _temperature(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not 0 <= value <= 2:
        raise Wrong
    return float(value)


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Wrong
    return value


def _variable(value: Any) -> str:
    if isinstance(value, str) and looks_like_key(value):
        raise Wrong("this looks like a key itself. Put the key into an environment variable, its name here")
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise Wrong
    return value


def _address(value: Any) -> str:
    if not isinstance(value, str):
        raise Wrong
    try:
        host = host_of(value)
        if is_address(host):
            check_address(host, host, from_operator=True)
    except ForbiddenAddress as problem:
        raise Wrong(f"{problem.message} {problem.hint}") from None
    return value.rstrip("/")


def _tags(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
        raise Wrong
    return tuple(value)


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Wrong
    return {key: _plain(each) for key, each in value.items()}


def _plain(value: Any) -> Any:
    """The value with decimals as floats, as settings are sent."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


PRICE_KEYS = ("input_usd_per_mtok", "output_usd_per_mtok", "cached_input_usd_per_mtok")


def _price(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict) or not set(PRICE_KEYS[:2]) <= set(value):
        raise Wrong
    if unknown := sorted(set(value) - set(PRICE_KEYS)):
        raise Wrong(f"A price has no {unknown[0]}; expected {', '.join(PRICE_KEYS)}")
    price = {}
    for key, amount in value.items():
        try:
            number = Decimal(amount) if isinstance(amount, str | int | Decimal) else Decimal("NaN")
        except InvalidOperation:
            number = Decimal("NaN")
        if isinstance(amount, bool) or not number.is_finite() or number < 0:
            raise Wrong(f'{key} must be an amount of US dollars such as "1.25"')
        price[key] = format(number, "f")
    return price


WORKER: dict[str, Field] = {
    "name": (_name, "a name of 1 to 80 printable characters, without spaces around it"),
    "provider": (_one_of(*PROVIDERS), f"one of {', '.join(PROVIDERS)}"),
    "model": (_text(200), "the model's name as its provider knows it"),
    "base_url": (_address, "an address such as https://host/v1"),
    "api_key_env": (_variable, "the name of an environment variable"),
    "max_output_tokens": (_whole(1, 10_000_000), "a whole number from 1"),
    "concurrency": (_whole(1, 10_000), "a whole number from 1"),
    "tags": (_tags, "a list of words"),
    "system": (_text(4000), "what the worker is told before every task, at most 4000 characters"),
    "description": (_text(1000), "a line of text, at most 1000 characters"),
    "settings": (_table, "a table such as { temperature = 0.2 }"),
    "profile": (_table, "a table"),
    "price": (_price, f"a table with {PRICE_KEYS[0]} and {PRICE_KEYS[1]}, perhaps {PRICE_KEYS[2]}"),
    "fallback": (_name, "the name of another worker"),
    "timeout_s": (_seconds, "a number of seconds above 0"),
    "idle_timeout_s": (_seconds, "a number of seconds above 0"),
}
WORKER_NEEDS = ("name", "provider", "model")

CONDUCTOR: dict[str, Field] = {
    "name": (_name, "a name of 1 to 80 printable characters, without spaces around it"),
    "kind": (_one_of("local", "prompted", "router"), "one of local, prompted, router"),
    "worker": (_name, "the name of a worker of this pool"),
    "max_steps": (_whole(1, 32), "a whole number from 1 to 32"),
    "access": (_one_of("binary", "positions"), "binary or positions"),
    "max_rounds": (_whole(1, 8), "a whole number from 1 to 8"),
    "temperature": (_temperature, "a number from 0 to 2"),
    "describe": (_switch, "true or false"),
}
CONDUCTOR_NEEDS = ("name", "kind")

TOP: dict[str, Field] = {"default_worker": (_name, "the name of a worker of this pool")}
SERVED_NAMES = ("conductor-mini", "conductor-ultra")
"""Models of our own ``/v1``, where every worker is a model under its own name too."""
KEY_LIKE = re.compile(r"^(api_?key|key|token|secret|password|authorization)$", re.IGNORECASE)
