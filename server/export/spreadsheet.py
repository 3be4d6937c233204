"""Text of people in CSV, which spreadsheets open: what they would take for a formula must compute nothing."""

import re

# The signs of a formula, full-width ones too, which spreadsheets in East Asian settings take for the same.
_FORMULA = re.compile("'*[=+@\uff1d\uff0b\uff20\uff0d\t\r\n-]")


def harmless(cell: str) -> str:
    """Return `cell` so that every spreadsheet takes it for data.

    Before what begins like a formula stands an apostrophe, as spreadsheets write it; one that stood there
    already gets another, so that a reader who takes one away has what was said.
    Source: OWASP, *CSV Injection*.
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell
