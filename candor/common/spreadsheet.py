"""Mark texts that begin like a formula, so that no spreadsheet computes them; remove the marks."""

import re

# First characters of a formula, including full-width ones, which count in spreadsheets with East Asian
# settings.
_SIGN = "[=+@\uff1d\uff0b\uff20\uff0d\t\r\n-]"
_FORMULA = re.compile(rf"'*{_SIGN}")
_MARKED = re.compile(rf"'+{_SIGN}")


def harmless(cell: str) -> str:
    """Return `cell` in a form that every spreadsheet treats as data.

    A text that begins like a formula gets an apostrophe in front, even if it has one already, so that
    `restored` can undo this. Source: OWASP, *CSV Injection*.
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def harmless_unless_number(cell: str) -> str:
    """Return `harmless(cell)`; a number such as -3 is unchanged."""
    try:
        float(cell)
    except ValueError:
        return harmless(cell)
    return cell


def restored(cell: str) -> str:
    """Undo `harmless`."""
    return cell[1:] if _MARKED.match(cell) else cell
