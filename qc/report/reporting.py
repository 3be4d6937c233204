"""Run `python -m qc.report` after its arguments are parsed: read, analyse or compare, write, print."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from candor.common.terminal import Console
from qc.analysis import Analysis, analyse, steps
from qc.command import output_console, progress
from qc.errors import EmptyRunError, OptionError
from qc.loading import LoadOptions, Source, holds_run, is_database, open_source, read_criteria, read_run
from qc.loading.analyst_files import read_dialogues, read_margins, with_background, with_references
from qc.loading.choices import Choices, read_choices
from qc.loading.registration import read_registration
from qc.loading.votes import Votes, read_votes
from qc.method.filter import nobody_passed
from qc.method.scores import Scores
from qc.options import FORMATS, NEEDING_WORDS, PAPER_FORMATS, RECORDS, SECTIONS, AnalysisOptions, OnStep
from qc.render import PAGE, show, write, writing_steps
from qc.render.findings import Findings, show_findings, write_findings
from qc.run import REHEARSAL_NOTE, Run
from qc.sections.course.adherence import follow
from qc.signature import comparison_signature, votes_signature
from qc.table import counted


@dataclass(frozen=True, kw_only=True)
class ReportSource:
    """The source of a report; attributes are options of the command."""

    source: str
    run: str | None = None
    replicate: str | None = None
    replicate_run: str | None = None
    criteria: Path | None = None
    preregistration: Path | None = None
    include_partial: bool = False
    simulated: bool = False
    background: Path | None = None
    margins: Path | None = None
    references: Path | None = None
    dialogues: Path | None = None
    together: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.replicate is None and self.replicate_run is not None:
            raise OptionError(
                f"--replicate-run is {self.replicate_run!r}, but --replicate is not given. Name the second "
                "run's database by --replicate."
            )


def report_on(
    asked: ReportSource,
    options: AnalysisOptions,
    out: Path | None,
    formats: frozenset[str],
    stderr: Console,
    *,
    lines: bool = False,
    workers: bool = False,
) -> None:
    """Read the source, analyse it, write `formats` into `out`, and print a summary.

    Args:
        asked: the source.
        options: options of the analysis.
        out: output directory; None writes nothing.
        formats: some of FORMATS and PAPER_FORMATS; without effect if `out` is None.
        stderr: where the progress bar is drawn.
        lines: as for `progress`.
        workers: whether the summary lists the workers who failed.

    Raises:
        QcError: as `read_run`, `analyse` and `write`.
        OptionError: an option has no effect on a report of several runs, or of comparisons.
    """
    for_ratings = _for_ratings_of_one_run(asked, options, workers, formats)
    if asked.together:
        _require_one_run(asked, for_ratings)
        _report_together(asked, options, out, formats, stderr, lines=lines)
        return
    remarks: tuple[str, ...] = ()
    if asked.margins is not None:
        margins, remarks = read_margins(asked.margins)
        options = replace(options, margins=margins)
    if asked.dialogues is not None:
        options = replace(options, dialogues=read_dialogues(asked.dialogues))
    wanted = formats if out else frozenset()
    reads = 1 if asked.replicate is None else 2
    total = reads + steps(options, asked.replicate is not None) + _writing_steps(wanted)
    with progress(stderr, total, lines=lines) as on_step:
        read = _read(asked, options, on_step)
        found: Analysis | Findings
        if isinstance(read, Votes):
            _require_votes_alone(asked, read, options, for_ratings)
            found = _of_votes(read, options, on_step)
        elif isinstance(read, _Compared):
            _require_effect(asked, read, for_ratings)
            found = _compared(read, options, on_step)
        else:
            first, second = read
            first = replace(first, notes=(*first.notes, *remarks))
            if asked.background is not None:
                first = with_background(first, asked.background)
            if asked.references is not None:
                first = with_references(first, asked.references)
            found = _registered(analyse(first, options, second, on_step), asked.preregistration)
        files = _written(found, out, wanted, on_step) if out else []
    _tell(found, out, files, workers)
    if isinstance(found, Analysis) and RECORDS in wanted:
        from qc.paper.every_eval_ever import losses  # noqa: PLC0415  # few reports need it

        stderr.print("Not held by the records of Every Eval Ever:", style="yellow")
        for loss in losses(found):
            stderr.print(f"  {loss}", style="yellow")


def _for_ratings_of_one_run(
    asked: ReportSource, options: AnalysisOptions, workers: bool, formats: frozenset[str]
) -> list[str]:
    """Return the given options that only apply to a report of one run with ratings."""
    given = {
        "--preregistration": asked.preregistration is not None,
        "--background": asked.background is not None,
        "--margins": asked.margins is not None,
        "--references": asked.references is not None,
        "--dialogues": asked.dialogues is not None,
        "--reward": options.reward is not None,
        "--fee": options.fee > 0,
        "--only": options.sections != SECTIONS.keys(),
        "--workers": workers,
        f"--format {RECORDS}": RECORDS in formats,
    }
    return [name for name, is_given in given.items() if is_given]


def _require_one_run(asked: ReportSource, for_ratings: list[str]) -> None:
    given = [*(["--replicate"] if asked.replicate is not None else []), *for_ratings]
    if given:
        raise OptionError(
            f"{' and '.join(given)} and --with cannot be combined: --with compares several runs, "
            "the other is about one of them. Make two reports."
        )


def _require_effect(asked: ReportSource, read: "_Compared", for_ratings: list[str]) -> None:
    about_ratings = [*for_ratings, *(["--criteria-file"] if asked.criteria and read.run is None else [])]
    if about_ratings:
        raise OptionError(
            f"{read.choices.source}: the workers of this run compared two systems side by side, so "
            f"{' and '.join(about_ratings)} would have no effect. Leave this out."
        )
    given = [name for name, is_given in _of_databases(asked).items() if is_given]
    if given and not read.of_database:
        raise OptionError(
            f"{' and '.join(given)} would choose from a database, but {read.choices.source} is a file with "
            "the choices of one run. Leave this out."
        )


def _require_votes_alone(
    asked: ReportSource, read: Votes, options: AnalysisOptions, for_ratings: list[str]
) -> None:
    given = [name for name, is_given in _of_databases(asked).items() if is_given] + for_ratings
    given += ["--criteria-file"] if asked.criteria else []
    # Errors of votes are computed without draws, and no voter is tested.
    given += ["--alpha"] if options.alpha != AnalysisOptions().alpha else []
    given += ["--bootstrap"] if options.bootstrap != AnalysisOptions().bootstrap else []
    if given:
        raise OptionError(
            f"{read.source}: this file holds votes of an arena, so {' and '.join(given)} would have no "
            "effect. Leave this out."
        )


def _of_databases(asked: ReportSource) -> dict[str, bool]:
    return {
        "--run": asked.run is not None,
        "--include-partial": asked.include_partial,
        "--simulated": asked.simulated,
    }


def _report_together(
    asked: ReportSource,
    options: AnalysisOptions,
    out: Path | None,
    formats: frozenset[str],
    stderr: Console,
    *,
    lines: bool,
) -> None:
    """Do what `report_on` does, for the source and the runs of `--with`, side by side."""
    # Most reports are of one run.
    from qc.comparison.several_runs import set_side_by_side  # noqa: PLC0415
    from qc.render.findings.several_runs import several_runs_findings  # noqa: PLC0415

    wanted = formats if out else frozenset()
    plain, for_paper = wanted & frozenset(FORMATS), wanted & frozenset(PAPER_FORMATS)
    count = 1 + len(asked.together)
    with progress(stderr, 2 * count + 1 + _writing_steps(wanted), lines=lines) as on_step:
        runs = _read_together(asked, options, on_step)
        compared = set_side_by_side(runs, options, on_step)
        found = several_runs_findings(compared, runs, options)
        files = write_findings(found, out, plain, on_step) if out else []
        if out and for_paper:
            from qc.paper.several_runs import write_runs_paper  # noqa: PLC0415  # as of one run

            files += write_runs_paper(compared, found, out, for_paper, on_step)
    _tell(found, out, files, workers=False)


def _read_together(asked: ReportSource, options: AnalysisOptions, on_step: OnStep) -> list[Run]:
    loading = _loading(asked, options)
    with open_source(asked.source) as first:
        on_step("Reading the run")
        runs = [read_run(first, loading)]
        for other in asked.together:
            with _second_source(first, other, None, "--with") as (source, name):
                on_step("Reading another run")
                run = read_run(source, replace(loading, run=name, option="--with"))
            _require_unmixed(runs[0], run, "--with")
            runs.append(run)
    return runs


class _Compared(NamedTuple):
    """A run of comparisons; `run` holds its ratings, None if it has none."""

    choices: Choices
    run: Run | None
    of_database: bool


def _of_votes(votes: Votes, options: AnalysisOptions, on_step: OnStep) -> Findings:
    """Return the findings of an arena's votes."""
    # Few sources are arenas.
    from qc.comparison.alarms import alarms  # noqa: PLC0415
    from qc.comparison.votes import analyse_votes  # noqa: PLC0415
    from qc.render.findings.arena import arena_findings  # noqa: PLC0415

    found = analyse_votes(votes, options.seed, on_step)
    on_step("Alarms")
    signature = votes_signature(votes.frame, votes.systems, seed=options.seed)
    return arena_findings(found, alarms(found, options.seed), signature)


def _compared(read: _Compared, options: AnalysisOptions, on_step: OnStep) -> Findings:
    """Return the findings of side-by-side comparisons, with the scores of ratings if there are any."""
    # Few runs have side-by-side comparisons.
    from qc.comparison import compare  # noqa: PLC0415
    from qc.render.findings.comparison import comparison_findings  # noqa: PLC0415

    choices = read.choices
    found = compare(choices, options.alpha, options.bootstrap, options.seed, on_step)
    made_of = comparison_signature(
        choices.choices,
        choices.systems,
        choices.qc,
        read.run,
        alpha=options.alpha,
        seed=options.seed,
        bootstrap=options.bootstrap,
    )
    ratings, remarks = _rated(read.run, options)
    return comparison_findings(found, ratings, made_of, remarks)


def _rated(run: Run | None, options: AnalysisOptions) -> tuple[Scores | None, tuple[str, ...]]:
    """Return the scores of the ratings of a run of comparisons, or None and the reasons."""
    if run is None:
        return None, ()
    try:
        found = analyse(run, replace(options, sections=frozenset()))
    except EmptyRunError as error:  # for example: without pairs with the QC bot no worker can be tested
        return None, (f"The ratings have no z. {error}",)
    why = nobody_passed(run, found.sample.screening)
    return (found.scores, ()) if why is None else (None, (f"The ratings have no z. {why}",))


def _registered(analysis: Analysis, registration: Path | None) -> Analysis:
    """Return the analysis, compared with the preregistration if there is one."""
    if registration is None:
        return analysis
    return analysis.having(follow(analysis, read_registration(registration)))


def _writing_steps(formats: frozenset[str]) -> int:
    return writing_steps(formats & frozenset(FORMATS)) + len(formats & frozenset(PAPER_FORMATS))


def _written(found: Analysis | Findings, out: Path, wanted: frozenset[str], on_step: OnStep) -> list[Path]:
    plain, for_paper = wanted & frozenset(FORMATS), wanted & frozenset(PAPER_FORMATS)
    if isinstance(found, Findings):
        _require_plain(wanted)
        return write_findings(found, out, plain, on_step)
    files = write(found, out, plain, on_step)
    if RECORDS in for_paper:
        from qc.paper.every_eval_ever import write_records  # noqa: PLC0415  # few reports need it

        on_step("Writing the records of Every Eval Ever")
        files += write_records(found, out, time.time())
    if for_paper := for_paper - {RECORDS}:
        # Importing the LaTeX tables takes as long as writing them, and few reports need them.
        from qc.paper.one_run import write_paper  # noqa: PLC0415

        files += write_paper(found, out, for_paper, on_step)
    return files


def _require_plain(formats: frozenset[str]) -> None:
    if for_paper := formats & frozenset(PAPER_FORMATS):
        raise OptionError(
            f"--format names {' and '.join(sorted(for_paper))}, but comparisons and votes have no files for "
            f"a paper yet. Name others: {', '.join(FORMATS)}."
        )


def _read(
    asked: ReportSource, options: AnalysisOptions, on_step: OnStep
) -> tuple[Run, Run | None] | _Compared | Votes:
    """Return the run to analyse and the second run of `--replicate`; or comparisons; or votes."""
    loading = _loading(asked, options)
    with open_source(asked.source) as first:
        if asked.replicate is None:
            on_step("Reading the run")
            if (votes := read_votes(first)) is not None:
                return votes
            choices = read_choices(first, loading)
            if choices is None:
                return read_run(first, loading), None
            of_database = is_database(first)
            rated = choices.rated and of_database
            run = read_run(first, replace(loading, words=False)) if rated else None
            return _Compared(choices, run, of_database)
        with _second_source(first, asked.replicate, asked.replicate_run) as (second, name):
            on_step("Reading the run")
            run = read_run(first, loading)
            on_step("Reading the second run")
            other = read_run(second, replace(loading, run=name, words=False, option="--replicate-run"))
        _require_unmixed(run, other)
        return run, other


def _loading(asked: ReportSource, options: AnalysisOptions) -> LoadOptions:
    return LoadOptions(
        asked.run,
        asked.include_partial,
        words=bool(options.sections & NEEDING_WORDS),
        criteria=read_criteria(asked.criteria) if asked.criteria else None,
        simulated=asked.simulated,
    )


def _require_unmixed(run: Run, other: Run, option: str = "--replicate") -> None:
    for one, against in ((run, other), (other, run)):
        if REHEARSAL_NOTE in one.notes and REHEARSAL_NOTE not in against.notes:
            raise OptionError(
                f"{one.name} is a rehearsal and {against.name} is not: ratings by programs are not compared "
                f"with other data. Name another run with {option}."
            )


@contextmanager
def _second_source(
    first: Source, named: str, run: str | None, option: str = "--replicate"
) -> Iterator[tuple[Source, str | None]]:
    """Open the second run that `option` and `--replicate-run` name: in the first source or in another.

    Yields:
        The source of the second run, and the name of the run in it; None if it is the only one.
    """
    there = "://" in named or os.path.exists(named)  # noqa: PTH110  # a name may be too long for a path
    if run is None and is_database(first) and (not there or holds_run(first, named)):
        yield first, named
    elif there:
        with open_source(named) as second:
            yield second, run
    else:
        raise OptionError(
            f"{option} is {named!r}, but there is no such file. Give the path of the second run, or, "
            "if SOURCE is a database, the slug or id of another run in it."
        )


def _tell(found: Analysis | Findings, out: Path | None, files: list[Path], workers: bool) -> None:
    console = output_console()
    if isinstance(found, Findings):
        show_findings(found, console)
    else:
        show(found, console, workers=workers)
    if out is None:
        console.print(f"Nothing was written. With --out DIR you get {PAGE.name}, tables and figures.")
    else:
        console.print(
            f"{counted(len(files), 'file')} written to {out}; begin with {files[0].name}.", soft_wrap=True
        )
