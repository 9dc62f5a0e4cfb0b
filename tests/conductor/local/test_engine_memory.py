"""An engine gives back the memory nobody wrote to, and only that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[3] / "conductor" / "local" / "engine.py"
# A process of its own, with one thread: as an engine is when its model has been loaded.
SCRIPT = """
import ctypes, runpy, sys, zlib
engine = runpy.run_path(sys.argv[1])
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
MIB = 2**20
address = libc.malloc(ctypes.c_size_t(64 * MIB))
ctypes.memset(address, 0, 64 * MIB)
ctypes.memset(address + 10 * MIB, 7, 5)
ctypes.memset(address + 40 * MIB, 9, 2 * MIB)
content = (ctypes.c_char * (64 * MIB)).from_address(address)
expected = zlib.crc32(content)

def resident_mib():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 // MIB

before = resident_mib()
given_back = engine["give_back_untouched"]() // MIB
print(given_back, before - resident_mib())
assert zlib.crc32(content) == expected
ctypes.memset(address + 20 * MIB, 3, MIB)
assert ctypes.string_at(address + 20 * MIB, MIB) == bytes([3]) * MIB
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes untouched pages back")
def test_zeros_are_given_back_and_everything_reads_as_before() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(ENGINE)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    given_back, freed = map(int, done.stdout.split())
    assert 55 <= given_back <= 62 and freed >= 55
