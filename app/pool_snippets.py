"""Worker tables to copy into a pool file, one per kind of server. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class ServerKind:
    """A kind of server: what its table says, and the variable that holds its key (empty: it needs none).

    ``extra`` are further lines of the table, ``pool`` the ready-made pool for it.
    """

    title: str
    name: str
    model: str
    provider: str = "openai"
    base_url: str = ""
    key: str = ""
    extra: tuple[str, ...] = ()
    pool: str = ""


FREE = 'price = { input_usd_per_mtok = "0", output_usd_per_mtok = "0" }'

KINDS = (
    ServerKind("OpenAI", "gpt", "gpt-5.4-mini", key="OPENAI_API_KEY", pool="openai"),
    ServerKind(
        "Anthropic", "claude", "claude-sonnet-4-6", "anthropic", key="ANTHROPIC_API_KEY", pool="anthropic"
    ),
    ServerKind(
        "Gemini",
        "gemini",
        "gemini-3.5-flash",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key="GEMINI_API_KEY",
        pool="gemini",
    ),
    ServerKind(
        "DeepSeek",
        "deepseek",
        "deepseek-v4-flash",
        base_url="https://api.deepseek.com",
        key="DEEPSEEK_API_KEY",
        pool="deepseek",
    ),
    ServerKind(
        "OpenRouter",
        "qwen3-32b",
        "qwen/qwen3-32b",
        base_url="https://openrouter.ai/api/v1",
        key="OPENROUTER_API_KEY",
        pool="openrouter",
    ),
    ServerKind(
        "Ollama",
        "qwen3-8b",
        "qwen3:8b",
        base_url="http://localhost:11434/v1",
        extra=("concurrency = 1", FREE),
        pool="ollama",
    ),
    ServerKind(
        "vLLM",
        "qwen3-32b",
        "Qwen/Qwen3-32B",
        base_url="http://localhost:8000/v1",
        extra=("concurrency = 16", FREE),
        pool="vllm",
    ),
    ServerKind(
        "llama.cpp",
        "llama.cpp",
        "default",
        base_url="http://localhost:8080/v1",
        extra=("concurrency = 2", FREE),
        pool="llamacpp",
    ),
    ServerKind(
        "LM Studio",
        "qwen3-8b",
        "qwen/qwen3-8b",
        base_url="http://localhost:1234/v1",
        extra=("concurrency = 1", "idle_timeout_s = 900", FREE),
        pool="lmstudio",
    ),
    ServerKind(
        "Fugu",
        "fugu-ultra",
        "fugu-ultra-20260615",
        base_url="https://api.sakana.ai/v1",
        key="SAKANA_API_KEY",
        extra=(
            "max_output_tokens = 32768",
            "timeout_s = 7200",
            "idle_timeout_s = 7200",
            'price = { input_usd_per_mtok = "5", output_usd_per_mtok = "30" }',
        ),
        pool="fugu",
    ),
)


def snippet(kind: ServerKind) -> str:
    """The table as TOML."""
    pairs = {
        "name": kind.name,
        "provider": kind.provider,
        "base_url": kind.base_url,
        "model": kind.model,
        "api_key_env": kind.key,
        "description": "answers, explains, writes text and code",
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in pairs.items() if value]
    return "\n".join(["[[worker]]", *lines, 'tags = ["general"]', *kind.extra])
