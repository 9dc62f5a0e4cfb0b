"""Every string a person reads, by key: one folder of JSON files, one file per area of the product.

A key begins with its area (``studio.run`` stands in ``studio.json``). A text names its values in braces; one
that depends on a number comes as two keys, ``….one`` and ``….other``, read through :func:`counted`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("catalogue")
LANGUAGE = "en"


@cache
def strings(language: str = LANGUAGE) -> Mapping[str, str]:
    """All strings of a language.

    Raises:
        ValueError: there is no such language, or a key stands in a file of another area.
    """
    merged: dict[str, str] = {}
    for path in sorted((FOLDER / language).glob("*.json")):
        for key, said in json.loads(path.read_text(encoding="utf-8")).items():
            if key.split(".")[0] != path.stem:
                raise ValueError(f"{path.name} holds {key!r}, which belongs in {key.split('.')[0]}.json")
            merged[key] = said
    if not merged:
        raise ValueError(f"there is no catalogue for {language!r} in {FOLDER}")
    return merged


def text(key: str, **values: object) -> str:
    """The string of that key with its values filled in. Raises ``KeyError`` for an unknown key or value."""
    said = strings()[key]
    return said.format_map(values) if values else said


def counted(key: str, count: int, **values: object) -> str:
    """The singular or plural of a key; the number itself is the value ``n``, with thousands apart."""
    form = "one" if count == 1 else "other"
    return text(f"{key}.{form}", n=f"{count:,}", **values)


def under(area: str) -> dict[str, str]:
    """The strings of one area by their keys without it, as a component gets them."""
    prefix = f"{area}."
    return {key.removeprefix(prefix): said for key, said in strings().items() if key.startswith(prefix)}
