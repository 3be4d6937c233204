"""The paper kit of several runs side by side: tables, the figure from run to run, a paragraph."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from qc.number_format import listed, whole
from qc.paper.kit import Kit, write_kit
from qc.paper.references import CAMERON, JI
from qc.paper.tex import escaped, paper_table
from qc.progress import OnStep
from qc.render.findings import Findings
from qc.several_runs import SeveralRuns

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Sheet

    from qc.paper.sheet import PaperFigure

# The tables that go into a paper; those over both columns.
_TABLES = {"scores": True, "agreement": True, "runs": True}
_FIGURE = "runs-scores"
_CAPTIONS = {_FIGURE: "Overall scores of the systems from run to run; vertical lines are intervals of 95\\%."}


def write_runs_paper(
    found: SeveralRuns,
    shown: Findings,
    directory: Path,
    formats: frozenset[str],
    on_step: OnStep,
) -> list[Path]:
    """Write the kit of several runs.

    Args:
        found: the runs side by side.
        shown: the same as tables and words.
        directory, formats, on_step: as for `write_kit`, as are result and errors.
    """

    def draw() -> "Iterator[PaperFigure]":
        from qc.paper.longitudinal import longitudinal  # noqa: PLC0415  # imports matplotlib
        from qc.paper.sheet import drawn  # noqa: PLC0415

        def sheet(width: float) -> "Sheet | None":
            return longitudinal(found, width)

        return drawn({_FIGURE: sheet}, shown.signature)

    kit = Kit(
        title=f"{whole(len(found.names))} runs of a human evaluation",
        methods=_methods(found, shown),
        tables=tuple(
            paper_table(f"runs-{each.name}", each.table, escaped(f"{each.title}. {each.text}"), wide=wide)
            for each in shown.tables
            if (wide := _TABLES.get(each.name)) is not None and len(each.table.frame)
        ),
        captions=_CAPTIONS,
        draw=draw,
        texts={},
        signature=shown.signature,
    )
    return write_kit(kit, directory, formats, on_step)


def _methods(found: SeveralRuns, shown: Findings) -> str:
    passed, workers = (found.runs[name].tolist() for name in ("passed", "workers"))
    kept = [f"{whole(some)} of {whole(of)}" for some, of in zip(passed, workers, strict=True)]
    sentences = [
        f"The evaluation was held {whole(len(found.names))} times ({escaped(listed(found.names, 20))}) after "
        rf"\cite{{{JI}}}; {escaped(listed(kept, 20))} workers passed quality control.",
        "Each run was filtered and standardised for itself; intervals of scores are from a wild bootstrap of "
        rf"whole workers \cite{{{CAMERON}}}.",
        *(escaped(sentence) for sentence in shown.verdict),
        "Intervals of correlations are Fisher's, over systems like these.",
    ]
    return "\n".join(sentences) + "\n"
