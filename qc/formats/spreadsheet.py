"""Write text for spreadsheets, where no cell may compute anything."""

import re
from collections.abc import Sequence

from qc.errors import Problem


def misshapen(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Problem]:
    """Return a problem for each name of two columns, and for each row with another number of cells.

    `rows` are those under the header, which is row 1, as in a spreadsheet.
    """
    twice = sorted({name for name in header if header.count(name) > 1})
    problems = [Problem(f"column {name!r}", "is there twice.", "Rename one of them.") for name in twice]
    return problems + [
        Problem(f"row {number}", f"has {len(row)} cells, but the header has {len(header)}.", "Correct it.")
        for number, row in enumerate(rows, start=2)
        if len(row) != len(header)
    ]


# The signs of a formula, full-width ones too, which spreadsheets in East Asian settings take for the same.
_SIGN = "[=+@\uff1d\uff0b\uff20\uff0d\t\r\n-]"
_FORMULA = re.compile(rf"'*{_SIGN}")
_MARKED = re.compile(rf"'+{_SIGN}")


def harmless(cell: str) -> str:
    """Return `cell` so that every spreadsheet takes it for data; a number stays as it is.

    Before what begins like a formula stands an apostrophe, as spreadsheets write it; one that stood there
    already gets another, so that `restored` knows them apart. Source: OWASP, *CSV Injection*.
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _is_number(cell) else cell


def restored(cell: str) -> str:
    """Return what `harmless` was given."""
    return cell[1:] if _MARKED.match(cell) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
