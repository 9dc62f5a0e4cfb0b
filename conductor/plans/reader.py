"""The only place that knows the paper's three lists: text → ``Reading``, and steps → text.

Nothing here raises for any text: what cannot be read comes back as a rejected ``Reading`` whose diagnostics
say why, and every leniency is told as a ``repaired_*`` diagnostic. Time is linear in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal

from conductor.characters import whole
from conductor.plans.list_search import NotFound, find_lists
from conductor.plans.plan_rules import Notes, PlanRules, resolve
from conductor.thoughts import split_thoughts
from conductor_client.plan import PlannedStep, Reading

REPAIRS = {
    "repaired_backslash": "A backslash that escapes nothing was kept as it stands.",
    "repaired_character": "Half of a character was replaced.",
    "repaired_line_break": "A line break inside quotation marks was kept.",
    "repaired_missing_comma": "A missing comma was added.",
    "repaired_quotes": "Quotation marks were mended.",
    "repaired_step_objects": "The plan was a list of step objects instead of three lists.",
    "repaired_trailing_comma": "A comma after the last item was dropped.",
}

_escaped = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\"\\]|<(?=\s*/?\s*think)", re.IGNORECASE)
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def read_lists(text: str, rules: PlanRules) -> Reading:
    """Reads a conductor's text.

    A ``<think>`` block, closed or not, is never searched for lists; it and the text before the lists become
    ``reasoning``. Three empty lists keep the earlier answer, in a later round only.
    """
    notes = Notes()
    text = whole(text)
    thoughts, answer = split_thoughts(text, unopened=True)
    found = find_lists(answer)
    if isinstance(found, NotFound) and "</think" in text.lower():
        # Perhaps the close tag is part of an instruction and no thought ever began.
        thoughts, answer = split_thoughts(text, unopened=False)
        found = find_lists(answer)
    if isinstance(found, NotFound):
        return _rejected(found, "\n\n".join(filter(None, [thoughts, answer.strip()])), notes)
    for name in found.repairs:
        notes.repair(name, "lists", REPAIRS[name])
    if found.skipped:
        notes.repair("repaired_later_lists", "lists", "Lists after the last complete set were left out.")
    reasoning = "\n\n".join(filter(None, [thoughts, _undressed(answer[: found.start])]))
    if not found.workers:
        return _empty_lists(rules, reasoning, notes)
    steps = resolve(found.workers, found.instructions, found.access, rules, notes)
    decision: Literal["new", "rejected"] = "new" if steps else "rejected"
    return Reading(decision=decision, steps=steps, reasoning=reasoning, diagnostics=notes.all())


def write_lists(steps: Sequence[PlannedStep], *, access: Literal["binary", "positions"] | None = None) -> str:
    """Writes steps as the three lists, valid Python and valid JSON values alike, each on its own line.

    ``access`` None takes the binary scheme when it can say these access lists, else positions.

    Raises:
        ValueError: the binary scheme was asked for and a step sees some earlier steps but not all.
    """
    can_be_binary = all(not step.access or _sees_all(step, place) for place, step in enumerate(steps))
    if access == "binary" and not can_be_binary:
        raise ValueError("the binary scheme cannot say that a step sees some of the earlier steps")
    is_binary = access == "binary" or (access is None and can_be_binary)
    seen = ['["all"]' if is_binary and step.access else json.dumps(list(step.access)) for step in steps]
    return "\n".join(
        (
            f"model_id = {json.dumps([step.worker for step in steps])}",
            f"subtasks = [{', '.join(_quoted(step.instruction) for step in steps)}]",
            f"access_list = [{', '.join(seen)}]",
        )
    )


def _sees_all(step: PlannedStep, place: int) -> bool:
    return step.access == tuple(range(place))


def _quoted(text: str) -> str:
    return '"' + _escaped.sub(lambda found: _SHORT.get(found[0], f"\\u{ord(found[0]):04x}"), text) + '"'


def _undressed(text: str) -> str:
    """The prose before the lists, without the fence, bracket or bold mark that belongs to them."""
    return re.sub(r"```\w*\s*$", "", text.rstrip(" \t\n`*_{\"'“#>•-")).strip()


def _empty_lists(rules: PlanRules, reasoning: str, notes: Notes) -> Reading:
    if rules.round > 1:
        return Reading(decision="keep", reasoning=reasoning, diagnostics=notes.all())
    notes.reject("no_steps", "lists", "The three lists are empty, and there is no earlier answer to keep.")
    return Reading(decision="rejected", reasoning=reasoning, diagnostics=notes.all())


def _rejected(found: NotFound, reasoning: str, notes: Notes) -> Reading:
    code: Literal["length_mismatch", "unparsable"] = "length_mismatch" if found.lengths else "unparsable"
    notes.reject(code, "lists", found.said)
    return Reading(decision="rejected", reasoning=reasoning, diagnostics=notes.all())
