"""Every way of answering, by the name of the model asked for. ``row``: of the table of wires, 0 = beside it.

A case that goes well in the end fails the first request that holds these messages and answers the next, over
and over: each new run sees the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.bad_server.answers import Answer, Form, Problem
from tests.bad_server.replies import Reply, body

GOOD = Answer()
BUSY_MARK = "[[429]]"
"""A prompt that holds it is turned away once by the model ``12-one-of-many``."""
OLLAMA_CONTEXT = 4096

OVERFLOWS = (
    (400, "context_length_exceeded", "The request is too large."),
    (400, "", "This model's maximum context length is 4096 tokens. However, you requested 5000."),
    (422, "", "Your input exceeds the context window of this model."),
    (413, "", "prompt is too long: 210000 tokens > 200000 maximum"),
    (400, "", "Input is too long for requested model."),
    (400, "", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    (400, "", "Invalid request: Your request exceeded model token limit: 131072"),
    (400, "input_too_large", "The input does not fit."),
    (500, "exceed_context_size_error", "the request exceeds the available context size, try increasing it"),
    (400, "", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
    (400, "model_context_window_exceeded", "The model stopped."),
)
"""Status, code and words by which servers say that a prompt does not fit."""
LONG_PAGE = "<html><style>b {}</style><h1>503 Service Unavailable</h1>" + "<p>Very busy.</p>" * 200


@dataclass(frozen=True)
class Asked:
    """One request: its form and body, and how often these messages were sent to this model before."""

    form: Form
    body: Mapping[str, Any]
    before: int
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """All it says."""
        return str(self.body.get("messages"))


Said = Answer | Problem | Reply
FormOf = Callable[[Asked], Said]


@dataclass(frozen=True)
class Case:
    """One way of answering. ``forms``: the protocols in which a server can say such a thing."""

    row: int
    model: str
    shows: str
    say: FormOf
    forms: tuple[Form, ...] = ("openai", "anthropic")


def always(said: Said) -> FormOf:
    """The same answer to everybody."""
    return lambda asked: said


def first(said: Said, times: int = 1) -> FormOf:
    """So many failures, then a good answer, then the same again."""
    return lambda asked: said if asked.before % (times + 1) < times else GOOD


def _renamed(asked: Asked) -> Said:
    if "max_tokens" not in asked.body:
        return GOOD
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    return Problem(400, said, "unsupported_parameter", "max_tokens")


def _without_temperature(asked: Asked) -> Said:
    if "temperature" not in asked.body:
        return GOOD
    said = "Unsupported value: 'temperature' does not support this value with this model."
    return Problem(400, said, "unsupported_value", "temperature")


def _overflow(number: int) -> FormOf:
    status, code, message = OVERFLOWS[number]
    return always(Problem(status, message, code))


def _one_of_many(seconds: str | None) -> FormOf:
    headers = {} if seconds is None else {"Retry-After": seconds}
    busy = first(Problem(429, "Slow down.", "rate_limit_error", headers=headers))
    return lambda asked: busy(asked) if BUSY_MARK in asked.prompt else GOOD


def _quota(asked: Asked) -> Said:
    said = "You exceeded your current quota, please check your plan and billing details."
    return Problem(429, said, "insufficient_quota")


def _full_context(asked: Asked) -> Said:
    return replace(GOOD, input_tokens=OLLAMA_CONTEXT - GOOD.output_tokens)


def _echo(asked: Asked) -> Said:
    said = " ".join(f"{name}: {value}" for name, value in asked.headers.items())
    return Problem(401, f"Refused: {said}", "authentication_error")


_OVERLOADED = Problem(529, "Overloaded", "overloaded_error")
_PARTS = ("One ", "two ", "three ")
OPENAI: tuple[Form, ...] = ("openai",)

CASES = (
    Case(0, "00-mute", "not even headers for a minute", always(Reply(is_mute=True))),
    Case(
        0,
        "00-stuck",
        "one piece, then nothing for a minute",
        always(replace(GOOD, texts=("All ",), is_stuck=True)),
    ),
    Case(0, "00-echo", "401 that repeats every header and the address", _echo),
    Case(1, "01-usage-alone", "usage in a last chunk without choices", always(GOOD), OPENAI),
    Case(
        2,
        "02-usage-with-choice",
        "usage beside the last choice",
        always(replace(GOOD, usage="with_choice")),
        OPENAI,
    ),
    Case(
        3,
        "03-usage-cumulative",
        "usage in every chunk, growing",
        always(replace(GOOD, usage="every_chunk")),
    ),
    Case(4, "04-no-usage", "no usage at all", always(replace(GOOD, usage="never"))),
    Case(
        5,
        "05-empty",
        "nothing said, finish stop, usage 0",
        always(replace(GOOD, texts=(), input_tokens=0, output_tokens=0)),
    ),
    Case(
        6,
        "06-only-thoughts",
        "the whole cap spent on thinking",
        always(replace(GOOD, texts=(), thought="Hmm.", finish="length", thinking_tokens=5)),
    ),
    Case(
        7,
        "07-no-finish",
        "a clean end without a finish reason",
        always(replace(GOOD, texts=_PARTS, finish=None, usage="never")),
    ),
    Case(
        8,
        "08-socket-cut",
        "the socket is cut after three pieces, once",
        first(replace(GOOD, texts=_PARTS, is_cut=True)),
    ),
    Case(
        9,
        "09-overloaded-in-stream",
        "an error event after three pieces under HTTP 200, once",
        first(replace(GOOD, texts=_PARTS, problem=_OVERLOADED)),
    ),
    Case(
        10,
        "10-error-under-200",
        "HTTP 200 whose body is an error",
        always(Problem(200, "The upstream model failed.", "api_error")),
    ),
    Case(11, "11-overloaded-529", "529 with JSON, twice", first(_OVERLOADED, times=2)),
    Case(11, "11-page-503", "503 with a long HTML page, twice", first(body(LONG_PAGE, 503), times=2)),
    Case(11, "11-empty-429", "429 without body and header, twice", first(Reply(status=429), times=2)),
    Case(
        12,
        "12-retry-after",
        "429 with Retry-After: 30, once",
        first(Problem(429, "Slow down.", "rate_limit_error", headers={"Retry-After": "30"})),
    ),
    Case(
        12,
        "12-one-of-many",
        f"429 with Retry-After: 1, once, for a prompt with {BUSY_MARK}; others are answered",
        _one_of_many("1"),
    ),
    Case(12, "12-one-of-many-bare", "the same without the header", _one_of_many(None)),
    Case(13, "13-quota", "429 because the account is empty", _quota),
    Case(14, "14-max-tokens", "400 until max_tokens has its newer name", _renamed, OPENAI),
    Case(15, "15-temperature", "400 while temperature is sent, null included", _without_temperature),
    Case(
        16,
        "16-refused",
        "a filter's refusal and nothing else",
        always(replace(GOOD, texts=(), finish="refusal", output_tokens=0)),
    ),
    Case(
        16,
        "16-refused-in-words",
        "a refusal that says why",
        always(
            replace(GOOD, texts=(), finish="refusal", refusal="I cannot help with that.", output_tokens=0)
        ),
    ),
    *(
        Case(17, f"17-overflow-{number + 1}", f"{status}: {code or message}", _overflow(number))
        for number, (status, code, message) in enumerate(OVERFLOWS)
    ),
    Case(
        18,
        "18-prompt-cut",
        f"prompt and answer fill exactly {OLLAMA_CONTEXT} tokens, no error",
        _full_context,
    ),
    Case(
        19,
        "19-cached",
        "17,903 tokens of prompt, 17,817 of them cached",
        always(replace(GOOD, input_tokens=17_903, cached_tokens=17_817)),
    ),
    Case(20, "20-other-model", "another model serves", always(replace(GOOD, model="gpt-5-mini"))),
    Case(
        21,
        "21-think-closed",
        "a thought in tags",
        always(replace(GOOD, texts=("<think>SECRET ", "plan</th", "ink>\n\nThe answer."))),
    ),
    Case(
        21,
        "21-think-unopened",
        "a thought whose tag was opened by the template",
        always(replace(GOOD, texts=("SECRET plan\n", "</think>\n\n", "The answer."))),
    ),
    Case(
        21,
        "21-think-unclosed",
        "a thought that never ends",
        always(replace(GOOD, texts=("<think>SECRET ", "plan"), finish="length")),
    ),
    Case(
        22,
        "22-emoji-halves",
        "one character in two halves",
        always(replace(GOOD, texts=("a\ud83d", "\ude00b"))),
    ),
    Case(23, "23-unpriced", "a model that no price list knows", always(GOOD)),
)
BY_MODEL = {case.model: case for case in CASES}
