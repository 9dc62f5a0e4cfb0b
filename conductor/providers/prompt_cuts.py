"""Noticing that a server cut the prompt and said nothing (Ollama, whose default context is 4,096 tokens)."""

from __future__ import annotations

from conductor.providers.base import Call
from conductor.providers.profiles import Profile
from conductor_client.usage import Usage

SMALLEST_CONTEXT = 2048
MOST_CHARACTERS_A_TOKEN = 12
"""Prose has 3 to 5, code and other scripts fewer; far more means that not all of it was counted."""
SHORT = 6000
"""Characters of a prompt that is too short to have been cut."""
_HINT = "Give the model a larger context on the server (Ollama: num_ctx), or let the step see less."


def cut_note(profile: Profile, call: Call, usage: Usage | None) -> str:
    """A warning when the counts look like a cut prompt; empty for servers that would have said so."""
    if not profile.cuts_silently or usage is None or usage.input_tokens is None:
        return ""
    total = usage.input_tokens + (usage.output_tokens or 0)
    window = profile.context_tokens
    is_full = total >= window if window else total >= SMALLEST_CONTEXT and total.bit_count() == 1
    if is_full:
        said = f"prompt and answer fill its context of {window or total} tokens."
        return f"The prompt was probably cut by the server: {said} {_HINT}"
    sent = sum(len(message.content) for message in call.messages)
    if sent > SHORT and usage.input_tokens * MOST_CHARACTERS_A_TOKEN < sent:
        said = f"it counted {usage.input_tokens} tokens in {sent} characters."
        return f"The prompt was probably cut by the server: {said} {_HINT}"
    return ""
