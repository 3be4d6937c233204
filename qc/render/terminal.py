"""The summary on a terminal: the verdict, notes, the systems with their groups, what was kept."""

from collections.abc import Sequence

from rich.table import Table as Grid

from candor.common.terminal import Console
from qc.analysis import Analysis
from qc.number_format import whole
from qc.render.manifest import DOCUMENT
from qc.render.sentences import verdict, writing_conclusion
from qc.render.table import P_EXACT, WRITTEN, Table
from qc.render.tables import groups
from qc.render.tables.kept import decisions, incidents, kept, points
from qc.render.tables.ranking import ranking, z_scores
from qc.render.tables.transcripts import controls, kappa, repeat_correlations
from qc.render.tables.workers import p_values
from qc.run import LeftOut

SHOWN_IDS = 10
OF_SYSTEMS = ("system", "rank", "overall", "low", "conversations", "raters", "raw")
OF_INCIDENTS = ("system", "conversations", "failed", "replies", "errors", "overran", "gave_away")


def show(analysis: Analysis, console: Console, *, workers: bool = False) -> None:
    """Print a summary of `analysis`: the verdict and notes first, then the systems, then what was kept.

    With `workers`, list the workers who failed, else count them.
    """
    console.print(f"Run {analysis.run.name}  ({analysis.run.source})", style="bold")
    for sentence in verdict(analysis).sentences:
        console.print(ascii_minus(sentence))
    for note in analysis.notes:
        console.print(f"! {note}", style="yellow")
    for line in _left_out_lines(analysis.run.left_out):
        console.print(f"! {line}", style="yellow")
    if (registered := analysis.preregistration) is not None:
        console.print(grid(f"Preregistration of {registered.registered}", points(registered)))
        if registered.decisions:
            console.print(grid("Its hypotheses", decisions(registered)))
    console.print(grid("Systems, best first", ranking(analysis).only(*OF_SYSTEMS)))
    for line in _groups(analysis):
        console.print(line)
    by_criterion = z_scores(analysis).only("name", *range(1, len(analysis.run.criteria) + 1))
    console.print(grid("z by criterion; higher is better for all of them", by_criterion))
    _show_kept(analysis, console, workers=workers)
    if (known := analysis.groups) is not None:
        titled = (
            ("How far systems change places between groups of workers", groups.places(known)),
            ("Scores for the population of --margins", groups.population(known)),
        )
        for title, table in titled:
            if table is not None:
                console.print(grid(title, table))
    _show_beside(analysis, console)
    console.print(f"Signature: {analysis.signature}", soft_wrap=True)


def _show_beside(analysis: Analysis, console: Console) -> None:
    """Print results besides scores: on rated items, incidents, and how workers wrote."""
    if (found := analysis.transcripts) is not None:
        console.print(grid("Control items beside ordinary ones", controls(found.controls)))
    if found is not None and found.repeats is not None:
        console.print(grid("Items that a worker rated twice: κ", kappa(found.repeats)))
        console.print(grid("… and r of each worker", repeat_correlations(found.repeats)))
    if analysis.incidents is not None and analysis.incidents.any:
        title = "Incidents, in all conversations that were begun"
        console.print(grid(title, incidents(analysis.incidents).only(*OF_INCIDENTS)))
    if analysis.writing is not None:
        console.print(f"How workers wrote: {writing_conclusion(analysis.writing)}")


def _show_kept(analysis: Analysis, console: Console, *, workers: bool) -> None:
    console.print(grid(f"Kept at α = {analysis.sample.screening.alpha:g}", kept(analysis)))
    failed = p_values(analysis)
    count = len(failed.shown_rows)
    if count and workers:
        console.print(grid("Workers who failed", failed))
    elif count:
        some = "worker" if count == 1 else "workers"
        console.print(f"{whole(count)} {some} failed the filter; --workers lists them.")


def _groups(analysis: Analysis) -> list[str]:
    """Return a line for each group of distinguished systems; none if there is only one group."""
    found = analysis.intervals
    if found is None or len(found.groups) < 2:
        return []
    head = "Groups: every system of one is told apart from all of the next, all pairs taken together:"
    return [head, *(f"  {i}. {', '.join(group)}" for i, group in enumerate(found.groups, start=1)), ""]


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
