"""Measures the bars of the design on this machine: ``python -m benchmarks [NAME…]``, see ``--help``.

Each module of ``NAMES`` says in ``SAYS`` what it measures and in ``BAR`` what is wanted, and gives rows from
``measure(plan)``. Timings never fail anything: a row that misses its bar says so, and that is all.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Protocol

from benchmarks.rows import Plan, Row

NAMES = (
    "orchestration",
    "cpu",
    "burst",
    "store",
    "fork",
    "crash",
    "pixels",
    "first_graph",
    "start",
    "stop",
    "cancel",
    "memory",
)
"""In the order in which they run when none is named."""


class Benchmark(Protocol):
    """What a module of this package offers."""

    SAYS: str
    BAR: str

    def measure(self, plan: Plan) -> Sequence[Row]:
        """Takes its time, then tells. Raises ``NotHere`` when the machine lacks what it needs."""
        ...


def find(name: str) -> Benchmark:
    """The benchmark of that name. Raises ``KeyError``."""
    if name not in NAMES:
        raise KeyError(name)
    return importlib.import_module(f"benchmarks.{name}")


def measured(name: str, plan: Plan) -> list[Row]:
    """One benchmark's rows."""
    return list(find(name).measure(plan))
