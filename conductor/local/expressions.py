"""Find the one expression that a text is about. Pure; whether a candidate has a value is decided elsewhere.

Small models asked for "one Python expression" answer with a fence, an equation, a sentence, or LaTeX. The
candidates come in the order of how sure one can be that they were meant: fenced code, code in a line,
formulas, whole lines, and at last the longest run of arithmetic in the prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_TEXT_CHARACTERS = 20_000
FUNCTION_NAMES = frozenset(
    (
        *(
            "abs",
            "acos",
            "asin",
            "atan",
            "ceil",
            "comb",
            "cos",
            "degrees",
            "exp",
            "factorial",
            "float",
            "floor",
        ),
        *(
            "gcd",
            "hypot",
            "int",
            "lcm",
            "len",
            "log",
            "log10",
            "log2",
            "math",
            "max",
            "min",
            "perm",
            "pi",
            "pow",
        ),
        *("radians", "round", "sin", "sqrt", "sum", "tan", "tau", "e"),
    )
)
WORDS_OF_OPERATORS = (
    (r"multiplied by|times", "*"),
    (r"divided by", "/"),
    (r"plus|added to", "+"),
    (r"minus", "-"),
    (r"modulo|mod", "%"),
    (r"to the power of", "**"),
)
MAX_LINE_CHARACTERS = 500
MAX_LINES = 100
MAX_JOINED_LINES = 20

FENCE = re.compile(r"```[^\S\n]*([\w+#-]*)[^\S\n]*\n?(.*?)(?:```|\Z)", re.DOTALL)
RESULT_NAMES = frozenset(("output", "out", "text", "txt", "plaintext", "console", "result"))
BARE_RESULT = re.compile(r"[-+$€£]?\s*\d[\d.,\s]*(?:%|[A-Za-z€$£°]+)?")
INLINE_CODE = re.compile(r"(?<!`)`([^`\n]{1,500})`(?!`)")
FORMULA = re.compile(
    r"\\\((.{1,500}?)\\\)|\\\[(.{1,500}?)\\\]|\$\$(.{1,500}?)\$\$|\$([^$\n]{0,200}\\[^$\n]{0,200})\$",
    re.DOTALL,
)
NUMBER = r"\d[\d.]*+%?"
PROSE_RUN = re.compile(
    rf"(?<![-+(\d.])[-+(]*+{NUMBER}(?:[\s)]*+(?:\*\*|//|[-+*/%])[\s(]*+[-+]?[\s(]*+{NUMBER})+[)%]*+"
)


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """All code fences as `(language, content)`, in order; no language is "". An unclosed one runs on."""
    return [(language.lower(), block.strip("\n")) for language, block in FENCE.findall(text) if block.strip()]


def code_blocks(text: str) -> list[tuple[str, str]]:
    """The fences that hold code. Models like to add what they imagine it prints; that is left out."""
    blocks = fenced_blocks(text)
    code = [(language, block) for language, block in blocks if not _is_result(language, block)]
    return code or blocks


def _is_result(language: str, block: str) -> bool:
    return language in RESULT_NAMES or (not language and BARE_RESULT.fullmatch(block.strip()) is not None)


def candidates(text: str) -> Iterator[str]:
    """Texts that may be the expression meant, the surest first. Each may turn out to have no value."""
    text = text[:MAX_TEXT_CHARACTERS]
    guesses: list[str] = []
    for _, block in reversed(code_blocks(text)):
        yield from _of_lines(block, guesses)
    prose = FENCE.sub("\n", text)
    for code in reversed(INLINE_CODE.findall(prose)):
        yield from _of_line(code, guesses)
    for groups in reversed(FORMULA.findall(prose)):
        yield from _of_lines("".join(groups), guesses)
    prose = prose.replace("`", " ")
    yield from _of_lines(prose, guesses)
    yield from _of_prose(prose)
    yield from guesses


def _of_lines(block: str, guesses: list[str]) -> Iterator[str]:
    lines = [line.strip() for line in block.splitlines() if re.search(r"\d", line)]
    if 1 < len(lines) <= MAX_JOINED_LINES:
        yield " ".join(lines)
    for line in reversed(lines[-MAX_LINES:]):
        if len(line) <= MAX_LINE_CHARACTERS:
            yield from _of_line(line, guesses)


def _of_line(line: str, guesses: list[str]) -> Iterator[str]:
    line = re.sub(r"^\s*(?:[-*•]\s+|\d+[.)]\s+(?=\S*\D))", "", line).strip()
    # "= 42!" is joy; only beside an operator is it a factorial.
    line = line.rstrip(".;,:?" if re.search(r"\d!\s*[-+*/)]", line) else ".;,:?!").strip("*_ ")
    if label := re.match(r"[^=:]*[A-Za-z\s]:\s*(?=\S)", line):
        yield from _of_equation(line[label.end() :], guesses)
    yield from _of_equation(line, guesses)


def _of_equation(line: str, guesses: list[str]) -> Iterator[str]:
    # With several sides, the one with an operator was to be computed; a bare number is somebody's guess at
    # it, which is taken only when nothing else in the text can be computed.
    sides = [side.strip() for side in re.split(r"(?<![=<>!:])=(?!=)", line)]
    for side in sides:
        if len(sides) == 1 or re.search(r"\d.*[-+*/%^×÷·x]|\(", plain(side)):
            yield from _variants(side)
        else:
            guesses[:0] = _variants(side)


def _variants(text: str) -> Iterator[str]:
    if text:
        yield text
        simplified = plain(text)
        if simplified != text:
            yield simplified
        if (bare := without_units(simplified)) != simplified:
            yield bare


def _of_prose(text: str) -> Iterator[str]:
    # An arithmetic run inside a sentence: the one with most numbers, and of those the last one written.
    runs = [run.strip() for run in PROSE_RUN.findall(without_units(plain(text)))]
    runs.reverse()
    for run in sorted(runs, key=lambda run: -len(re.findall(NUMBER, run))):
        yield balanced(run)


def plain(text: str) -> str:
    """The same arithmetic with Python's signs: no LaTeX, thousands separators, currency or percent signs."""
    text = latex_to_plain(text)
    for pattern, sign in WORDS_OF_OPERATORS:
        text = re.sub(rf"(?<=[\d)%])\s+(?:{pattern})\s+(?=[\d(])", f" {sign} ", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<=[\d)])\s+squared\b", "**2", text)
    text = re.sub(r"(?<=[\d)])\s+cubed\b", "**3", text)
    for signs, sign in (("×·∙⋅✕", "*"), ("÷∕", "/"), ("−–—", "-")):
        text = re.sub(f"[{signs}]", sign, text)
    text = text.replace("²", "**2").replace("³", "**3").replace("^", "**")
    text = re.sub(r"√\s*(\d[\d.]*)", r"sqrt(\1)", text).replace("√(", "sqrt(")
    text = re.sub(r"[$€£¥₽₹]\s*(?=[\d(.])|(?<=\d)\s*[€£¥₽₹]", "", text)
    text = re.sub(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)", lambda match: match[0].replace(",", ""), text)
    text = re.sub(r"(?<=\d)_(?=\d{3})", "", text)
    text = re.sub(r"(?<=[\d)])\s*[xX]\s*(?=[\d(])", "*", text)
    text = re.sub(r"(?<=\d)\s*%\s*of\s+(?=[\d(.])", "/100*", text, flags=re.IGNORECASE)
    # A percent sign with a number after it is Python's remainder; any other one is a hundredth.
    text = re.sub(r"(?<![\d.])(\d[\d.]*+)\s*%(?!\s*[\d(A-Za-z])", r"(\1/100)", text)
    text = re.sub(r"(?<![\w.])(\d+)!(?=\s*[-+*/)?]|$)", r"factorial(\1)", text)
    text = re.sub(r"(?<![\w.])0+(?=\d)", "", text)
    text = re.sub(r"(?<![\w.])(\d[\d.]*)\s*\(", r"\1*(", text)
    return re.sub(r"\)\s*(?=[\d(])", ")*", text).strip()


def latex_to_plain(text: str) -> str:
    """LaTeX arithmetic as plain text; whatever isn't LaTeX stays as it is."""
    if "\\" not in text:
        return text
    text = re.sub(r"\\(?:boxed|mathrm|mathbf|displaystyle)\s*\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\text\s*\{[^{}]*\}", " ", text)
    for _ in range(4):
        text = re.sub(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"((\1)/(\2))", text)
        text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"sqrt(\1)", text)
        text = re.sub(r"\^\s*\{([^{}]*)\}", r"**(\1)", text)
    for command, sign in (
        ("times", "*"),
        ("cdot", "*"),
        ("div", "/"),
        ("left", ""),
        ("right", ""),
        ("pi", " pi "),
    ):
        text = re.sub(rf"\\{command}(?![A-Za-z])", sign, text)
    text = text.replace("{,}", ",").replace(r"\%", "%").replace(r"\$", "$")
    text = re.sub(r"\\[,;:! ]|\\[()\[\]]", " ", text)
    return text.replace("{", "(").replace("}", ")")


def without_units(text: str) -> str:
    """Drop words that follow a number or a bracket (5 km, 3 apples), but no names of functions."""

    def drop(match: re.Match[str]) -> str:
        return match[0] if match[1].lower() in FUNCTION_NAMES else ""

    return re.sub(r"(?<=[\d)])\s*([A-Za-zµ°]+)(?:/[A-Za-z]+)?(?![\w(])(?:\.(?=\s|$))?", drop, text)


def balanced(run: str) -> str:
    """Cut brackets that have no partner off a run of arithmetic."""
    opening, closing = run.count("("), run.count(")")
    while opening > closing and run.startswith("("):
        run, opening = run[1:], opening - 1
    while closing > opening and run.endswith(")"):
        run, closing = run[:-1], closing - 1
    return run
