"""Find the code in a text: in a fence, or unfenced between sentences. Pure: it is parsed, never run."""

from __future__ import annotations

import ast
import re

from conductor.local.expressions import code_blocks

MAX_LINES = 400
MAX_PARSES = 60

CODE_START = re.compile(
    r"(?:import|from|def|class|for|while|if|with|try|print|assert|async)\b|@\w"
    r"|\w[\w.\[\]'\", ]*\s*[-+*/]?=[^=]|\w+\("
)
INLINE_PRINT = re.compile(r"\bprint\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


def find_code(text: str) -> tuple[str, str] | None:
    """The code a text gives to run, as `(language, code)`: its last fence, else its first piece of Python."""
    if blocks := code_blocks(text):
        language, code = blocks[-1]
        return language, _without_prompts(code)
    unfenced = _unfenced(text)
    return ("", unfenced) if unfenced else None


def find_program(text: str) -> str | None:
    """Code of several statements, where one expression was asked for: models like to name their steps.

    A program that ends with an assignment is taken to mean the value it assigned.
    """
    code = _only_code(text)
    body = _parsed(code)
    if (
        body is None
        or len(body) < 2
        or not any(isinstance(statement, ast.Assign | ast.Import) for statement in body)
    ):
        return None
    last = body[-1]
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        return f"{code}\n{last.targets[0].id}"
    return code


def find_expression(text: str) -> str | None:
    """One expression that computes something but isn't arithmetic, such as `len("banana")`."""
    code = _only_code(text)
    body = _parsed(code)
    if body and len(body) == 1 and isinstance(body[0], ast.Expr | ast.Assign) and _computes(body[0]):
        return ast.unparse(body[0].value)
    return None


def _only_code(text: str) -> str:
    blocks = code_blocks(text)
    return _without_prompts(blocks[-1][1] if blocks else text.strip().strip("`").strip())


def _without_prompts(code: str) -> str:
    if not re.match(r"\s*>>> ", code):
        return code
    return "\n".join(line[4:] for line in code.splitlines() if re.match(r">>> |\.\.\. ", line))


def _parsed(code: str) -> list[ast.stmt] | None:
    try:
        return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _computes(statement: ast.stmt) -> bool:
    """False for a lone word or number, which is Python by accident, and for what has no effect."""
    if not isinstance(statement, ast.Expr | ast.Assign):
        return True
    idle = (ast.Name, ast.Constant, ast.Tuple, ast.Lambda, ast.Attribute, ast.Compare, ast.BoolOp)
    return not isinstance(statement.value, idle) or isinstance(statement, ast.Assign)


def _unfenced(text: str) -> str | None:
    lines = text.splitlines()[:MAX_LINES]
    parses = 0
    for first, line in enumerate(lines):
        if not CODE_START.match(line):
            continue
        end = len(lines)
        while end > first and parses < MAX_PARSES:
            parses += 1
            code = "\n".join(lines[first:end])
            try:
                body = ast.parse(code).body
            except SyntaxError as error:
                # Prose begins no later than the line the parser stumbled over.
                end = min(end - 1, first + (error.lineno or 1) - 1)
                continue
            except (ValueError, RecursionError, MemoryError):
                break
            if any(_computes(statement) for statement in body):
                return code
            break
    # A question such as "What does print(3 * 4) show?" has its code inside the sentence.
    found = [match[0] for line in lines for match in INLINE_PRINT.finditer(line[:2_000])]
    return found[-1] if found else None
