"""Write a small LoRA adapter for SmolLM2-135M in the GGUF format: one layer, random weights."""

from __future__ import annotations

import random
import struct
from pathlib import Path

WIDTH = 576
RANK = 4
ALIGNMENT = 32
STRING, FLOAT32 = 8, 6


def write_random_lora(path: Path, *, layer: int = 0, size: float = 0.5) -> Path:
    """An adapter that visibly changes the model's answers. `size`: standard deviation of its weights."""
    chance = random.Random(7)
    metadata = [
        _text("general.type", "adapter"),
        _text("general.architecture", "llama"),
        _text("adapter.type", "lora"),
        _string("adapter.lora.alpha") + struct.pack("<If", FLOAT32, float(RANK)),
    ]
    data, infos = b"", b""
    for part, shape in (("lora_a", (WIDTH, RANK)), ("lora_b", (RANK, WIDTH))):
        infos += _string(f"blk.{layer}.attn_q.weight.{part}")
        infos += struct.pack("<IQQIQ", 2, *shape, 0, len(data))
        values = [chance.gauss(0, size) for _ in range(WIDTH * RANK)]
        data += _padded(struct.pack(f"<{len(values)}f", *values))
    header = b"GGUF" + struct.pack("<IQQ", 3, 2, len(metadata)) + b"".join(metadata) + infos
    path.write_bytes(_padded(header) + data)
    return path


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _text(key: str, value: str) -> bytes:
    return _string(key) + struct.pack("<I", STRING) + _string(value)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNMENT)
