"""``python -m benchmarks [NAME…]``: measures the bars and prints a table.

Without names everything is measured, each in a process of its own, so that none inherits another's memory and
threads. Quick by default (about four minutes); ``--long`` repeats more and waits longer for a quiet machine.
The best of each is held against its bar; what else the machine does can only make a figure worse.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks import NAMES, find, machine, measured
from benchmarks.rows import MET, NotHere, Plan, Row, as_data, markdown, table


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0, whatever the figures are; 1 when something could not be measured for a fault of ours."""
    options = _options(argv)
    if options.list:
        print(listed())
        return 0
    plan, rows, faults = Plan(is_long=options.long), list[tuple[str, Row]](), 0
    print(f"Machine: {machine.said()}", file=sys.stderr)
    for name in options.names or NAMES:
        start = time.monotonic()
        try:
            found = in_own_process(name, plan)
        except NotHere as lacking:
            found = [Row(find(name).SAYS, f"not measured: {lacking}")]
        except Exception as fault:
            faults += 1
            found = [
                Row(find(name).SAYS, f"FAULT: {type(fault).__name__}: {' '.join(str(fault).split())}"[:300])
            ]
        rows += [(name, row) for row in found]
        for row in found:
            print(
                f"{time.monotonic() - start:4.0f} s  {MET[row.is_met]:3}  {row.what}: {row.measured}",
                file=sys.stderr,
            )
    if options.json:
        told = [{"benchmark": name, **as_data(row)} for name, row in rows]
        print(json.dumps({"machine": machine.said(), "is_long": plan.is_long, "rows": told}, indent=1))
    else:
        print(f"\n{table([row for _, row in rows])}\n\nMachine: {machine.said()}. Met: by the best value.")
    return 1 if faults else 0


def listed() -> str:
    """Every benchmark with what it measures and its bar, as a Markdown table."""
    modules = [(name, find(name)) for name in NAMES]
    return markdown(
        ("name", "measures", "bar"), [(f"`{name}`", each.SAYS, each.BAR) for name, each in modules]
    )


def in_own_process(name: str, plan: Plan) -> list[Row]:
    """One benchmark in a fresh interpreter. Raises what it raises."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(measured, name, plan).result()


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure; without names everything")
    parser.add_argument(
        "--list", action="store_true", help="print the names, what each measures, and the bars"
    )
    parser.add_argument("--json", action="store_true", help="print JSON with every single value")
    parser.add_argument("--long", action="store_true", help="repeat more, wait longer for a quiet machine")
    options = parser.parse_args(argv)
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(NAMES)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
