"""Whatever text a tool is given: an answer or a `ToolError`, in bounded time."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conductor.local import expressions
from conductor.local.tools import ToolError, run_tool

PIECES = st.sampled_from(
    [
        *(
            "1",
            "23",
            "4.5",
            "0",
            "1,000",
            " ",
            "\n",
            "(",
            ")",
            "+",
            "-",
            "*",
            "/",
            "**",
            "%",
            "=",
            "^",
            ",",
            ".",
            ":",
        ),
        *(
            "`",
            "```",
            "```python\n",
            "\\frac{",
            "}",
            "\\times",
            "$",
            "x",
            "print(",
            "sqrt(",
            "sum([",
            "]",
            "é",
            "🚀",
        ),
        *(
            "def f():\n",
            "    return 1\n",
            "import os\n",
            "lambda: ",
            "\\",
            "\x00",
            "\ud800",
            "'",
            '"',
            "!",
            "e",
            "of ",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join))


@pytest.mark.parametrize("tool", ["calculator", "python"])
@given(question=TEXTS, instruction=TEXTS, output=TEXTS)
@settings(max_examples=60, deadline=None)
async def test_never_crashes(tool: str, question: str, instruction: str, output: str) -> None:
    try:
        result = await run_tool(
            tool,
            question=question,
            instruction=instruction,
            visible=[("Step 1", "Write it", output)],
            timeout_s=0.5,
        )
    except ToolError as error:
        assert error.kind in ("bad_input", "tool_error", "timeout") and error.message and error.hint
    else:
        assert isinstance(result.output, str)


@pytest.mark.parametrize(
    "text",
    [
        "1+" + " " * 20_000,
        "(" * 20_000,
        "1" * 20_000,
        "1)" * 10_000,
        "\\(" * 10_000,
        "$" + "\\" * 20_000,
        "1 +" * 7_000,
        "a 1\n" * 5_000,
        "x = 1\n" * 3_000 + "and then prose follows",
        "if a\n" * 4_000,
        "```" * 6_000,
        "1,000" * 4_000,
        "9%" * 10_000,
    ],
    ids=lambda text: repr(text[:8]),
)
@pytest.mark.parametrize("tool", ["calculator", "python"])
async def test_hostile_text_takes_no_long_time(tool: str, text: str) -> None:
    began = time.process_time()
    with contextlib.suppress(ToolError):
        await run_tool(tool, question="", instruction="", visible=[("Step 1", "", text)], timeout_s=0.5)
    assert time.process_time() - began < 1


@given(TEXTS)
def test_plain_text_stays_plain(text: str) -> None:
    assert isinstance(expressions.plain(text), str)
