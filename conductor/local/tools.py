"""The two tool workers: `calculator` evaluates the one expression it finds, `python` runs the code it is
given.

A tool gets what a model in its place would get, as text: the question, its instruction, and the outputs its
step may see. It trusts none of it. What it cannot use is a `ToolError` that says what it looked at.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from conductor.local import sandbox
from conductor.local.arithmetic import CannotEvaluate, NotArithmetic, evaluate, number_text
from conductor.local.expressions import candidates
from conductor.local.sandbox import CodeFailed
from conductor.local.snippets import find_code, find_expression, find_program

TIMEOUT_S = 5.0
MAX_CANDIDATES = 1_000
EXCERPT_CHARACTERS = 160
PYTHON_NAMES = frozenset(("", "python", "python3", "py", "python-repl", "pycon", "text", "txt", "plaintext"))
NOTHING_PRINTED = "(the code ran and printed nothing)"

Visible = Sequence[tuple[str, str, str]]
"""The outputs a step may see, oldest first: `(step label, instruction, output)`."""
ErrorKind = Literal["bad_input", "tool_error", "timeout"]


@dataclass(frozen=True)
class ToolResult:
    """What a tool answers."""

    output: str
    used: str
    """The expression or code it took, as it was evaluated."""
    source: str
    """Where that was: a step's label, `instruction` or `question`."""
    is_cut: bool = False
    """True when the output was longer than 64 KB and ends with a mark."""


class ToolError(Exception):
    """A tool has no answer: nothing to work on (`bad_input`), a failure (`tool_error`), or a `timeout`."""

    def __init__(self, kind: ErrorKind, message: str, hint: str, printed: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.printed = printed
        """What the code had printed before it failed."""


async def run_tool(
    name: str, *, question: str, instruction: str, visible: Visible, timeout_s: float = TIMEOUT_S
) -> ToolResult:
    """Run one tool. Raises `ToolError`, for a tool that doesn't exist too."""
    try:
        tool = TOOLS[name]
    except KeyError:
        known = ", ".join(TOOLS)
        raise ToolError("bad_input", f"there is no tool {name!r}", f"The tools are {known}.") from None
    # The newest output is what the conductor wanted worked on; the question is the last resort.
    texts = [(label, output) for label, _, output in reversed(visible)]
    return await tool([*texts, ("instruction", instruction), ("question", question)], timeout_s)


async def _calculate(texts: list[tuple[str, str]], timeout_s: float) -> ToolResult:
    for source, text in texts:
        if program := find_program(text):
            result = await _run(program, source, timeout_s)
            return replace(result, output=_tidy(result.output))
        if value := _evaluate_first(text, source):
            return value
        if expression := find_expression(text):
            return await _run(expression, source, timeout_s)
    raise ToolError(
        "bad_input",
        f"no expression to calculate in {_looked_at(texts)}",
        "Let a step before it write one Python expression, or put the expression into the instruction.",
    )


def _evaluate_first(text: str, source: str) -> ToolResult | None:
    failure: tuple[str, CannotEvaluate] | None = None
    for expression in itertools.islice(candidates(text), MAX_CANDIDATES):
        try:
            return ToolResult(number_text(evaluate(expression)), expression, source)
        except CannotEvaluate as error:
            failure = failure or (expression, error)
        except NotArithmetic:
            continue
    if failure:
        said = f"{failure[0]} has no value: {failure[1]}"
        raise ToolError("tool_error", said, f"Change the expression in {_place(source)}.")
    return None


def _tidy(output: str) -> str:
    """A printed float without its binary tail; any other text as it is."""
    try:
        return number_text(evaluate(output))
    except (NotArithmetic, CannotEvaluate):
        return output


async def _run_python(texts: list[tuple[str, str]], timeout_s: float) -> ToolResult:
    for source, text in texts:
        if found := find_code(text):
            language, code = found
            if language not in PYTHON_NAMES:
                said = f"the code in {source} is {language}, not Python"
                raise ToolError("bad_input", said, f"Python is wanted in {_place(source)}.")
            return await _run(code, source, timeout_s)
    raise ToolError(
        "bad_input",
        f"no Python code to run in {_looked_at(texts)}",
        "Let a step before it write the code in a ``` block, or put the code into the question.",
    )


TOOLS: dict[str, Callable[[list[tuple[str, str]], float], Coroutine[Any, Any, ToolResult]]] = {
    "calculator": _calculate,
    "python": _run_python,
}


async def _run(code: str, source: str, timeout_s: float) -> ToolResult:
    try:
        printed = await sandbox.run_code(code, timeout_s=timeout_s)
    except CodeFailed as error:
        kind: ErrorKind = "timeout" if error.kind == "timeout" else "tool_error"
        said = f"the code failed: {error}"
        raise ToolError(kind, said, _hint(code, str(error), source), error.printed) from None
    return ToolResult(printed.text.rstrip("\n") or NOTHING_PRINTED, code, source, printed.is_cut)


def _hint(code: str, error: str, source: str) -> str:
    if re.search(r"\binput\s*\(", code):
        return "The code waits for input, which a run can't give; let it define its values itself."
    if any(sign in error for sign in ("ModuleNotFound", "not yet support", "has no attribute")):
        return "The sandbox knows a part of Python: no generators, no del, few modules. Write it more simply."
    return f"The code is in {_place(source)}. Look at it, change that, and run again."


def _place(source: str) -> str:
    return f"the {source}" if source in ("instruction", "question") else f"the output of {source}"


def _looked_at(texts: list[tuple[str, str]]) -> str:
    def excerpt(text: str) -> str:
        text = " ".join(text.split())
        return text if len(text) <= EXCERPT_CHARACTERS else text[:EXCERPT_CHARACTERS] + "…"

    return "; ".join(f"{source} “{excerpt(text)}”" for source, text in texts if text.strip()) or "empty texts"
