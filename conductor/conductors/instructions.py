"""What a prompted conductor is told: its role, what a step is, the three lists, four examples of ours. Pure.

Workers are ordinals without names, so that what a model believes about brands does not decide (paper §3).
Tools are described, because nobody could guess what they take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conductor.plans.reader import write_lists
from conductor.providers.base import Worker
from conductor_client.plan import Diagnostic, PlannedStep, PlanOptions
from conductor_client.workflow import Message

SYSTEM = "You coordinate a team of AI workers. You never answer a question yourself; you plan who does what."


@dataclass(frozen=True)
class Example:
    """A question and the plan it should get; ordinals fit a team of four equal models."""

    question: str
    thought: str
    steps: tuple[PlannedStep, ...]


EXAMPLES = (
    Example(
        "In which year was the first public railway in the Netherlands opened, and between which cities?",
        "Plain recall. One worker is enough, and more would only add noise.",
        (PlannedStep(worker=2, instruction="State the year and the two cities, and nothing else."),),
    ),
    Example(
        "Use each of 3, 7, 8 and 25 once, with + - * /, to reach 179.",
        "A search, so mistakes are likely. Two workers try on their own, a third checks both and decides.",
        (
            PlannedStep(worker=0, instruction="Find an expression that gives 179. Show each trial."),
            PlannedStep(
                worker=3, instruction="Work backwards from 179 by division to find an expression for it."
            ),
            PlannedStep(
                worker=1,
                instruction="Evaluate both proposed expressions step by step, check that each number is used "
                "once, and give a correct one.",
                access=(0, 1),
            ),
        ),
    ),
    Example(
        "A patient on warfarin starts a course of metronidazole. What should be watched, and why?",
        "Knowledge with a safety side: one answers, another looks for what is missing.",
        (
            PlannedStep(worker=1, instruction="Name the interaction and its mechanism, then what to watch."),
            PlannedStep(
                worker=2,
                instruction="Correct the answer where it is wrong or incomplete and write the final version.",
                access=(0,),
            ),
        ),
    ),
    Example(
        "Write a function that merges overlapping intervals and returns them sorted. Mind empty input.",
        "Plan, code, review: the coder needs the plan, the reviewer needs the code.",
        (
            PlannedStep(
                worker=0, instruction="Describe an algorithm and list the edge cases. Do not write code."
            ),
            PlannedStep(worker=3, instruction="Write the function by the given algorithm.", access=(0,)),
            PlannedStep(
                worker=1,
                instruction="Run the function by hand on every edge case listed, repair it where it fails, "
                "and give the final code only.",
                access=(0, 1),
            ),
        ),
    ),
)


def conductor_prompt(
    question: str, workers: Sequence[Worker], options: PlanOptions, *, describe: bool = False
) -> tuple[Message, ...]:
    """The messages for one plan. ``describe``: tell what every worker is good at, not only the tools."""
    parts = (
        _task(options),
        _access_rule(options),
        "Examples, for a team of four models:",
        *(_example(each, options) for each in EXAMPLES if len(each.steps) <= options.max_steps),
        f"AVAILABLE WORKERS:\n{_team(workers, describe)}",
        f"USER QUESTION:\n{question}\nEND OF QUESTION",
        "Think briefly about how to split the work, then write the three lists.",
    )
    return (Message(role="system", content=SYSTEM), Message(role="user", content="\n\n".join(parts)))


def complaint(diagnostics: Sequence[Diagnostic]) -> Message:
    """What is said when a text could not be used: every reason, and what to write instead."""
    reasons = "\n".join(f"- {each.where}: {each.said}" for each in diagnostics if each.rejects)
    asked = "Write all three lists again, corrected, and nothing after them."
    return Message(role="user", content=f"Your plan could not be used:\n{reasons}\n{asked}")


def next_round(final_output: str) -> Message:
    """What is said after a round: the answer it gave, and the choice between keeping it and a new plan."""
    said = (
        f"The workers followed your plan. The final answer was:\n{final_output}\n\n"
        "If it is good, keep it by writing three empty lists. If it is wrong or can be made better, write "
        "three new lists; their workers see only what the lists say."
    )
    return Message(role="user", content=said)


def _task(options: PlanOptions) -> str:
    return (
        "You get a user's question and a numbered team of workers with different strengths. Write a plan "
        f"of 1 to {options.max_steps} steps whose last step gives the answer to the question. Each step has "
        "three elements: the worker who does it, an instruction in plain language, and what the worker may "
        "see of earlier steps.\n"
        "An instruction may ask to solve the question or a part of it, to plan, to check or improve earlier "
        "work, or anything else that helps. A worker sees the user's question, its own instruction, and the "
        "instructions and answers of the earlier steps it is given access to. It sees nothing else. The "
        "answer of the last step goes to the user as it is.\n"
        "Write the plan as three Python lists of equal length:\n"
        "model_id: the number of the worker of each step\n"
        "subtasks: the instruction of each step, a string\n"
        "access_list: what each step sees"
    )


def _access_rule(options: PlanOptions) -> str:
    if options.access == "binary":
        return (
            'In access_list write [] for a step that sees no earlier step and ["all"] for one that sees all.'
        )
    return (
        "In access_list write for each step the list of positions of the earlier steps it sees, counted from "
        '0: [] for none, [0, 2] for the first and the third, or ["all"] for all.'
    )


def _example(example: Example, options: PlanOptions) -> str:
    steps = example.steps
    if options.access == "binary":
        steps = tuple(
            step.model_copy(update={"access": tuple(range(place)) if step.access else ()})
            for place, step in enumerate(steps)
        )
    lists = write_lists(steps, access=options.access)
    return f"Question: {example.question}\nPlan: {example.thought}\n{lists}"


def _team(workers: Sequence[Worker], describe: bool) -> str:
    lines = []
    for number, worker in enumerate(workers):
        if worker.provider == "tool":
            said = f"a tool: {worker.description or worker.model}"
        else:
            said = worker.description if describe and worker.description else "a language model"
        lines.append(f"Worker {number}: {said}")
    return "\n".join(lines)
