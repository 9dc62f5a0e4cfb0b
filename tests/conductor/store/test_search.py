"""Searching what runs said, in any script, with anything a person may type."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conductor.store import Store, search
from conductor_client.events import PlanCreated, RunStarted
from conductor_client.plan import Plan
from conductor_client.workflow import workflow_of
from tests.conductor.store.logs import called, chain, created, whole_run


async def found(store: Store, q: str) -> set[str]:
    return {run.run_id for run in (await store.list_runs(q)).runs}


async def said(
    store: Store, run_id: str, prompt: str, *, instruction: str = "answer", output: str = "done"
) -> None:
    workflow = workflow_of(prompt, [("alpha", instruction, [])])
    await store.append(run_id, whole_run(run_id, workflow, outputs=(output,)))


async def test_words_are_found_in_prompt_instruction_and_output_together(store: Store) -> None:
    await said(store, "run_a", "Distance to the moon", instruction="Look it up", output="384,400 kilometres")
    await said(store, "run_b", "Translate a poem", instruction="Keep the metre", output="Der Mond ist fern")
    assert await found(store, "moon") == {"run_a"}
    assert await found(store, "METRE") == {"run_b"}
    assert await found(store, "kilo") == {"run_a"}, "the beginning of a word is enough"
    assert await found(store, "moon kilometres look") == {"run_a"}, "each word may stand elsewhere"
    assert await found(store, "moon poem") == set()
    assert await found(store, '"ist fern"') == {"run_b"}
    assert await found(store, '"fern ist"') == set()
    assert await found(store, "  ") == {"run_a", "run_b"}
    assert await found(store, "") == {"run_a", "run_b"}


@pytest.mark.parametrize(
    ("prompt", "q"),
    [
        ("Où est le café ?", "cafe"),
        ("Où est le café ?", "OÙ"),
        ("Straße nach Köln", "köln"),
        ("Привет, мир", "привет"),
        ("月球离地球有多远？", "地球"),
        ("月球离地球有多远？", "远"),
        ("月球离地球有多远？", "离地球有"),
        ("東京タワーの高さ", "タワー"),
        ("พระจันทร์อยู่ไกลแค่ไหน", "ไกล"),
        ("달까지의 거리는", "달까지"),
        ("mixed 中文 and English", "中文 eng"),
        ("call solve[1] then a]b", "solve[1]"),
        ('she said "x"y', 'x"y'),
        ("C++ and a_b.c-d", "a_b.c"),
        ("party 🎉 tonight", "🎉"),
        ("what ??? happened", "???"),
        ("cafe\u0301 decomposed", "café"),
    ],
)
async def test_any_script_and_sign(store: Store, prompt: str, q: str) -> None:
    await said(store, "run_a", prompt)
    await said(store, "run_b", "nothing of the kind")
    assert await found(store, q) == {"run_a"}


async def test_neighbouring_signs_of_an_unspaced_script_are_one_word(store: Store) -> None:
    await said(store, "run_a", "地面上的球")
    assert await found(store, "地球") == set()


@pytest.mark.parametrize(
    "q",
    [
        '"',
        '""',
        "'",
        "AND",
        "OR NOT",
        "NEAR(a b)",
        "prompt:x",
        "-x",
        "^x",
        "x*",
        "(",
        "a\x00b",
        "{a b}: c",
        "\ud800",
    ],
)
async def test_query_syntax_is_only_text(store: Store, q: str) -> None:
    await said(store, "run_a", "nothing")
    assert await found(store, q) <= {"run_a"}


@given(q=st.text(st.characters(), max_size=60), prompt=st.text(min_size=1, max_size=60))
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_search_never_raises(store: Store, q: str, prompt: str) -> None:
    run_id = f"run_{abs(hash((q, prompt)))}_{(await store.list_runs(limit=1)).total}"
    await store.append(run_id, [created(run_id, prompt=prompt)])
    page = await store.list_runs(q, limit=3)
    for run in page.runs:
        assert run.snippet is None or (run.snippet.count("⟦") == run.snippet.count("⟧"))


@given(
    words=st.lists(
        st.text(st.characters(categories=("L", "Nd"), max_codepoint=0x36F), min_size=1), min_size=1
    )
)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_a_run_is_found_by_the_words_of_its_prompt(store: Store, words: list[str]) -> None:
    run_id = f"run_{(await store.list_runs(limit=1)).total}"
    await store.append(run_id, [created(run_id, prompt=" ".join(words))])
    indexed = [word for word in words[:3] if search.matching(word)]
    for word in indexed:
        page = await store.list_runs(word, limit=200)
        assert run_id in {run.run_id for run in page.runs}


async def test_a_snippet_marks_the_words_and_only_them(store: Store) -> None:
    text = "word " * 60 + "the answer is forty-two ⟦sic⟧ " + "word " * 60
    await said(store, "run_a", "A question", output=text)
    run = (await store.list_runs("forty answer")).runs[0]
    assert run.snippet is not None
    assert "⟦answer⟧" in run.snippet
    assert "⟦forty⟧" in run.snippet
    assert run.snippet.count("⟦") == 2
    assert len(run.snippet) < 300
    await said(store, "run_b", "月球离地球有多远？")
    assert (await store.list_runs("地球")).runs[0].snippet == "月球离⟦地球⟧有多远？"
    assert (await store.list_runs()).runs[0].snippet is None


async def test_a_plan_is_searchable_as_soon_as_it_is_known_and_outputs_when_the_run_ends(
    store: Store,
) -> None:
    workflow = chain()
    plan = Plan(
        plan_id="plan_1", workflow=workflow, decision="new", conductor="local", pool=("alpha", "beta")
    )
    await store.append("run_a", [created("run_a"), RunStarted(run_id="run_a")])
    assert await found(store, "moon") == {"run_a"}
    assert await found(store, "part") == set()
    await store.append("run_a", [PlanCreated(run_id="run_a", plan=plan)])
    assert await found(store, "part") == {"run_a"}
    steps = [*called("run_a", workflow, "s1", "zanzibar"), *called("run_a", workflow, "s2", "quixotic")]
    await store.append("run_a", steps)
    await store.append("run_a", [whole_run("run_a")[-1]])
    assert await found(store, "zanzibar quixotic part moon") == {"run_a"}


async def test_a_very_long_text_is_searchable_up_to_a_bound(store: Store) -> None:
    await said(store, "run_a", "early " + "x " * search.MAX_INDEXED + "toolate")
    assert await found(store, "early") == {"run_a"}
    assert await found(store, "toolate") == set()
    assert await found(store, "early " * 5_000) == {"run_a"}
