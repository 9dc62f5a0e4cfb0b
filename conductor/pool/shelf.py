"""All pools that can be chosen: those that come with the program, the user's own, and the one settings name.

A file is read again when it changes. One that cannot be used never stops the program: its last good version
is used, else the pool ``local``, and the problems say which.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from conductor.pool.file import read_pool
from conductor.pool.pool import Pool
from conductor.pool.readiness import pool_view
from conductor.settings import Settings
from conductor_client.pool import PoolProblem, PoolView

READY_POOLS = Path(__file__).resolve().parents[2] / "data" / "pools"
DEFAULT_POOL = "local"


class PoolShelf:
    """Finds and reads pools by name. Not thread-safe; reading is quick enough for the event loop."""

    def __init__(self, settings: Settings, *, ready_pools: Path = READY_POOLS) -> None:
        self._chosen = settings.pool
        self._folders = (settings.pools_dir, ready_pools)
        self._ready_pools = ready_pools
        self._models_dir = settings.models_dir
        self._read: dict[Path, tuple[tuple[int, int], Pool]] = {}
        self._good: dict[Path, Pool] = {}

    def names(self) -> tuple[str, ...]:
        """Names of all pools, the default first."""
        return tuple(self._paths())

    def default_name(self) -> str:
        """The pool that is used when none is named."""
        return next(iter(self._paths()), DEFAULT_POOL)

    def get(self, name: str | None = None) -> Pool:
        """The pool of that name, ``None`` the default one; read anew if its file changed.

        Raises:
            KeyError: there is no pool of that name.
        """
        paths = self._paths()
        wanted = name or self.default_name()
        if wanted not in paths:
            raise KeyError(wanted)
        pool = self._current(paths[wanted])
        return pool if pool.workers else self._instead(pool, paths[wanted])

    def view(self, name: str | None = None, environ: Mapping[str, str] = os.environ) -> PoolView:
        """The pool as shown, with the readiness of each worker. Raises ``KeyError`` as ``get`` does."""
        pool, folder = self.get(name), self._folders[0]
        return pool_view(pool, self._models_dir, pools=self.names(), folder=folder, environ=environ)

    def _paths(self) -> dict[str, Path]:
        """Pool files by name. A user's pool hides one of ours that has the same name."""
        found: dict[str, Path] = {}
        for folder in self._folders:
            for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
                found.setdefault(path.stem, path)
        chosen = self._chosen or DEFAULT_POOL
        if chosen not in found and self._chosen is not None:
            path = Path(chosen).expanduser().absolute()
            chosen = path.stem
            found[chosen] = path
        first = {chosen: found[chosen]} if chosen in found else {}
        return first | {name: path for name, path in found.items() if name != chosen}

    def _current(self, path: Path) -> Pool:
        try:
            stat = path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            is_there = True
        except OSError as problem:
            stamp, is_there = (0, 0), not isinstance(problem, FileNotFoundError)
        known = self._read.get(path)
        if known is None or known[0] != stamp or stamp == (0, 0):
            pool = read_pool(path, before=self._good.get(path)) if is_there else self._missing(path)
            known = self._read[path] = (stamp, pool)
            if known[1].workers:
                self._good[path] = known[1]
        return known[1]

    def _missing(self, path: Path) -> Pool:
        """In place of a pool that is not there: what was looked for, and where."""
        folders = " and ".join(map(str, self._folders))
        said = f"There is no pool {path.stem!r} in {folders}, "
        problem = PoolProblem(file=path.name, said=f"{said}and no file {path}.")
        return Pool(name=path.stem, workers=(), problems=(problem,), path=path)

    def _instead(self, broken: Pool, path: Path) -> Pool:
        """What is used in place of a file that gives no worker: problems of the file first, then what."""
        good = self._good.get(path)
        if good is not None:
            said = "The last version of this file that could be read is used instead."
            return good.with_problems(*broken.problems, PoolProblem(file=path.name, said=said))
        ours = self._ready_pools / f"{DEFAULT_POOL}.toml"
        if path == ours:
            return broken
        said = f"The pool {DEFAULT_POOL} is used instead."
        return self._current(ours).with_problems(*broken.problems, PoolProblem(file=path.name, said=said))
