"""Make people's texts safe in CSV: spreadsheets must not compute them as formulas."""

import re

# Characters that start a formula, including full-width ones, which count in spreadsheets with East Asian
# settings.
_FORMULA = re.compile("'*[=+@\uff1d\uff0b\uff20\uff0d\t\r\n-]")


def harmless(cell: str) -> str:
    """Return `cell` in a form that every spreadsheet treats as data.

    A text that begins like a formula gets an apostrophe in front, even if it has one already. So a reader
    gets the original text by removing one apostrophe. Source: OWASP, *CSV Injection*.
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell
