"""``pool check``: what is wrong with a pool file, with its lines, and which workers are ready."""

from __future__ import annotations

import dataclasses
import sys

from conductor.cli import complain
from conductor.pool import PoolShelf
from conductor.settings import Settings


def check(name: str | None, settings: Settings) -> int:
    """Checks a file, a named pool or the configured one; exit code 1 for a mistake or no ready worker."""
    chosen = dataclasses.replace(settings, pool=name) if name else settings
    try:
        view = PoolShelf(chosen).view()
    except KeyError:
        return complain(f"there is no pool {name!r}.", "Give a path to a TOML file, or the name of a pool.")
    for problem in view.problems:
        print(problem.told, file=sys.stderr)
    print(f"Pool {view.name}, default worker {view.default_worker or 'none'}")
    for worker in view.workers:
        missing = "" if worker.ready else f"  {worker.missing or ''} {worker.how_to_get or ''}".rstrip()
        print(f"{worker.name:<24} {worker.provider:<10} {'ready' if worker.ready else 'missing':<8}{missing}")
    if not any(worker.ready for worker in view.workers):
        return complain("no worker of this pool is ready.", "See above what each of them needs.")
    return 1 if view.problems else 0
