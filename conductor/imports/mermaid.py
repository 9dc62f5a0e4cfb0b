"""Mermaid flowcharts: ours come back exactly, anyone's as far as they make steps.

A small scanner, no grammar of Mermaid's: nodes with any bracket shape, chains, ``&``, every arrow, edge
text; subgraphs, styles, classes, clicks and comments are passed over. Nothing takes long.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Mapping

from conductor.exports.escaping import CHARACTERS
from conductor.exports.mermaid import HEADER, JOINER
from conductor_client.plan import Diagnostic

from .graph import workflow_of_graph
from .result import Imported, refused

_HEADER = re.compile(r"(graph|flowchart(-elk)?)\b[^\n;]*")
_PASSED_OVER = re.compile(
    r"(subgraph|end|direction|style|classDef|class|click|linkStyle|accTitle|accDescr)(?=[\s:;{]|$)"
)
_ID = re.compile(r"(?:\w|[.\-/](?=\w))+")
_SHAPES = (
    ("(((", (")))",)),
    ("((", ("))",)),
    ("([", ("])",)),
    ("(-", ("-)",)),
    ("(", (")",)),
    ("[[", ("]]",)),
    ("[(", (")]",)),
    ("[/", ("/]", "\\]")),
    ("[\\", ("\\]", "/]")),
    ("[", ("]",)),
    ("{{", ("}}",)),
    ("{", ("}",)),
    (">", ("]",)),
)
_ARROW = re.compile(r"(?:\w+@)?(?P<back><)?[xo]?(?P<line>--+[->xo]|==+[=>xo]|-\.+-[>xo]?|~~~+)")
_OPEN_ARROW = re.compile(r"(?:\w+@)?(?P<back><)?[xo]?(?P<line>--|==|-\.)")
_CLOSE_ARROW = {
    "--": re.compile(r"--+[->xo]"),
    "==": re.compile(r"==+[=>xo]"),
    "-.": re.compile(r"\.+-[>xo]?"),
}
_LABEL_KEY = re.compile(r"label\s*:\s*(?:\"(?P<quoted>[^\"]*)\"|(?P<bare>[^,}\n]+))")
_CODE = re.compile(r"[#&]#?(?P<code>\w{1,31});")
_BREAK = re.compile(r"<br\s*/?>|\n", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_BLANK = " \t"
_MOST_NODES = 1_000
_MOST_UNREAD = 50
_LONGEST_BARE = 20_000
"""Characters of text without quotation marks; a bound, so that no file takes long."""


class _Unread(Exception):
    """This statement is beyond the scanner; the text says why."""


def read_mermaid(text: str) -> Imported:
    """Reads a flowchart. Never raises: what cannot be understood is told in ``diagnostics``."""
    scanner = _Scanner(text.lstrip("\ufeff"))
    if not scanner.header():
        said = "This is no Mermaid flowchart: it does not begin with 'flowchart' or 'graph'."
        return refused("mermaid", "unparsable", "line 1", said)
    while scanner.skip_to_statement():
        try:
            scanner.statement()
        except _Unread as problem:
            scanner.pass_over_line(str(problem))
        if len(scanner.labels) > _MOST_NODES or len(scanner.noticed) > _MOST_UNREAD:
            said = "It has far more nodes, or far more lines that cannot be read, than a workflow could have."
            return refused("mermaid", "unparsable", "the whole text", said, *scanner.noticed[:3])
    pictures = {**CHARACTERS, ord(JOINER): None} if HEADER in text else {}
    labels = {name: _lines(label, pictures) for name, label in scanner.labels.items()}
    return workflow_of_graph("mermaid", labels, scanner.edges, scanner.noticed)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.labels: dict[str, str] = {}
        self.edges: list[tuple[str, str]] = []
        self.noticed: list[Diagnostic] = []

    def header(self) -> bool:
        if self.text.lstrip().startswith("---"):
            end = self.text.find("\n---", self.text.index("---") + 3)
            self.at = len(self.text) if end < 0 else end + 4
        self.skip_to_statement()
        found = _HEADER.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found is not None

    def skip_to_statement(self) -> bool:
        """Passes blanks, line ends, semicolons and comments; ``False`` at the end of the text."""
        while self.at < len(self.text):
            if self.text[self.at].isspace() or self.text[self.at] == ";":
                self.at += 1
            elif self.text.startswith("%%{", self.at):
                end = self.text.find("}%%", self.at)
                self.at = len(self.text) if end < 0 else end + 3
            elif self.text.startswith("%%", self.at):
                self.skip_line()
            else:
                return True
        return False

    def pass_over_line(self, why: str) -> None:
        where = f"line {self.text.count(chr(10), 0, self.at) + 1}"
        said = f"This line was passed over: {why}"
        self.noticed.append(Diagnostic(code="repaired_line", where=where, said=said))
        self.skip_line()

    def skip_line(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def skip_statement(self) -> None:
        quoted = False
        while self.at < len(self.text) and (quoted or self.text[self.at] not in ";\n"):
            quoted ^= self.text[self.at] == '"'
            self.at += 1

    def statement(self) -> None:
        if _PASSED_OVER.match(self.text, self.at):
            self.skip_statement()
            return
        n_nodes, n_edges = len(self.labels), len(self.edges)
        seen = self.nodes()
        while (back := self.arrow()) is not None:
            by = self.nodes()
            if back != "invisible":
                self.edges += itertools.product(seen, by)
            if back == "both":
                self.edges += itertools.product(by, seen)
            seen = by
        self.skip_blanks(_BLANK + "\r")
        if self.at < len(self.text) and self.text[self.at] not in ";\n%":
            if len(self.edges) == n_edges:  # no statement at all, then: its words are no steps
                for name in list(self.labels)[n_nodes:]:
                    del self.labels[name]
            raise _Unread("something stands after a node that is no arrow")

    def nodes(self) -> list[str]:
        names = [self.node()]
        while self.next_is("&"):
            names.append(self.node())
            if len(names) > _MOST_UNREAD:
                raise _Unread("too many nodes are joined by &")
        return names

    def line_end(self, start: int) -> int:
        """Where an unquoted text must have ended: the line, or so far that it is none."""
        limit = min(start + _LONGEST_BARE, len(self.text))
        end = self.text.find("\n", start, limit)
        return limit if end < 0 else end

    def next_is(self, sign: str) -> bool:
        self.skip_blanks(_BLANK)
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def skip_blanks(self, blanks: str) -> None:
        while self.at < len(self.text) and self.text[self.at] in blanks:
            self.at += 1

    def node(self) -> str:
        self.skip_blanks(_BLANK + "\r\n")
        found = _ID.match(self.text, self.at)
        if not found:
            raise _Unread("a node was expected")
        name = found.group()
        self.at = found.end()
        label = self.object_label() if self.text.startswith("@{", self.at) else self.bracket_label()
        if label is not None:
            self.labels[name] = label
        self.labels.setdefault(name, name)
        if self.text.startswith(":::", self.at):
            css_class = _ID.match(self.text, self.at + 3)
            self.at = css_class.end() if css_class else self.at + 3
        return name

    def bracket_label(self) -> str | None:
        start = self.at
        for opener, closers in _SHAPES:
            if self.text.startswith(opener, start):
                self.at = start + len(opener)
                label = self.label_up_to(closers)
                if label is not None:
                    return label
        if self.at != start:
            raise _Unread("a bracket or a quotation mark is not closed")
        return None

    def label_up_to(self, closers: tuple[str, ...]) -> str | None:
        start = self.at
        self.skip_blanks(_BLANK + "\r\n")
        if self.text.startswith('"', self.at):
            end = self.text.find('"', self.at + 1)
            if end < 0:
                return None
            label, self.at = self.text[self.at + 1 : end], end + 1
            self.skip_blanks(_BLANK + "\r\n")
            return label if any(self.next_is(closer) for closer in closers) else None
        line_end = self.line_end(start)
        ends = [(end, closer) for closer in closers if (end := self.text.find(closer, start, line_end)) >= 0]
        if not ends:
            return None
        end, closer = min(ends)
        self.at = end + len(closer)
        return self.text[start:end].strip()

    def object_label(self) -> str | None:
        start, quoted = self.at, False
        while self.at < len(self.text) and (quoted or self.text[self.at] != "}"):
            quoted ^= self.text[self.at] == '"'
            self.at += 1
        if self.at >= len(self.text):
            self.at = start
            raise _Unread("a brace is not closed")
        self.at += 1
        found = _LABEL_KEY.search(self.text, start, self.at)
        return (found["quoted"] if found["quoted"] is not None else found["bare"].strip()) if found else None

    def arrow(self) -> str | None:
        """Passes an arrow and its text: ``forward``, ``both`` or ``invisible``; ``None``: there is none."""
        self.skip_blanks(_BLANK)
        found = _ARROW.match(self.text, self.at)
        if found:
            self.at = found.end()
            if self.next_is("|"):
                self.pass_edge_text()
            if found["line"].startswith("~"):
                return "invisible"
        else:
            found = _OPEN_ARROW.match(self.text, self.at)
            if not found:
                return None
            close = _CLOSE_ARROW[found["line"]].search(self.text, found.end(), self.line_end(found.end()))
            if not close:
                raise _Unread("an arrow does not end")
            self.at = close.end()
        return "both" if found["back"] else "forward"

    def pass_edge_text(self) -> None:
        self.skip_blanks(_BLANK)
        if self.text.startswith('"', self.at):
            end = self.text.find('"', self.at + 1)
            self.at = self.at if end < 0 else end + 1
        end = self.text.find("|", self.at)
        if end < 0:
            raise _Unread("the text of an arrow is not closed")
        self.at = end + 1


def _lines(label: str, pictures: Mapping[int, str | None]) -> list[str]:
    if len(label) > 1 and label[0] == label[-1] == "`":  # a Markdown string
        label = label[1:-1]
    lines = [_TAG.sub("", line.strip("\r")).translate(pictures) for line in _BREAK.split(label)]
    return [_CODE.sub(_character, line) for line in lines]


def _character(found: re.Match[str]) -> str:
    code = found["code"]
    if code.isascii() and code.isdecimal():
        number = int(code)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else found.group()
    entity = found.group() if found.group().startswith("&#") else f"&{code};"
    named = html.unescape(entity)
    return found.group() if named == entity else named
