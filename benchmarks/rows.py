"""What a benchmark says: rows of a table, each beside its bar. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

HEAD = ("what", "bar", "measured", "met")
MET = {True: "yes", False: "NO", None: "–"}


class NotHere(Exception):
    """This machine lacks what a benchmark needs. The message says what."""


@dataclass(frozen=True)
class Plan:
    """How much is measured. ``patience_s``: how long one benchmark waits for a quiet machine, in all."""

    is_long: bool = False

    @property
    def patience_s(self) -> float:
        return 240.0 if self.is_long else 5.0

    def times(self, quick: int, long: int) -> int:
        """How often something is repeated."""
        return long if self.is_long else quick


@dataclass(frozen=True)
class Bar:
    """What is wanted of a figure: at most, or at least, ``limit``."""

    limit: float
    unit: str = ""
    side: Literal["≤", "≥"] = "≤"

    def __str__(self) -> str:
        return f"{self.side} {self.limit:g}{self.unit and ' ' + self.unit}"

    def is_met(self, value: float) -> bool:
        """Whether the figure is good enough."""
        return value <= self.limit if self.side == "≤" else value >= self.limit


@dataclass(frozen=True)
class Series:
    """The same thing measured several times. ``is_more_better``: which end is the best."""

    values: tuple[float, ...]
    is_more_better: bool = False

    @property
    def best(self) -> float:
        return max(self.values) if self.is_more_better else min(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def over(self, exact: float) -> Series:
        """Each value as a multiple of what it would be if nothing cost anything."""
        return Series(tuple(value / exact for value in self.values), self.is_more_better)

    def said(self, digits: int = 1, unit: str = "") -> str:
        """Best, and the median when there is more than one."""
        end = f" {unit}" if unit else ""
        if len(self.values) == 1:
            return f"{self.best:.{digits}f}{end}"
        return f"best {self.best:.{digits}f}, median {self.median:.{digits}f}{end}"


@dataclass(frozen=True)
class Row:
    """One line of the table. ``is_met`` is ``None`` where there is no bar, or nothing could be measured.

    ``bar`` in words where it is no single figure.
    """

    what: str
    measured: str
    bar: Bar | str | None = None
    is_met: bool | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, what: str, series: Series, bar: Bar | None, *, digits: int = 1, beside: str = "") -> Row:
        """A row of one series. The best counts: what else the machine does can only make it worse."""
        unit = bar.unit if bar else ""
        said = series.said(digits, unit) + (f"; {beside}" if beside else "")
        figures = {"best": series.best, "median": series.median, "values": list(series.values)}
        return cls(what, said, bar, bar.is_met(series.best) if bar else None, figures)

    def but_only_if(self, holds: bool) -> Row:
        """The row, its bar missed unless something else holds as well."""
        return replace(self, is_met=self.is_met and holds)

    def with_figures(self, **more: Any) -> Row:
        """The row with more figures for ``--json``."""
        return replace(self, figures={**self.figures, **more})


def as_data(row: Row) -> dict[str, Any]:
    """The row for ``--json``."""
    return {**asdict(row), "bar": None if row.bar is None else str(row.bar)}


def table(rows: Sequence[Row]) -> str:
    """The rows as an aligned Markdown table."""
    return markdown(HEAD, [(row.what, str(row.bar or "–"), row.measured, MET[row.is_met]) for row in rows])


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """An aligned Markdown table."""
    cells = [[cell.replace("|", "\\|") for cell in line] for line in (head, *lines)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    drawn = [
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |"
        for line in cells
    ]
    return "\n".join([drawn[0], f"|{'|'.join('-' * (width + 2) for width in widths)}|", *drawn[1:]])
