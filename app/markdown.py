"""Model text made safe to draw as Markdown: no HTML, no images, http(s) links only. Pure.

The text is rewritten, not filtered: whatever is kept as code, mathematics or a link is written out again in
one plain form of ours, and every other character that could start such a thing is escaped. So it does not
matter how cleverly a text is nested: what the page's renderer takes for syntax is only what stands here. Of
Streamlit it knows only the private signs (``:red[…]``, ``:material/…:``, ``:smile:``, Mermaid fences), which
it takes the meaning from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

WORD_JOINER = "\u2060"
"""Invisible, no width: parts two characters that a renderer would read as one sign."""

_FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
_QUOTE = re.compile(r"^ {0,3}(?:> ?)+")
_LISTED_FENCE = re.compile(r"^(?P<marker> *(?:[-*+]|\d{1,9}[.)]) +)(?P<fence>(?:`{3,}|~{3,}).*)$")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#_]{1,30}")
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?= |$)")
_AUTOLINK = re.compile(r"<(https?://[^\s<>\\|`]+)>")
_SIGN = re.compile(r":(?=material/|[\w+\-\\]+:)")
_LIST_ITEM = re.compile(r"^ *(?:[-*+]|\d{1,9}[.)])(?: |$)")
_TASK = re.compile(r"^( *[-*+] )\[([ xX])\](?= )")
_DISPLAY_MATH = re.compile(r"^ *(?:\$\$(?P<dollars>[^$]*)\$\$|\\\[(?P<brackets>.*?)\\\]) *$")
_LINK = re.compile(
    r"\[(?P<label>[^\[\]`\\$<>|\n]+)\]"
    r"\((?P<url>https?://(?:[^\s()<>\\`|$\[\]\"']|\([^\s()<>\\`|$\[\]\"']*\))+)(?: +\"[^\"\n]*\")?\)"
)
_BARE_URL = re.compile(r"https?://[^\s<>()\"'`|\\^{}$\[\]*]+[^\s<>()\"'`|\\^{}$\[\]*.,;:!?_~]")
_MATH = re.compile(r"\$(?P<body>[^\s$`](?:[^$`\n]*[^\s$`\\])?)\$(?!\d)")
_LATEX = re.compile(r"\\\((?P<body>[^\n`$]{1,500}?)\\\)|\\\[(?P<wide>[^\n`$]{1,500}?)\\\]")
_AMOUNT = re.compile(r"\d[\d.,]*(?:[kKmMbB]|\s+[A-Za-z]{2,}|\s*[-–]\s*|\s*$)")
_BRACKET_ACTIVE = ("](", "![", "][")
_FORMULA_LINES = 200
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def sanitised(text: str) -> str:
    """The text as Markdown that draws no HTML, loads nothing and links to http(s) only.

    Code blocks, tables, emphasis, lists and LaTeX stay; images and any other link stay readable as plain
    text. Headings go down two levels, since an answer is a part of a page.
    """
    return "\n".join(_lines(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")))


def literal(text: str) -> str:
    """One line of text as Markdown that shows exactly these characters: for labels and captions."""
    line = " ".join(text.split())
    escaped = re.sub(r"[\\`*_{}\[\]()<>#+\-.!|~$&=^:@]", r"\\\g<0>", line)
    return _signs_parted(re.sub(r"^(\d{1,9})([.)])", r"\1\\\2", escaped))


def option(name: str) -> str:
    """The name of an option beside others, as Markdown.

    In grey: Streamlit writes a chosen one in the primary colour, which is dark enough for a button's white
    text and so too dark for a text of its own on dark paper.
    """
    return f":gray[{literal(name)}]"


def _lines(text: str) -> Iterator[str]:
    waiting = [_untabbed(line) for line in text.split("\n")]
    waiting.reverse()
    is_listed, was_blank, was_marker = False, True, False
    while waiting:
        line = waiting.pop()
        quote = match.group() if (match := _QUOTE.match(line)) else ""
        body = line[len(quote) :]
        prefix = "> " * quote.count(">")
        if listed := _LISTED_FENCE.match(body):
            yield prefix + listed["marker"].rstrip()
            waiting.append(quote + " " * len(listed["marker"]) + listed["fence"])
            is_listed, was_blank, was_marker = True, False, True
        elif (fence := _FENCE.match(body)) and ("`" not in fence["info"] or fence["mark"][0] == "~"):
            if len(fence["indent"]) > 3 and not was_marker:
                yield prefix.rstrip()
            yield from _fenced(fence, waiting, prefix=prefix, quote=quote)
            was_blank = was_marker = False
        elif body.startswith("    ") and was_blank and not is_listed and not quote and body.strip():
            yield from _indented(body, waiting)
        elif math := _DISPLAY_MATH.match(body):
            yield from _display_math(math["dollars"] or math["brackets"] or "", body, prefix)
        elif (
            body.strip() in {"$$", "\\["}
            and (inside := _taken_math(waiting, "$$" if "$" in body else "\\]")) is not None
        ):
            yield from _display_math(inside, body, prefix)
        else:
            yield prefix + _line(body)
            was_blank = not body.strip()
            if body.strip():
                is_listed = bool(_LIST_ITEM.match(body)) or (is_listed and body.startswith("  "))


def _untabbed(line: str) -> str:
    start = re.match(r"[ \t]*", line)
    indent = start.group() if start else ""
    return indent.expandtabs(4) + line[len(indent) :]


def _fenced(opening: re.Match[str], waiting: list[str], *, prefix: str, quote: str) -> Iterator[str]:
    """A code block written again: its own fence, its language, every line at least as deep as the fence."""
    indent, mark = opening["indent"], opening["mark"]
    closing = re.compile(rf"^ *{re.escape(mark[0])}{{{len(mark)},}} *$")
    inside: list[str] = []
    while waiting:
        line = waiting.pop()
        if quote:
            deeper = _QUOTE.match(line)
            if not deeper:
                waiting.append(line)
                break
            line = line[len(deeper.group()) :]
        if closing.match(line):
            break
        inside.append(line[len(indent) :] if line.startswith(indent) else line.lstrip(" "))
    yield from _block(inside, language=_language(opening["info"]), lead=prefix + indent)


def _indented(first: str, waiting: list[str]) -> Iterator[str]:
    inside = [first[4:]]
    while waiting and (waiting[-1].startswith("    ") or not waiting[-1].strip()):
        inside.append(waiting.pop()[4:])
    while inside and not inside[-1].strip():
        inside.pop()
    yield from _block(inside, language="", lead="")


def _block(inside: list[str], *, language: str, lead: str) -> Iterator[str]:
    longest = max((len(run) for line in inside for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{lead}{fence}{language}"
    for line in inside:
        yield lead + line
    yield lead + fence


def _language(info: str) -> str:
    """The language of a fence; never Mermaid, which the page would draw, images and all."""
    named = _LANGUAGE.match(info.strip())
    if named is None or "mermaid" in named.group().lower():
        return ""
    return named.group()


def _taken_math(waiting: list[str], end: str) -> str | None:
    """The lines up to the one that ends a formula, taken off ``waiting``; ``None`` when no line near does."""
    for place in range(len(waiting) - 1, max(-1, len(waiting) - 1 - _FORMULA_LINES), -1):
        if waiting[place].strip() == end:
            inside = [line.strip() for line in reversed(waiting[place + 1 :])]
            if any("$" in line for line in inside):
                return None
            del waiting[place:]
            return "\n".join(line for line in inside if line)
    return None


def _display_math(formula: str, line: str, prefix: str) -> Iterator[str]:
    could_link = any(sign in formula for sign in (*_BRACKET_ACTIVE, "$", "`"))
    if not formula.strip() or could_link:
        yield prefix + _line(line)
        for rest in formula.split("\n") if "\n" in formula else ():
            yield prefix + _line(rest)
        return
    yield prefix.rstrip(" ")
    yield prefix + "$$"
    for part in formula.strip().split("\n"):
        yield prefix + _math_text(part)
    yield prefix + "$$"
    yield prefix.rstrip(" ")


def _math_text(formula: str) -> str:
    return formula.strip().replace("<", "\\lt ")


def _line(line: str) -> str:
    task = _TASK.match(line)
    if task:
        return f"{task[1]}[{task[2]}]" + _inline(line[task.end() :])
    if heading := _HEADING.match(line):
        return "#" * min(6, len(heading[1]) + 2) + _inline(line[heading.end() :])
    return _inline(line)


def _inline(line: str, *, links: bool = True) -> str:
    ticks: dict[int, list[int]] = {}
    for run in re.finditer(r"`+", line):
        ticks.setdefault(len(run.group()), []).append(run.start())
    out: list[str] = []
    place = 0
    while place < len(line):
        taken, end = _code(line, place, ticks) if line[place] == "`" else _token(line, place, links=links)
        out.append(taken)
        place = end
    return "".join(out)


def _token(line: str, place: int, *, links: bool) -> tuple[str, int]:
    """What stands for the text at ``place``, and where the next token begins."""
    sign = line[place]
    match sign:
        case "\\":
            return _escape(line, place)
        case "$":
            return _dollar(line, place)
        case "[" if links and (place == 0 or line[place - 1] != "!") and (link := _LINK.match(line, place)):
            address = link["url"].replace("(", "%28").replace(")", "%29")
            return f"[{_inline(link['label'], links=False)}]({address})", link.end()
        case "h" if url := _BARE_URL.match(line, place):
            return (f"<{url.group()}>" if links else _plain(url.group())), url.end()
        case "<" if links and (address := _AUTOLINK.match(line, place)):
            return address.group(), address.end()
        case "[" | "]" | "<":
            return "\\" + sign, place + 1
        case ":":
            return _colon(line, place)
        case _:
            return sign, place + 1


def _plain(address: str) -> str:
    return address.replace("_", "\\_").replace("~", "\\~")


def _code(line: str, place: int, ticks: dict[int, list[int]]) -> tuple[str, int]:
    """Code between equal runs of backticks on one line; else the backticks as characters."""
    run = re.compile(r"`+").match(line, place)
    length = len(run.group()) if run else 1
    later = ticks.get(length, [])
    following = bisect_right(later, place)
    if following == len(later):
        return "\\`" * length, place + length
    end = later[following] + length
    span = line[place:end]
    could_split = "|" in span and any(sign in span for sign in (*_BRACKET_ACTIVE, "<", "["))
    return (_inline_escaped(span) if could_split else span), end


def _inline_escaped(span: str) -> str:
    """Code that a table would cut at its bars: shown as plain characters instead."""
    return re.sub(r"[\\`*_\[\]<>$~]", r"\\\g<0>", span)


def _escape(line: str, place: int) -> tuple[str, int]:
    if latex := _LATEX.match(line, place):
        return _formula(latex, line, place)
    following = line[place + 1 : place + 2]
    if following in _PUNCTUATION:
        return "\\" + following, place + 2
    return "\\\\", place + 1


def _formula(found: re.Match[str], line: str, place: int) -> tuple[str, int]:
    """A formula between single dollars; anything with brackets that could link stays text."""
    body = (found["body"] or found.groupdict().get("wide") or "").strip()
    if not body or body.endswith("\\") or any(sign in body for sign in _BRACKET_ACTIVE):
        return "\\" + line[place], place + 1
    after = line[found.end() : found.end() + 1]
    return f"${_math_text(body)}$" + (WORD_JOINER if after.isdigit() or after == "$" else ""), found.end()


def _dollar(line: str, place: int) -> tuple[str, int]:
    """A formula, or a sum of money: ``US$5``, ``$5 and $6``, ``$10-$20`` are none."""
    found = _MATH.match(line, place)
    if found is None or line[place - 1 : place].isalnum() or _AMOUNT.match(found["body"]):
        return "\\$", place + 1
    return _formula(found, line, place)


def _colon(line: str, place: int) -> tuple[str, int]:
    """A colon that starts no directive and no pictogram."""
    following = line[place + 1 : place + 2]
    if not following or following.isspace() or (following == "/" and place and line[place - 1].isalpha()):
        return ":", place + 1
    return "\\:" + (WORD_JOINER if _SIGN.match(line, place) else ""), place + 1


def _signs_parted(escaped: str) -> str:
    return re.sub(r"\\:(?=material/|[\w+\-\\]+:)", "\\\\:" + WORD_JOINER, escaped)
