"""Markdown of models as HTML that can do nothing: no HTML of theirs, no images, http(s) links only."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from .escaping import visible

MAX_CHARS = 50_000
"""Longer text is better read raw, and hostile Markdown of that size takes a second."""


def rendered(text: str) -> str | None:
    """The text as HTML; ``None`` when it is longer than ``MAX_CHARS``."""
    if len(text) > MAX_CHARS:
        return None
    return str(_markdown().render(visible(text)))


def _markdown() -> MarkdownIt:
    """A parser with tables and strike-through. An image becomes a link with a ``!`` before it."""
    parser = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False}).disable(
        "image"
    )
    parser.validateLink = _may_link  # type: ignore[method-assign]  # the documented way to set it
    parser.add_render_rule("link_open", _link_open)
    return parser


def _may_link(url: str) -> bool:
    return url.strip().lower().startswith(("http://", "https://"))


def _link_open(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    tokens[index].attrSet("rel", "noopener noreferrer nofollow")
    tokens[index].attrSet("target", "_blank")
    return self.renderToken(tokens, index, options, env)
