"""Workers: ready or how to get ready, a test call, the pool file's mistakes, the models' files."""

from __future__ import annotations

import pytest

from app import state
from app.pool_snippets import KINDS, ServerKind, snippet
from conductor.pool import parse_pool
from conductor.pool.shelf import READY_POOLS
from conductor.prices import price_of
from conductor_client.pool import ModelState
from tests.app.backend import NO_KEY, POOL, Backend
from tests.app.conftest import Page, Serve
from tests.app.reading import texts


def test_each_worker_says_what_it_is_and_whether_it_can_be_asked(page: Page, serve: Serve) -> None:
    serve(POOL + NO_KEY)
    said = texts(page("workers"))
    assert "5 of 6 workers ready" in said
    assert "No price" in said and "pool file" in said, "echo"
    assert "$1.25 in, $10 out" in said and "models.example" in said, "far"
    assert "FAR_KEY is not set" in said and "(far)" in said


def test_another_pool_can_be_chosen_and_is_used_by_the_studio(page: Page, backend: Backend) -> None:
    at = page("workers")
    at.selectbox(key="workers.pool_choice").set_value("local").run()
    assert "calculator" in texts(at)
    at.switch_page("views/studio.py").run()
    assert at.selectbox(key="studio.pool_choice").value == "local"
    assert "calculator" in at.multiselect(key=state.WORKERS).options


@pytest.mark.parametrize(("name", "outcome"), [("echo", "Answered in"), ("fails", "The worker refused.")])
def test_a_test_makes_one_call_and_says_how_it_went(
    page: Page, backend: Backend, name: str, outcome: str
) -> None:
    at = page("workers")
    at.button(key=f"test.{name}").click().run()
    assert backend.tested(name).running is False
    for _ in range(2):
        at.run()
        assert outcome in texts(at), "it stays until the next test"
    assert backend.count(f"POST /api/pool/{name}/test") == 1


def test_a_test_that_hangs_can_be_stopped_while_others_run(page: Page, backend: Backend) -> None:
    at = page("workers")
    at.button(key="test.silent").click().run()
    assert "test.silent" not in {button.key for button in at.button}
    assert "Asking it" in texts(at)
    at.button(key="test.echo").click().run()
    assert backend.tested("echo").ok
    at.button(key="test_stop.silent").click().run()
    assert backend.tested("silent").ok is False
    at.run()
    assert "was stopped before" in texts(at)
    assert not at.button(key="test.silent").disabled


def test_the_pause_a_server_asked_for_is_shown(page: Page, serve: Serve) -> None:
    serve(POOL.replace('fail = "refused", fail_after = 2', 'fail = "rate_limited", retry_after_s = 30'))
    at = page("workers")
    at.button(key="test.fails").click().run()
    for _ in range(2):
        at.run()
    assert "It asks for a pause of 30.0 s." in texts(at)


def test_where_there_are_many_workers_a_few_are_shown_and_words_find_others(page: Page, serve: Serve) -> None:
    serve(
        "".join(
            f'[[worker]]\nname = "w{n} <b>\U0001f98a</b>"\nprovider = "scripted"\nmodel = "m"\n'
            for n in range(200)
        )
    )
    at = page("workers")
    assert len([button for button in at.button if button.label == "Test"]) == 20
    at.text_input(key=state.FIND_WORKER).set_value("w199").run()
    assert [button.key for button in at.button if button.label == "Test"] == ["test.w199 <b>\U0001f98a</b>"]
    at.text_input(key=state.FIND_WORKER).set_value("nobody").run()
    assert "No worker fits" in texts(at)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.title)
def test_each_table_to_copy_is_a_good_pool_file_of_a_priced_worker(kind: ServerKind) -> None:
    pool = parse_pool(snippet(kind), name="p")
    assert pool.problems == ()
    assert pool.key_variables == ((kind.key,) if kind.key else ())
    assert price_of(pool.workers[0]) is not None
    assert (READY_POOLS / f"{kind.pool}.toml").exists()


def test_how_to_add_a_worker_names_the_folder_and_the_variable(page: Page, backend: Backend) -> None:
    said = texts(page("workers"))
    assert 'api_key_env = "OPENAI_API_KEY"' in said
    assert str(backend.client.pool().folder) in said and "CONDUCTOR_POOL" in said


def test_mistakes_of_the_pool_file_name_file_line_and_key(page: Page, serve: Serve) -> None:
    serve(POOL + '\n[[worker]]\nname = "odd"\nprovider = "nobody"\nmodel = "x"\n')
    at = page("workers")
    assert "pool.toml, line" in texts(at) and "provider" in texts(at) and "nobody" in texts(at)
    assert "5 of 5 workers ready" in texts(at), "the others still work"


def test_a_pool_file_that_cannot_be_read_at_all_is_told(page: Page, serve: Serve) -> None:
    serve("this is [no TOML")
    assert "pool.toml" in "".join(error.value for error in page("workers").error).replace("\\", "")


def test_model_files_show_state_progress_and_a_way_to_fetch(page: Page, backend: Backend) -> None:
    models = (
        ModelState(name="tiny", state="ready", bytes_total=98_000_000),
        ModelState(name="half", state="fetching", bytes_done=50, bytes_total=100),
        ModelState(name="none", state="missing", bytes_total=491_400_064, how_to_get="models fetch none"),
    )
    backend.answer("GET /api/models", models)
    backend.answer("POST /api/models/none/fetch", models[2])
    at = page("workers")
    said = texts(at)
    assert "491 MB" in said and "models fetch none" in said
    assert at.progress[0].value == 50
    at.button(key="fetch.none").click().run()
    assert not at.exception
    assert backend.count("POST /api/models/none/fetch") == 1
