"""What differs between servers of one protocol, as data: a profile per host, changed by the pool file.

An unknown server gets the plain profile. ``adapted`` learns from a 400 that names a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from conductor.base_url import host_of
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
    api_version: str | None = None
    """Anthropic only: an older version of the API, for models that still take sampling parameters."""


HOSTS: dict[str, Profile] = {
    "api.openai.com": Profile(cap_field="max_completion_tokens", think_tags=False),
    "generativelanguage.googleapis.com": Profile(seed=False, logprobs=False),
    "api.deepseek.com": Profile(json_mode="object", seed=False),
    "api.anthropic.com": Profile(sampling=False, logprobs=False, think_tags=False),
    "api.sakana.ai": Profile(seed=False, logprobs=False, json_mode="none"),
}

PROFILE_KEYS = frozenset(each.name for each in fields(Profile))
SAMPLING = frozenset({"temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty"})

_DROPPABLE = SAMPLING | {
    *("seed", "stop", "logprobs", "top_logprobs", "stream_options", "response_format", "reasoning_effort"),
    *("verbosity", "service_tier", "repetition_penalty", "logit_bias", "parallel_tool_calls", "reasoning"),
}
_CAPS = ("max_completion_tokens", "max_tokens")
_complains = re.compile(
    r"unsupported|not supported|does not support|unrecognized"
    r"|unknown name|unknown_parameter|unknown (?:field|parameter|argument)"
    r"|unexpected|extra inputs|extra fields|not permitted|not allowed|deprecated|only the default|instead",
    re.IGNORECASE,
)


def profile_of(worker: Worker) -> Profile:
    """The profile of the worker's host, with what its table in the pool file says on top."""
    host = host_of(worker.base_url) if worker.base_url else _VENDOR_HOST.get(worker.provider, "")
    known = HOSTS.get(host, Profile())
    if worker.provider == "anthropic" and worker.base_url is not None:
        known = HOSTS["api.anthropic.com"]
    changes = {name: value for name, value in worker.profile.items() if name in PROFILE_KEYS}
    return replace(known, **changes)


_VENDOR_HOST = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}


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
