"""What a prompted local conductor is shown: the pool, one line per worker, and solved examples of our own
making.

The examples are written for roles and put into the letters of the pool at hand, so a pool without a
calculator shows no example with one. The beginning is the same for every prompt, so it is read by the model
only once. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from conductor.local.grammar import worker_letters

Role = Literal["general", "strong", "small", "calculator", "python"]

DESCRIPTIONS: dict[Role, str] = {
    "general": "answers, explains, translates, writes text, code and Python expressions",
    "strong": "like the general worker, slower and better; for hard questions",
    "small": "very weak; only for greetings, never for work",
    "calculator": "calculates the Python expression that an earlier step wrote",
    "python": "runs Python code that is in the question or in the step it sees, and gives what it prints",
}


@dataclass(frozen=True)
class PoolWorker:
    """A worker as the conductor is told about it."""

    name: str
    role: Role
    description: str = ""
    """One line; empty: the usual one of its role."""


@dataclass(frozen=True)
class Example:
    """A prompt and the plan it should get: `(role, lines it sees, instruction)` per line."""

    prompt: str
    plan: tuple[tuple[Role, tuple[int, ...], str], ...]


EXAMPLES = (
    Example("Which river flows through Vienna?", (("general", (), "Name the river through Vienna"),)),
    Example(
        "A baker makes 24 rolls a day and sells them for 40 cents each. What does he earn in 15 days?",
        (
            ("general", (), "One Python expression for the euros he earns"),
            ("calculator", (1,), "Calculate the expression"),
        ),
    ),
    Example(
        "What is the output of this program?\n\nwords = ['sun', 'moon']\nprint('-'.join(words))",
        (("python", (), "Run the program in the question"),),
    ),
    Example(
        "Positive or negative? The room was cold and nobody came to help.",
        (("general", (), "Say whether the text is positive or negative"),),
    ),
    Example(
        "What is 318 + 4 * 77?",
        (
            ("general", (), "One Python expression for the sum"),
            ("calculator", (1,), "Calculate the expression"),
        ),
    ),
    Example(
        "Say this in Italian: Where is the station?",
        (("general", (), "Translate the sentence into Italian"),),
    ),
    Example(
        "How many centimetres are 45 inches?",
        (
            ("general", (), "One Python expression for the centimetres"),
            ("calculator", (1,), "Calculate the expression"),
        ),
    ),
    Example(
        "Write a Python function that returns the largest even number of a list.",
        (("general", (), "Write the function for the largest even number"),),
    ),
    Example(
        "Write a Python function that takes a text and returns how often each letter occurs.",
        (("general", (), "Write the function that counts the letters"),),
    ),
    Example(
        "Which dates are in this text: We met on 3 May and again on 12 June.",
        (("general", (), "List the dates in the text"),),
    ),
    Example(
        "How many vowels are in the word onomatopoeia?",
        (
            ("general", (), "Write a Python program that prints the number of vowels"),
            ("python", (1,), "Run the program"),
        ),
    ),
    Example(
        "A jacket of 80 euros is 25% cheaper today. What does it cost now?",
        (
            ("general", (), "One Python expression for the price"),
            ("calculator", (1,), "Calculate the expression"),
        ),
    ),
    Example(
        "Work out (96 - 6) * 2.5",
        (
            ("general", (), "One Python expression for the result"),
            ("calculator", (1,), "Calculate the expression"),
        ),
    ),
    Example("Good morning!", (("small", (), "Greet back"),)),
    Example(
        "Every lamp here is red, and this is a lamp. Is it red?",
        (("general", (), "Reason about the lamps and answer"),),
    ),
    Example(
        "Should a small museum sell its tickets online? Look at the money and at the visitors, then advise.",
        (
            ("general", (), "Discuss the costs and income"),
            ("general", (), "Discuss what it means for visitors"),
            ("general", (1, 2), "Weigh both and give advice"),
        ),
    ),
    Example(
        "What does this code show?\n```python\nn = 7\nif n > 5:\n    print('big')\n```",
        (("python", (), "Run the code in the question"),),
    ),
    Example(
        "Give the output of this code:\n\nt = 'ab'\nt = t * 3\nprint(t)",
        (("python", (), "Run the code in the question"),),
    ),
    Example(
        "Write two lines about the sea at night.",
        (("general", (), "Write two lines about the sea at night"),),
    ),
    Example("Explain in one sentence why ice floats.", (("general", (), "Explain why ice floats"),)),
)

EXAMPLE_TOPICS = frozenset(
    (
        "river",
        "vienna",
        "italian",
        "largest",
        "dates",
        "vowels",
        "lamps",
        "visitors",
        "museum",
        "ice",
        "letters",
    )
)
"""What the examples are about. In a plan for a prompt without these words they were copied, not thought."""


def is_copied(instruction: str, asked: str) -> bool:
    """Whether an instruction speaks of an example and not of what was asked."""
    words, known = (set(re.findall("[a-z]+", text.lower())) for text in (instruction, asked))
    return bool(EXAMPLE_TOPICS & words - known)


def conductor_messages(
    prompt: str, pool: Sequence[PoolWorker], *, max_steps: int = 5
) -> list[dict[str, str]]:
    """The chat for a conductor that plans `prompt` over `pool`; worker A is the pool's first."""
    letter_of = role_letters(pool)
    messages = [{"role": "system", "content": _system(pool, max_steps)}]
    for example in EXAMPLES:
        if len(example.plan) <= max_steps and all(role in letter_of for role, _, _ in example.plan):
            messages += [
                _user(example.prompt),
                {"role": "assistant", "content": _plan_text(example, letter_of)},
            ]
    return [*messages, _user(prompt)]


def role_letters(pool: Sequence[PoolWorker]) -> dict[Role, str]:
    """Which letter stands for a role in the examples: the first worker that has it."""
    letters = worker_letters(len(pool))
    found: dict[Role, str] = {}
    for letter, worker in zip(letters, pool, strict=True):
        found.setdefault(worker.role, letter)
    return found


def _system(pool: Sequence[PoolWorker], max_steps: int) -> str:
    workers = "\n".join(
        f"{letter} ({worker.name}): {worker.description or DESCRIPTIONS[worker.role]}"
        for letter, worker in zip(worker_letters(len(pool)), pool, strict=True)
    )
    return (
        "You plan which worker does what. Do not answer the question yourself.\n"
        f"Workers:\n{workers}\n"
        f"Write 1 to {max_steps} lines, as few as needed. "
        "A line is: worker letter, numbers of the earlier lines it must see, colon, instruction."
    )


def _user(prompt: str) -> dict[str, str]:
    return {"role": "user", "content": f"Question: {prompt}"}


def _plan_text(example: Example, letter_of: dict[Role, str]) -> str:
    return "\n".join(
        f"{letter_of[role]}{''.join(f' {number}' for number in access)}: {instruction}"
        for role, access, instruction in example.plan
    )
