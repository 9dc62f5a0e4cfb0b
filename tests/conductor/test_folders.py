"""No absolute path leaves in a text for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from conductor.folders import without_folders

HOME = Path("/home/someone")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("/home/someone/.local/x.sqlite cannot be opened.", "~/.local/x.sqlite cannot be opened."),
        ("The disk of /srv/data/x.sqlite; so", "The disk of x.sqlite; so"),
        ("no pool 'x' in /home/someone/pools and /opt/c/data, no", "no pool 'x' in ~/pools and data, no"),
        ("'/srv/a/b.toml': (/srv/c/)", "'b.toml': (a folder)"),
        ("/home/someone", "~"),
        ("/home/someone-else/x", "x"),
        ("sqlite:////srv/a/b", "sqlite:////srv/a/b"),
        ("see http://127.0.0.1:8501/api/docs", "see http://127.0.0.1:8501/api/docs"),
        ("1/2 and/or ~/x/y and 3 / 4", "1/2 and/or ~/x/y and 3 / 4"),
        (r"C:\Users\me\x.sqlite is damaged", "x.sqlite is damaged"),
    ],
)
def test_paths_become_names(text: str, wanted: str) -> None:
    assert without_folders(text, HOME) == wanted
