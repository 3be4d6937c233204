"""Sum up the tables of docs/reference/coverage.md that the benchmark printed, a row for each statement."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from benchmarks.truth.part import Part
from benchmarks.truth.registry import STATEMENTS, TRIED, Statement

# By part, column and key of a design: what was counted, in per cent.
Counts = Mapping[tuple[str, str, str], float]

_HEAD = re.compile(r"^\| [\d,]+ runs of each design.*; per cent \| (?P<columns>.+) \|$")
# What a column should be, in brackets at its end.
_WANTED = re.compile(r"\((?P<wanted>[≤≥]? ?\d+)[^()]*\)$")
TITLES = ("statement", "command", "designs tried", "should be", "was", "remark")


def published(text: str, parts: Mapping[str, Part]) -> Counts:
    """Return what stands in the tables of the benchmark that `text` has."""
    counts: dict[tuple[str, str, str], float] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if found := _HEAD.match(line):
            columns = found["columns"].split(" | ")
            rows = {name: cells for name, *cells in _rows(lines)}
            part, keys = _printed_by(columns, list(rows), parts)
            for name, cells in rows.items():
                for column, cell in zip(columns, cells, strict=True):
                    if cell:
                        counts[part, column, keys[name]] = float(cell)
    return counts


def _rows(lines: Iterator[str]) -> Iterator[list[str]]:
    next(lines)  # the line under the heads
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def _printed_by(
    columns: list[str], names: list[str], parts: Mapping[str, Part]
) -> tuple[str, Mapping[str, str]]:
    """Return the part that printed a table, and the keys of its designs by name."""
    for key, part in parts.items():
        keys = {name: design for design, name in part.designs.items()}
        if set(columns) <= set(chain(*part.tables.values())) and set(names) <= set(keys):
            return key, keys
    raise ValueError(f"no part prints a table of {', '.join(columns)}")


def summary(counts: Counts) -> str:
    """Return a table in Markdown of all statements, the measured ones first."""
    rows = [_row(statement, counts) for statement in STATEMENTS if statement.part]
    rows += [(each.what, "not measured", "", "", "", each.remark) for each in STATEMENTS if not each.part]
    head = [f"| {' | '.join(TITLES)} |", f"|{'---|' * len(TITLES)}"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])


def measured(statement: Statement, column: str, counts: Counts) -> list[float]:
    """Return what was counted of a column of `statement`, of each of its designs."""
    return [
        value
        for (part, of, design), value in counts.items()
        if (part, of) == (statement.part, column) and design in (statement.designs or {design})
    ]


def wanted(column: str) -> str:
    """Return what a column should be; "" if its name does not say."""
    found = _WANTED.search(column)
    return found["wanted"] if found else ""


def _row(statement: Statement, counts: Counts) -> tuple[str, ...]:
    values = [measured(statement, column, counts) for column in statement.columns]
    number = max(map(len, values))
    should_be = dict.fromkeys(wanted(column) for column in statement.columns)
    return (
        statement.what,
        f"`--part {statement.part}`",
        f"{number}: {TRIED[str(statement.part)]}",
        ", ".join(filter(None, should_be)),
        "; ".join(f"{min(each):.1f} to {max(each):.1f}" for each in values if each),
        statement.remark,
    )
