"""Steps a person takes on the Studio page, for tests."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from app import state
from tests.app.backend import Backend
from tests.app.conftest import Page

PROMPT = "How many apples are left?"


def opened(at: AppTest) -> str:
    """The run in the page's address."""
    return str(at.query_params["run"])


def typed(page: Page, prompt: str = PROMPT) -> AppTest:
    """The empty page with this prompt in its box."""
    at = page()
    at.text_area(key=state.PROMPT).set_value(prompt)
    return at


def started(page: Page, backend: Backend, prompt: str = PROMPT) -> AppTest:
    """A run of this prompt, started on the page and drawn once it has ended."""
    at = go(typed(page, prompt))
    backend.ended(opened(at))
    return at.run()


def begun(page: Page, backend: Backend) -> AppTest:
    """A run that never ends, drawn while its step writes."""
    at = page(run=backend.begin("plan-silent"))
    backend.writing(opened(at))
    return at.run()


def go(at: AppTest) -> AppTest:
    """Presses the main button."""
    at.button(key="studio.go").click().run()
    assert not at.exception, at.exception
    return at


def press(at: AppTest, label: str) -> AppTest:
    """Presses the first button of that label."""
    next(each for each in at.button if each.label == label).click().run()
    assert not at.exception, at.exception
    return at


def selected(at: AppTest, step_id: str, section: str) -> AppTest:
    """Opens a section of a step's inspector."""
    at.get_by_key("inspector.step").set_value(step_id).run()
    at.get_by_key("inspector.section").set_value(section).run()
    assert not at.exception, at.exception
    return at


def instruct(at: AppTest, step_id: str, said: str) -> AppTest:
    """Changes a step's instruction in its form, and applies."""
    next(each for each in at.text_area if str(each.key).endswith(f".{step_id}.instruction")).set_value(said)
    next(each for each in at.button if str(each.key).endswith(f".{step_id}.apply")).click().run()
    assert not at.exception, at.exception
    return at


def rerun(at: AppTest, backend: Backend) -> AppTest:
    """Runs the draft as a fork and draws it once it has ended."""
    at.button(key="edit.rerun").click().run()
    assert not at.exception, at.exception
    backend.ended(opened(at))
    return at.run()
