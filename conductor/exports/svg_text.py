"""How wide text is without a browser, and where to break it. Widths are Helvetica's, which Arial shares."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from .escaping import visible

ELLIPSIS = "…"
_LOOKED_AT_CHARS = 4_000
"""A card shows a few lines; nothing beyond this of a 20 MB output is even looked at."""
_SAFETY = 1.13
"""Viewers that lack these fonts take wider ones; DejaVu Sans is the widest common one."""
_BOLD = 1.22
_DEFAULT = 556
_WIDE = 1_000
_NARROW_GROUPS = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jckvsxyz",
    584: "+<=>~",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1_015: "@",
}
_WIDTHS = {char: width for width, chars in _NARROW_GROUPS.items() for char in chars}


@lru_cache(maxsize=4_096)
def _char_width(char: str) -> int:
    if char in _WIDTHS:
        return _WIDTHS[char]
    if char.isascii():
        return _DEFAULT
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Cf"):
        return 0
    if unicodedata.east_asian_width(char) in "WF":
        return _WIDE
    return 722 if category == "Lu" else 640


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Width in px at a font size in px, a little on the safe side."""
    return sum(map(_char_width, text)) / 1_000 * size * _SAFETY * (_BOLD if bold else 1)


def shortened(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """The text on one line, cut with an ellipsis when it is wider than ``room`` px."""
    line = " ".join(visible(text[:_LOOKED_AT_CHARS]).split())
    if len(text) <= _LOOKED_AT_CHARS and width(line, size, bold=bold) <= room:
        return line
    return _cut(line, room - width(ELLIPSIS, size, bold=bold), size, bold) + ELLIPSIS


def wrapped(text: str, room: float, size: float, *, most: int) -> list[str]:
    """At most ``most`` lines no wider than ``room`` px; the last ends in an ellipsis when text is left."""
    lines: list[str] = []
    paragraphs = [" ".join(part.split()) for part in visible(text[:_LOOKED_AT_CHARS]).split("\n")]
    is_more = len(text) > _LOOKED_AT_CHARS
    for paragraph in filter(None, paragraphs):
        rest = paragraph
        while rest:
            if len(lines) == most:
                is_more, rest = True, ""
                break
            line, rest = _first_line(rest, room, size)
            lines.append(line)
    if is_more and lines:
        last = _cut(lines[-1], room - width(ELLIPSIS, size), size, False)
        lines[-1] = last.rstrip() + ELLIPSIS
    return lines


def _first_line(text: str, room: float, size: float) -> tuple[str, str]:
    fitting = _cut(text, room, size, False)
    if len(fitting) == len(text):
        return text, ""
    at = fitting.rfind(" ")
    if text[len(fitting)] == " ":
        at = len(fitting)
    if at <= len(fitting) // 3:  # a long word, or a script without spaces
        return fitting, text[len(fitting) :].lstrip()
    return text[:at], text[at + 1 :]


def _cut(text: str, room: float, size: float, bold: bool) -> str:
    """The longest beginning that fits, at least one character, never parted from its marks."""
    unit = size * _SAFETY * (_BOLD if bold else 1) / 1_000
    total, end = 0.0, len(text)
    for place, char in enumerate(text):
        total += _char_width(char) * unit
        if total > room and place:
            end = place
            break
    while 1 < end < len(text) and _char_width(text[end]) == 0:
        end -= 1
    return text[:end]
