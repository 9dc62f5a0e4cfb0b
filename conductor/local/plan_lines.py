"""Read what a small conductor wrote: lines of `B 1 2: instruction`, and how sure it was of each worker
letter.

Pure. The grammar that makes models write this form is in `grammar`; what a step or a worker is, others know.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LINE = re.compile(r"([A-Z])((?: \d{1,2})*): ?(.*)")


@dataclass(frozen=True)
class PlanLine:
    """One step as it was written."""

    letter: str
    access: tuple[int, ...]
    """Numbers of the earlier lines it sees, counted from 1."""
    instruction: str


@dataclass(frozen=True)
class LetterChoice:
    """The odds at the place where a worker letter was written."""

    probabilities: Mapping[str, float]
    """Probability of each letter, scaled to sum to 1 over the letters of the pool."""
    mass: float
    """How much of the model's probability was on letters at all; far below 1, it wasn't choosing a worker."""


def read_plan_lines(text: str) -> list[PlanLine] | None:
    """The lines of a plan, None when any line has another form or names a line that isn't before it."""
    lines: list[PlanLine] = []
    for written in text.strip().splitlines():
        match = LINE.fullmatch(written.strip())
        if not match or not match[3].strip():
            return None
        access = tuple(int(number) for number in match[2].split())
        if any(not 1 <= number <= len(lines) for number in access) or len(set(access)) < len(access):
            return None
        lines.append(PlanLine(match[1], access, match[3].strip()))
    return lines or None


def letter_choices(tokens: Sequence[tuple[str, Mapping[str, float]]], letters: str) -> list[LetterChoice]:
    """The odds at each line's first token, from `(token, {alternative: natural log of its probability})` in
    order.

    Alternatives outside the reported ones count as impossible; ask for twenty or more of them.
    """
    choices = []
    at_line_start = True
    for token, alternatives in tokens:
        if at_line_start and token.strip()[:1] in tuple(letters):
            choices.append(_choice(alternatives, letters))
        if token:
            at_line_start = token.endswith("\n")
    return choices


def _choice(alternatives: Mapping[str, float], letters: str) -> LetterChoice:
    weights = dict.fromkeys(letters, 0.0)
    for text, logprob in alternatives.items():
        letter = text.strip().removesuffix(":")
        if letter in weights:
            weights[letter] += math.exp(logprob)
    mass = sum(weights.values())
    if mass == 0:
        return LetterChoice(dict.fromkeys(letters, 1 / len(letters)), 0.0)
    return LetterChoice({letter: weight / mass for letter, weight in weights.items()}, mass)
