"""Run Python that nobody has read, in a small interpreter without files, network or processes.

The interpreter is `pydantic-monty`. Each run gets a fresh session in a worker process of its pool; time,
memory and output are limited, and a worker that breaks is replaced. Chance is seeded and sleep takes no time,
so the same code gives the same text.
"""

from __future__ import annotations

import ast
import asyncio
from dataclasses import dataclass
from typing import Any

MAX_MEMORY_BYTES = 128 * 1024 * 1024
MAX_OUTPUT_BYTES = 64 * 1024
MAX_CODE_CHARACTERS = 100_000
MAX_RECURSION = 500
GRACE_S = 0.5
"""How long past its limit a run may take to notice it, before its worker is killed."""
CUT_MARK = "\n[output cut at 64 KB]"
LAST_VALUE = "_value_of_last_expression"


@dataclass(frozen=True)
class Printed:
    """What a run printed; if it printed nothing, the value of its last expression."""

    text: str
    is_cut: bool


class CodeFailed(Exception):
    """The code ended in an error: `kind` is `tool_error` or `timeout`; `line` counts from 1 or is None."""

    def __init__(self, kind: str, error: str, line: int | None, printed: str) -> None:
        super().__init__(error if line is None else f"{error} (line {line})")
        self.kind = kind
        self.line = line
        self.printed = printed


async def run_code(code: str, *, timeout_s: float = 5.0) -> Printed:
    """Run a piece of Python. Raises `CodeFailed`; cancelling it kills the run.

    Known gaps of the interpreter, which end as such errors: generators, `del`, `input`, most of the standard
    library (there are math, re, json, random, datetime, collections, itertools, functools, dataclasses,
    decimal).
    """
    if len(code) > MAX_CODE_CHARACTERS:
        raise CodeFailed("tool_error", f"the code is longer than {MAX_CODE_CHARACTERS} characters", None, "")
    import pydantic_monty as monty

    output = monty.CollectString(max_bytes=MAX_OUTPUT_BYTES)
    code = code.encode("utf-8", "replace").decode()
    rewritten = _keep_last_value(code)
    pool = await _pool()
    try:
        async with pool.checkout(limits=_limits(timeout_s), os_policy=_policy()) as session:
            async with asyncio.timeout(timeout_s + GRACE_S):
                await session.feed_run(rewritten or code, print_callback=output)
                if rewritten and not output.output:
                    await session.feed_run(_SHOW_LAST_VALUE, print_callback=output)
    except TimeoutError:
        raise CodeFailed("timeout", f"it ran longer than {timeout_s:g} s", None, output.output) from None
    except monty.MontySyntaxError as error:
        raise CodeFailed("tool_error", f"SyntaxError: {error}", _line(error), "") from None
    except monty.MontyCrashedError as error:
        kind = "timeout" if error.timed_out else "tool_error"
        raise CodeFailed(kind, "the sandbox ended the run", None, output.output) from None
    except monty.MontyError as error:
        message = str(error)
        # The collector's own limit comes as a memory error that names no line.
        if len(output.output.encode()) >= MAX_OUTPUT_BYTES - 4096 and "memory limit" in message:
            return Printed(_cut(output.output) + CUT_MARK, True)
        kind = "timeout" if message.startswith("TimeoutError: feed time limit") else "tool_error"
        said = f"it ran longer than {timeout_s:g} s" if kind == "timeout" else message
        raise CodeFailed(kind, said, _line(error), output.output) from None
    except (ValueError, UnicodeError) as error:
        # A value the host can't take over, such as an integer of a million digits.
        raise CodeFailed("tool_error", f"{type(error).__name__}: {error}", None, output.output) from None
    return Printed(output.output, False)


_SHOW_LAST_VALUE = f"print({LAST_VALUE}) if {LAST_VALUE} is not None else None"


def _keep_last_value(code: str) -> str | None:
    # The value is printed inside the sandbox: only there does an object know its own text.
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return None
    last = tree.body[-1]
    lines = code.encode().splitlines(keepends=True)
    start = sum(len(line) for line in lines[: last.lineno - 1]) + last.col_offset
    end = sum(len(line) for line in lines[: (last.end_lineno or 1) - 1]) + (last.end_col_offset or 0)
    raw = code.encode()
    kept = raw[:start] + f"{LAST_VALUE} = (".encode() + raw[start:end] + b")" + raw[end:]
    return kept.decode("utf-8", "replace")


def _cut(text: str) -> str:
    return text.encode()[:MAX_OUTPUT_BYTES].decode("utf-8", "ignore")


def _line(error: Any) -> int | None:
    frames = error.traceback()
    return frames[-1].line if frames else None


def _limits(timeout_s: float) -> Any:
    return {
        "max_feed_duration_secs": timeout_s,
        "max_memory": MAX_MEMORY_BYTES,
        "max_recursion_depth": MAX_RECURSION,
    }


def _policy() -> Any:
    return {
        "sleep": "zero",
        "random_start": {"seed": 0},
    }


_shared_pool: Any = None


async def _pool() -> Any:
    # One for the process: it belongs to no event loop, and its workers end with the process.
    global _shared_pool
    if _shared_pool is None:
        import pydantic_monty as monty

        pool = monty.AsyncMonty(min_processes=0, max_processes=4)
        await pool.__aenter__()
        _shared_pool = pool
    return _shared_pool
