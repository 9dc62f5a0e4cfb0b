"""Ctrl-C before anything is served."""

from __future__ import annotations

import subprocess
import sys

import pytest

PRESSED = """
import os, signal
from conductor import cli
cli._main = lambda *_: os.kill(os.getpid(), signal.SIGINT) or 1
raise SystemExit(cli.main({words!r}))
"""


def ended(words: list[str]) -> tuple[int, str]:
    """Exit code and output of a command in whose start Ctrl-C is pressed."""
    done = subprocess.run(
        [sys.executable, "-c", PRESSED.format(words=words)], capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("words", [[], ["serve"], ["--port", "0"], ["ui"], ["api", "--port", "0"]])
def test_a_start_that_is_stopped_is_no_failure_and_says_nothing(words: list[str]) -> None:
    assert ended(words) == (0, "")


def test_another_command_hears_of_it() -> None:
    code, said = ended(["run", "Hello"])
    assert code != 0 and "KeyboardInterrupt" in said
