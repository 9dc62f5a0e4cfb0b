"""Runs the JavaScript side of a test under node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NODE = shutil.which("node")


def run_node(*arguments: str, given: Any = None) -> str:
    """Runs node in this folder with ``given`` as JSON on stdin; fails the test when it fails."""
    told = subprocess.run(
        [NODE or "node", *arguments],
        cwd=HERE,
        input=json.dumps(given),
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-4000:] + told.stderr[-4000:]
    return told.stdout
