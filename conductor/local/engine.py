"""The process that holds one model in memory: llama.cpp behind JSON lines on standard input and output.

`runtime` starts this file as a script, one process per model. A process of its own, because llama.cpp in the
page's process would stop it for as long as a model loads (the binding keeps Python's lock for seconds), would
take it along in a crash, and couldn't be left at once on Ctrl-C. This is the only module that imports
`xllamacpp`, and it imports nothing of ours.

In: one line of options first, then `{"id", "request"}` or `{"id", "cancel": true}` per line. Out: `{"ready":
true}` or `{"failed": message}` first, then per request any number of `{"id", "chunk"}` and one `{"id",
"end"}` or `{"id", "error"}`. When standard input ends (the parent is gone, however it went), the process is
gone too.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import re
import secrets
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

ZERO_RUN_BYTES = 2**20
LARGE_MAPPING_BYTES = 16 * 2**20
"""Contexts are larger, stacks of threads smaller."""
ANONYMOUS_MEMORY = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p 00000000 00:00 0 *$")


def main() -> None:
    """Serve until standard input ends."""
    # The terminal sends Ctrl-C to every process of the group; the parent decides when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    say = _line_writer()
    options = json.loads(sys.stdin.readline())
    try:
        server = load_server(options)
    except Exception as error:  # the binding raises whatever C++ threw
        say({"failed": f"{type(error).__name__}: {error}"})
        os._exit(1)
    with contextlib.suppress(OSError):
        give_back_untouched()
    say({"ready": True})
    serve(server, say)
    # Threads may sit in C++ for up to a second; nothing here needs to be saved.
    os._exit(0)


def _line_writer() -> Callable[[dict[str, Any]], None]:
    # llama.cpp may print; from here on whatever it prints goes to standard error, and only our lines to the
    # pipe.
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def say(message: dict[str, Any]) -> None:
        with lock, contextlib.suppress(BrokenPipeError):
            pipe.write(json.dumps(message, ensure_ascii=True) + "\n")
            pipe.flush()

    return say


def load_server(options: dict[str, Any]) -> Any:
    """Load the model. Blocks, and keeps Python's lock, until it is in memory."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options["path"]
    params.n_parallel = options["slots"]
    params.n_ctx = options["slots"] * options["slot_context_tokens"]
    # The prompt is read in bites of this size; between two of them a request can be cancelled and others get
    # their turn.
    params.n_batch = params.n_ubatch = options["batch_tokens"]
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = options["threads"]
        # Spinning threads make a busy machine many times slower.
        threads.poll = 0
    params.n_gpu_layers = options["gpu_layers"]
    # Read, not mapped: most weights are copied into another order anyway, and a mapped file stays in memory
    # beside the copy (qwen-1.5b: 2.2 GB instead of 1.6).
    params.load_mode = xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE
    params.lora_adapters = [
        xllamacpp.CommonAdapterLoraInfo(path, scale) for path, scale in options["adapters"]
    ]
    params.use_jinja = True
    params.verbosity = -1
    # Measuring how much memory would fit loads the model's skeleton twice, for a context that is fixed
    # anyway.
    params.fit_params = False
    params.warmup = False
    params.cache_ram_mib = options["cache_mib"]
    # The binding always opens an HTTP port on loopback as well. Nobody is told this key, so nobody can use
    # it.
    params.api_keys = [secrets.token_urlsafe(32)]
    params.n_threads_http = 1
    params.ui = False
    params.endpoint_slots = False
    return xllamacpp.Server(params)


def give_back_untouched() -> int:
    """Return memory that nobody has written anything to, as bytes; 0 on systems other than Linux.

    llama.cpp fills the room for a whole context with zeros at once (qwen-1.5b: 448 MiB), so that all of it is
    resident before the first token. A private page that was given back reads as zeros again, and takes memory
    from its first write on: nothing changes but who holds the pages. Only large mappings are looked at; call
    it while no request is under way, when nobody writes to them.
    """
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    zeros = bytes(ZERO_RUN_BYTES)
    with Path("/proc/self/maps").open(encoding="utf-8") as file:
        found = [match for line in file if (match := ANONYMOUS_MEMORY.match(line))]
    mappings = [(int(match[1], 16), int(match[2], 16)) for match in found]
    given_back = 0
    for first, end in mappings:
        if end - first < LARGE_MAPPING_BYTES:
            continue
        start = -(-first // ZERO_RUN_BYTES) * ZERO_RUN_BYTES
        for address in range(start, end - ZERO_RUN_BYTES + 1, ZERO_RUN_BYTES):
            if libc.memcmp(address, zeros, ZERO_RUN_BYTES) == 0:
                advised = libc.madvise(address, ZERO_RUN_BYTES, mmap.MADV_DONTNEED)
                given_back += ZERO_RUN_BYTES if advised == 0 else 0
    # What loading left behind in the allocator goes too. Only glibc knows how.
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
    return given_back


def serve(server: Any, say: Callable[[dict[str, Any]], None]) -> None:
    """Answer requests until standard input ends, each in a thread of its own."""
    cancelled: dict[int, threading.Event] = {}
    for line in sys.stdin:
        message = json.loads(line)
        number = message["id"]
        if message.get("cancel"):
            if event := cancelled.get(number):
                event.set()
            continue
        event = cancelled[number] = threading.Event()

        def answer(
            number: int = number, request: Any = message["request"], event: threading.Event = event
        ) -> None:
            try:
                say(
                    {
                        "id": number,
                        **answer_one(
                            server, request, event, lambda chunk: say({"id": number, "chunk": chunk})
                        ),
                    }
                )
            finally:
                cancelled.pop(number, None)

        threading.Thread(target=answer, daemon=True).start()


def answer_one(
    server: Any,
    request: dict[str, Any],
    cancelled: threading.Event,
    on_chunk: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    """Run one chat request to its end. Returns `{"end": …}` or `{"error": {kind, message}}`."""
    failure: dict[str, Any] = {}
    end: dict[str, Any] = {}

    def on_message(message: dict[str, Any]) -> bool:
        if "error" in message:
            failure.update(message["error"])
        for choice in message.get("choices", ()):
            text = choice["delta"].get("content")
            if text:
                tokens = (choice.get("logprobs") or {}).get("content", ())
                on_chunk({"text": text, "tokens": [_token(token) for token in tokens]})
            if choice["finish_reason"]:
                end["finish"] = choice["finish_reason"]
        if usage := message.get("usage"):
            end["usage"] = usage
        return cancelled.is_set()

    try:
        server.handle_chat_completions(request, on_message)
    except (
        Exception
    ) as error:  # the binding raises ValueError for a malformed request, RuntimeError for the rest
        failure = {
            "type": "invalid_request_error" if isinstance(error, ValueError) else "server_error",
            "message": str(error),
        }
    return {"error": failure} if failure else {"end": end}


def _token(token: dict[str, Any]) -> list[Any]:
    return [token["token"], {other["token"]: other["logprob"] for other in token["top_logprobs"]}]


if __name__ == "__main__":
    main()
