"""A long prompt cut for a conductor, which needs its gist and not its every word. Workers get all of it."""

from __future__ import annotations

from collections.abc import Sequence

from conductor_client.plan import Diagnostic
from conductor_client.workflow import Message

EARLIER_CHARACTERS = 600


def excerpt(text: str, limit: int) -> str:
    """The text, or its beginning and end around a mark that says how much is left out."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[… {left_out:,} characters left out …]\n{text[len(text) - tail :]}"


def cut_note(text: str, limit: int) -> tuple[Diagnostic, ...]:
    """The diagnostic for a prompt that was cut; empty when it was not."""
    if len(text) <= limit:
        return ()
    said = f"The conductor saw {limit:,} of the prompt's {len(text):,} characters; workers get all of it."
    return (Diagnostic(code="repaired_prompt_cut", where="prompt", said=said),)


def conversation(messages: Sequence[Message], prompt: str, limit: int) -> str:
    """The prompt with the last turns before it, so that “and in French?” can be planned."""
    turns = [each for each in messages if each.role != "system"][-2:]
    if not turns:
        return excerpt(prompt, limit)
    earlier = "\n".join(
        f"{'User' if turn.role == 'user' else 'Answer'}: {excerpt(turn.content, EARLIER_CHARACTERS)}"
        for turn in turns
    )
    return f"(Earlier: {earlier})\n{excerpt(prompt, limit)}"
