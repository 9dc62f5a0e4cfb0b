"""From someone's text to a workflow: our JSON, the three lists, Mermaid or DOT. Never raises for any text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from conductor.characters import whole
from conductor_client.api import ImportReply, ImportRequest
from conductor_client.errors import quoted
from conductor_client.plan import Diagnostic

from .dot import read_dot
from .jsons import NotJson, parsed, read_json
from .lists import read_lists
from .mermaid import read_mermaid
from .result import Format, Imported, ImportedStep, refused

__all__ = ["Format", "Imported", "ImportedStep", "import_reply", "read_workflow"]

MAX_CHARS = 1_000_000
"""Most characters of drawn or listed text; a workflow of 32 steps is far below."""
MAX_JSON_CHARS = 64_000_000
"""A run export holds every output, so JSON may be much longer."""

_FENCE = re.compile(
    r"```[ \t]*(mermaid|dot|graphviz|json)\b[^\n]*\n(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE
)
_START_CHARS = 20_000
"""The kind of a text shows by then, whatever comments stand before it."""
_DOT = re.compile(
    r'\s*(?:(?:(?://|\#)[^\n]*\n|/\*.*?\*/)\s*)*+(?:strict\s+)?(?:digraph|graph)\s*(?:\w+|"[^"\n]*")?\s*\{',
    re.IGNORECASE | re.DOTALL,
)
_PREFACE = re.compile(r"\s*(?:---\s*\n.*?\n---[^\n]*\n\s*)?(?:%%\{.*?\}%%\s*|%%[^\n]*\n\s*)*+", re.DOTALL)
_MERMAID = re.compile(r"(?:graph|flowchart(?:-elk)?)\b[ \t]*(?:TB|TD|BT|RL|LR)?[ \t]*(?:;|\n|$|%%)")
_LISTS = re.compile(r"model[ _]ids?\b", re.IGNORECASE)


def read_workflow(text: str, format: Format | None = None, *, pool: Sequence[str] = ()) -> Imported:
    """Reads a workflow.

    Args:
        text: What a person pasted or chose as a file; a Markdown fence around it is taken off.
        format: ``None`` finds out.
        pool: Worker names in order, for lists that name workers by number without our pool comment.
    """
    text = whole(text).lstrip("\ufeff")
    if len(text) > (MAX_JSON_CHARS if format in (None, "json") else MAX_CHARS):
        return refused(format, "unparsable", "the whole text", "It is far too long to be a workflow.")
    fence = _FENCE.search(text) if format != "lists" and len(text) <= MAX_CHARS else None
    if fence is not None and not text.lstrip().startswith(("{", "[")):
        text = fence.group(2)
    format = format or _format_of(text)
    if format is None:
        said = "It is neither our JSON nor three lists, a Mermaid flowchart or a DOT graph."
        return refused(None, "unparsable", "the whole text", said)
    if format != "json" and len(text) > MAX_CHARS:
        return refused(format, "unparsable", "the whole text", "It is far too long to be a workflow.")
    readers: dict[str, Callable[[str], Imported]] = {
        "json": read_json,
        "mermaid": read_mermaid,
        "dot": read_dot,
        "lists": lambda text: read_lists(text, pool),
    }
    return readers[format](text)


def import_reply(request: ImportRequest, pool: Sequence[str], default_worker: str | None) -> ImportReply:
    """The answer to an import request: the workflow for the request's prompt, and what to look at.

    ``pool`` holds every worker's name in order. Steps that name no worker get ``default_worker``; a worker
    that the pool lacks stays, is listed in ``unknown_workers`` and told as a diagnostic.
    """
    read = read_workflow(request.text, request.format, pool=pool)
    unknown = read.unknown_workers(pool)
    workflow = read.workflow(request.prompt, default_worker=default_worker)
    told = list(read.diagnostics)
    if unknown:
        said = (
            f"The pool has no worker called {', '.join(map(quoted, unknown))}; choose another for its steps."
        )
        told.append(Diagnostic(code="repaired_unknown_worker", where="workers", said=said))
    if workflow is None and not read.is_refused:
        said = "Some steps name no worker, and the pool has none to give them to."
        told.append(Diagnostic(code="unknown_worker", where="workers", said=said))
    return ImportReply(
        format=read.format, workflow=workflow, diagnostics=tuple(told), unknown_workers=unknown
    )


def _format_of(text: str) -> Format | None:
    start = text.lstrip()
    if start.startswith(("{", "[")) and (found := _json_or_lists(text)) is not None:
        return found
    if len(text) > MAX_CHARS:
        return None
    if _DOT.match(text[:_START_CHARS]):
        return "dot"
    start = text[:_START_CHARS]
    preface = _PREFACE.match(start)
    if _MERMAID.match(start, preface.end() if preface else 0):
        return "mermaid"
    return "lists" if _LISTS.search(text) else None


def _json_or_lists(text: str) -> Format | None:
    try:
        data = parsed(text)
    except NotJson:
        return None
    first = data[0] if isinstance(data, list) and data else data
    if isinstance(first, dict) and any(_LISTS.fullmatch(str(key)) for key in first):
        return "lists"
    return "json"
