"""cases/providers.md row 18: a server that cuts the prompt and says nothing is noticed by its counts."""

from __future__ import annotations

import pytest

from conductor.providers.base import Worker
from conductor.providers.profiles import KINDS, kind_of, profile_of
from conductor.providers.prompt_cuts import cut_note
from conductor_client.usage import Usage
from tests.conductor.providers.wire import call


def server(url: str = "http://127.0.0.1:11434/v1", **profile: object) -> Worker:
    return Worker(name="w", provider="openai", model="m", base_url=url, profile=profile)


def note(worker: Worker, characters: int, counted: int | None, written: int = 0) -> str:
    usage = Usage(input_tokens=counted, output_tokens=written)
    return cut_note(profile_of(worker), call(worker, "x" * characters), usage)


@pytest.mark.parametrize(
    ("characters", "counted", "written", "is_told"),
    [
        (40_000, 4000, 96, True),  # exactly Ollama's default context
        (40_000, 2048, 0, True),
        (100_000, 3000, 10, True),  # far fewer tokens than characters allow
        (12_000, 3000, 10, False),
        (20, 4, 10, False),
        (100, 1000, 24, False),  # small and round by chance
        (40_000, None, 0, False),  # not counted: nothing can be said
    ],
)
def test_counts_that_tell_a_cut(characters: int, counted: int | None, written: int, is_told: bool) -> None:
    said = note(server(), characters, counted, written)
    assert bool(said) is is_told
    assert not said or ("probably cut" in said and "num_ctx" in said)


def test_a_known_context_decides() -> None:
    assert note(server(context_tokens=5000), 40_000, 4990, 10)
    assert not note(server(context_tokens=8192), 20_000, 4000, 96)


def test_a_vendor_that_says_so_itself_is_not_doubted() -> None:
    assert not note(server("https://api.openai.com/v1"), 100_000, 4096)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://me.openai.azure.com/openai/v1", "azure"),
        ("https://notopenai.com/v1", "other"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://127.0.0.1:1234/v1", "lm-studio"),
        ("http://10.0.0.7:11434/v1", "other"),
        ("https://example.org/v1", "other"),
    ],
)
def test_an_address_tells_the_kind_of_server(url: str, kind: str) -> None:
    assert kind_of(server(url)) == kind


def test_the_pool_file_may_say_the_kind_and_change_any_of_it() -> None:
    told = server("http://10.0.0.7:9/v1", like="ollama", seed=False)
    assert profile_of(told).cuts_silently and not profile_of(told).seed
    assert profile_of(server("http://10.0.0.7:9/v1")) == KINDS["other"]
