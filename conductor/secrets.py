"""Taking keys out of texts before anyone stores, logs or shows them.

Two nets: values of environment variables that hold secrets, wherever they appear; and anything that looks
like a key, whoever it belongs to. Error texts of providers and every log record go through here.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping

MASK = "[secret]"
SHORTEST = 6
"""A shorter value is taken for no secret: masking it would blacken ordinary words."""

_named = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)", re.IGNORECASE
)
_shaped = re.compile(
    r"\b(?:sk|pk|rk|fish|gsk|xai|hf|ghp|gho|github_pat|glpat|r8|nvapi|pplx|tgp|AIza|ya29|AKIA|ASIA)[-_.]?"
    r"(?=[\w\-.]*[\dA-Z])[A-Za-z0-9][A-Za-z0-9_\-.]{11,}"
    r"|\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*"
)
_header = re.compile(
    r"(?i)\b(bearer|basic|x-api-key|api[-_]?key|authorization)([\"']?\s*[:=]?\s*[\"']?)([A-Za-z0-9+/_\-.=]{8,})"
)
_in_url = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@]+@")


def secret_values(names: Iterable[str] = (), environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Values of the named variables and of all whose name says that they hold a secret; longest first."""
    wanted = set(names)
    values = {
        value.strip()
        for name, value in environ.items()
        if (name in wanted or _named.search(name)) and len(value.strip()) >= SHORTEST
    }
    return tuple(sorted(values, key=len, reverse=True))


def looks_like_key(text: str) -> bool:
    """Whether a text has the form of a key rather than of a variable's name."""
    return bool(_shaped.search(text))


def scrub(text: str, *, names: Iterable[str] = (), environ: Mapping[str, str] = os.environ) -> str:
    """The text without secrets. ``names``: variables that hold keys although their names don't say so."""
    for value in secret_values(names, environ):
        text = text.replace(value, MASK)
    text = _shaped.sub(MASK, text)
    text = _header.sub(lambda found: f"{found[1]}{found[2]}{MASK}" if _is_value(found[3]) else found[0], text)
    return _in_url.sub(rf"\1{MASK}@", text)


class ScrubFilter(logging.Filter):
    """Masks secrets in log records, tracebacks included. Add it to handlers, so that no logger is missed."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__()
        self._names = tuple(names)

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrites the record in place; never drops one."""
        message = record.getMessage()
        clean = scrub(message, names=self._names)
        if clean != message:
            record.msg, record.args = clean, None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = scrub(record.exc_text, names=self._names)
        return True


def guard_logs(names: Iterable[str] = ()) -> None:
    """Puts a ``ScrubFilter`` on every handler of the root logger and of uvicorn that has none yet."""
    wanted = tuple(names)
    for name in (None, "uvicorn", "uvicorn.access", "uvicorn.error"):
        for handler in logging.getLogger(name).handlers:
            if not any(isinstance(each, ScrubFilter) for each in handler.filters):
                handler.addFilter(ScrubFilter(wanted))


def _is_value(text: str) -> bool:
    # "bearer authentication", "api_key parameter": words, no secrets.
    return text != MASK.strip("[]") and bool(re.search(r"[\d_\-+/=]", text)) and len(text) >= 12
