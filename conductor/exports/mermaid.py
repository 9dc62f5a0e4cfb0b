"""A workflow as a Mermaid flowchart that Mermaid draws and our importer reads back exactly.

A label is ``number · worker<br/>instruction`` with each line break of the instruction as ``<br/>``. Any
character that Mermaid, Markdown or HTML could take for its own is written as a numeric code (``#34;``).
Node ids are ours (``step1`` …), never a step's id or text: ``end`` or ``graph`` as an id breaks Mermaid.
"""

from __future__ import annotations

import unicodedata

from conductor_client.workflow import Workflow

from .escaping import CHARACTERS, PICTURES

HEADER = "%% Conductor Studio workflow 1: number · worker, then the instruction"
LINE_BREAK = "<br/>"
JOINER = "\u2060"
"""Invisible; parts two characters that Mermaid takes together even when they are coded."""
_DRAWN_EVEN_IF_CODED = ("\\n", "$$", ":f")
"""A line break, a formula, an icon (``fa:fa-car``)."""
_PLAIN = frozenset(" .,!?()'/+=[]{}|@^~-")
"""ASCII punctuation that is only itself inside a quoted Mermaid label."""


def workflow_mermaid(workflow: Workflow, *, note: str = "") -> str:
    """Mermaid source, one node a step, one arrow an access edge; ``note`` is a comment of one line."""
    names = {step.step_id: f"step{step.position + 1}" for step in workflow.steps}
    lines = ["flowchart TD", f"  {HEADER}", *([f"  %% {note}"] if note else [])]
    for step in workflow.steps:
        label = LINE_BREAK.join(
            [f"{step.position + 1} · {encoded(step.worker)}", *map(encoded, step.instruction.split("\n"))]
        )
        lines.append(f'  {names[step.step_id]}["{label}"]')
    lines += [f"  {names[seen]} --> {names[step.step_id]}" for step in workflow.steps for seen in step.access]
    return "\n".join(lines) + "\n"


def encoded(text: str) -> str:
    """The text with every character that could mean something to Mermaid as ``#code;``.

    A control character is its picture, since no drawing can hold it; a picture in the text is coded.
    """
    out = []
    for place, char in enumerate(text):
        before = text[place - 1] if place else " "
        after = text[place + 1] if place + 1 < len(text) else " "
        picture = PICTURES.get(ord(char))
        out.append(picture or (char if _is_plain(char, before, after) else f"#{ord(char)};"))
        if char + after in _DRAWN_EVEN_IF_CODED:
            out.append(JOINER)
    return "".join(out)


def _is_plain(char: str, before: str, after: str) -> bool:
    if char == " ":  # runs of spaces, and spaces at an end, would be trimmed
        return before != " " and after != " "
    if char == "-":  # arrows, list bullets, front matter
        return before.isalnum() and after.isalnum()
    if char.isascii():
        return char.isalnum() or char in _PLAIN
    return unicodedata.category(char)[0] not in "CZ" and ord(char) not in CHARACTERS
