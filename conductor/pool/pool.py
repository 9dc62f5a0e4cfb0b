"""A pool: the workers a conductor may choose from, in order, and the conductors set up beside them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from conductor.providers.base import Worker
from conductor_client.plan import PlanOptions
from conductor_client.pool import PoolProblem


@dataclass(frozen=True)
class ConductorSpec:
    """One ``[[conductor]]`` table. ``worker`` is the model behind a prompted one.

    ``describe``: whether a prompted one is told what each worker is good at, or only what tools do.
    """

    name: str
    kind: Literal["local", "prompted", "router"]
    worker: str | None = None
    options: PlanOptions = field(default_factory=PlanOptions)
    describe: bool = False


@dataclass(frozen=True)
class Pool:
    """What a pool file says. ``default_worker`` is the key at its top; ``None`` when it has none."""

    name: str
    workers: tuple[Worker, ...]
    conductors: tuple[ConductorSpec, ...] = ()
    default_worker: str | None = None
    problems: tuple[PoolProblem, ...] = ()
    path: Path | None = None

    def worker(self, name: str) -> Worker:
        """The worker of that name. Raises ``KeyError`` when there is none."""
        for worker in self.workers:
            if worker.name == name:
                return worker
        raise KeyError(name)

    def with_problems(self, *more: PoolProblem) -> Pool:
        """The same pool with these problems before its own."""
        return replace(self, problems=(*more, *self.problems))

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Names of the environment variables that hold keys of its workers."""
        return tuple(dict.fromkeys(each.api_key_env for each in self.workers if each.api_key_env))
