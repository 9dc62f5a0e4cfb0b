"""The calculator finds the one expression that was meant, and answers the way a person writes numbers."""

from __future__ import annotations

import pytest

from conductor.local.arithmetic import CannotEvaluate, NotArithmetic, evaluate, number_text
from conductor.local.tools import ToolError, ToolResult, run_tool


async def calculate(
    output: str | None = None, *, instruction: str = "Calculate the expression", question: str = ""
) -> ToolResult:
    visible = [] if output is None else [("Step 1", "Write one Python expression", output)]
    return await run_tool("calculator", question=question, instruction=instruction, visible=visible)


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        # as asked for
        ("12*3+5", "41"),
        ("(80 * 15) / 100", "12"),
        ("(98.6 - 32) * 5/9", "37"),
        ("2**0.5", "1.41421356237"),
        ("max(1,200)", "200"),
        ("round(3.14159, 2)", "3.14"),
        ("sum([1,2,3])", "6"),
        ("math.sqrt(16)", "4"),
        ("2 * math.pi * 5", "31.4159265359"),
        ("3.5e3 * 2", "7000"),
        ("3 > 2", "True"),
        ("int('12') + 3", "15"),
        ("(12 + 8) * 0.25 # tip", "5"),
        # fences and inline code
        ("```python\n12*3+5\n```", "41"),
        ("```\n(3 + 4) * 2\n```\nThis computes it.", "14"),
        ("To find the total:\n\n```python\ntotal = 3 * 4\n```", "12"),
        ("```python\n6 * 7", "42"),
        ("The expression is `(5*3)+2`.", "17"),
        ("`print(6*7)`", "42"),
        # what the model imagines the code prints is no answer
        ("```python\ntrays = 12\nrolls = 8\nprint(trays * rolls - 75)\n```\nIt prints:\n```\n5\n```", "21"),
        ("```python\n12 * 8 - 75\n```\n```output\n104\n```", "21"),
        ("Result:\n```\n42\n```", "42"),
        # equations: the side to compute, not the guess
        ("12 * 3 + 5 = 40", "41"),
        ("12*3+5=", "41"),
        ("x = 12*3+5", "41"),
        ("3 + 4 = ?", "7"),
        ("? = 3+4", "7"),
        ("25 * 4 = 99 square meters", "100"),
        ("average = (a + b) / 2 = 7.5", "7.5"),
        # sentences
        ("So the total is 3 * 4 + 5 apples.", "17"),
        ("First, 12 * 3 = 36. Then 36 + 5 = 40.", "41"),
        ("Each of 4 boxes has 12 pencils, so there are 4*12=47 pencils.", "48"),
        ("The Python expression is: 120 / 4 - 6", "24"),
        ("Answer: 42", "42"),
        ("**42**", "42"),
        ("42", "42"),
        ("- 3 + 4", "7"),
        ("1. 3 + 4", "7"),
        # other people's signs
        ("3 × 4", "12"),
        ("5 ÷ 2", "2.5"),
        ("10 − 3", "7"),
        ("2^10", "1024"),
        ("3 x 4", "12"),
        ("2(3+4)", "14"),
        ("√16 + 1", "5"),
        ("5! / 3!", "20"),
        ("007 + 1", "8"),
        ("(5 + 3", "8"),
        # LaTeX
        (r"\(3 \times 4\)", "12"),
        (r"$$\frac{3}{4} + 1$$", "1.75"),
        (r"The answer is \boxed{6 \times 7}.", "42"),
        (r"\[ 15 \cdot 2 \]", "30"),
        # thousands, currency, units, percent
        ("1,234,567 + 1", "1234568"),
        ("(1,234 + 6) * 2", "2480"),
        ("$12.50 * 3", "37.5"),
        ("€5 + €3", "8"),
        ("12 kg + 3 kg", "15"),
        ("60 miles/hour * 2 hours", "120"),
        ("15% of 80", "12"),
        ("15% * 80", "12"),
        ("20 % 7", "6"),
        # words
        ("What is 17 plus 25?", "42"),
        ("7 times 8", "56"),
        ("100 divided by 8", "12.5"),
        ("5 squared", "25"),
        # not arithmetic, yet one expression or a little program
        ('len("banana")', "6"),
        ('"hello"[::-1]', "olleh"),
        ("result = 5*4\nprint(result)", "20"),
        ("a = 5\nb = a * 3", "15"),
        ("```python\nprice = 19.99\nprice * 3\n```", "59.97"),
    ],
)
async def test_finds_and_evaluates(output: str, answer: str) -> None:
    assert (await calculate(output)).output == answer


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("9 / 3", "3"),
        ("0.1 + 0.2", "0.3"),
        ("1 / 3", "0.333333333333"),
        ("-7 / 2", "-3.5"),
        ("-1 / 3", "-0.333333333333"),
        ("2 / 3 * 3", "2"),
        ("10 ** 20", "100000000000000000000"),
        ("10 ** 20 / 3", "33333333333333333333"),
        ("1 / 10 ** 9", "0.000000001"),
        ("5 // 2", "2"),
        ("-5 % 3", "1"),
        ("4 ** 0.5", "2"),
        ("2 ** -2", "0.25"),
        ("factorial(20)", "2432902008176640000"),
        ("comb(5, 2)", "10"),
        ("gcd(12, 18)", "6"),
        ("ceil(2.1) + floor(2.9)", "5"),
        ("abs(-5)", "5"),
        ("min(3, 1, 2)", "1"),
        ("(-1) ** 1000001", "-1"),
        ("0 ** 5", "0"),
        ("sin(0)", "0"),
        ("2.5e-7 * 2", "0.0000005"),
    ],
)
def test_numbers_look_like_numbers(expression: str, text: str) -> None:
    assert number_text(evaluate(expression)) == text


@pytest.mark.parametrize(
    "expression",
    [
        "1 / 0",
        "9 ** 9 ** 9",
        "2 ** 10000",
        "10 ** 600 * 10 ** 600",
        "factorial(100000)",
        "comb(10 ** 9, 5 * 10 ** 8)",
        "1e400",
        "(-8) ** 0.5",
        "sqrt(-1)",
        "log(0)",
        "exp(10000)",
        "0 ** -1",
        "1 % 0",
        "lcm(*[1])",
        "1.5 ** 1e300",
    ],
)
def test_what_has_no_value_or_is_too_large_is_refused_quickly(expression: str) -> None:
    with pytest.raises((CannotEvaluate, NotArithmetic)):
        evaluate(expression)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "__import__('os')",
        "[1, 2]",
        "1 if 2 else 3",
        "'a' + 'b'",
        "(" * 500,
        "-" * 5000 + "1",
        "f(1)",
    ],
)
def test_anything_else_is_not_arithmetic(text: str) -> None:
    with pytest.raises(NotArithmetic):
        evaluate(text)


async def test_division_by_zero_names_the_expression() -> None:
    with pytest.raises(ToolError, match=r"1/0 has no value: division by zero") as caught:
        await calculate("1/0")
    assert caught.value.kind == "tool_error"


@pytest.mark.parametrize("output", ["", "hello world", "I have 3 apples.", "12:30", "see page (4)"])
async def test_no_expression_says_what_it_looked_at(output: str) -> None:
    with pytest.raises(ToolError, match="no expression to calculate in") as caught:
        await calculate(output, question="How are you?")
    assert caught.value.kind == "bad_input"
    assert "How are you?" in caught.value.message and "one Python expression" in caught.value.hint


async def test_newest_output_then_instruction_then_question() -> None:
    visible = [("Step 1", "", "1 + 1"), ("Step 2", "", "2 + 2")]
    newest = await run_tool("calculator", question="5 + 5", instruction="4 + 4", visible=visible)
    assert (newest.output, newest.source, newest.used) == ("4", "Step 2", "2 + 2")
    older = await run_tool(
        "calculator", question="", instruction="", visible=[visible[0], ("Step 2", "", "no")]
    )
    assert (older.output, older.source) == ("2", "Step 1")
    assert (await calculate(None, instruction="Calculate 4 + 4", question="5 + 5")).source == "instruction"
    assert (await calculate(None, question="What is 5 + 5?")).source == "question"


async def test_an_unknown_tool_is_named() -> None:
    with pytest.raises(ToolError, match="no tool 'abacus'") as caught:
        await run_tool("abacus", question="", instruction="", visible=[])
    assert "calculator, python" in caught.value.hint
