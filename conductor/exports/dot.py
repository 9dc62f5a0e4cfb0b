"""A workflow as DOT, written through the ``graphviz`` package: no ``dot`` program is needed.

A label is ``number · worker`` and the instruction, left-justified. The label holds everything, so an edit
made by hand in the file counts: a line that ends in a space and ``\\l`` was only wrapped, any other ``\\l``
is a line break of the instruction.
"""

from __future__ import annotations

import unicodedata

import graphviz

from conductor_client.workflow import Workflow

from .escaping import CHARACTERS, PICTURES

COMMENT = "Conductor Studio workflow 1: number · worker, then the instruction"
_WRAP_COLUMNS = 48
_NODE = {"shape": "box", "style": "rounded", "fontname": "Helvetica", "fontsize": "11", "margin": "0.18,0.12"}


def workflow_dot(workflow: Workflow, *, note: str = "") -> str:
    """DOT source, one node a step, one edge an access edge; ``note`` is a comment of one line."""
    graph = graphviz.Digraph("workflow", comment=COMMENT, node_attr=_NODE, graph_attr={"rankdir": "TB"})
    names = {step.step_id: f"step{step.position + 1}" for step in workflow.steps}
    for step in workflow.steps:
        head = f"{step.position + 1} · {_ended(step.worker)}"
        lines = [_wrapped(line) for line in step.instruction.split("\n")]
        graph.node(names[step.step_id], label="".join(f"{line}\\l" for line in [head, *lines]))
    for step in workflow.steps:
        for seen in step.access:
            graph.edge(names[seen], names[step.step_id])
    return (f"// {note}\n" if note else "") + str(graph.source)


def encoded(text: str) -> str:
    """The text as the inside of a label: no escape of DOT's, no HTML entity, no invisible character.

    A control character is its picture, since no drawing can hold it; a picture in the text is coded.
    """
    out = []
    for char in text:
        if char == "\\":
            out.append("\\\\")
        elif char == '"':
            out.append('\\"')
        elif char == "&":
            out.append("&amp;")
        elif ord(char) in PICTURES:
            out.append(PICTURES[ord(char)])
        elif char != " " and (unicodedata.category(char)[0] in "CZ" or ord(char) in CHARACTERS):
            out.append(f"&#{ord(char)};")
        else:
            out.append(char)
    return "".join(out)


def _wrapped(line: str) -> str:
    *pieces, last = _soft_pieces(line)
    return "\\l".join([*map(encoded, pieces), _ended(last)])


def _ended(line: str) -> str:
    """The end of a true line: a space there is coded, else the reader would take it for a wrap."""
    return f"{encoded(line[:-1])}&#32;" if line.endswith(" ") else encoded(line)


def _soft_pieces(line: str) -> list[str]:
    """The line cut at single spaces, each piece but the last ending in the space it was cut at."""
    pieces, rest = [], line
    while len(rest) > _WRAP_COLUMNS:
        cut = rest.rfind(" ", 1, _WRAP_COLUMNS)
        if cut < 0:
            cut = rest.find(" ", _WRAP_COLUMNS)
        if cut < 0:
            break
        pieces.append(rest[: cut + 1])
        rest = rest[cut + 1 :]
    return [*pieces, rest]
