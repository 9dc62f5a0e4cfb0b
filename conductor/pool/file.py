"""Reading one pool file: values, or exact problems with file, line, key and what was expected.

A worker with a wrong value is used as the last good version of the file had it, its price included, or left
out when there was none. The rest is used as it stands; an unknown key is told and ignored. Nothing here
raises for any content, and no value of a key that may hold a secret is ever repeated in a message.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from conductor.local.catalog import catalog
from conductor.local.tools import TOOLS
from conductor.pool.fields import (
    CONDUCTOR,
    CONDUCTOR_NEEDS,
    KEY_LIKE,
    SERVED_NAMES,
    TOP,
    WORKER,
    WORKER_NEEDS,
    Field,
    Wrong,
)
from conductor.pool.places import find_places, line_of, line_of_syntax_error
from conductor.pool.pool import ConductorSpec, Pool
from conductor.providers.base import Worker
from conductor.providers.profiles import problem_with
from conductor.secrets import scrub
from conductor_client.plan import PlanOptions
from conductor_client.pool import PoolProblem

SYNTAX = '[[worker]], [[conductor]], or key = value with texts in "double quotes".'


def read_pool(path: Path, *, before: Pool | None = None) -> Pool:
    """The pool a file describes. A file that cannot be read gives a pool without workers and the reason.

    ``before``: the last good version of the file.
    """
    try:
        if path.is_dir():
            raise _Unreadable("it is a folder. Name the TOML file in it")
        if path.exists() and not path.is_file():
            raise _Unreadable("it is no ordinary file")
        if path.stat().st_size > MOST_BYTES:
            raise _Unreadable(f"it has more than {MOST_BYTES:,} bytes, more than any pool needs")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return _broken(path, "it is not UTF-8 text. Save it as UTF-8")
    except _Unreadable as error:
        return _broken(path, str(error))
    except OSError as error:
        return _broken(path, error.strerror or type(error).__name__)
    return parse_pool(text, name=path.stem, path=path, before=before)


def parse_pool(text: str, *, name: str, path: Path | None = None, before: Pool | None = None) -> Pool:
    """The pool a text describes. ``name`` is the file's, without its ending: what people choose it by."""
    file = path.name if path is not None else f"{name}.toml"
    try:
        # Decimals, so that a price such as 0.1 stays what was written.
        content = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        is_syntax = isinstance(error, tomllib.TOMLDecodeError)
        line = line_of_syntax_error(error, text) if isinstance(error, tomllib.TOMLDecodeError) else None
        said = str(error).split(" (at ")[0] if is_syntax else "nested too deeply"
        said = f"No valid TOML: {scrub(said)}. Expected {SYNTAX}"
        problem = PoolProblem(file=file, line=line, said=said)
        return Pool(name=name, workers=(), problems=(problem,), path=path)
    reader = _Reader(file, text, before.workers if before is not None else ())
    top = reader.table(content, "", 0, TOP, (), tables=("worker", "conductor"))
    workers = reader.workers(content.get("worker", []))
    conductors = reader.conductors(content.get("conductor", []), workers)
    default = (top or {}).get("default_worker")
    if default is not None and default not in {each.name for each in workers}:
        reader.no_worker("", 0, "default_worker", default, workers)
        default = None
    if not workers:
        reader.tell("", 0, "", "It has no usable [[worker]] table.")
    return Pool(
        name=name,
        workers=workers,
        conductors=conductors,
        default_worker=default,
        problems=tuple(reader.problems),
        path=path,
    )


MOST_BYTES = 2_000_000
"""Larger files are not read: a mistaken path must not stop the program for minutes."""


class _Unreadable(Exception):
    """Why a file is not even opened."""


def _broken(path: Path, reason: str) -> Pool:
    problem = PoolProblem(file=path.name, said=f"The file cannot be read: {reason}.")
    return Pool(name=path.stem, workers=(), problems=(problem,), path=path)


class _Reader:
    def __init__(self, file: str, text: str, before: Iterable[Worker] = ()) -> None:
        self._file = file
        self._before = {worker.name: worker for worker in before}
        self._places = find_places(text)
        self.problems: list[PoolProblem] = []

    def tell(self, table: str, index: int, key: str, said: str) -> None:
        """Notes a problem."""
        line = line_of(self._places, table, index, key)
        self.problems.append(PoolProblem(file=self._file, line=line, key=key or None, said=said))

    def no_worker(
        self, table: str, index: int, key: str, wanted: str, workers: Iterable[Worker], said: str = ""
    ) -> None:
        """Notes that a name is no worker's, and which could have been meant."""
        said = said or f"There is no worker {wanted!r} in this pool."
        self.tell(table, index, key, f"{said} {_offered(wanted, [each.name for each in workers])}")

    def table(
        self,
        content: Any,
        table: str,
        index: int,
        known: Mapping[str, Field],
        needed: Sequence[str],
        *,
        tables: Sequence[str] = (),
    ) -> dict[str, Any] | None:
        """The checked values of one table; ``None`` when one is wrong or missing."""
        if not isinstance(content, dict):
            self.tell(table, index, "", f"Expected a table [[{table}]].")
            return None
        values: dict[str, Any] = {}
        is_good = True
        for key, value in content.items():
            if key in tables:
                continue
            if key not in known:
                self._unknown(table, index, key, known)
                continue
            read, expected = known[key]
            try:
                values[key] = read(value)
            except Wrong as wrong:
                self.tell(
                    table, index, key, str(wrong) or f"Expected {expected}; found {_shown(key, value)}."
                )
                is_good = False
        for key in needed:
            if key not in content:
                self.tell(table, index, key, f"The key {key} is missing; expected {known[key][1]}.")
                is_good = False
        return values if is_good else None

    def workers(self, tables: Any) -> tuple[Worker, ...]:
        found: dict[str, Worker] = {}
        places: dict[str, int] = {}
        for index, content in enumerate(self._list(tables, "worker")):
            values = self.table(content, "worker", index, WORKER, WORKER_NEEDS)
            worker = self._earlier(index, content) if values is None else Worker(**values)
            if worker is None:
                continue
            if worker.name in found:
                self._taken("worker", index, worker.name, places[worker.name])
            elif worker.name in SERVED_NAMES:
                said = f"{worker.name!r} is a name of this program's own API; expected any other."
                self.tell("worker", index, "name", said)
            else:
                if said := _unknown_model(worker):
                    self.tell("worker", index, "model", said)
                elif said := problem_with(worker):
                    self.tell("worker", index, "profile", said)
                usable = self._earlier(index, content) if said else worker
                if usable is not None:
                    found[worker.name], places[worker.name] = usable, index
        for worker in found.values():
            other = worker.fallback
            if other is not None and (other not in found or other == worker.name):
                said = f"The fallback {other!r} of {worker.name} is no other worker of this pool."
                others = (each for each in found.values() if each.name != worker.name)
                self.no_worker("worker", places[worker.name], "fallback", other, others, said)
                found[worker.name] = replace(worker, fallback=None)
        for loop in _loops(found):
            said = f"These fallbacks go round in a circle: {' → '.join((*loop, loop[0]))}. "
            said += "Each is tried once; expected a chain that ends."
            self.tell("worker", places[loop[-1]], "fallback", said)
        return tuple(found.values())

    def _earlier(self, index: int, content: Any) -> Worker | None:
        """The worker of a table that cannot be used, as the file's last good version has it."""
        name = content.get("name") if isinstance(content, dict) else None
        worker = self._before.get(name) if isinstance(name, str) else None
        if worker is not None:
            price = worker.price or {}
            units = [f"{price[key]} USD" for key in ("input_usd_per_mtok", "output_usd_per_mtok") if price]
            priced = f", at {' in and '.join(units)} out per million tokens" if price else ""
            self.tell("worker", index, "", f"{worker.name!r} is used as it was before this mistake{priced}.")
        return worker

    def conductors(self, tables: Any, workers: Sequence[Worker]) -> tuple[ConductorSpec, ...]:
        found: dict[str, ConductorSpec] = {}
        places: dict[str, int] = {}
        names = {each.name for each in workers}
        for index, content in enumerate(self._list(tables, "conductor")):
            values = self.table(content, "conductor", index, CONDUCTOR, CONDUCTOR_NEEDS)
            if values is None:
                continue
            name, kind, worker = values.pop("name"), values.pop("kind"), values.pop("worker", None)
            describe = values.pop("describe", False)
            if name in found:
                self._taken("conductor", index, name, places[name])
            elif kind == "prompted" and worker is None:
                self.no_worker(
                    "conductor", index, "worker", "", workers, "A prompted conductor needs a worker."
                )
            elif worker is not None and worker not in names:
                self.no_worker("conductor", index, "worker", worker, workers)
            else:
                found[name] = ConductorSpec(name, kind, worker, PlanOptions(**values), describe)
                places[name] = index
        return tuple(found.values())

    def _taken(self, table: str, index: int, name: str, first: int) -> None:
        line = line_of(self._places, table, first, "name")
        there = "" if line is None else f", on line {line}"
        self.tell(table, index, "name", f"There is already a {table} {name!r}{there}; expected another name.")

    def _list(self, tables: Any, name: str) -> list[Any]:
        if isinstance(tables, list):
            return tables
        self.tell("", 0, name, f"Expected tables [[{name}]], with two brackets.")
        return []

    def _unknown(self, table: str, index: int, key: str, known: Mapping[str, Field]) -> None:
        if KEY_LIKE.match(key):
            said = (
                "Keys never go into a pool file. Put it into an environment variable "
                "and write the variable's name into api_key_env."
            )
        else:
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
            said = f"Unknown key {key}; {f'did you mean {close[0]}?' if close else 'it is ignored.'}"
        self.tell(table, index, key, said)


MOST_OFFERED = 8


def _offered(wanted: str, names: Sequence[str]) -> str:
    """What could have been meant: the close one, or all while they are few."""
    if close := difflib.get_close_matches(wanted, names, n=1, cutoff=0.6):
        return f"Did you mean {close[0]!r}?"
    more = "" if len(names) <= MOST_OFFERED else f" and {len(names) - MOST_OFFERED} more"
    return f"There are {', '.join(names[:MOST_OFFERED])}{more}." if names else "There is no other."


def _loops(workers: Mapping[str, Worker]) -> list[tuple[str, ...]]:
    """Fallbacks that lead back to where they began, each circle once, in the order they are tried."""
    loops: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for start in workers:
        chain: list[str] = []
        at: str | None = start
        while at is not None and at not in seen:
            seen.add(at)
            chain.append(at)
            at = workers[at].fallback
        if at in chain:
            loops.append(tuple(chain[chain.index(at) :]))
    return loops


def _unknown_model(worker: Worker) -> str:
    """What is wrong with the model of a worker whose models we know all of; empty when nothing is."""
    known: Sequence[str] = ()
    if worker.provider == "local":
        known = tuple(catalog())
    elif worker.provider == "tool":
        known = tuple(TOOLS)
    if not known or worker.model in known:
        return ""
    return f"There is no {worker.provider} model {worker.model!r}; expected one of {', '.join(known)}."


def _shown(key: str, value: Any) -> str:
    if key in {"api_key_env", "base_url", "settings", "profile"}:
        return "something else"
    text = scrub(str(value) if isinstance(value, Decimal) else repr(value))
    return text if len(text) <= 80 else text[:77] + "…"
