"""How well do the local models conduct when they are only prompted? `python -m benchmarks.local_conductor`

Each model plans the same prompts, none of which is among its examples. A plan is valid when it can be read,
and sensible when its workers and edges are among those we accept for the prompt. Both judgements are ours;
the table compares models, it proves nothing about users' prompts. Needs the weights; takes a minute or a few
per model.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import time
from collections import Counter
from pathlib import Path

from conductor.conductors.local import UNCALCULATED
from conductor.local import weights
from conductor.local.conductor_prompt import PoolWorker, conductor_messages, is_copied
from conductor.local.grammar import plan_grammar, worker_letters
from conductor.local.plan_lines import PlanLine, letter_choices, read_plan_lines
from conductor.local.runtime import Finished, Runtime
from conductor.settings import Settings

MAX_STEPS = 4
MAX_OUTPUT_TOKENS = 160
TOP_LOGPROBS = 40

# L: a language model that can do the work (general or strong), S: the small one, C: calculator, P: python.
# Digits after a letter are the steps it sees.
CALCULATE = ("L C1",)
EXPRESSION_IN_PROMPT = ("L C1", "C")
DIRECT = ("L",)
CODE = ("L", "L P1", "L P1 L12")
TEXT_WORK = ("L P1", "L C1", "L")
REASON = ("L", "L L1")
ASPECTS = ("L L L12", "L L1", "L L1 L12", "L L L L123", "L")
SMALL_TALK = ("S", "L")

PROMPTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("word problem", "Tom has 3 bags with 14 marbles each and gives away 9. How many are left?", CALCULATE),
    ("word problem", "A train goes 85 km an hour. How far does it get in 4 and a half hours?", CALCULATE),
    ("word problem", "Lunch costs 12.50 per person. What do 7 people pay with a 10% tip?", CALCULATE),
    (
        "word problem",
        "A tank holds 900 litres and loses 35 litres a day. What is left after 12 days?",
        CALCULATE,
    ),
    ("arithmetic", "Calculate 1234 * 56 - 789.", EXPRESSION_IN_PROMPT),
    ("arithmetic", "What is 17% of 2450?", EXPRESSION_IN_PROMPT),
    ("arithmetic", "(88 + 12) / 8 = ?", EXPRESSION_IN_PROMPT),
    ("unit conversion", "How many miles are 42 kilometres?", CALCULATE),
    ("unit conversion", "Convert 98.6 degrees Fahrenheit to Celsius.", CALCULATE),
    ("unit conversion", "How many seconds are in 3 days?", CALCULATE),
    ("translation", "Translate into French: The weather is nice today.", DIRECT),
    ("translation", "How do you say 'thank you very much' in German?", DIRECT),
    ("translation", "Übersetze ins Englische: Der Hund schläft im Garten.", DIRECT),
    ("code output", "What does this print?\n\nx = [3, 1, 2]\nx.sort()\nprint(x[0])", ("P",)),
    (
        "code output",
        "What does this Python code print?\n```python\nfor i in range(3):\n    print(i * i)\n```",
        ("P",),
    ),
    (
        "code output",
        "Tell me the result of running this code:\n\nd = {'a': 1}\nd['b'] = 2\nprint(len(d))",
        ("P",),
    ),
    ("coding", "Write a Python function that checks whether a string is a palindrome.", CODE),
    ("coding", "Implement binary search in Python.", CODE),
    ("coding", "Give me an SQL query that counts the orders per customer.", DIRECT),
    ("fact", "Who wrote Romeo and Juliet?", DIRECT),
    ("fact", "What is the capital of Australia?", DIRECT),
    ("fact", "What gas do plants take in from the air?", DIRECT),
    ("sentiment", "Is this review positive or negative: I loved every minute of it.", DIRECT),
    ("sentiment", "Classify the mood of this text: My order arrived broken and support ignored me.", DIRECT),
    ("extraction", "Find the email address: Please write to anna.k@example.org before Friday.", DIRECT),
    ("extraction", "List the people in this sentence: Maria met Omar and Li in Paris.", DIRECT),
    ("string", "Reverse the word strawberry.", TEXT_WORK),
    ("string", "How many times does the letter s occur in Mississippi?", TEXT_WORK),
    ("string", "Sort these words alphabetically: pear, apple, fig, banana.", TEXT_WORK),
    ("logic", "All cats are animals. Tom is a cat. Is Tom an animal?", REASON),
    ("logic", "Anna is older than Ben, and Ben is older than Cara. Who is the youngest?", REASON),
    ("writing", "Write a short poem about autumn leaves.", DIRECT),
    ("writing", "Draft a polite email that declines a meeting.", DIRECT),
    ("writing", "Explain photosynthesis to a child in three sentences.", DIRECT),
    ("summary", "Summarise: The city closed the bridge for repairs. Traffic now uses the tunnel.", DIRECT),
    (
        "aspects",
        "Should our team move to a four-day week? Consider morale and output, then recommend.",
        ASPECTS,
    ),
    ("aspects", "Compare electric and petrol cars by price and by environment, then conclude.", ASPECTS),
    ("small talk", "Hello, how are you?", SMALL_TALK),
)

# Written after the examples were final; nothing was tuned on these.
HELD_OUT: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "word problem",
        "A farmer has 17 cows. Each gives 22 litres of milk a day. How much in a week?",
        CALCULATE,
    ),
    ("word problem", "Sara reads 32 pages a day. How many days does she need for 480 pages?", CALCULATE),
    (
        "word problem",
        "I bought 4 shirts for 19.99 each and paid with 100 dollars. What is my change?",
        CALCULATE,
    ),
    ("arithmetic", "What is 2 to the power of 15?", EXPRESSION_IN_PROMPT),
    ("arithmetic", "Divide 1001 by 7 and add 50.", CALCULATE),
    ("unit conversion", "How many grams are 3.5 pounds?", CALCULATE),
    ("unit conversion", "How many hours are 10000 seconds?", CALCULATE),
    ("translation", "Translate to Spanish: I would like a cup of coffee.", DIRECT),
    ("translation", "What does the Latin phrase carpe diem mean?", DIRECT),
    ("code output", "What will be printed?\n\na = 5\nb = a // 2\nprint(a - b)", ("P",)),
    ("code output", "What is the output?\n```python\nprint([x * 2 for x in range(4)])\n```", ("P",)),
    ("code output", "What does print('abc'.upper() + 'd') give?", ("P",)),
    ("coding", "Write a Python class for a stack with push and pop.", CODE),
    ("coding", "Write a regular expression that matches a date like 2024-05-17.", DIRECT),
    ("fact", "In which year did the Titanic sink?", DIRECT),
    ("fact", "Who painted the Mona Lisa?", DIRECT),
    ("sentiment", "Does the author like the film? 'Two hours of my life I will never get back.'", DIRECT),
    ("extraction", "What is the phone number in this note: call Jo at 555-0142 after lunch.", DIRECT),
    ("string", "Spell the word keyboard backwards.", TEXT_WORK),
    ("string", "How many words are in this sentence: The quick brown fox jumps.", TEXT_WORK),
    ("logic", "No birds in this park can swim. A duck is a bird in this park. Can it swim?", REASON),
    ("writing", "Write a slogan for a bakery.", DIRECT),
    ("writing", "Tell a very short story about a lost key.", DIRECT),
    (
        "aspects",
        "Is it wise to learn the piano at 50? Weigh effort and joy, then say what you think.",
        ASPECTS,
    ),
    ("small talk", "Hi there!", SMALL_TALK),
)

POOL = (
    PoolWorker("qwen-0.5b", "general"),
    PoolWorker("calculator", "calculator"),
    PoolWorker("python", "python"),
    PoolWorker("smollm2-135m", "small"),
)
"""The default pool before its largest model is there, in the order of data/pools/local.toml."""
STRONG = PoolWorker("qwen-1.5b", "general")
SHAPE_LETTERS = {"general": "L", "strong": "L", "small": "S", "calculator": "C", "python": "P"}


def plan_shape(lines: list[PlanLine], pool: tuple[PoolWorker, ...], prompt: str) -> str:
    """The workers and edges of a plan in the notation of the accepted ones."""
    roles = dict(zip(worker_letters(len(pool)), (worker.role for worker in pool), strict=True))
    written = [SHAPE_LETTERS[roles[line.letter]] + "".join(map(str, line.access)) for line in lines]
    last = lines[-1].instruction.lower()
    if written[-1].startswith("L") and UNCALCULATED.search(last) and len(written) < MAX_STEPS:
        written.append(f"C{len(written)}")  # what LocalConductor adds, and tells
    return " ".join(written) + (" (copied)" if is_copied(last, prompt) else "")


async def measure(
    runtime: Runtime, model: str, pool: tuple[PoolWorker, ...], *, held_out: bool, show: bool
) -> dict[str, object]:
    """Plan every prompt of a set with one model and count."""
    prompts = HELD_OUT if held_out else PROMPTS
    grammar = plan_grammar(len(pool), MAX_STEPS, max_instruction_characters=90)
    letters = worker_letters(len(pool))
    misses: Counter[str] = Counter()
    valid = sensible = tokens = 0
    top_if_sensible: list[float] = []
    top_if_not: list[float] = []
    masses: list[float] = []
    await _plan(runtime, model, "Warm up", pool, grammar)
    cpu_before, began = _cpu_s(runtime, model), time.monotonic()
    for kind, prompt, accepted in prompts:
        end = await _plan(runtime, model, prompt, pool, grammar)
        tokens += end.usage.output_tokens
        lines = read_plan_lines(end.output) if end.finish == "stop" else None
        shape = plan_shape(lines, pool, prompt) if lines else "unreadable"
        first = letter_choices([(one.token, one.logprobs) for one in end.logprobs], letters)[0]
        valid += lines is not None
        is_sensible = shape in accepted
        sensible += is_sensible
        masses.append(first.mass)
        (top_if_sensible if is_sensible else top_if_not).append(max(first.probabilities.values()))
        if not is_sensible:
            misses[kind] += 1
        if show:
            mark = "ok  " if is_sensible else "MISS"
            top = max(first.probabilities.values())
            print(f"  {mark} {shape:12} p={top:.2f} {prompt[:48]!r:52} {end.output!r}")
    count = len(prompts)
    return {
        "conductor": model,
        "workers": len(pool),
        "prompts": "held out" if held_out else "tuned on",
        "valid": f"{valid}/{count}",
        "sensible": f"{sensible}/{count}",
        "CPU-s/plan": f"{(_cpu_s(runtime, model) - cpu_before) / count:.2f}",
        "s/plan": f"{(time.monotonic() - began) / count:.2f}",
        "tokens/plan": f"{tokens / count:.0f}",
        "letter mass": f"{sum(masses) / count:.3f}",
        "p if sensible": _mean(top_if_sensible),
        "p if not": _mean(top_if_not),
        "misses": ", ".join(f"{kind} {n}" for kind, n in misses.items()) or "none",
    }


async def _plan(
    runtime: Runtime, model: str, prompt: str, pool: tuple[PoolWorker, ...], grammar: str
) -> Finished:
    messages = conductor_messages(prompt, pool, max_steps=MAX_STEPS)
    async for event in runtime.generate(
        model,
        messages,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        grammar=grammar,
        top_logprobs=TOP_LOGPROBS,
    ):
        if isinstance(event, Finished):
            return event
    raise RuntimeError(f"{model} ended without an answer")


def _cpu_s(runtime: Runtime, model: str) -> float:
    """CPU seconds of a model's engine so far (Linux; elsewhere 0)."""
    pid = runtime.engine_pid(model)
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _mean(values: list[float]) -> str:
    return f"{sum(values) / len(values):.2f}" if values else "–"


def print_table(rows: list[dict[str, object]]) -> None:
    """Rows as a Markdown table."""
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + " --- |" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")


async def main(models: list[str], *, with_strong: bool, show: bool) -> None:
    """Measure each model and print the table."""
    models_dir = Settings.from_environment().models_dir
    present = weights.state(models_dir)
    runtime = Runtime(models_dir)
    rows = []
    try:
        for model in models:
            if present[model].status != "ready":
                print(f"{model}: not fetched, left out")
                continue
            pools = [POOL, (STRONG, *POOL)] if with_strong else [POOL]
            for pool, held_out in itertools.product(pools, (False, True)):
                rows.append(await measure(runtime, model, pool, held_out=held_out, show=show))
    finally:
        runtime.close()
    if rows:
        print_table(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["smollm2-135m", "qwen-0.5b", "qwen-1.5b"])
    parser.add_argument("--with-strong", action="store_true", help="measure a pool with qwen-1.5b in it too")
    parser.add_argument("--show", action="store_true", help="print every plan")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.models, with_strong=arguments.with_strong, show=arguments.show))
