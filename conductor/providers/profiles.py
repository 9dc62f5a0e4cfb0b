"""What differs between servers of one protocol, as data: a profile per kind, changed by the pool file.

A server is known by its host, or by ``profile = { like = "vllm" }``; an unknown one gets the careful profile.
``adapted`` learns from a 400 that names a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from conductor.base_url import host_of, is_this_machine
from conductor.providers.base import Worker
from conductor.providers.failures import Said


@dataclass(frozen=True)
class Profile:
    """How one server wants to be asked. Every field may be set in a worker's ``profile``."""

    cap_field: str = "max_tokens"
    """Field of the output cap, in tokens."""
    system_role: Literal["system", "developer", "user"] = "system"
    stream: bool = True
    stream_usage: bool = True
    """Whether ``stream_options`` asks for usage in a stream."""
    seed: bool = True
    sampling: bool = True
    """Whether temperature and its like are sent."""
    json_mode: Literal["schema", "object", "none"] = "schema"
    logprobs: bool = True
    think_tags: bool = True
    """Whether a leading ``<think>`` block in the answer is a thought."""
    effort_field: Literal["reasoning_effort", "reasoning"] = "reasoning_effort"
    """Where ``reasoning_effort`` goes: as it is, or as ``{"reasoning": {"effort": …}}``."""
    cuts_silently: bool = False
    """Whether the server may cut a long prompt without saying so: its counts are then looked at."""
    context_tokens: int | None = None
    """Context of the model on this server, in tokens; ``None`` = unknown."""
    api_version: str | None = None
    """Anthropic only: an older version of the API, for models that still take sampling parameters."""


KINDS: dict[str, Profile] = {
    "openai": Profile(cap_field="max_completion_tokens", think_tags=False),
    "azure": Profile(cap_field="max_completion_tokens", think_tags=False),
    "anthropic": Profile(sampling=False, logprobs=False, think_tags=False),
    "gemini": Profile(seed=False, logprobs=False),
    "deepseek": Profile(json_mode="object", seed=False),
    "openrouter": Profile(effort_field="reasoning"),
    "fugu": Profile(seed=False, logprobs=False, json_mode="none"),
    "ollama": Profile(cuts_silently=True, logprobs=False),
    "vllm": Profile(),
    "llama.cpp": Profile(),
    "lm-studio": Profile(logprobs=False, cuts_silently=True),
    "other": Profile(json_mode="none", logprobs=False, cuts_silently=True),
}
"""A profile per kind of server. ``other`` is the careful one: it gets what the pool file says and no more."""
_HOSTS = {
    "openai.com": "openai",
    "openai.azure.com": "azure",
    "anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gemini",
    "deepseek.com": "deepseek",
    "openrouter.ai": "openrouter",
    "sakana.ai": "fugu",
}
_PORTS_HERE = {11434: "ollama", 8000: "vllm", 8080: "llama.cpp", 1234: "lm-studio"}
"""Ports by which a server on this machine is recognised."""

PROFILE_KEYS = frozenset(each.name for each in fields(Profile))
SAMPLING = frozenset({"temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty"})

_DROPPABLE = SAMPLING | {
    *("seed", "stop", "logprobs", "top_logprobs", "stream_options", "response_format", "reasoning_effort"),
    *("verbosity", "service_tier", "repetition_penalty", "logit_bias", "parallel_tool_calls", "reasoning"),
    *("output_config", "thinking", "stop_sequences", "metadata", "store", "user"),
}
_CAPS = ("max_completion_tokens", "max_tokens")
_complains = re.compile(
    r"unsupported|not supported|does not support|unrecognized"
    r"|unknown name|unknown_parameter|unknown (?:field|parameter|argument)"
    r"|unexpected|extra inputs|extra fields|not permitted|not allowed|deprecated|only the default|instead",
    re.IGNORECASE,
)


def profile_of(worker: Worker) -> Profile:
    """The profile of the worker's server, with what its table in the pool file says on top."""
    kind = worker.profile.get("like") or kind_of(worker)
    changes = {name: value for name, value in worker.profile.items() if name in PROFILE_KEYS}
    return replace(KINDS.get(str(kind), KINDS["other"]), **changes)


def kind_of(worker: Worker) -> str:
    """Which kind of server a worker's address tells: a key of ``KINDS``."""
    if worker.base_url is None or worker.provider == "anthropic":
        return worker.provider if worker.provider in KINDS else "other"
    host = host_of(worker.base_url)
    for owner, kind in _HOSTS.items():
        if host == owner or host.endswith("." + owner):
            return kind
    port = urlsplit(worker.base_url).port
    return _PORTS_HERE.get(port or 0, "other") if is_this_machine(host) else "other"


def problem_with(worker: Worker) -> str:
    """What is wrong with the ``profile`` table of a worker behind an API; empty when nothing is."""
    if worker.provider not in {"openai", "anthropic"}:
        return ""
    for name, value in worker.profile.items():
        known = (*sorted(PROFILE_KEYS), "like")
        if name not in known:
            return f"profile has no key {name}; expected some of {', '.join(known)}."
        fits, expected = _expected(name)
        if not fits(value):
            return f"profile.{name}: expected {expected}."
    return ""


def _expected(name: str) -> tuple[Callable[[Any], bool], str]:
    """How a value of the profile is checked, and what it should be."""
    if name == "like":
        return (lambda value: value in KINDS), f"one of {', '.join(KINDS)}"
    form = get_type_hints(Profile)[name]
    if choices := get_args(form) if get_origin(form) is Literal else ():
        return (lambda value: value in choices), f"one of {', '.join(choices)}"
    if form is bool:
        return (lambda value: isinstance(value, bool)), "true or false"
    if form == int | None:
        return (lambda value: type(value) is int and value > 0), "a whole number from 1"
    return (lambda value: isinstance(value, str) and bool(value.strip())), "a text"


@dataclass(frozen=True)
class Adaptation:
    """What one server taught us about one model: fields to rename and to leave out, and how to tell it."""

    rename: tuple[tuple[str, str], ...] = ()
    drop: frozenset[str] = frozenset()

    def apply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body as this server takes it."""
        names = dict(self.rename)
        kept = {names.get(name, name): value for name, value in body.items() if name not in self.drop}
        if "logprobs" in self.drop:
            kept.pop("top_logprobs", None)
        return kept

    @property
    def described(self) -> tuple[str, ...]:
        """All of it in words, one line per field."""
        renamed = (f"{old} is sent as {new}" for old, new in self.rename)
        return (*renamed, *(f"{name} is left out" for name in sorted(self.drop)))

    def told(self, body: Mapping[str, Any]) -> tuple[str, ...]:
        """Notes for the step: what of this body was changed."""
        renamed = [f"Sent {old} as {new}: the server asks for it." for old, new in self.rename if old in body]
        dropped = [
            f"Left out {name}: the server does not take it." for name in sorted(self.drop) if name in body
        ]
        return (*renamed, *dropped)


def adapted(said: Said, body: Mapping[str, Any], before: Adaptation) -> Adaptation | None:
    """What to change after this 400 (or 422); ``None`` when it names nothing we could leave out or rename.

    ``body`` is the one that was refused, so that each parameter is adapted at most once.
    """
    if said.status not in {400, 422}:
        return None
    if not _complains.search(said.all_text):
        return None
    named = [name for name in body if _names(name, said)]
    for name in named:
        if name in _CAPS:
            other = _CAPS[1 - _CAPS.index(name)]
            if other not in body and all(name != new for _, new in before.rename):
                return replace(before, rename=(*before.rename, (name, other)))
    drop = frozenset(named) & _DROPPABLE
    return replace(before, drop=before.drop | drop) if drop else None


def _names(name: str, said: Said) -> bool:
    if said.param is not None:
        return said.param.split(".")[0] == name
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", said.message))
