"""The one place where text becomes part of HTML, XML or a script block.

Model text is data: whatever it holds, it is shown and never interpreted. Characters that HTML and XML
cannot carry (NUL and most control characters) are shown as their control picture, so nothing vanishes.
"""

from __future__ import annotations

import html
import json
from typing import Any

from conductor.characters import whole

PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡", 0xFFFE: "␥", 0xFFFF: "␦"}
"""Characters that XML cannot carry, with tab and line ends, by what is shown for them."""
CHARACTERS = {ord(picture): chr(code) for code, picture in PICTURES.items()}
"""The same the other way round, for readers of our own files."""
_SHOWN = {code: picture for code, picture in PICTURES.items() if chr(code) not in "\t\n"}
_SHOWN |= dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000)], "\ufffd")
_SCRIPT_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def visible(text: str) -> str:
    """The text with control characters as pictures (``␀``) and every line end as ``\\n``."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_SHOWN)


def escape(text: object) -> str:
    """Text for an element or a quoted attribute of HTML or XML."""
    return html.escape(visible(str(text)), quote=True)


def json_for_script(value: Any) -> str:
    """JSON that may stand inside a ``<script>`` element: it can neither close it nor break a line in it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_SCRIPT_ESCAPES)


def utf8(text: str) -> bytes:
    """The text as UTF-8; lone surrogates become U+FFFD."""
    return whole(text).encode()
