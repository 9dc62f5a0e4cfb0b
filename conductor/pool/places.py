"""Which line of a TOML file a table or key stands on. ``tomllib`` reads the values and forgets the lines."""

from __future__ import annotations

import re
import tomllib

_array = re.compile(r"\s*\[\[\s*([\w-]+)\s*\]\]")
_table = re.compile(r"\s*\[\s*([\w-]+)(?:\s*\.\s*\"?([\w-]+)\"?)?\s*\]")
_key = re.compile(r"\s*\"?([\w-]+)\"?\s*(?:\.\s*[\w.\" -]+)?=")
_at = re.compile(r"\(at line (\d+)")

Place = tuple[str, int, str]
"""Name of an array of tables (empty at the top), which of its tables, and a key (empty: its header)."""


def find_places(text: str) -> dict[Place, int]:
    """Line numbers, from 1, of every table of an array and of every key in it and at the top."""
    places: dict[Place, int] = {}
    counts: dict[str, int] = {}
    table, index, prefix = "", 0, ""
    closing: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if closing is not None:
            closing = None if closing in line else closing
            continue
        if found := _array.match(line):
            table, prefix = found[1], ""
            index = counts.get(table, -1) + 1
            counts[table] = index
            places[table, index, ""] = number
        elif found := _table.match(line):
            prefix = found[2] or found[1]
            places.setdefault((table, index, prefix), number)
        elif found := _key.match(line):
            places.setdefault((table, index, prefix or found[1]), number)
        closing = _opened(line)
    return places


def line_of(places: dict[Place, int], table: str, index: int, key: str) -> int | None:
    """The key's line, else its table's; ``None`` when neither stands in the file."""
    return places.get((table, index, key)) or places.get((table, index, ""))


def line_of_syntax_error(error: tomllib.TOMLDecodeError, text: str) -> int:
    """The line a syntax error is on."""
    found = _at.search(str(error))
    return int(found[1]) if found else text.rstrip("\n").count("\n") + 1


def _opened(line: str) -> str | None:
    """The mark that ends a multi-line string which begins on this line."""
    for mark in ('"""', "'''"):
        if line.count(mark) % 2:
            return mark
    return None
