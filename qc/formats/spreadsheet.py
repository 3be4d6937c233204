"""Text of people in CSV, which spreadsheets open: what they would take for a formula must compute nothing."""

import re

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
