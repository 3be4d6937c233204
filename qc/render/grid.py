"""Tables on a terminal."""

from rich.table import Table as Grid

from qc.number_format import whole
from qc.render.manifest import DOCUMENT
from qc.render.table import P_EXACT, WRITTEN, Table


def grid(title: str, table: Table, most: int | None = None, rest: str = DOCUMENT.name) -> Grid:
    """Return the first `most` rows of `table`, all if that is None, as rich lays them out.

    Args:
        title: above it.
        table: what is shown.
        most: how many rows.
        rest: the file that has the other ones.
    """
    more = len(table.shown_rows) - most if most is not None else 0
    caption = f"… and {all_in(more, rest)}" if more > 0 else None
    laid = Grid(title=title, title_justify="left", caption=caption, caption_justify="left")
    for number, column in enumerate(table.shown):
        # Names may be long, so they are folded and not cut; what is read as one number is neither.
        laid.add_column(
            column.head or "",
            justify="right" if column.form else "left",
            overflow="ellipsis" if number else "fold",
            no_wrap=column.upper is not None or column.form in (WRITTEN, P_EXACT),
        )
    for row in table.cells(most):
        laid.add_row(
            *(
                ascii_minus(cell.text) if column.form else cell.text
                for column, cell in zip(table.shown, row, strict=True)
            )
        )
    return laid


def all_in(more: int, file: str = DOCUMENT.name) -> str:
    """Return how many more there are than were shown, and the file that has them all."""
    return f"{whole(more)} more, all in {file}"


def ascii_minus(text: str) -> str:
    """Return `text` with a minus that every terminal can show: a `?` before a number would mislead."""
    return text.replace("−", "-")
