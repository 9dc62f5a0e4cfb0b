"""Workflows that are measured, and how long they take if orchestration costs nothing. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Shape = tuple[tuple[str, tuple[int, ...]], ...]
"""Steps in order: the worker's name and the 0-based positions it sees."""

SHAPES: Mapping[str, Shape] = {
    "chain of 5": (("usual", ()), *(("usual", (seen,)) for seen in range(4))),
    "fan-out 1+3+1": (
        ("usual", ()),
        ("usual", (0,)),
        ("usual", (0,)),
        ("usual", (0,)),
        ("usual", (1, 2, 3)),
    ),
    # Step 4 may start as soon as the short step 3 is done, while the long step 2 still writes. Who works
    # level by level lets it wait.
    "uneven branches": (("usual", ()), ("long", (0,)), ("short", (0,)), ("long", (2,)), ("usual", (1, 3))),
}
SCALE = {"usual": 1.0, "long": 3.0, "short": 0.5}


@dataclass(frozen=True)
class Speed:
    """Milliseconds to the first token, tokens of a usual answer, milliseconds between tokens."""

    first_ms: float
    tokens: int
    each_ms: float

    def tokens_of(self, worker: str) -> int:
        """How many tokens this worker's answer has."""
        return int(self.tokens * SCALE[worker])

    def model_of(self, worker: str) -> str:
        """What the scripted server reads its timing from."""
        return f"fake-{self.first_ms:g}-{self.tokens_of(worker)}-{self.each_ms:g}"

    def call_s(self, worker: str) -> float:
        """How long one call takes, exactly."""
        return (self.first_ms + self.tokens_of(worker) * self.each_ms) / 1000


def critical_path_s(shape: Shape, speed: Speed) -> float:
    """Seconds from start to end when every step begins the moment its inputs are there."""
    ends: list[float] = []
    for worker, seen in shape:
        ends.append(max((ends[each] for each in seen), default=0.0) + speed.call_s(worker))
    return max(ends)
