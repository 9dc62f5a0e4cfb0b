"""Finding pools, and going on when a file is broken."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from conductor.pool import PoolShelf
from conductor.settings import Settings

GOOD = '[[worker]]\nname = "{}"\nprovider = "scripted"\nmodel = "m"\n'


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "mine").mkdir()
    return Settings(models_dir=tmp_path / "models", pools_dir=tmp_path / "mine", db=tmp_path / "db")


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    # Two writes within one tick of the clock must still count as a change.
    os.utime(path, ns=(path.stat().st_mtime_ns + 1, path.stat().st_mtime_ns + id(text) % 1000 + 2))


def names(shelf: PoolShelf, pool: str | None = None) -> list[str]:
    return [worker.name for worker in shelf.get(pool).workers]


def test_ready_pools_are_there_with_local_first(settings: Settings) -> None:
    shelf = PoolShelf(settings)
    assert shelf.names()[0] == "local" and "frontier" in shelf.names()
    assert names(shelf) == ["qwen-1.5b", "qwen-0.5b", "calculator", "python", "smollm2-135m"]
    assert shelf.view().pools == shelf.names()


def test_users_own_pools_join_and_hide_ours_of_the_same_name(settings: Settings) -> None:
    ready = PoolShelf(settings).names()
    write(settings.pools_dir / "team.toml", GOOD.format("t"))
    write(settings.pools_dir / "frontier.toml", GOOD.format("f"))
    shelf = PoolShelf(settings)
    assert set(shelf.names()) == {*ready, "team"}
    assert (names(shelf, "team"), names(shelf, "frontier")) == (["t"], ["f"])


@pytest.mark.parametrize("by_path", [True, False])
def test_chosen_pool_is_the_default(settings: Settings, tmp_path: Path, by_path: bool) -> None:
    path = (tmp_path if by_path else settings.pools_dir) / "team.toml"
    write(path, GOOD.format("t"))
    shelf = PoolShelf(replace(settings, pool=str(path) if by_path else "team"))
    assert shelf.default_name() == "team"
    assert names(shelf) == ["t"]
    assert "local" in shelf.names()


def test_changed_file_is_read_again(settings: Settings) -> None:
    path = settings.pools_dir / "team.toml"
    write(path, GOOD.format("before"))
    shelf = PoolShelf(settings)
    assert names(shelf, "team") == ["before"]
    write(path, GOOD.format("afterwards"))
    assert names(shelf, "team") == ["afterwards"]


def test_broken_file_leaves_its_last_good_version(settings: Settings) -> None:
    path = settings.pools_dir / "team.toml"
    write(path, GOOD.format("good"))
    shelf = PoolShelf(settings)
    assert names(shelf, "team") == ["good"]
    write(path, "[[worker]\n")
    pool = shelf.get("team")
    assert [each.name for each in pool.workers] == ["good"]
    assert [each.said for each in pool.problems][-1] == (
        "The last version of this file that could be read is used instead."
    )
    assert pool.problems[0].line == 1
    write(path, GOOD.format("mended"))
    assert (names(shelf, "team"), shelf.get("team").problems) == (["mended"], ())


TWO = """
default_worker = "dear"
[[worker]]
name = "dear"
provider = "openai"
model = "m"
price = {{ input_usd_per_mtok = "{}", output_usd_per_mtok = "10" }}
[[worker]]
name = "other"
provider = "openai"
model = "{}"
fallback = "dear"
"""


def test_a_worker_with_a_broken_price_keeps_its_last_good_one_which_is_named(settings: Settings) -> None:
    """Wire 23: a broken price gives a clear error, and the last good prices, named."""
    path = settings.pools_dir / "team.toml"
    write(path, TWO.format("1.25", "m"))
    shelf = PoolShelf(settings)
    good = shelf.get("team")
    for price, model in (("free", "n"), ("cheap", "longer")):
        write(path, TWO.format(price, model))
        pool = shelf.get("team")
        assert pool.worker("dear") == good.worker("dear"), "also after a second mistake"
        assert (pool.worker("other").model, pool.worker("other").fallback) == (model, "dear")
        assert (names(shelf, "team"), pool.default_worker) == (["dear", "other"], "dear")
        mistake, kept = pool.problems
        assert (mistake.line, mistake.key) == (7, "price") and "1.25" in mistake.said
        assert kept.said == (
            "'dear' is used as it was before this mistake, at 1.25 USD in and 10 USD out per million tokens."
        )
    write(path, TWO.format("2", "m"))
    assert shelf.get("team").problems == ()
    price = shelf.get("team").worker("dear").price
    assert price is not None and price["input_usd_per_mtok"] == "2"


def test_a_worker_that_was_never_good_is_left_out(settings: Settings) -> None:
    path = settings.pools_dir / "team.toml"
    write(path, TWO.format("free", "m"))
    pool = PoolShelf(settings).get("team")
    assert [each.name for each in pool.workers] == ["other"]
    assert not any("as it was before" in each.said for each in pool.problems)


def test_file_broken_from_the_start_leaves_the_pool_local(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "team.toml"
    write(path, 'default_worker = "x"\n')
    shelf = PoolShelf(replace(settings, pool=str(path)))
    pool = shelf.get()
    assert pool.name == "local"
    assert pool.worker("qwen-0.5b")
    assert [each.said for each in pool.problems][1:] == [
        "It has no usable [[worker]] table.",
        "The pool local is used instead.",
    ]
    assert all(each.file == "team.toml" for each in pool.problems)


def test_file_that_does_not_exist_leaves_the_pool_local(settings: Settings, tmp_path: Path) -> None:
    pool = PoolShelf(replace(settings, pool=str(tmp_path / "none.toml"))).get()
    assert pool.name == "local"
    said = pool.problems[0].said
    assert said.startswith("There is no pool 'none' in ")
    assert str(settings.pools_dir) in said and said.endswith(f"no file {tmp_path / 'none.toml'}.")


def test_pool_that_does_not_exist(settings: Settings) -> None:
    with pytest.raises(KeyError):
        PoolShelf(settings).get("nowhere")
