"""Whose file it is, what state it is in, and what becomes of it."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from conductor.store import Store, StoreError
from conductor.store.schema import APPLICATION_ID, SCHEMA_VERSION
from conductor_client.run_state import fold
from tests.conductor.store.logs import whole_run

OLDEST = Path(__file__).with_name("oldest.sql")


async def made(path: Path, run_id: str = "run_a") -> None:
    async with Store.open(path) as store:
        await store.append(run_id, whole_run(run_id))


def refused(path: Path) -> StoreError:
    """The error of opening a file, which stays as it is, with nothing new beside it."""
    before, beside = path.read_bytes(), sorted(path.parent.iterdir())
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == beside
    assert str(path) in caught.value.message
    assert caught.value.hint
    assert caught.value.as_data().kind == "store"
    return caught.value


def damage(path: Path, first_page: int, n_pages: int) -> None:
    """Overwrites pages, counted from 0, with nonsense."""
    with path.open("r+b") as file:
        file.seek(first_page * 4096)
        file.write(b"\xa5" * 4096 * n_pages)


def cut(path: Path, n_bytes: int) -> None:
    with path.open("r+b") as file:
        file.truncate(n_bytes)


def set_pragma(path: Path, **values: int) -> None:
    with closing(sqlite3.connect(path)) as conn:
        for name, value in values.items():
            conn.execute(f"PRAGMA {name}={value}")


async def test_missing_file_and_folders_are_made_for_this_user_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder #1?" / "studio 100%.db"
    await made(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    async with Store.open(path) as store:
        assert (await store.state("run_a")).status == "succeeded"


@pytest.fixture
def empty(path: Path) -> Path:
    path.touch()
    return path


async def test_an_empty_file_becomes_ours(empty: Path) -> None:
    await made(empty)
    with closing(sqlite3.connect(empty)) as conn:
        assert conn.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert conn.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(
    "content",
    [b"hello", b"name,age\n" * 500, b"\0" * 8192, os.urandom(4096), b"SQLite format 2\0" + b"x" * 200],
    ids=["short", "csv", "zeros", "random", "other sqlite"],
)
def test_a_file_that_is_no_database_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert refused(path).reason == "foreign"


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_another_programs_database_is_refused(path: Path, mode: str) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute(f"PRAGMA journal_mode={mode}")
        conn.execute("CREATE TABLE runs (run_id TEXT)")
    assert refused(path).reason == "foreign"


def test_a_database_that_says_it_is_another_programs_is_refused(path: Path) -> None:
    set_pragma(path, application_id=0x1234)
    assert refused(path).reason == "foreign"


async def test_a_newer_file_is_refused_and_says_both_forms(path: Path) -> None:
    await made(path)
    set_pragma(path, user_version=SCHEMA_VERSION + 3)
    error = refused(path)
    assert error.reason == "newer"
    assert f"form {SCHEMA_VERSION + 3}" in error.message


@pytest.mark.parametrize("where", [0.3, 0.5, 0.8])
async def test_a_damaged_file_is_refused(path: Path, where: float) -> None:
    await made(path)
    with closing(sqlite3.connect(path)) as conn:
        (n_pages,) = conn.execute("PRAGMA page_count").fetchone()
    damage(path, int(n_pages * where), 2)
    assert refused(path).reason == "corrupt"


@pytest.mark.parametrize("left", [60, 4096, 4096 * 6])
async def test_a_cut_file_is_refused(path: Path, left: int) -> None:
    await made(path)
    cut(path, left)
    assert refused(path).reason == "corrupt"


async def test_damage_met_later_is_a_clear_error_too(path: Path) -> None:
    await made(path)
    with closing(sqlite3.connect(path)) as conn:
        (page,) = conn.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()
    async with Store.open(path) as store:
        damage(path, page - 1, 1)
        with pytest.raises(StoreError) as caught:
            await store.events("run_a")
    assert caught.value.reason == "corrupt"


def test_a_folder_or_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file" / "studio.db"):
        with pytest.raises(StoreError) as caught:
            Store.open(path)
        assert caught.value.reason == "unwritable"
        assert "CONDUCTOR_DB" in caught.value.hint


async def test_the_oldest_file_opens_after_the_upgrade_and_is_searchable(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(OLDEST.read_text(encoding="utf-8"))
        assert conn.execute("PRAGMA user_version").fetchone() == (1,)
        assert "search" not in {name for (name,) in conn.execute("SELECT name FROM sqlite_master")}
    async with Store.open(path) as store:
        assert await store.state("run_old") == fold(await store.events("run_old"))
        assert (await store.state("run_old")).final_output == "It is 384,000 km away."
        page = await store.list_runs("moon away")
        assert [run.run_id for run in page.runs] == ["run_old"]
        await store.append("run_new", whole_run("run_new"))
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    async with Store.open(path) as again:
        assert [run.run_id for run in (await again.list_runs()).runs] == ["run_old", "run_new"]


async def test_an_upgrade_that_fails_leaves_the_old_form(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(OLDEST.read_text(encoding="utf-8"))

    def broken(conn: sqlite3.Connection) -> None:
        conn.execute("CREATE TABLE half (a)")
        conn.execute("SELECT * FROM nowhere")

    from conductor.store import database, schema

    monkeypatch.setattr(database, "MIGRATIONS", (*schema.MIGRATIONS[:1], ("0002_broken", broken)))
    with pytest.raises(StoreError):
        Store.open(path)
    monkeypatch.undo()
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (1,)
        assert "half" not in {name for (name,) in conn.execute("SELECT name FROM sqlite_master")}
    async with Store.open(path) as store:
        assert (await store.state("run_old")).status == "succeeded"
