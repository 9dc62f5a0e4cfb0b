from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from conductor.store import Store
from tests.conductor.store.logs import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "studio.db"


@pytest.fixture
async def store(path: Path, clock: Clock) -> AsyncIterator[Store]:
    async with Store.open(path, now=clock) as store:
        yield store
