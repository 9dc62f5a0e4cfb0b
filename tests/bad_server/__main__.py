"""``python -m tests.bad_server [port]``: serves every case until Ctrl-C and lists them."""

from __future__ import annotations

import argparse

from aiohttp import web

from tests.bad_server.cases import CASES
from tests.bad_server.server import BadServer

PORT = 8902


def listing() -> str:
    """Every model to ask for: row of the table of wires, name, protocols, what it does."""
    width = max(len(case.model) for case in CASES)
    return "\n".join(
        f"  {case.row:2}  {case.model:{width}}  {'+'.join(case.forms):16}  {case.shows}" for case in CASES
    )


def main() -> None:
    """Reads the command line and serves."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bad_server",
        description="A model server that answers badly. The model's name chooses how:\n\n" + listing(),
        epilog="A pool that points here: CONDUCTOR_POOL=tests/bad_server/pool.toml",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("port", type=int, nargs="?", default=PORT, help=f"port on 127.0.0.1 (default {PORT})")
    port = parser.parse_args().port
    print(f"OpenAI's form:    http://127.0.0.1:{port}/v1/chat/completions")
    print(f"Anthropic's form: http://127.0.0.1:{port}/v1/messages\n\nThe model's name chooses the answer:")
    print(listing(), flush=True)
    web.run_app(
        BadServer().app(),
        host="127.0.0.1",
        port=port,
        access_log=None,
        print=lambda *_: None,
        handler_cancellation=True,
    )


if __name__ == "__main__":
    main()
