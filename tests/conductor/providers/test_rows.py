"""Each row of the table of wires: the bad server's answer, through the real SDK, and what the step becomes.

Both protocols where the row applies, streamed and whole.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from conductor.providers.base import Completion, Worker, WorkerError
from conductor.providers.registry import Providers
from conductor.runs.calls import make_call
from conductor.runs.drafts import Draft
from conductor_client.errors import StepErrorKind
from conductor_client.usage import Usage
from tests.bad_server.answers import Form
from tests.bad_server.cases import BY_MODEL, CASES, OVERFLOWS
from tests.bad_server.server import BadServer, bad_server
from tests.conductor.providers.wire import call

COUNTED = Usage(input_tokens=12, output_tokens=5)
BEGUN = "at most the input is known"


@dataclass(frozen=True)
class Right:
    """The right outcome of one case. ``kind``: of the error, ``None`` when the call goes well.

    ``partial``: text that a stream had given before it failed (a whole answer has given none). ``calls``: how
    often the server is asked. ``said``: what the error's message, or a note, must hold.
    """

    kind: StepErrorKind | None = None
    output: str = "All is well."
    usage: Usage | str | None = COUNTED
    reasoning: str = ""
    partial: str = ""
    said: str = ""
    hint: str = ""
    retryable: bool = False
    retry_after_s: float | None = None
    served: str = ""
    calls: int = 1
    profile: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


OVERFLOW = Right("context_overflow", usage=None, hint="fewer outputs")
THOUGHT = Right(output="The answer.", reasoning="SECRET plan")
RIGHT = {
    "01-usage-alone": Right(),
    "02-usage-with-choice": Right(),
    "03-usage-cumulative": Right(),
    "04-no-usage": Right(usage=None),
    "05-empty": Right("empty_output", usage=Usage(input_tokens=0, output_tokens=0), said="empty answer"),
    "06-only-thoughts": Right(
        "truncated",
        usage=Usage(input_tokens=12, output_tokens=5, reasoning_tokens=5),
        reasoning="Hmm.",
        said="spent its output cap on thinking (5 tokens)",
        hint="max_output_tokens",
    ),
    "07-no-finish": Right(
        "stream_truncated",
        usage=None,
        partial="One two three ",
        said="stopped before its end",
        retryable=True,
    ),
    "08-socket-cut": Right(
        "stream_truncated",
        usage=BEGUN,
        partial="One two three ",
        said="broke in mid-answer",
        retryable=True,
    ),
    "09-overloaded-in-stream": Right(
        "overloaded", usage=BEGUN, partial="One two three ", said="Overloaded", retryable=True
    ),
    "10-error-under-200": Right(
        "provider_error", usage=None, said="The upstream model failed.", retryable=True
    ),
    "11-overloaded-529": Right("overloaded", usage=None, said="HTTP 529: Overloaded", retryable=True),
    "11-page-503": Right(
        "overloaded", usage=None, said="HTTP 503: 503 Service Unavailable Very busy.", retryable=True
    ),
    "11-empty-429": Right("rate_limited", usage=None, said="got HTTP 429.", retryable=True),
    "12-retry-after": Right(
        "rate_limited", usage=None, said="Slow down.", retryable=True, retry_after_s=30, hint="concurrency"
    ),
    "12-one-of-many": Right(),
    "12-one-of-many-bare": Right(),
    "13-quota": Right("quota", usage=None, said="current quota", hint="no credit left"),
    "14-max-tokens": Right(calls=2, said="Sent max_tokens as max_completion_tokens"),
    "15-temperature": Right(
        calls=2,
        said="Left out temperature",
        settings={"temperature": 0},
        profile={"api_version": "2023-06-01"},
    ),
    "16-refused": Right("refused", usage=Usage(input_tokens=12, output_tokens=0), said="refused to answer"),
    "16-refused-in-words": Right(
        "refused", usage=Usage(input_tokens=12, output_tokens=0), said="I cannot help with that."
    ),
    **{f"17-overflow-{number + 1}": OVERFLOW for number in range(len(OVERFLOWS))},
    "18-prompt-cut": Right(
        usage=Usage(input_tokens=4091, output_tokens=5),
        said="prompt was probably cut",
        profile={"cuts_silently": True},
    ),
    "19-cached": Right(usage=Usage(input_tokens=17_903, cached_input_tokens=17_817, output_tokens=5)),
    "20-other-model": Right(served="gpt-5-mini"),
    "21-think-closed": THOUGHT,
    "21-think-unopened": THOUGHT,
    "21-think-unclosed": Right("truncated", reasoning="SECRET plan", said="spent its output cap on thinking"),
    "22-emoji-halves": Right(output="a😀b"),
    "23-unpriced": Right(),
}
ASKED = [
    pytest.param(case.model, form, streamed, id=f"{case.model}-{form}-{'stream' if streamed else 'whole'}")
    for case in CASES
    if case.row
    for form in case.forms
    for streamed in (True, False)
]


@pytest.fixture
async def providers(tmp_path: Path) -> AsyncIterator[Providers]:
    made = Providers(tmp_path)
    yield made
    await made.close()


def worker(server: BadServer, model: str, form: Form, *, streamed: bool) -> Worker:
    right = RIGHT[model]
    profile = {"think_tags": True, **right.profile, "stream": streamed}
    return Worker(
        name="w",
        provider=form,
        model=model,
        base_url=f"{server.url}/v1",
        max_output_tokens=50,
        settings=right.settings,
        profile=profile,
    )


async def outcome(providers: Providers, asked: Worker) -> Completion | WorkerError:
    """What one call comes to, an empty answer being an error."""
    request = call(asked, max_output_tokens=asked.max_output_tokens)
    draft = Draft("r", "s1", 1, lambda _: None)
    try:
        answer = await make_call(
            providers.provider_for(asked), request, draft, idle_timeout_s=20, timeout_s=30
        )
    except WorkerError as error:
        return error
    return answer.completion


def counted(usage: Usage | None) -> Usage | None:
    """The counts; a cache that was not used may be told as 0 or not at all."""
    if usage is None:
        return None
    unused = {
        name: None for name in ("cached_input_tokens", "cache_write_tokens") if not getattr(usage, name)
    }
    return usage.model_copy(update=unused)


@pytest.mark.parametrize(("model", "form", "streamed"), ASKED)
async def test_each_row_comes_out_right(providers: Providers, model: str, form: Form, streamed: bool) -> None:
    right = RIGHT[model]
    async with bad_server() as server:
        got = await outcome(providers, worker(server, model, form, streamed=streamed))
    assert [bool(each.body.get("stream")) for each in server.asked] == [streamed] * right.calls
    if isinstance(got, WorkerError):
        assert (got.kind, got.retryable, got.retry_after_s) == (
            right.kind,
            right.retryable,
            right.retry_after_s,
        )
        assert right.said in got.message
        assert right.hint in got.hint and got.hint
        is_late = streamed or model == "07-no-finish"
        assert got.partial_text == (right.partial if is_late else "")
        assert len(got.message) < 600, "at most 500 characters of the body are shown"
    else:
        assert right.kind is None
        assert got.output == right.output
        assert got.served_model == (right.served or model)
        assert (right.said in "".join(got.notes)) and bool(got.notes) == bool(right.said)
    assert got.reasoning == right.reasoning
    if right.usage == BEGUN:
        assert got.usage in (None, Usage(input_tokens=12, cached_input_tokens=0, cache_write_tokens=0))
    else:
        assert counted(got.usage) == right.usage


def test_every_row_has_a_case_and_every_case_its_right_outcome() -> None:
    assert {case.row for case in CASES if case.row} == set(range(1, 24))
    assert set(RIGHT) == {case.model for case in CASES if case.row}
    assert len(BY_MODEL) == len(CASES)


def test_the_command_lists_every_case() -> None:
    from tests.bad_server.__main__ import listing

    assert [line.split()[1] for line in listing().splitlines()] == [case.model for case in CASES]
