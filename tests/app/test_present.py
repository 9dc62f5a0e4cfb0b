"""Present: stored events played back; nothing is called, started or changed."""

from __future__ import annotations

from tests.app.backend import Backend
from tests.app.clicks import send
from tests.app.conftest import Page
from tests.app.reading import graph, texts


def test_a_stored_run_is_given_to_the_graph_as_a_replay(page: Page, backend: Backend) -> None:
    run_id = backend.start("Shown to others")
    at = page("present", run=run_id)
    data = graph(at)
    assert data["mode"] == "replay" and data["api"] is None
    assert [event["kind"] for event in data["replay"]["events"]][-1] == "run_finished"
    assert data["replay"]["speed"] == 1.0 and data["replay"]["present"] is True
    assert data["state"]["run_id"] == run_id


def test_nothing_is_called_or_changed(page: Page, backend: Backend) -> None:
    run_id = backend.start("p")
    backend.asked.clear()
    page("present", run=run_id)
    assert [asked for asked in backend.asked if not asked.startswith("GET ")] == []
    assert not list(page("present", run=run_id).button)


def test_the_answer_comes_when_the_play_has_ended(page: Page, backend: Backend) -> None:
    run_id = backend.start("p")
    backend.asked.clear()
    at = page("present", run=run_id)
    assert "Give the answer" not in texts(at)
    send(at, "finished", {"run_id": run_id, "seq": 12})
    assert "Give the answer" in texts(at)


def test_without_a_run_it_says_how_to_present_one(page: Page, backend: Backend) -> None:
    assert "Present this run" in texts(page("present"))
