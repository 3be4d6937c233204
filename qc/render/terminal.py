"""The summary on a terminal: the verdict, notes, what was kept, the systems."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from qc.analysis import Analysis
from qc.method.incidents import Incidents
from qc.number_format import between, decimal, percent, ranks, whole
from qc.render.sentences import verdict
from qc.run import LeftOut

SHOWN_WORKERS = 25
SHOWN_IDS = 10


def show(analysis: Analysis, console: Console) -> None:
    """Print a summary of `analysis`: the verdict and notes first, then what was kept, then the systems."""
    console.print(f"Run {analysis.run.name}  ({analysis.run.source})", style="bold")
    for sentence in verdict(analysis).sentences:
        console.print(_plain(sentence))
    for note in analysis.notes:
        console.print(f"! {note}", style="yellow")
    for line in _left_out_lines(analysis.run.left_out):
        console.print(f"! {line}", style="yellow")
    console.print(_kept_table(analysis))
    if not analysis.sample.screening.workers["passed"].all():
        console.print(_failed_table(analysis))
    console.print(_system_table(analysis))
    if analysis.incidents is not None and analysis.incidents.any:
        console.print(_incident_table(analysis.incidents))
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
    shown = ", ".join(names[:SHOWN_IDS])
    return (
        shown
        if len(names) <= SHOWN_IDS
        else f"{shown} and {whole(len(names) - SHOWN_IDS)} more, all in report.json"
    )


def _kept_table(analysis: Analysis) -> Table:
    rates, minutes = analysis.rates, analysis.minutes
    table = Table(title=f"Kept at α = {analysis.sample.screening.alpha:g}", title_justify="left")
    table.add_column("")
    for heading in ("passed", "failed", "all", "pass rate"):
        table.add_column(heading, justify="right")
    for name, count in (
        ("workers", rates.workers),
        ("assignments", rates.assignments),
        ("HIT ids", rates.hits),
        ("conversations with systems", rates.conversations),
    ):
        failed = count.total - count.passed
        table.add_row(name, *map(whole, (count.passed, failed, count.total)), percent(count.rate))
    minutes_row = [_decimal(value, 2) for value in (minutes.passed, minutes.failed, minutes.all)]
    table.add_row("minutes per conversation", *minutes_row, "")
    return table


def _failed_table(analysis: Analysis) -> Table:
    workers = analysis.sample.screening.workers
    failed = workers[~workers["passed"]]
    more = len(failed) - SHOWN_WORKERS
    table = Table(
        title="Workers who failed",
        title_justify="left",
        caption=f"… and {whole(more)} more, all in report.json" if more > 0 else None,
        caption_justify="left",
    )
    table.add_column("worker", overflow="fold")
    table.add_column("p", justify="right", no_wrap=True)
    table.add_column("reason")
    for row in failed.head(SHOWN_WORKERS).to_dict("records"):
        table.add_row(str(row["worker"]), _decimal(row["p"], 4), str(row["reason"]))
    return table


def _system_table(analysis: Analysis) -> Table:
    labels = analysis.run.criteria["label"].to_list()
    table = Table(
        title="Systems, best first (criteria: z; higher is better for all of them)",
        title_justify="left",
        pad_edge=False,
    )
    table.add_column("system", overflow="fold")
    certainty = _certainty(analysis)
    for heading in ("n", "z", *certainty, "raw", *labels):
        table.add_column(heading, justify="right", no_wrap=heading in certainty)
    raw = analysis.scores.raw["overall"]
    for position, row in enumerate(analysis.scores.z.to_dict("records")):
        numbers = [whole(row["n"]), _decimal(row["overall"], 3)]
        numbers += [column[position] for column in certainty.values()]
        numbers += [_decimal(float(raw[position]), 2), *(_decimal(row[label], 3) for label in labels)]
        table.add_row(str(row["system"]), *numbers)
    return table


def _incident_table(incidents: Incidents) -> Table:
    table = Table(
        title="Incidents, in all conversations that were begun", title_justify="left", pad_edge=False
    )
    table.add_column("system", overflow="fold")
    for heading in ("conversations", "failed", "replies", "failed tries", "late", "gave itself away"):
        table.add_column(heading, justify="right")
    columns = ["conversations", "failed", "replies", "errors", "overran", "gave_away"]
    for row in incidents.table.to_dict("records"):
        table.add_row(str(row["system"]), *(_plain(whole(row[name])) for name in columns))
    return table


def _certainty(analysis: Analysis) -> dict[str, list[str]]:
    """Return the columns that say how sure the order is, by heading."""
    found = analysis.intervals
    if found is None:
        return {}
    bounds = zip(found.z_low[:, 0].tolist(), found.z_high[:, 0].tolist(), strict=True)
    places = zip(found.rank_low.tolist(), found.rank_high.tolist(), strict=True)
    return {
        percent(found.level, 0): [_plain(between(low, high, 2)) for low, high in bounds],
        "rank": [_plain(ranks(low, high)) for low, high in places],
    }


def _decimal(value: float, digits: int) -> str:
    return _plain(decimal(value, digits))


def _plain(text: str) -> str:
    """Return `text` with a minus that every terminal can show: a `?` before a number would mislead."""
    return text.replace("−", "-")
