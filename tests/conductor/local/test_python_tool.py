"""The python tool runs what it is given in a sandbox and says what was printed, or what went wrong."""

from __future__ import annotations

import asyncio
import time

import pytest

from conductor.local.tools import ToolError, ToolResult, run_tool


async def run(output: str | None = None, *, question: str = "", timeout_s: float = 5.0) -> ToolResult:
    visible = [] if output is None else [("Step 1", "Write the program", output)]
    return await run_tool(
        "python", question=question, instruction="Run the program", visible=visible, timeout_s=timeout_s
    )


def fenced(code: str, language: str = "python") -> str:
    return f"Here it is:\n```{language}\n{code}\n```\nIt does what you asked."


@pytest.mark.parametrize(
    ("output", "printed"),
    [
        (fenced("print(1)\nprint(2)"), "1\n2"),
        (fenced("2 + 2"), "4"),
        (fenced("def f(n):\n    return n * n\nf(5)  # value"), "25"),
        (fenced("class A:\n    def __repr__(self): return 'A!'\nA()"), "A!"),
        (fenced("'abc'[::-1]"), "cba"),
        (fenced("print(1)\n2"), "1"),
        (fenced("x = [0] * 3\nx"), "[0, 0, 0]"),
        (fenced("print('é🚀')"), "é🚀"),
        (fenced(">>> x = 3\n>>> x * 2\n6"), "6"),
        (fenced("print(1)") + fenced("print(2)"), "2"),
        ("def f(): return 3\nf()", "3"),
        ("```python\nprint('open fence')", "open fence"),
        (fenced("(2 +\n  3)"), "5"),
        (fenced("import time\ntime.sleep(30)\nprint('slept')"), "slept"),
        (fenced("def f(): pass"), "(the code ran and printed nothing)"),
        (fenced("if __name__ == '__main__':\n    print('main')"), "main"),
    ],
)
async def test_runs_and_prints(output: str, printed: str) -> None:
    assert (await run(output)).output == printed


@pytest.mark.parametrize(
    ("question", "printed"),
    [
        ("What does this print?\n```python\nprint(sum([1, 2, 3]))\n```", "6"),
        ("What does this print?\n\nfor i in range(3):\n    print(i * 2)\n", "0\n2\n4"),
        ("What does this print?\n\nx = [3, 1]\nx.sort()\nprint(x[0])\n\nAnswer with the number only.", "1"),
        ("What is the output of print(len('hello') * 2)?", "10"),
        ("Tell me the result:\n\nd = {'a': 1}\nd['b'] = 2\nprint(len(d))", "2"),
    ],
)
async def test_finds_code_in_the_question(question: str, printed: str) -> None:
    result = await run(question=question)
    assert (result.output, result.source) == (printed, "question")


async def test_an_error_names_type_and_line_and_keeps_what_was_printed() -> None:
    with pytest.raises(ToolError, match=r"ZeroDivisionError: division by zero \(line 2\)") as caught:
        await run(fenced("print('before')\n1 / 0"))
    assert caught.value.kind == "tool_error" and caught.value.printed == "before\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def f(:", "SyntaxError"),
        ("open('/etc/passwd').read()", "PermissionError"),
        ("import os\nos.system('ls')", "AttributeError"),
        ("import socket", "ModuleNotFoundError"),
        ("import subprocess", "ModuleNotFoundError"),
        ("__import__('os')", "NameError"),
        ("'a' * 10 ** 10", "MemoryError"),
        ("def f(): return f()\nf()", "RecursionError"),
        ("raise ValueError('no')", "ValueError: no"),
        ("\x00", "SyntaxError"),
    ],
)
async def test_what_fails_or_reaches_out_is_an_error(code: str, said: str) -> None:
    with pytest.raises(ToolError, match=said) as caught:
        await run(fenced(code))
    assert caught.value.kind == "tool_error"


async def test_an_endless_loop_times_out() -> None:
    began = time.monotonic()
    with pytest.raises(ToolError, match=r"longer than 0\.3 s") as caught:
        await run(fenced("while True: pass"), timeout_s=0.3)
    assert caught.value.kind == "timeout" and time.monotonic() - began < 10


async def test_long_output_is_cut_and_marked() -> None:
    result = await run(fenced("print('x' * 200_000)"))
    assert result.is_cut and result.output.endswith("[output cut at 64 KB]")
    assert 64_000 < len(result.output) < 66_000


async def test_cancelling_stops_the_run_at_once() -> None:
    task = asyncio.create_task(run(fenced("while True: pass"), timeout_s=60))
    await asyncio.sleep(0.2)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 0.5
    assert (await run(fenced("print('next')"))).output == "next"


async def test_same_code_same_chance() -> None:
    code = fenced("import random\nprint(random.random())")
    assert (await run(code)).output == (await run(code)).output


async def test_runs_share_nothing() -> None:
    await run(fenced("secret = 1"))
    with pytest.raises(ToolError, match="NameError"):
        await run(fenced("print(secret)"))


async def test_other_languages_are_named() -> None:
    with pytest.raises(ToolError, match="is js, not Python"):
        await run(fenced("console.log(1)", "js"))


async def test_input_has_a_hint_of_its_own() -> None:
    with pytest.raises(ToolError) as caught:
        await run(fenced("name = input('?')\nprint(name)"))
    assert "waits for input" in caught.value.hint


@pytest.mark.parametrize("output", ["", "no code here (really).", "It is 5 o'clock. Why?"])
async def test_no_code_says_what_it_looked_at(output: str) -> None:
    with pytest.raises(ToolError, match="no Python code to run in") as caught:
        await run(output, question="Write a function that adds")
    assert caught.value.kind == "bad_input"
