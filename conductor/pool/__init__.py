"""Pools of workers: TOML files, read with exact problems, shown with what each worker still needs."""

from conductor.pool.file import parse_pool, read_pool
from conductor.pool.pool import ConductorSpec, Pool
from conductor.pool.readiness import Readiness, default_worker, pool_view, readiness_of, worker_info
from conductor.pool.shelf import DEFAULT_POOL, PoolShelf

__all__ = [
    "DEFAULT_POOL",
    "ConductorSpec",
    "Pool",
    "PoolShelf",
    "Readiness",
    "default_worker",
    "parse_pool",
    "pool_view",
    "read_pool",
    "readiness_of",
    "worker_info",
]
