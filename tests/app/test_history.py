"""History: newest first, found by words, opened by a link, deleted with a way back."""

from __future__ import annotations

import time

import pytest

from app import state
from tests.app.backend import Backend
from tests.app.conftest import Page
from tests.app.reading import texts


def with_runs(backend: Backend, n: int) -> list[str]:
    """Runs of this many prompts, oldest first."""
    return [backend.start(f"Prompt number {number}") for number in range(1, n + 1)]


def test_an_empty_history_invites_to_write_a_prompt(page: Page, backend: Backend) -> None:
    at = page("history")
    assert "Nothing has been run yet" in texts(at)
    assert "Write the first prompt" in texts(at)


def test_runs_stand_newest_first_with_their_figures_and_lead_to_the_studio(
    page: Page, backend: Backend
) -> None:
    _, newest = with_runs(backend, 2)
    at = page("history")
    links = [element for element in at.page_link if "Prompt" in element.label]
    assert ["number 2" in links[0].label, "number 1" in links[1].label] == [True, True]
    assert f"run={newest}" in links[0].proto.query_string
    tokens = backend.client.list_runs().runs[0].total_tokens
    assert "3 steps" in texts(at) and f"{tokens:,} tokens" in texts(at)


def test_search_and_status_ask_the_backend(page: Page, backend: Backend) -> None:
    with_runs(backend, 3)
    backend.start("Prompt that plan-fails")
    at = page("history")
    at.text_input(key=state.SEARCH).set_value("number 2").run()
    assert "1 run" in texts(at) and "Prompt number 3" not in texts(at)
    at.text_input(key=state.SEARCH).set_value("").run()
    at.get_by_key(state.STATUS).set_value("failed").run()
    assert "Prompt that plan-fails" in texts(at) and "Prompt number 1" not in texts(at)
    at.text_input(key=state.SEARCH).set_value("nowhere").run()
    assert "No run fits" in texts(at)


def test_pages_lead_to_older_runs_and_back(page: Page, backend: Backend) -> None:
    with_runs(backend, 25)
    at = page("history")
    assert "Prompt number 25" in texts(at) and "Prompt number 5\n" not in texts(at)
    at.button(key="history.older").click().run()
    assert "Prompt number 5" in texts(at) and "Prompt number 25" not in texts(at)
    assert at.button(key="history.older").disabled
    at.button(key="history.newer").click().run()
    assert "Prompt number 25" in texts(at)


def test_a_new_search_begins_on_the_first_page(page: Page, backend: Backend) -> None:
    with_runs(backend, 25)
    at = page("history")
    at.button(key="history.older").click().run()
    at.text_input(key=state.SEARCH).set_value("Prompt").run()
    assert "Prompt number 25" in texts(at)


def test_a_deletion_can_be_undone(page: Page, backend: Backend) -> None:
    _, newest = with_runs(backend, 2)
    at = page("history")
    at.button(key=f"delete.{newest}").click().run()
    assert "Deleted: Prompt number 2" in texts(at)
    assert not [element for element in at.page_link if "number 2" in element.label]
    at.button(key="history.undo").click().run()
    assert not at.exception
    assert [element for element in at.page_link if "number 2" in element.label]


def test_the_offer_to_undo_ends(page: Page, backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    (only,) = with_runs(backend, 1)
    at = page("history")
    at.button(key=f"delete.{only}").click().run()
    monkeypatch.setattr("app.state.history.monotonic", lambda: time.monotonic() + 11)
    at.run()
    assert not at.exception
    assert "Undo" not in texts(at)


def test_a_backend_that_is_away_is_told_and_asked_again(page: Page, backend: Backend) -> None:
    with_runs(backend, 1)
    backend.is_down = True
    at = page("history")
    assert len(at.error) == 1 and "does not answer" in at.error[0].value
    backend.is_down = False
    at.button(key="history.retry").click().run()
    assert not at.error and "Prompt number 1" in texts(at)


@pytest.mark.parametrize(
    ("prompt", "title", "rest"),
    [
        ("Short", "Short", ""),
        ("word " * 20, "word word word word word word word word…", "word " * 12),
        ("x" * 50, "x" * 44 + "…", "x" * 6),
        ("鷺" * 30, "鷺" * 22 + "…", "鷺" * 8),
    ],
)
def test_a_title_fits_a_narrow_page(prompt: str, title: str, rest: str) -> None:
    from app.run_lines import beginning

    assert beginning(prompt.strip()) == (title, rest.strip())


def test_found_words_are_bold_and_the_rest_is_only_text() -> None:
    from app.run_lines import found

    assert found("see ⟦words⟧ *here*") == "see  **words**  \\*here\\*".replace("  ", " ")
