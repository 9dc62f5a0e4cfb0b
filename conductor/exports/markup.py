"""A tiny writer of HTML and SVG: text is escaped unless it is ``Markup``, so nothing can be forgotten."""

from __future__ import annotations

from collections.abc import Iterable

from .escaping import escape

_VOID = frozenset({"meta", "br", "hr", "link"})


class Markup(str):
    """Text that is markup of ours. Only :func:`el`, :func:`joined` and writers of safe HTML make it."""

    __slots__ = ()


def el(tag: str, *children: object, **attributes: object) -> Markup:
    """An element. Children: ``Markup`` as it is, ``None`` left out, anything else escaped.

    ``class_`` writes ``class`` and ``aria_label`` writes ``aria-label``; an attribute that is ``None`` or
    ``False`` is left out, ``True`` is written without value in HTML's way.
    """
    written = []
    for name, value in attributes.items():
        if value is not None and value is not False:
            plain = name.rstrip("_").replace("_", "-")
            written.append(f' {plain}=""' if value is True else f' {plain}="{escape(value)}"')
    start = f"<{tag}{''.join(written)}>"
    return Markup(start if tag in _VOID else f"{start}{joined(children)}</{tag}>")


def joined(parts: Iterable[object], between: str = "") -> Markup:
    """Parts one after another, text among them escaped."""
    shown = (part if isinstance(part, Markup) else escape(part) for part in parts if part is not None)
    return Markup(between.join(shown))


def pre(text: str, class_: str = "text") -> Markup:
    """Text exactly as it is, wrapped. HTML drops a line end right after ``<pre>``, so one is put there."""
    return el("pre", Markup("\n"), text, class_=class_)
