"""Write text for spreadsheets so that no cell is read as a formula."""

import re
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


# First characters of a formula, including full-width ones, which spreadsheets with East Asian settings
# accept.
_SIGN = "[=+@\uff1d\uff0b\uff20\uff0d\t\r\n-]"
_FORMULA = re.compile(rf"'*{_SIGN}")
_MARKED = re.compile(rf"'+{_SIGN}")


def harmless(cell: str) -> str:
    """Return `cell` so that every spreadsheet reads it as data; numbers are unchanged.

    Text that starts like a formula gets an apostrophe in front, as in spreadsheets. If it already has one, it
    gets another, so that `restored` can undo this. Source: OWASP, *CSV Injection*.
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _is_number(cell) else cell


def restored(cell: str) -> str:
    """Undo `harmless`."""
    return cell[1:] if _MARKED.match(cell) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
