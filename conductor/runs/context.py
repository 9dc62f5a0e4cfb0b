"""What a worker sees: one pure function from a step and its visible outputs to the exact messages.

Question, visible steps (instruction and output, labelled by step number) and the step's own instruction go
into one user message after at most one system message: several chat templates refuse two user turns in a row.
What is not on the access list is not in the text, and neither is anybody's reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conductor.providers.base import VisibleStep
from conductor_client.workflow import Message, Step, Workflow

_SPEAKERS = {"user": "User", "assistant": "Assistant"}


@dataclass(frozen=True)
class Parts:
    """The same content in parts, for tool workers that need values and not prose."""

    question: str
    instruction: str
    visible: tuple[VisibleStep, ...]


@dataclass(frozen=True)
class Context:
    """What one step is sent. ``withheld``: earlier steps it was not allowed to see."""

    messages: tuple[Message, ...]
    visible: tuple[str, ...]
    withheld: tuple[str, ...]
    parts: Parts


def build(
    prompt: str,
    messages: Sequence[Message],
    workflow: Workflow,
    step: Step,
    outputs: Mapping[str, str],
    *,
    system: str = "",
) -> Context:
    """Builds what ``step`` is sent.

    ``messages`` are earlier turns of the conversation, without the prompt; ``outputs`` maps step ids to
    outputs and must hold every step on the access list (``KeyError`` otherwise). Others in it are ignored.
    ``system`` is what the worker's pool entry tells it before any task; it comes before the conversation's.
    """
    seen = [workflow.step(step_id) for step_id in step.access]
    visible = tuple(
        VisibleStep(
            label=f"Step {each.position + 1}", instruction=each.instruction, output=outputs[each.step_id]
        )
        for each in seen
    )
    parts = Parts(question=prompt, instruction=step.instruction, visible=visible)
    said = [system, *(each.content for each in messages if each.role == "system")]
    system = "\n\n".join(each for each in said if each)
    turns = [each for each in messages if each.role != "system"]
    sent = [Message(role="system", content=system)] if system else []
    sent.append(Message(role="user", content=_user_text(parts, turns)))
    return Context(
        messages=tuple(sent),
        visible=step.access,
        withheld=tuple(
            each.step_id for each in workflow.steps[: step.position] if each.step_id not in step.access
        ),
        parts=parts,
    )


def _user_text(parts: Parts, turns: Sequence[Message]) -> str:
    says_it_all = parts.instruction.strip() == parts.question.strip()
    if says_it_all and not turns and not parts.visible:
        return parts.question  # a worker asked directly: saying it twice would only confuse
    blocks = []
    if turns:
        said = "\n".join(f"{_SPEAKERS[turn.role]}: {turn.content}" for turn in turns)
        blocks.append(f"Earlier in this conversation:\n{said}")
    blocks.append(f"Question:\n{parts.question}")
    for each in parts.visible:
        blocks.append(f"{each.label} was asked:\n{each.instruction}")
        blocks.append(f"{each.label} answered:\n{each.output}")
    if not says_it_all:
        blocks.append(f"Your task:\n{parts.instruction}")
    return "\n\n".join(blocks)
