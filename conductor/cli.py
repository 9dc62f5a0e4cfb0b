"""``conductor-studio``: commands, flags, exit codes. Heavy things are imported by the command they serve.

Exit codes: 0 done, or a server that was stopped; 1 it could not be done, and standard error says why and what
to try; 2 the command line was wrong; 130 another command that was stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from conductor import stopping

if TYPE_CHECKING:
    from conductor.service import Studio
    from conductor.settings import Settings

PageCommand = Callable[..., int]


def main(
    argv: Sequence[str] | None = None, *, serve: PageCommand | None = None, ui: PageCommand | None = None
) -> int:
    """Runs one command and gives its exit code.

    Args:
        argv: The words after the program's name; ``None`` reads the command line.
        serve, ui: What serves the page; ``None`` finds it. Where no page is installed those commands are
            not there.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    with stopping.at_once() if _is_to_serve(words) else nullcontext():
        return _main(words, serve, ui)


def _is_to_serve(words: Sequence[str]) -> bool:
    return not words or words[0].startswith("-") or words[0] in ("serve", "ui", "api")


def _main(words: list[str], serve: PageCommand | None, ui: PageCommand | None) -> int:
    if serve is None:
        serve, ui = _page_commands()
    parser = _parser(with_page=serve is not None)
    if serve is not None and (
        not words or (words[0].startswith("-") and words[0] not in ("-h", "--help", "--version"))
    ):
        words.insert(0, "serve")
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help()
        return 2
    from conductor.server.serving import CannotListen
    from conductor.settings import SettingsError

    try:
        settings = _settings(options)
        return _run(options, settings, serve, ui)
    except (SettingsError, CannotListen) as problem:
        return complain(str(problem))


def _page_commands() -> tuple[PageCommand | None, PageCommand | None]:
    """The front door's two commands. By name, at run time: the backend works without a page."""
    try:
        front_door = importlib.import_module("app.__main__")
    except ModuleNotFoundError:
        return None, None
    return front_door.serve, front_door.ui


def complain(message: str, hint: str = "") -> int:
    """Says on standard error what went wrong and what to try; gives exit code 1."""
    print(f"conductor-studio: {message}", file=sys.stderr)
    if hint:
        print(hint, file=sys.stderr)
    return 1


def _run(
    options: argparse.Namespace, settings: Settings, serve: PageCommand | None, ui: PageCommand | None
) -> int:
    match options.command:
        case "serve" if serve is not None and settings.backend_url is None:
            return serve(settings, open_browser=options.open, models_behind=options.models_behind)
        case "serve" | "ui" if ui is not None:
            if settings.backend_url is None:
                return complain(
                    "ui needs the address of a backend.", "Give --backend URL or set CONDUCTOR_BACKEND_URL."
                )
            return ui(settings, open_browser=options.open)
        case "api":
            from conductor.server.api import serve_api

            return serve_api(settings)
        case "models":
            from conductor.commands import models

            return models.fetch(options, settings) if options.action == "fetch" else models.list_all(settings)
        case "pool":
            from conductor.commands.pool import check

            return check(options.file, settings)
        case _:
            from conductor.commands.run import run

            return run(options, settings)


def _settings(options: argparse.Namespace) -> Settings:
    from conductor.settings import Settings

    given = {
        "CONDUCTOR_HOST": getattr(options, "host", None),
        "CONDUCTOR_PORT": getattr(options, "port", None),
        "CONDUCTOR_BACKEND_URL": getattr(options, "backend", None),
    }
    return Settings.from_environment(
        {**os.environ, **{name: value for name, value in given.items() if value}}
    )


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Studio | None]:
    """The backend, open; ``None`` when it cannot be opened, which has then been said on standard error."""
    from conductor.service import Studio
    from conductor.store.errors import StoreError

    try:
        studio = await Studio.open(settings)
    except StoreError as problem:
        complain(problem.message, problem.hint)
        yield None
        return
    _tell_pool_problems(settings)
    try:
        yield studio
    finally:
        await studio.close()


def _tell_pool_problems(settings: Settings) -> None:
    """Says on standard error what is wrong with the pool that settings name, and what is used instead."""
    from conductor.pool import PoolShelf

    for problem in PoolShelf(settings).get().problems if settings.pool else ():
        line = f" line {problem.line}:" if problem.line else ""
        key = f" {problem.key}:" if problem.key else ""
        complain(f"CONDUCTOR_POOL={settings.pool}:{line}{key} {problem.said}")


def _parser(*, with_page: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="conductor-studio",
        description="Type a prompt, watch a conductor's workflow run. CONDUCTOR_* variables set it up.",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    if with_page:
        command = _listening(commands, "serve", "page, API and engine in one process (the default)")
        command.add_argument("--open", action="store_true", help="open the page in the browser")
        behind = command.add_mutually_exclusive_group()
        behind.add_argument(
            "--models-behind", action="store_true", help="fetch missing local models while the page is open"
        )
        behind.add_argument(
            "--no-fetch", dest="models_behind", action="store_false", help="fetch nothing (the default)"
        )
        command.set_defaults(models_behind=False)
        command = _listening(commands, "ui", "the page alone, with a backend elsewhere")
        command.add_argument(
            "--backend", metavar="URL", help="address of the backend (else CONDUCTOR_BACKEND_URL)"
        )
        command.add_argument("--open", action="store_true", help="open the page in the browser")
    _listening(commands, "api", "the backend alone: API and WebSocket")
    _add_models(commands)
    _add_run(commands)
    pool = commands.add_parser("pool", help="look after pool files").add_subparsers(
        dest="action", required=True
    )
    check = pool.add_parser("check", help="say what is wrong with a pool file, with its lines")
    check.add_argument("file", nargs="?", help="a pool file or a pool's name; without it the configured pool")
    return parser


def _listening(commands: Any, name: str, said: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=said, description=said)
    command.add_argument("--host", help="address to listen on (else CONDUCTOR_HOST, else 127.0.0.1)")
    command.add_argument(
        "--port", help="port to listen on (else CONDUCTOR_PORT, else 8501); 0 takes a free one"
    )
    return command


def _add_models(commands: Any) -> None:
    models = commands.add_parser("models", help="weights of the local models").add_subparsers(
        dest="action", required=True
    )
    models.add_parser("list", help="what is there and what is missing")
    fetch = models.add_parser("fetch", help="fetch models, resumable, each checked by its SHA-256")
    fetch.add_argument("names", nargs="*", help="which; without names the ones the page waits for")
    group = fetch.add_mutually_exclusive_group()
    group.add_argument("--start", action="store_true", help="the ones the page waits for (the default)")
    group.add_argument("--all", action="store_true", help="every model of the catalog")
    fetch.add_argument(
        "--from", dest="folders", action="append", default=[], metavar="FOLDER", help="look here first"
    )


def _add_run(commands: Any) -> None:
    run = commands.add_parser("run", help="run one prompt in the terminal")
    run.add_argument("prompt", help="the prompt; - reads it from standard input")
    run.add_argument("--conductor", metavar="ID", help="who writes the workflow")
    run.add_argument("--pool", metavar="NAME", help="which pool")
    run.add_argument("--workers", metavar="A,B", help="only these workers, in this order")
    run.add_argument(
        "--json", action="store_true", help="print the run's final state as JSON and nothing else"
    )


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from conductor.version import own_version

        print(f"conductor-studio {own_version()}")
        parser.exit()
