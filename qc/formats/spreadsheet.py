"""Problems of the shape of a table that people made in a spreadsheet."""

from collections.abc import Sequence

from qc.errors import Problem


def misshapen(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Problem]:
    """Return a problem for each repeated column name, and for each row with a wrong number of cells.

    `rows` are the rows below the header; the header is row 1, as in a spreadsheet.
    """
    twice = sorted({name for name in header if header.count(name) > 1})
    problems = [Problem(f"column {name!r}", "is there twice.", "Rename one of them.") for name in twice]
    return problems + [
        Problem(f"row {number}", f"has {len(row)} cells, but the header has {len(header)}.", "Correct it.")
        for number, row in enumerate(rows, start=2)
        if len(row) != len(header)
    ]
