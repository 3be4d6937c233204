"""The summary on a terminal: the verdict, notes, the systems with their groups, what was kept."""

from collections.abc import Sequence

from rich.table import Table as Grid

from candor.common.terminal import Console
from qc.render.manifest import DOCUMENT
from qc.render.sentences import verdict
from qc.run import LeftOut
from qc.sections import SECTIONS
from qc.sections.analysis import Analysis
from qc.table import P_EXACT, WRITTEN, Table, whole

SHOWN_IDS = 10


def show(analysis: Analysis, console: Console, *, workers: bool = False) -> None:
    """Print a summary of `analysis`: the verdict and notes first, then the sections.

    With `workers`, list the workers who failed, else count them.
    """
    console.print(f"Run {analysis.run.name}  ({analysis.run.source})", style="bold")
    for sentence in verdict(analysis).sentences:
        console.print(ascii_minus(sentence))
    for note in analysis.notes:
        console.print(f"! {note}", style="yellow")
    for line in _left_out_lines(analysis.run.left_out):
        console.print(f"! {line}", style="yellow")
    for section in SECTIONS:
        for each in section.summary(analysis):
            if isinstance(each, str):
                console.print(each)
            elif workers or each.instead is None:
                console.print(grid(each.title, each.table))
            else:
                console.print(each.instead)
    console.print(f"Signature: {analysis.signature}", soft_wrap=True)


def _left_out_lines(left_out: Sequence[LeftOut]) -> list[str]:
    ids: dict[str, list[str]] = {}
    for out in left_out:
        ids.setdefault(out.reason, []).append(out.assignment)
    return [
        f"Left out, {reason}: {whole(len(names))} assignment{'s' if len(names) > 1 else ''} ({_shown(names)})"
        for reason, names in ids.items()
    ]


def _shown(names: Sequence[str]) -> str:
    more = len(names) - SHOWN_IDS
    return ", ".join(names[:SHOWN_IDS]) + (f" and {_all_in(more, DOCUMENT.name)}" if more > 0 else "")


def _all_in(more: int, file: str) -> str:
    return f"{whole(more)} more, all in {file}"


def grid(title: str, table: Table, most: int | None = None, whole_in: str = DOCUMENT.name) -> Grid:
    """Return the first `most` rows of `table` (None for all) as a grid for rich.

    A line below says how many more rows there are in the file `whole_in`.
    """
    more = len(table.shown_rows) - most if most is not None else 0
    caption = f"… and {_all_in(more, whole_in)}" if more > 0 else None
    made = Grid(title=title, title_justify="left", caption=caption, caption_justify="left")
    for number, column in enumerate(table.shown):
        # Long names are folded, not cut; numbers are neither folded nor cut.
        made.add_column(
            (column.head or "").replace("\u00ad", ""),  # terminals display soft hyphens
            justify="right" if column.form else "left",
            overflow="ellipsis" if number else "fold",
            no_wrap=column.upper is not None or column.form in (WRITTEN, P_EXACT),
        )
    for row in table.cells(most):
        made.add_row(
            *(
                ascii_minus(cell.text) if column.form else cell.text
                for column, cell in zip(table.shown, row, strict=True)
            )
        )
    return made


def ascii_minus(text: str) -> str:
    """Return `text` with ASCII minus signs, which every terminal can show; a `?` instead would mislead."""
    return text.replace("−", "-")
