"""The process behind the page: killed in mid-run, stopped by Ctrl-C, started with things it cannot use."""

from __future__ import annotations

import resource
import signal
import socket
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.running_app import App

from .conftest import OpenPage
from .studio import SKY, Studio, count_runs, finished, start, state

STARTS_WITHIN_S = 60


@pytest.fixture
def own(tmp_path: Path) -> Iterator[App]:
    """An app of the test's own, not started."""
    running = App(tmp_path)
    yield running
    running.kill()


def test_after_kill_9_the_open_page_comes_back_and_the_run_is_finished(own: App, open_page: OpenPage) -> None:
    """Behaviour row 10: even when the backend dies, the page that stayed open shows the whole run."""
    own.start()
    run_id = start(
        own.address, SKY, [("writer", "Give a brief answer.", []), ("slow", "Count for a while.", [0])]
    )
    studio = Studio(open_page(), own.address).open(run_id)
    studio.expect_status(1, "succeeded")
    expect(studio.text(2)).to_contain_text("green")
    own.stop(signal.SIGKILL)
    expect(studio.page.get_by_text("Connection lost, trying again")).to_be_visible()
    own.start()
    studio.expect_ended(timeout=40_000)
    expect(studio.page.get_by_text("Connection lost, trying again")).to_have_count(0)
    expect(studio.answer).to_contain_text("red orange")
    ended = state(own.address, run_id)
    assert ended.status == "succeeded" and ended.resumed == 1
    assert len(ended.steps["s1"].attempts) == 1, "a finished step was called again"
    assert len(ended.steps["s2"].attempts) == 2
    whole = ended.steps["s2"].output or ""
    assert len(whole.split()) == 50
    studio.inspect(2, "Output")
    expect(studio.inspector.locator("code")).to_have_text(whole)
    assert own.stop() == 0


def test_ctrl_c_ends_it_in_a_second_while_a_page_streams(own: App, open_page: OpenPage) -> None:
    own.start()
    run_id = start(own.address, SKY, [("slow", "Count for a long time.", [])])
    studio = Studio(open_page(), own.address).open(run_id)
    expect(studio.text(1)).to_contain_text("green")
    began = time.monotonic()
    assert own.stop(signal.SIGINT) == 0
    assert time.monotonic() - began < 5
    assert "Traceback" not in own.log()
    expect(studio.text(1)).to_contain_text("green")  # what was shown stays on the screen


def _ends(own: App) -> str:
    """Starts an app that cannot start, and gives what it said."""
    own.launch()
    assert own.process is not None
    assert own.process.wait(STARTS_WITHIN_S) == 1
    assert "Traceback" not in own.log()
    return own.log()


def test_a_port_in_use_is_told_with_what_to_do(own: App) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", own.port))
        taken.listen()
        said = _ends(own)
    assert f"Port {own.port} on 127.0.0.1 is in use" in said and "Set CONDUCTOR_PORT" in said


def test_a_database_from_a_newer_version_is_told_and_left_alone(own: App) -> None:
    own.start()
    assert own.stop() == 0
    file = own.folder / "conductor.sqlite"
    with sqlite3.connect(file) as newer:
        (form,) = newer.execute("PRAGMA user_version").fetchone()
        newer.execute(f"PRAGMA user_version = {form + 1}")
    newer.close()
    before = file.read_bytes()
    (own.folder / "app.log").write_text("", encoding="utf-8")
    said = _ends(own)
    assert str(file) in said and "newer" in said and "CONDUCTOR_DB" in said
    assert file.read_bytes() == before


@pytest.mark.parametrize("pool", ['[[worker]]\nname = "a"\nprovider = "nobody"\n', "no TOML ["])
def test_a_broken_pool_file_is_told_with_its_line(own: App, open_page: OpenPage, pool: str) -> None:
    own.pool = own.folder / "mine.toml"
    own.pool.write_text(pool, encoding="utf-8")
    own.start()
    page = open_page()
    page.goto(f"{own.address}/workers")
    expect(
        page.get_by_text("mine.toml, line 1").or_(page.get_by_text("mine.toml, line 3")).first
    ).to_be_visible()
    page.goto(own.address)
    expect(page.get_by_role("textbox", name="Prompt")).to_be_visible()
    assert own.stop() == 0


def test_no_usable_worker_and_no_model_are_told_and_nothing_is_lost(own: App, open_page: OpenPage) -> None:
    own.pool = own.folder / "mine.toml"
    own.pool.write_text(
        '[[worker]]\nname = "far"\nprovider = "openai"\nmodel = "m"\napi_key_env = "FAR_KEY"\n',
        encoding="utf-8",
    )
    own.start()
    studio = Studio(open_page(), own.address).open()
    expect(studio.page.get_by_text("No worker can be used yet.").first).to_be_visible()
    expect(studio.page.get_by_text("Set FAR_KEY where the backend is started").first).to_be_visible()
    expect(studio.page.get_by_text("conductor-studio models fetch smollm2-135m").first).to_be_visible()
    studio.write(SKY)
    studio.prompt.press("Control+Enter")
    expect(studio.go).to_be_disabled()
    assert count_runs(own.address) == 0
    expect(studio.prompt).to_have_value(SKY)
    assert own.stop() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the files of a running process")
def test_a_disk_that_takes_no_more_is_told_and_nothing_is_lost(own: App, open_page: OpenPage) -> None:
    """The operating system itself refuses here: the limit on the size of this process's files is reached."""
    own.start()
    assert own.process is not None
    kept = finished(own.address)
    largest = max(file.stat().st_size for file in own.folder.iterdir() if file.is_file())
    before, most = resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, (largest + 50_000, most))
    studio = Studio(open_page(), own.address).open()
    studio.write("at once " + "a word or two " * 15_000)
    studio.go.click()
    expect(studio.page.get_by_text("the last change was not stored, all earlier ones are")).to_be_visible()
    expect(studio.page.get_by_text("Check that the disk has space")).to_be_visible()
    assert len(studio.prompt.input_value()) > 200_000
    resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, (before, most))
    studio.run(f"{SKY} (at once)")
    studio.expect_ended()
    assert state(own.address, kept).status == "succeeded"
    assert own.stop() == 0


def test_no_network_is_told_and_what_is_there_works(own: App, open_page: OpenPage) -> None:
    proxies = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")
    own.environment |= dict.fromkeys(proxies, "http://127.0.0.1:9")  # where nobody listens
    own.environment |= {"NO_PROXY": "127.0.0.1,localhost", "PIP_RETRIES": "0", "PIP_DEFAULT_TIMEOUT": "2"}
    own.start()
    page = open_page()
    page.goto(f"{own.address}/workers")
    page.get_by_role("button", name="Fetch").first.click()
    told = page.get_by_text("Check the network").first
    expect(told).to_be_visible(timeout=30_000)
    expect(told).to_contain_text(str(own.folder / "models"))
    studio = Studio(page, own.address).open()
    studio.run(f"{SKY} (at once)")
    studio.expect_ended()
    assert own.stop() == 0
