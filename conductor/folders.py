"""Texts for people who need not know where on this machine things lie."""

from __future__ import annotations

import re
from pathlib import Path

_STOPS = r"\s'\"`,;:()<>"
_absolute = re.compile(
    rf"(?<![\w:/.~-])/(?:[^/{_STOPS}]+/)+([^/{_STOPS}]*)|(?<!\w)[A-Za-z]:\\(?:[^\\{_STOPS}]+\\)*([^\\{_STOPS}]*)"
)


def without_folders(text: str, home: Path | None = None) -> str:
    """The text with each absolute path as ``~/…`` where it lies in ``home``, else as its last name.

    ``home`` None: the user's. For texts about files, not about addresses: ``/api/runs`` looks like a path.
    """
    own = str(home or Path.home())
    if len(own) > 1:
        text = re.sub(rf"(?<![\w/]){re.escape(own)}(?=[/\\{_STOPS}]|$)", "~", text)
    return _absolute.sub(lambda found: found[1] or found[2] or "a folder", text)
