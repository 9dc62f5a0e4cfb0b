"""A run belongs to one living process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conductor.engine.claims import Claims

HOLDER = """
import sys
from pathlib import Path
from conductor.engine.claims import Claims
claims = Claims(Path(sys.argv[1]))
print(claims.slot, claims.take("run_a"), claims.take("run_b"), flush=True)
claims.give_back("run_b")
print("ready", flush=True)
sys.stdin.read()
"""


def test_another_process_takes_only_what_a_living_one_does_not_hold(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "claims"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().split() == ["0", "True", "True"]
        assert holder.stdout.readline().strip() == "ready"
        claims = Claims(path)
        try:
            assert claims.slot == 1
            assert not claims.take("run_a")
            assert claims.take("run_b") and claims.take("run_b") and claims.take("run_c")
            holder.kill()
            holder.wait()
            assert claims.take("run_a")
        finally:
            claims.close()
    again = Claims(path)
    assert again.slot == 0
    again.close()
