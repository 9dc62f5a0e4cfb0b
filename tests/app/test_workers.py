"""Workers: ready or how to get ready, a test call, the pool file's mistakes, the models' files."""

from __future__ import annotations

from decimal import Decimal

import pytest

from conductor_client.pool import ModelState, PoolProblem, PoolView
from conductor_client.usage import Price
from tests.app.conftest import Page
from tests.app.reading import texts
from tests.app.scripted_backend import ScriptedBackend, worker


def test_each_worker_says_what_it_is_and_whether_it_can_be_asked(
    page: Page, backend: ScriptedBackend
) -> None:
    price = Price(input_usd_per_mtok=Decimal("1.25"), output_usd_per_mtok=Decimal(10))
    backend.workers = [
        worker("echo"),
        worker(
            "far", provider="openai", price=price, host="api.example", api_key_env="FAR_KEY", has_key=False
        ).model_copy(update={"ready": False, "missing": "FAR_KEY is not set", "how_to_get": "Set FAR_KEY."}),
    ]
    said = texts(page("workers"))
    assert "1 of 2 workers ready" in said
    assert "no price, runs here" in said
    assert "$1.25 in, $10 out per million tokens" in said
    assert "needs FAR_KEY" in said and "Set FAR_KEY." in said


@pytest.mark.parametrize(("name", "outcome"), [("echo", "Answered in 200 ms"), ("fails", "no")])
def test_a_test_makes_one_call_and_says_how_it_went(
    page: Page, backend: ScriptedBackend, name: str, outcome: str
) -> None:
    at = page("workers")
    at.button(key=f"test.{name}").click().run()
    assert outcome in texts(at)
    at.run()
    assert backend.asked.count(f"POST /api/pool/{name}/test") == 1


def test_mistakes_of_the_pool_file_name_file_line_and_key(
    page: Page, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = PoolProblem(file="mine.toml", line=7, key="base_url", said="is no address")
    monkeypatch.setattr(backend, "pool", lambda: PoolView(name="mine", workers=(), problems=(problem,)))
    said = texts(page("workers"))
    assert "mine.toml, line 7 · base_url" in said and "is no address" in said
    assert "This pool has no workers." in said


def test_model_files_show_state_progress_and_a_way_to_fetch(page: Page, backend: ScriptedBackend) -> None:
    backend.models = [
        ModelState(name="tiny", state="ready", bytes_total=98_000_000),
        ModelState(name="half", state="fetching", bytes_done=50, bytes_total=100),
        ModelState(
            name="none",
            state="missing",
            bytes_total=491_400_064,
            how_to_get="conductor-studio models fetch none",
        ),
    ]
    at = page("workers")
    said = texts(at)
    assert "491 MB" in said and "conductor-studio models fetch none" in said
    assert at.progress[0].value == 50
    at.button(key="fetch.none").click().run()
    assert not at.exception
    assert "POST /api/models/none/fetch" in backend.asked
