"""Python and JSON values as a language model really writes them, read in one pass and linear time.

Strict text gives what Python or JSON would give. Beyond that it takes curly quotes, quotes and apostrophes
inside text that nobody escaped, trailing and missing commas, raw line breaks, bullets, comments and bare
words, and names each thing it had to mend. It knows nothing of workflows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 5
CLOSES = {"[": "]", "(": ")", "{": "}"}
STRAIGHT = "\"'"
QUOTE_PAIRS = {'"': '"', "'": "'", "“": "”“", "”": "”“", "„": "”“", "‘": "’‘", "’": "’‘"}
SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "/": "/"}

_blank = re.compile(r"(?:[\s`]+|#[^\n]*|[-*•](?=\s))*+")
_string_start = re.compile(r"(?P<prefix>[rRbBuUfF]{0,2})(?P<quote>\"\"\"|'''|[\"'“”„‘’])")
_number = re.compile(r"[-+]?\d+(?P<fraction>\.\d*)?(?![\w.])")
_word = re.compile(r"[A-Za-z_][\w .-]*")
_escape = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_high_then_low = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_lone = re.compile("[\ud800-\udfff]")
_next_string = re.compile(r"\s*+(?:[-*•]\s++)?[\"“„']")


def _ends_in(close: str) -> re.Pattern[str]:
    """What may follow the quote that ends a string in a container closed by ``close``."""
    value = r"[\[{(#\"'“”‘’„\d+-]|[rRbBuUfF]{1,2}[\"']|[A-Za-z_]+\s*+[,\]}:)]"
    key = r"|:\s*+(?:[\[{(\"'“‘\d-]|true|false|null|True|False|None)" if close == "}" else ""
    return re.compile(rf"\s*+(?:\{close}|$|#\s|,\s*+(?:\{close}|$|{value}){key})")


_ends = {close: _ends_in(close) for close in CLOSES.values()}


class NotALiteral(ValueError):
    """The text at ``at`` is no value, or ends before it is complete."""

    def __init__(self, at: int, said: str) -> None:
        super().__init__(said)
        self.at = at
        self.said = said


@dataclass(frozen=True)
class Word:
    """A bare word where a value was expected, such as ``all``."""

    text: str


@dataclass
class Literal:
    """One value that was read: ``end`` is the offset after it, ``repairs`` the names of what was mended."""

    value: Any
    end: int
    repairs: dict[str, None] = field(default_factory=dict)


def read_literal(text: str, start: int) -> Literal:
    """Reads the value that begins at ``start``.

    Raises:
        NotALiteral: there is none, it is nested deeper than five, or the text ends inside it.
    """
    scanner = _Scanner(text)
    value, end = scanner.value(start, 0, "]")
    return Literal(value, end, scanner.repairs)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.repairs: dict[str, None] = {}

    def value(self, at: int, depth: int, close: str) -> tuple[Any, int]:
        text = self.text
        if at >= len(text):
            raise NotALiteral(at, "the text ends where a value should stand")
        mark = text[at]
        if mark in CLOSES:
            if depth >= MAX_DEPTH:
                raise NotALiteral(at, f"lists are nested deeper than {MAX_DEPTH}")
            return self.mapping(at, depth) if mark == "{" else self.sequence(at, depth)
        if found := _string_start.match(text, at):
            return self.string(found, close)
        if found := _number.match(text, at):
            digits = found.group()
            if len(digits) > 18 or found["fraction"] is not None:
                return float(digits[:300]), found.end()
            return int(digits), found.end()
        if found := _word.match(text, at):
            return _constant(found.group().strip()), found.end()
        raise NotALiteral(at, f"{mark!r} begins no value")

    def sequence(self, at: int, depth: int) -> tuple[list[Any], int]:
        close = CLOSES[self.text[at]]
        items: list[Any] = []
        at, comma = self.skip(at + 1), True
        while True:
            if at >= len(self.text):
                raise NotALiteral(at, "the text ends inside a list")
            if self.text[at] == close:
                if items and comma:
                    self.repairs["repaired_trailing_comma"] = None
                return items, at + 1
            if not comma:
                self.repairs["repaired_missing_comma"] = None
            item, at = self.value(at, depth + 1, close)
            items.append(item)
            at, comma = self.comma(at)

    def mapping(self, at: int, depth: int) -> tuple[dict[str, Any] | list[Any], int]:
        found: dict[str, Any] = {}
        members: list[Any] = []
        at, comma = self.skip(at + 1), True
        while True:
            if at >= len(self.text):
                raise NotALiteral(at, "the text ends inside an object")
            if self.text[at] == "}":
                if (found or members) and comma:
                    self.repairs["repaired_trailing_comma"] = None
                return (members if members and not found else found), at + 1
            if not comma:
                self.repairs["repaired_missing_comma"] = None
            key, at = self.value(at, depth + 1, "}")
            at = self.skip(at)
            if self.text[at : at + 1] == ":":
                item, at = self.value(self.skip(at + 1), depth + 1, "}")
                found[str(key.text if isinstance(key, Word) else key)] = item
            else:
                members.append(key)
            at, comma = self.comma(at)

    def skip(self, at: int) -> int:
        found = _blank.match(self.text, at)
        return found.end() if found else at

    def comma(self, at: int) -> tuple[int, bool]:
        at = self.skip(at)
        if self.text[at : at + 1] in {",", ";", "，", "、"}:
            return self.skip(at + 1), True
        return at, False

    def string(self, start: re.Match[str], close: str) -> tuple[str, int]:
        quote, at = start["quote"], start.end()
        is_raw = "r" in start["prefix"].lower()
        if len(quote) == 3:
            return self.triple(quote, at, is_raw)
        ends = QUOTE_PAIRS[quote]
        if quote not in STRAIGHT:
            self.repairs["repaired_quotes"] = None
        stop = re.compile(rf"[\\{ends}]")
        cursor = at
        while found := stop.search(self.text, cursor):
            cursor = found.end()
            if found.group() == "\\":
                cursor += 1
            elif _ends[close].match(self.text, cursor) or self.begins_next(cursor):
                return self.text_of(at, found.start(), is_raw), cursor
            else:
                self.repairs["repaired_quotes"] = None
        raise NotALiteral(len(self.text), "the text ends inside a quotation")

    def begins_next(self, at: int) -> bool:
        # A string that ends its line, with the next one below it: somebody forgot the comma.
        found = _next_string.match(self.text, at)
        return found is not None and "\n" in found.group()

    def triple(self, quote: str, at: int, is_raw: bool) -> tuple[str, int]:
        stop = re.compile(rf"\\.|{quote}", re.DOTALL)
        cursor = at
        while found := stop.search(self.text, cursor):
            cursor = found.end()
            if found.group() == quote:
                return self.text_of(at, found.start(), is_raw, may_break=True), cursor
        raise NotALiteral(len(self.text), "the text ends inside a quotation")

    def text_of(self, start: int, end: int, is_raw: bool, *, may_break: bool = False) -> str:
        raw = self.text[start:end]
        if "\n" in raw and not may_break:
            self.repairs["repaired_line_break"] = None
        if is_raw or "\\" not in raw:
            return raw
        plain = _escape.sub(self.unescape, raw)
        plain = _high_then_low.sub(_joined, plain)
        if _lone.search(plain):
            self.repairs["repaired_character"] = None
            plain = _lone.sub("\ufffd", plain)
        return plain

    def unescape(self, found: re.Match[str]) -> str:
        kind, digits = found.group()[1], found.group()[2:]
        if digits:
            number = int(digits, 16)
            if number > 0x10FFFF:
                self.repairs["repaired_character"] = None
                return "\ufffd"
            return chr(number)
        if kind == "\n":
            return ""
        if kind in SIMPLE_ESCAPES:
            return SIMPLE_ESCAPES[kind]
        # \frac, \beta, \alpha, \vec: nobody means a form feed or a bell in an instruction.
        self.repairs["repaired_backslash"] = None
        return found.group()


def _joined(found: re.Match[str]) -> str:
    high, low = ord(found[1]), ord(found[2])
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


_CONSTANTS = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}


def _constant(word: str) -> Any:
    return _CONSTANTS[word] if word in _CONSTANTS else Word(word)
