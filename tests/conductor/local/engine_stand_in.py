"""Plays an engine without a model, in the way its first option says. Started as a script by the tests."""

import json
import os
import signal
import sys

options = json.loads(sys.stdin.readline())


def say(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


match options["play"]:
    case "illegal":
        os.kill(os.getpid(), signal.SIGILL)
    case "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    case "failed":
        say({"failed": "RuntimeError: bad file"})
        sys.exit(1)
    case "echo":
        say({"ready": True})
        for line in sys.stdin:
            message = json.loads(line)
            if "cancel" in message:
                say({"id": 0, "chunk": {"cancelled": message["id"]}})
            elif message["request"] == "die":
                sys.exit("GGML_ASSERT: something")
            elif message["request"] == "answer":
                say({"id": message["id"], "chunk": {"text": "hé🚀", "tokens": []}})
                say({"id": message["id"], "end": {}})
