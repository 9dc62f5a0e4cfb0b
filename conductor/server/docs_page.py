"""``/api/docs``: the OpenAPI document as one page without script: it works offline and under any policy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from starlette.responses import HTMLResponse, Response

from conductor_client.catalogue import text

DESCRIPTION = (
    "Plans, runs and events of Conductor Studio, and an OpenAI-compatible endpoint whose answers link to "
    "the workflow behind them. Errors are `{error: {type, message, hint, details?}}`, under `/v1` OpenAI's."
)
METHODS = ("get", "post", "put", "patch", "delete")
_STYLE = """
:root { color-scheme: light dark; --paper: #fdfcfa; --room: #f4f2ed; --ink: #23272f; --soft: #5f5e5a }
:root { --line: #e2ded5; --teal: #1f6b66; --code: #f6f4ef }
@media (prefers-color-scheme: dark) {
  :root { --paper: #101316; --room: #191d22; --ink: #e4e2dc; --soft: #aeb1b8; --line: #2e343c }
  :root { --teal: #7cc4bd; --code: #171b20 }
}
body { max-width: 62rem; margin: 2.5rem auto 5rem; padding: 0 1.25rem; overflow-wrap: anywhere }
body { background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, sans-serif }
h1, h2 { font-family: ui-serif, Georgia, serif; font-weight: 600; line-height: 1.25 }
h1 { font-size: 1.9rem; margin: 0 0 .6rem } h1 small { color: var(--soft); font-size: 1rem }
section > h2 { font-size: 1.25rem; margin: 2.4rem 0 .7rem } a { color: var(--teal); text-decoration: none }
a:hover { text-decoration: underline }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--teal) }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem }
nav { padding: .7rem 0; border-block: 1px solid var(--line) }
details { border: 1px solid var(--line); border-radius: .6rem; margin: .45rem 0; padding: .5rem .9rem }
details[open] { background: var(--room) } details[open] > summary { margin-bottom: .5rem }
summary { cursor: pointer; border-radius: .3rem } summary span:last-child { color: var(--soft) }
code, pre { font: .86rem/1.45 ui-monospace, monospace; background: var(--code); border-radius: .25rem }
code { padding: .05rem .25rem } pre { overflow: auto }
.method { display: inline-block; min-width: 4.2rem; font-weight: 700; color: var(--teal); font-size: .85rem }
table { border-collapse: collapse; width: 100%; font-size: .93rem }
tr + tr { border-top: 1px solid var(--line) }
td { text-align: left; vertical-align: top; padding: .35rem .9rem .35rem 0 } small { color: var(--soft) }
@media (max-width: 40rem) { tr, td { display: block; padding: .1rem 0 } tr { padding: .4rem 0 } }
"""


def page(document: Mapping[str, Any]) -> Response:
    """The page for this document."""
    info = document["info"]
    groups = _groups(document)
    headings = [*groups, text("door.docs_models")]
    body = "".join(
        f'<section><h2 id="{_anchor(name)}">{escape(name)}</h2>{"".join(operations)}</section>'
        for name, operations in groups.items()
    )
    models = "".join(
        _model(name, schema) for name, schema in sorted(document["components"]["schemas"].items())
    )
    html = f"""<!doctype html><html lang=en><meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<title>{escape(text("door.docs_title"))}</title><style>{_STYLE}</style>
<h1>{escape(info["title"])} <small>{escape(info["version"])}</small></h1><p>{_prose(info["description"])}</p>
<nav>{"".join(map(_link, headings))}<a href="/api/openapi.json">openapi.json</a></nav>{body}
<section><h2 id="{_anchor(headings[-1])}">{escape(headings[-1])}</h2>{models}</section></html>"""
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
    return HTMLResponse(html, headers={"Content-Security-Policy": policy})


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z]+", "-", heading.lower())


def _link(heading: str) -> str:
    return f'<a href="#{_anchor(heading)}">{escape(heading)}</a>'


def _groups(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Each group's operations, in the order of the document."""
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                groups.setdefault(operation["tags"][0], []).append(_operation(path, method, operation))
    return groups


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    parts = [f"<p>{_prose(operation.get('description', ''))}</p>"]
    parameters = "".join(map(_parameter, operation.get("parameters", [])))
    if parameters:
        parts.append(f"<table>{parameters}</table>")
    if "requestBody" in operation:
        parts.append(f"<p>{escape(text('door.docs_takes'))} {_schemas(operation['requestBody'])}</p>")
    answers = "; ".join(
        f"{code} {_schemas(reply)}" for code, reply in operation["responses"].items() if code.startswith("2")
    )
    parts.append(f"<p>{escape(text('door.docs_answers'))} {answers}</p>")
    return (
        f'<details><summary><span class="method">{method.upper()}</span> <code>{escape(path)}</code> '
        f"<span>{escape(operation.get('summary', ''))}</span></summary>{''.join(parts)}</details>"
    )


def _parameter(parameter: Mapping[str, Any]) -> str:
    needed = text("door.docs_required") if parameter.get("required") else ""
    kind = _type(parameter.get("schema", {}))
    said = parameter.get("description", "")
    return (
        f"<tr><td><code>{escape(parameter['name'])}</code> "
        f"<small>{escape(parameter['in'])} {escape(needed)}</small></td>"
        f"<td>{kind}</td><td>{_prose(said)}</td></tr>"
    )


def _schemas(holder: Mapping[str, Any]) -> str:
    content = holder.get("content", {})
    return ", ".join(
        f"<code>{escape(media)}</code> {_type(each.get('schema', {}))}" for media, each in content.items()
    )


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f'<a href="#{escape(name)}">{escape(name)}</a>'
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(_type(each) for each in schema[key])
    if schema.get("type") == "array":
        return f"[{_type(schema.get('items', {}))}]"
    if "enum" in schema or "const" in schema:
        return " | ".join(escape(json.dumps(each)) for each in schema.get("enum", [schema.get("const")]))
    return escape(str(schema.get("type", "")))


def _model(name: str, schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code>{' *' if field in needed else ''}</td><td>{_type(each)}</td>"
        f"<td>{_prose(each.get('description', ''))}</td></tr>"
        for field, each in schema.get("properties", {}).items()
    )
    said = _prose(schema.get("description", ""))
    # The id stands inside, so that a browser that goes there unfolds it.
    head = f'<details><summary>{escape(name)}</summary><p id="{escape(name)}">{said}</p>'
    return f"{head}<table>{rows}</table></details>"


def _prose(said: str) -> str:
    """Plain text with code spans; a blank line parts paragraphs."""
    marked = re.sub(r"`{1,2}([^`]+)`{1,2}", r"<code>\1</code>", escape(said))
    return marked.replace("\n\n", "<br><br>")
