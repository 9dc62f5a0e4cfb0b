"""The OpenAI-compatible side, by OpenAI's own client against a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator

import openai
import pytest

from conductor_client.client import ConductorClient
from tests.conductor.server.conftest import asking

QUESTION = [{"role": "user", "content": "The capital of France?"}]


@pytest.fixture
def ai(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as opened:
        yield opened


def test_models_are_ours_and_every_ready_worker(ai: openai.OpenAI, client: ConductorClient) -> None:
    names = [model.id for model in ai.models.list()]
    assert names == ["conductor-mini", "conductor-ultra", "quick", "slow", "org/odd name:1"]
    assert client.chat_models() == tuple(names)


@pytest.mark.parametrize("model", ["quick", "conductor-mini"])
def test_whole_answer_links_to_its_run(ai: openai.OpenAI, client: ConductorClient, model: str) -> None:
    answer = ai.chat.completions.create(model=model, messages=QUESTION)  # type: ignore[call-overload]  # plain dicts
    assert answer.choices[0].message.content == "Paris"
    assert answer.choices[0].finish_reason == "stop"
    link = answer.model_extra["conductor_run"]
    state = client.run(link["run_id"])
    assert state.origin == "api"
    assert state.final_output == "Paris"
    assert link["url"].endswith(f"/?run={link['run_id']}")
    assert client.chat(model, QUESTION)["choices"][0]["message"]["content"] == "Paris"


def test_streamed_answer(ai: openai.OpenAI) -> None:
    started = time.monotonic()
    first: float | None = None
    text, usage, links = "", None, set()
    for chunk in ai.chat.completions.create(  # type: ignore[call-overload]  # plain dicts
        model="slow", messages=QUESTION, stream=True, stream_options={"include_usage": True}
    ):
        links.add(chunk.model_extra["conductor_run"]["run_id"])
        usage = chunk.usage or usage
        if chunk.choices and chunk.choices[0].delta.content:
            text += chunk.choices[0].delta.content
            first = first or time.monotonic() - started
    whole = time.monotonic() - started
    assert len(text.split()) == 200
    assert first is not None
    assert first < whole / 2
    assert usage is not None
    assert usage.completion_tokens == 200
    assert len(links) == 1


def test_errors_have_openais_form(ai: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="gpt-99") as caught:
        ai.chat.completions.create(model="gpt-99", messages=QUESTION)  # type: ignore[call-overload]  # plain dicts
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.UnprocessableEntityError, match="empty"):
        ai.chat.completions.create(model="quick", messages=[{"role": "user", "content": " "}])
    with pytest.raises(openai.APIStatusError, match="It broke"):
        ai.chat.completions.create(model="quick", messages=[{"role": "user", "content": "boom"}])


def test_hanging_up_stops_the_run(ai: openai.OpenAI, client: ConductorClient) -> None:
    stream = ai.chat.completions.create(model="slow", messages=QUESTION, stream=True)  # type: ignore[call-overload]  # plain dicts
    run_id = next(iter(stream)).model_extra["conductor_run"]["run_id"]
    stream.close()
    for _ in range(40):
        if client.run(run_id).has_ended:
            break
        time.sleep(0.05)
    assert client.run(run_id).status == "cancelled"


def test_a_run_of_the_page_is_not_stopped_by_leaving(client: ConductorClient) -> None:
    run_id = client.start_run(asking(("slow", "Count.", ()))).run_id
    stream = client.events_stream(run_id)
    next(stream)
    stream.close()
    time.sleep(0.5)
    assert client.run(run_id).status == "running"
    client.cancel(run_id)
