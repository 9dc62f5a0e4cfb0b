"""The form in which small conductors write workflows, as a GBNF grammar: one line per step, worker first.

`B: instruction` is a step of worker B that sees the question only; `C 1: instruction` is a step of worker C
that also sees the output of step 1. The grammar makes every plan valid by construction: only workers that
exist, at most `max_steps` lines, and line i lists earlier steps only, each once, in rising order. Everything
in it is bounded, because weak models that may repeat something repeat it forever.
"""

from __future__ import annotations

import string

MAX_WORKERS = len(string.ascii_uppercase)
MAX_STEPS = 32
MAX_INSTRUCTION_CHARACTERS = 160


def worker_letters(n_workers: int) -> str:
    """The letters workers go by in a plan: A for the first of the pool. Raises `ValueError` beyond 26."""
    if not 1 <= n_workers <= MAX_WORKERS:
        raise ValueError(f"a lettered pool has 1 to {MAX_WORKERS} workers, not {n_workers}")
    return string.ascii_uppercase[:n_workers]


def plan_grammar(
    n_workers: int, max_steps: int, *, max_instruction_characters: int = MAX_INSTRUCTION_CHARACTERS
) -> str:
    """GBNF for plans of 1 to `max_steps` steps over the workers A, B, … of a pool.

    An instruction is one line that starts with a letter or digit and has 4 to `max_instruction_characters`
    characters. Raises `ValueError` for sizes a plan can't have.
    """
    letters = worker_letters(n_workers)
    if not 1 <= max_steps <= MAX_STEPS:
        raise ValueError(f"a plan has 1 to {MAX_STEPS} steps, not {max_steps}")
    if max_instruction_characters < 4:
        raise ValueError(f"an instruction needs room for 4 characters, not {max_instruction_characters}")
    rules = ["root ::= step1"]
    for position in range(1, max_steps + 1):
        # One rule per position: only so can a line be kept from naming itself or a later line.
        access = "".join(f'(" {earlier}")? ' for earlier in range(1, position))
        rest = f' ("\\n" step{position + 1})?' if position < max_steps else ""
        rules.append(f'step{position} ::= worker {access}": " instruction{rest}')
    # No letter range may have a hyphen in its middle; brackets and quotes would invite code and JSON.
    rules += [
        f"worker ::= [{letters[0]}-{letters[-1]}]",
        rf"instruction ::= [A-Za-z0-9] character{{3,{max_instruction_characters - 1}}}",
        r"character ::= [^\n\r\t{}\[\]\\`<>|#~]",
    ]
    return "\n".join(rules) + "\n"
