"""Text that UTF-8 can hold: JSON may bring halves of UTF-16 pairs, and no file, answer or call can carry one.

A provider that cuts its JSON between the halves of an emoji produces them, as does whoever cuts a text in a
language that counts in UTF-16.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def whole(text: str) -> str:
    """The text without halves: two that belong together are joined, a lone one becomes ``�``."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_all(value: Any) -> Any:
    """The same for every text in nested data, keys included."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, Mapping):
        return {whole_all(key): whole_all(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [whole_all(each) for each in value]
    return value
