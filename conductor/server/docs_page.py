"""``/api/docs``: the OpenAPI document as one page without script: it works offline and under any policy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
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
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
details { border: 1px solid color-mix(in srgb, currentcolor 25%, transparent); border-radius: 6px }
details { margin: .4rem 0; padding: .3rem .7rem }
summary { cursor: pointer } code, pre { font: .85rem/1.45 ui-monospace, monospace } pre { overflow: auto }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700 }
table { border-collapse: collapse } section > h2 { margin-top: 2rem }
td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0 }
"""


def page(document: Mapping[str, Any]) -> Response:
    """The page for this document."""
    info = document["info"]
    body = "".join(_groups(document))
    models = "".join(
        _model(name, schema) for name, schema in sorted(document["components"]["schemas"].items())
    )
    html = f"""<!doctype html><html lang=en><meta charset=utf-8>
<meta name=viewport content="width=device-width">
<title>{escape(text("door.docs_title"))}</title><style>{_STYLE}</style>
<h1>{escape(info["title"])} {escape(info["version"])}</h1><p>{_prose(info["description"])}</p>
<p><a href="/api/openapi.json">openapi.json</a></p>{body}
<section><h2>{escape(text("door.docs_models"))}</h2>{models}</section></html>"""
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
    return HTMLResponse(html, headers={"Content-Security-Policy": policy})


def _groups(document: Mapping[str, Any]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                groups.setdefault(operation["tags"][0], []).append(_operation(path, method, operation))
    for name, operations in groups.items():
        yield f"<section><h2>{escape(name)}</h2>{''.join(operations)}</section>"


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
        f"{escape(operation.get('summary', ''))}</summary>{''.join(parts)}</details>"
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
