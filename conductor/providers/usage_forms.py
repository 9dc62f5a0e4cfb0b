"""Token counts as providers report them → the inclusive normal form. What is not said stays ``None``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conductor_client.usage import Usage


def openai_usage(said: Any) -> Usage | None:
    """From a Chat Completions ``usage`` object, or the look-alikes of other vendors. Input includes cache."""
    if not isinstance(said, Mapping):
        return None
    input_tokens = _count(said, "prompt_tokens", "input_tokens")
    output_tokens = _count(said, "completion_tokens", "output_tokens")
    total = _count(said, "total_tokens")
    in_details = _part(said, "prompt_tokens_details", "input_tokens_details")
    out_details = _part(said, "completion_tokens_details", "output_tokens_details")
    reasoning = _count(out_details, "reasoning_tokens")
    has_extra = any(name.startswith("orchestration") for name in said)
    if total is not None and input_tokens is not None and output_tokens is not None and not has_extra:
        # Gemini's look-alike and xAI count thinking in the total only.
        missing = total - input_tokens - output_tokens
        if missing > 0:
            output_tokens += missing
            reasoning = max(missing, reasoning or 0)
    usage = Usage(
        input_tokens=input_tokens,
        cached_input_tokens=_count(in_details, "cached_tokens") or _count(said, "prompt_cache_hit_tokens"),
        cache_write_tokens=_count(in_details, "cache_write_tokens", "cache_creation_tokens"),
        output_tokens=output_tokens,
        reasoning_tokens=reasoning,
    )
    return None if usage == Usage() else usage


def anthropic_usage(said: Mapping[str, Any]) -> Usage | None:
    """From a merged Anthropic ``usage`` object, whose ``input_tokens`` leaves cached ones out."""
    fresh = _count(said, "input_tokens")
    read = _count(said, "cache_read_input_tokens")
    written = _count(said, "cache_creation_input_tokens")
    usage = Usage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        cached_input_tokens=read,
        cache_write_tokens=written,
        output_tokens=_count(said, "output_tokens"),
        reasoning_tokens=_count(_part(said, "output_tokens_details"), "thinking_tokens"),
    )
    return None if usage == Usage() else usage


def so_far(usage: Usage | None) -> Usage | None:
    """What is known of a stream that broke off: its last count of output is not what it made."""
    return (
        None if usage is None else usage.model_copy(update={"output_tokens": None, "reasoning_tokens": None})
    )


def reported_cost(said: Any) -> str | None:
    """What the provider itself charged in USD (OpenRouter's ``usage.cost``), as decimal text."""
    cost = said.get("cost") if isinstance(said, Mapping) else None
    if isinstance(cost, bool) or not isinstance(cost, int | float) or cost < 0:
        return None
    return str(cost) if isinstance(cost, int) else f"{cost:.10f}".rstrip("0").rstrip(".")


def _count(said: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = said.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def _part(said: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        value = said.get(name)
        if isinstance(value, Mapping):
            return value
    return {}
