"""DOT: our files come back exactly, anyone's simple directed graphs as far as they make steps.

A tokenizer and a loop over statements, after the DOT language: quoted, bare, numeral and HTML-like ids,
three kinds of comment, attribute lists, edge chains, ports, subgraphs as edge ends.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from conductor.exports.dot import COMMENT
from conductor.exports.escaping import CHARACTERS
from conductor_client.errors import quoted
from conductor_client.plan import Diagnostic

from .graph import workflow_of_graph
from .result import Imported, refused

_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])\#[^\n]*)
    |(?P<arrow>->|--)
    |"(?P<quoted>(?:[^"\\]|\\.)*)"
    |(?P<id>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))
    |(?P<sign>[{}\[\];,=:+])""",
    re.VERBOSE | re.DOTALL,
)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_ESCAPE = re.compile(r" \\l|\\[\s\S]|&#?\w{1,31};|\n")
_KEYWORDS = ("graph", "node", "edge")
_MOST_NODES = 1_000


@dataclass(frozen=True)
class _Token:
    kind: str
    """``arrow``, ``quoted``, ``id``, ``html``, ``sign`` or ``end``."""
    text: str
    at: int


class _Wrong(Exception):
    """The text cannot be DOT; ``at`` is the place in characters."""

    def __init__(self, said: str, at: int) -> None:
        super().__init__(said)
        self.at = at


def read_dot(text: str) -> Imported:
    """Reads a graph. Never raises: what cannot be understood is told in ``diagnostics``."""
    text = text.lstrip("\ufeff")
    try:
        parser = _Parser(list(_tokens(text)))
        parser.graph()
    except _Wrong as problem:
        where = f"line {text.count(chr(10), 0, problem.at) + 1}"
        return refused("dot", "unparsable", where, f"This is no DOT graph: {problem}")
    except RecursionError:
        return refused("dot", "unparsable", "the whole text", "Its subgraphs are nested too deeply.")
    pictures = CHARACTERS if COMMENT in text else {}
    labels = {name: _lines(*parser.labels.get(name, (name, False)), name, pictures) for name in parser.nodes}
    return workflow_of_graph("dot", labels, parser.edges, parser.noticed)


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        if text[at] == "<":
            end = _html_end(text, at)
            yield _Token("html", text[at + 1 : end - 1], at)
            at = end
            continue
        found = _TOKEN.match(text, at)
        if not found:
            raise _Wrong(f"the character {text[at]!r} does not belong here", at)
        kind = str(found.lastgroup)
        if kind != "blank":
            yield _Token(kind, found[kind], at)
        at = found.end()
    yield _Token("end", "", len(text))


def _html_end(text: str, at: int) -> int:
    depth, start = 0, at
    for found in re.compile("[<>]").finditer(text, at):
        depth += 1 if found.group() == "<" else -1
        if not depth:
            return found.end()
    raise _Wrong("a '<' is not closed", start)


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.nodes: dict[str, None] = {}
        self.labels: dict[str, tuple[str, bool]] = {}
        self.edges: list[tuple[str, str]] = []
        self.noticed: list[Diagnostic] = []

    @property
    def now(self) -> _Token:
        return self.tokens[self.at]

    def is_sign(self, *signs: str) -> bool:
        return self.now.kind == "sign" and self.now.text in signs

    def is_next(self, sign: str) -> bool:
        token = self.tokens[self.at + 1]
        return token.kind == "sign" and token.text == sign

    def take_sign(self, sign: str) -> bool:
        if not self.is_sign(sign):
            return False
        self.at += 1
        return True

    def word(self) -> str:
        return self.now.text.lower() if self.now.kind == "id" else ""

    def graph(self) -> None:
        if self.word() == "strict":
            self.at += 1
        if self.word() not in ("digraph", "graph"):
            raise _Wrong("it does not begin with 'digraph'", self.now.at)
        is_directed = self.word() == "digraph"
        self.at += 1
        if not self.is_sign("{"):
            self.name()
        self.block()
        if not is_directed and self.edges:
            said = "Its edges have no direction; each was taken to lead from the first to the second node."
            self.noticed.append(Diagnostic(code="repaired_edges", where="the whole text", said=said))

    def block(self) -> list[str]:
        if not self.take_sign("{"):
            raise _Wrong("a '{' was expected", self.now.at)
        named: list[str] = []
        while not self.take_sign("}"):
            if self.now.kind == "end":
                raise _Wrong("a '}' is missing at the end", self.now.at)
            if not self.take_sign(";") and not self.take_sign(","):
                named += self.statement()
        return list(dict.fromkeys(named))

    def statement(self) -> list[str]:
        if self.word() in _KEYWORDS and self.is_next("["):
            self.at += 1
            self.attributes()
            return []
        if self.now.kind in ("id", "quoted") and self.is_next("="):
            self.at += 2
            self.value()
            return []
        ends = self.ends()
        named = list(ends)
        is_edge = False
        while self.now.kind == "arrow":
            self.at += 1
            others = self.ends()
            if len(ends) * len(others) + len(self.edges) > _MOST_NODES * 10:
                raise _Wrong("it has far more edges than a workflow could have", self.now.at)
            self.edges += itertools.product(ends, others)
            ends, is_edge = others, True
            named += others
        label = self.attributes().get("label") if self.is_sign("[") else None
        if label is not None and not is_edge:
            self.labels.update(dict.fromkeys(named, label))
        return named

    def ends(self) -> list[str]:
        if self.word() == "subgraph":
            self.at += 1
            if not self.is_sign("{"):
                self.name()
            return self.block() if self.is_sign("{") else []
        if self.is_sign("{"):
            return self.block()
        name = self.name()
        while self.take_sign(":"):  # a port, and a compass point
            self.name()
        self.nodes.setdefault(name)
        if len(self.nodes) > _MOST_NODES:
            raise _Wrong("it has far more nodes than a workflow could have", self.now.at)
        return [name]

    def name(self) -> str:
        return self.value()[0]

    def value(self) -> tuple[str, bool]:
        """An id, and whether it is HTML-like. Quoted strings may be joined by ``+``."""
        token = self.now
        if token.kind not in ("id", "quoted", "html"):
            raise _Wrong(f"a name was expected instead of {quoted(token.text)}", token.at)
        self.at += 1
        text = token.text
        if token.kind == "quoted":
            while self.is_sign("+") and self.tokens[self.at + 1].kind == "quoted":
                text += self.tokens[self.at + 1].text
                self.at += 2
        return text, token.kind == "html"

    def attributes(self) -> dict[str, tuple[str, bool]]:
        found: dict[str, tuple[str, bool]] = {}
        while self.take_sign("["):
            while not self.take_sign("]"):
                if self.take_sign(",") or self.take_sign(";"):
                    continue
                key = self.name()
                found[key.lower()] = self.value() if self.take_sign("=") else ("true", False)
        return found


def _lines(label: str, is_html: bool, name: str, pictures: Mapping[int, str]) -> list[str]:
    if is_html:
        text = _TAG.sub("", _BREAK_TAG.sub("\n", label))
        return html.unescape(text).strip().split("\n")
    out: list[str] = [""]
    at = 0
    for found in _ESCAPE.finditer(label):
        out[-1] += label[at : found.start()].translate(pictures)
        at = found.end()
        _put(out, found.group(), name)
    out[-1] += label[at:].translate(pictures)
    return out[:-1] if len(out) > 1 and not out[-1] and label.endswith(("\\l", "\\r")) else out


def _put(out: list[str], sign: str, name: str) -> None:
    if sign == " \\l":  # only wrapped
        out[-1] += " "
    elif sign in ("\\l", "\\n", "\\r", "\n"):
        out.append("")
    elif sign == "\\\n":  # the line goes on
        return
    elif sign == "\\N":
        out[-1] += name
    elif sign.startswith("\\"):
        out[-1] += sign[1]
    else:
        out[-1] += _entity(sign)


def _entity(sign: str) -> str:
    if sign.startswith("&#") and sign[2:-1].isascii() and sign[2:-1].isdecimal():
        number = int(sign[2:-1])  # html.unescape would turn 0, and 128 to 159, into other characters
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else sign
    return html.unescape(sign)
