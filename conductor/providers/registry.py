"""Which provider runs which worker. One instance of each kind per process, made on first use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from conductor.providers.base import Provider, Worker


@runtime_checkable
class Learning(Protocol):
    """A provider that adapts to its servers."""

    def learnt(self, worker: Worker) -> tuple[str, ...]:
        """What is sent under another name or left out for this worker, in words."""
        ...


class Providers:
    """The providers of this process. ``provider_for`` is what a runner is given."""

    def __init__(self, models_dir: Path) -> None:
        self._makers: dict[str, Callable[[], Provider]] = {
            "openai": _openai,
            "anthropic": _anthropic,
            "local": lambda: _local(models_dir),
            "tool": _tool,
            "scripted": _scripted,
        }
        self._made: dict[str, Provider] = {}

    def provider_for(self, worker: Worker) -> Provider:
        """The provider of this worker's kind. Raises ``KeyError`` for a kind that does not exist."""
        kind = worker.provider
        if kind not in self._made:
            self._made[kind] = self._makers[kind]()
        return self._made[kind]

    def learnt(self, worker: Worker) -> tuple[str, ...]:
        """What the worker's server taught us since the start, in words; empty before it was asked."""
        provider = self._made.get(worker.provider)
        return provider.learnt(worker) if isinstance(provider, Learning) else ()

    async def close(self) -> None:
        """Closes every provider that was used."""
        made, self._made = self._made, {}
        for provider in made.values():
            await provider.close()


# Imported when first asked for: a run on local models needs no HTTP client, and the other way round.


def _openai() -> Provider:
    from conductor.providers.openai_chat import OpenAIChat

    return OpenAIChat()


def _anthropic() -> Provider:
    from conductor.providers.anthropic_messages import AnthropicMessages

    return AnthropicMessages()


def _local(models_dir: Path) -> Provider:
    from conductor.providers.local import LocalModels

    return LocalModels(models_dir)


def _tool() -> Provider:
    from conductor.providers.tool import Tools

    return Tools()


def _scripted() -> Provider:
    from conductor.providers.scripted import ScriptedProvider

    return ScriptedProvider()
