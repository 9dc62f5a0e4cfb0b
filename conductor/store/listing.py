"""The history: pages of runs, filtered, searched and sorted.

Each page continues after the last row of the one before. A cursor says where that row stands in the order,
not how many came before it, so runs that arrive meanwhile neither repeat nor push out a row.
"""

from __future__ import annotations

import base64
import binascii
import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from conductor_client.api import RunFacets, RunPage, RunSummary

from . import search
from .forms import as_json, iso

Sort = Literal["newest", "cost", "time"]
MAX_LIMIT = 200
NOTE_HEAD = 300
"""Characters of a note that a list shows."""
_ORDER: dict[Sort, str] = {
    "newest": "runs.created_at",
    "cost": "coalesce(CAST(runs.cost_usd AS REAL), -1.0)",
    "time": "coalesce(runs.wall_s, -1.0)",
}
"""Largest first; runs whose figure is unknown come last."""


@dataclass(frozen=True)
class Wanted:
    """What to list; ``None`` = whatever it is. ``q``: words that must all occur.

    ``grade`` ``"none"``: nobody has graded it. ``since`` counts in, ``until`` does not.
    ``origins``: any of them.
    """

    q: str | None = None
    status: str | None = None
    tag: str | None = None
    conductor: str | None = None
    worker: str | None = None
    sort: Sort = "newest"
    cursor: str | None = None
    limit: int = 50
    rating: int | None = None
    grade: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    origins: tuple[str, ...] | None = None


def page(conn: sqlite3.Connection, wanted: Wanted) -> RunPage:
    """One page. Raises ``ValueError`` for a sort or cursor that is none of ours."""
    if wanted.sort not in get_args(Sort):
        raise ValueError(f"there is no sort {wanted.sort!r}; choose newest, cost or time")
    where, values = _conditions(wanted)
    total = conn.execute(f"SELECT count(*) FROM runs WHERE {where}", values).fetchone()[0]
    order = _ORDER[wanted.sort]
    if wanted.cursor:
        where += f" AND ({order}, runs.created_at, runs.run_id) < (:at, :created_at, :run_id)"
        values |= _decoded(wanted.cursor, wanted.sort)
    limit = max(1, min(wanted.limit, MAX_LIMIT))
    rows = conn.execute(
        f"SELECT runs.*, remarks.tags, remarks.rating, remarks.grade, remarks.gold,"
        f" substr(remarks.note, 1, {NOTE_HEAD}) AS note, {order} AS place"
        f" FROM runs LEFT JOIN remarks USING (run_id) WHERE {where}"
        f" ORDER BY place DESC, runs.created_at DESC, runs.run_id DESC LIMIT {limit + 1}",
        values,
    ).fetchall()
    shown = rows[:limit]
    match = values.get("match")
    found = search.snippets(conn, match, [row["id"] for row in shown]) if match and shown else {}
    summaries = tuple(_summary(row, found.get(row["id"])) for row in shown)
    return RunPage(
        runs=summaries,
        next_cursor=_encoded(wanted.sort, shown[-1]) if len(rows) > limit else None,
        total=total,
    )


def _conditions(wanted: Wanted) -> tuple[str, dict[str, Any]]:
    conditions = ["runs.deleted_at IS NULL", *_remarked(wanted)]
    values: dict[str, Any] = {"status": wanted.status, "tag": wanted.tag}
    values |= {"rating": wanted.rating, "grade": wanted.grade}
    if wanted.since is not None:
        conditions.append("runs.created_at >= :since")
        values["since"] = iso(wanted.since)
    if wanted.until is not None:
        conditions.append("runs.created_at < :until")
        values["until"] = iso(wanted.until)
    if wanted.origins is not None:
        conditions.append("runs.origin IN (SELECT value FROM json_each(:origins))")
        values["origins"] = as_json(list(wanted.origins))
    values |= {"conductor": wanted.conductor, "worker": wanted.worker}
    if wanted.status:
        conditions.append("runs.status = :status")
    if wanted.conductor:
        conditions.append("runs.conductor = :conductor")
    if wanted.tag:
        tagged = "SELECT remarks.run_id FROM remarks, json_each(remarks.tags) AS tag WHERE tag.value = :tag"
        conditions.append(f"runs.run_id IN ({tagged})")
    if wanted.worker:
        conditions.append("runs.run_id IN (SELECT steps.run_id FROM steps WHERE worker = :worker)")
    if wanted.q and (match := search.matching(wanted.q)):
        conditions.append("runs.id IN (SELECT rowid FROM search WHERE search MATCH :match)")
        values["match"] = match
    elif wanted.q and (signs := search.literal(wanted.q)):
        columns = " OR ".join(f"instr({column}, :signs)" for column in ("prompt", "instructions", "outputs"))
        conditions.append(f"runs.id IN (SELECT rowid FROM search WHERE {columns})")
        values["signs"] = signs
    return " AND ".join(conditions), values


def _remarked(wanted: Wanted) -> list[str]:
    """Conditions on what people said, read on its own: most runs have no row there."""
    said = "SELECT remarks.run_id FROM remarks WHERE"
    conditions = []
    if wanted.rating is not None:
        conditions.append(f"runs.run_id IN ({said} rating = :rating)")
    if wanted.grade == "none":
        conditions.append(f"runs.run_id NOT IN ({said} grade IS NOT NULL)")
    elif wanted.grade:
        conditions.append(f"runs.run_id IN ({said} grade = :grade)")
    return conditions


def facets(conn: sqlite3.Connection) -> RunFacets:
    """What there is to choose from, each with how many runs have it, the most frequent first."""
    shown = "SELECT run_id FROM runs WHERE deleted_at IS NULL"
    return RunFacets(
        tags=_counts(
            conn,
            "SELECT tag.value, count(*) FROM remarks, json_each(remarks.tags) AS tag"
            f" WHERE remarks.run_id IN ({shown}) GROUP BY 1",
        ),
        conductors=_counts(conn, "SELECT conductor, count(*) FROM runs WHERE deleted_at IS NULL GROUP BY 1"),
        workers=_counts(
            conn,
            "SELECT worker, count(DISTINCT run_id) FROM steps WHERE worker IS NOT NULL"
            f" AND run_id IN ({shown}) GROUP BY 1",
        ),
        origins=_counts(conn, "SELECT origin, count(*) FROM runs WHERE deleted_at IS NULL GROUP BY 1"),
    )


def _counts(conn: sqlite3.Connection, query: str) -> dict[str, int]:
    rows = [(str(name), int(count)) for name, count in conn.execute(query)]
    return dict(sorted(rows, key=lambda row: (-row[1], row[0])))


def _summary(row: sqlite3.Row, snippet: str | None) -> RunSummary:
    return RunSummary(
        run_id=row["run_id"],
        status=row["status"],
        prompt=row["prompt"],
        conductor=row["conductor"],
        workers=json.loads(row["workers"]),
        n_steps=row["n_steps"],
        topology=row["topology"],
        cost_usd=row["cost_usd"],
        cost_complete=row["cost_complete"],
        total_tokens=row["total_tokens"],
        tokens_complete=row["tokens_complete"],
        wall_s=row["wall_s"],
        created_at=row["created_at"],
        parent_run=row["parent_run"],
        origin=row["origin"],
        tags=json.loads(row["tags"] or "[]"),
        rating=row["rating"],
        grade=row["grade"],
        gold=row["gold"],
        note=row["note"],
        snippet=snippet,
    )


def _encoded(sort: Sort, row: sqlite3.Row) -> str:
    text = as_json([sort, row["place"], row["created_at"], row["run_id"]])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decoded(cursor: str, sort: Sort) -> dict[str, Any]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        its_sort, at, created_at, run_id = json.loads(text)
    except (binascii.Error, ValueError, TypeError) as problem:
        raise ValueError(f"the cursor {cursor[:40]!r} is none of ours; list from the start") from problem
    fits = isinstance(at, str if sort == "newest" else float)
    if its_sort != sort or not (fits and isinstance(created_at, str) and isinstance(run_id, str)):
        raise ValueError(f"the cursor {cursor[:40]!r} belongs to another order; list from the start")
    return {"at": at, "created_at": created_at, "run_id": run_id}
