"""Make a bundle: rename the workers, analyse the data like a recipient, and pack everything."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pandas as pd

from qc.analysis import Analysis, analyse
from qc.bundle.certificate import CERTIFICATE, certificate, certificate_files
from qc.bundle.manifest import Manifest, options_of, records, versions, written
from qc.convert import FORMATS, SUFFIXES, Loss, losses, save
from qc.errors import EmptyRunError, OutputError, SourceError
from qc.formats.archive import MANIFEST, RUN, SECOND, data_file, write_archive
from qc.loading import load
from qc.loading.registration import read_registration
from qc.options import AnalysisOptions, OnStep, no_step
from qc.render import write
from qc.run import Answers, LeftOut, Run, Words
from qc.sections.course.adherence import follow
from qc.signature import signature

STUDY, README, SIGNATURE = "study.yaml", "README.md", "signature.txt"
PREREGISTRATION = "preregistration.yaml"
REPORT = "report/"
# Without the workbook, which contains its time of writing, and the figures, which are in the page.
REPORT_FORMATS = frozenset({"html", "json", "csv"})
STEPS = 4


class Bundled(NamedTuple):
    """Content of a bundle.

    Attributes:
        run: the analysed run.
        second: the run that it is correlated with, if there is one.
        renamed: whether workers get new names; in a server's database they have pseudonyms already.
        study: the study file, if there is one.
        export: the server's export of the run as JSON Lines, which is packed unchanged. None if there is
            none, or not all of it is analysed; then the published format that loses least is packed.
        preregistration: the file of `candor study preregister`, if there is one.
    """

    run: Run
    second: Run | None
    renamed: bool
    study: bytes | None
    export: Path | None = None
    preregistration: bytes | None = None


def make_bundle(
    bundled: Bundled, options: AnalysisOptions, target: Path, on_step: OnStep = no_step
) -> tuple[Manifest, list[Loss]]:
    """Write the bundle `target`, and return its manifest and the data that it does not hold.

    Args:
        bundled: its content.
        options: options of its analysis.
        target: the file to write.
        on_step: called with a description when each of the STEPS begins.

    Raises:
        OutputError: the run rates transcripts, or no published format can hold its ratings, or the file
            cannot be written.
        ReplicationError: as `analyse`. A run that cannot be analysed is packed without a report, and its
            README says why.
    """
    if bundled.run.items is not None and bundled.export is None:
        raise OutputError(
            f"{target}: the run {bundled.run.name!r} rates transcripts, and bundles hold conversations only. "
            "Nothing was written; `candor data export --format bundle` packs such a run."
        )
    second = bundled.second
    runs = [bundled.run] if second is None else [bundled.run, second]
    source_signature = _signature(runs, options)
    if bundled.renamed:
        names = pseudonyms_for(runs)
        runs = [pseudonymous(run, names) for run in runs]
    with TemporaryDirectory() as folder:
        place = Path(folder)
        on_step("Writing the data")
        (place / "data").mkdir()
        lost: list[Loss] = []
        for run, name in zip(runs, (RUN, SECOND), strict=False):
            if name == RUN and bundled.export is not None:
                copyfile(bundled.export, place / f"{name}.jsonl")
            else:
                lost += _save(run, place / name)
        if bundled.preregistration is not None:
            (place / PREREGISTRATION).write_bytes(bundled.preregistration)
        reported = report_on(place, options, [run.name for run in runs], on_step)
        files = {file.relative_to(place).as_posix(): file.read_bytes() for file in _data(place)}
        files |= reported.files
    on_step("Packing")
    if bundled.study is not None:
        files[STUDY] = bundled.study
    if bundled.preregistration is not None:
        files[PREREGISTRATION] = bundled.preregistration
    files[SIGNATURE] = (reported.signature + "\n").encode()
    files[README] = _readme(reported, bundled, source_signature, files).encode()
    manifest = Manifest(
        candor=version("candor-eval"),
        libraries=versions(),
        options=options_of(options),
        signature=reported.signature,
        source_signature=source_signature,
        unreported=reported.refused,
        names=[run.name for run in runs],
        workers="renamed" if bundled.renamed else "pseudonyms",
        files=records(files),
    )
    write_archive(target, {**files, MANIFEST: written(manifest)})
    return manifest, lost


def _save(run: Run, path: Path) -> list[Loss]:
    """Write a run in the published format that loses least, and return the losses."""
    form = min(FORMATS, key=lambda name: _severity(losses(run, name)))
    suffix = next(suffix for suffix, name in SUFFIXES.items() if name == form)
    return save(run, path.with_suffix(suffix), form)


def _severity(lost: list[Loss]) -> tuple[bool, int]:
    return any(loss.fatal for loss in lost), len(lost)


def _data(place: Path) -> list[Path]:
    return sorted((place / "data").iterdir())


class Reported(NamedTuple):
    """Report on the data of a bundle.

    Attributes:
        signature: signature of their analysis.
        files: files of the report and of the certificate, by their names in the bundle; empty if there is no
            analysis.
        analysis: None if the data cannot be analysed, for example those of a run without a QC bot.
        refused: why they cannot be analysed.
    """

    signature: str
    files: dict[str, bytes]
    analysis: Analysis | None
    refused: str | None


def report_on(
    place: Path, options: AnalysisOptions, titles: Sequence[str], on_step: OnStep = no_step
) -> Reported:
    """Analyse the data of a bundle in the folder `place`, and write the report there.

    `titles`: names of the runs; the published formats do not hold them.

    Raises:
        QcError: the data cannot be read, or cannot be compared with the second run, or the preregistration
            was changed.
    """
    on_step("Analysing what is in the bundle")
    names = {file.relative_to(place).as_posix() for file in _data(place)}
    held = [name for run in (RUN, SECOND) if (name := data_file(run, names))]
    if not held:
        raise SourceError(f"{place}: there is no {RUN} in it. Get the bundle again.")
    runs = [
        replace(load(place / name), source=name, name=title)
        for name, title in zip(held, titles, strict=False)
    ]
    try:
        analysis = analyse(runs[0], options, runs[1] if len(runs) > 1 else None)
    except EmptyRunError as error:
        on_step("Leaving the report out")
        return Reported(_signature(runs, options), {}, None, str(error))
    if (place / PREREGISTRATION).exists():
        analysis = analysis.having(follow(analysis, read_registration(place / PREREGISTRATION)))
    on_step("Writing the report")
    written = write(analysis, place / "report", REPORT_FORMATS)
    files = {REPORT + file.name: file.read_bytes() for file in written}
    if (certified := certificate(analysis)) is not None:
        files |= certificate_files(certified)
    return Reported(analysis.signature, files, analysis, None)


def _signature(runs: Sequence[Run], options: AnalysisOptions) -> str:
    return signature(
        runs[0],
        alpha=options.alpha,
        seed=options.seed,
        bootstrap=options.bootstrap,
        second=runs[1] if len(runs) > 1 else None,
        reward=options.reward,
    )


def _counted(analysis: Analysis | None, run: Run) -> str:
    """Return the counts of a run, for the start of a sentence."""
    if analysis is None:
        return f"{len(run.conversations)} conversations"
    rates = analysis.rates
    return (
        f"{rates.workers.total} workers, {rates.assignments.total} assignments and "
        f"{rates.conversations.total}\nconversations with {len(analysis.scores.z)} systems"
    )


def _readme(reported: Reported, bundled: Bundled, source_signature: str, files: Container[str]) -> str:
    run = bundled.run
    workers = (
        "Workers have names made up for this bundle. Their ids of before are nowhere in it; in what people "
        f"wrote, ids of {SHORTEST_IN_TEXT} and more characters were looked for and replaced."
        if bundled.renamed
        else "Workers have the pseudonyms of the server that collected the data."
    )
    renamed = bundled.renamed
    what = "data before workers were renamed" if renamed else "source, with what was left unrated in it,"
    differs = "Only hashes of data differ: every number is the same." if renamed else ""
    before = (
        f"\nThe same analysis of the {what} has the signature\n\n    {source_signature}\n\n{differs}\n"
        if source_signature != reported.signature
        else ""
    )
    what_was_said = (
        "what was said, rated and counted: all that the server has stored, a row a line"
        if bundled.export is not None
        else "what was said and rated"
    )
    data = f"- `{data_file(RUN, files)}`: {what_was_said}\n"
    study = f"- `{STUDY}`: the study\n" if bundled.study is not None else ""
    analysed = "and analysed " if reported.refused is None else ""
    missing = (
        ""
        if reported.refused is None
        else f"\nThere is no report in it, as these data cannot be analysed: {reported.refused}\n"
    )
    report = (
        f"- `{REPORT}report.html`: the report; beside it the same as `report.json` and as tables\n"
        if reported.refused is None
        else ""
    )
    registered = f"- `{PREREGISTRATION}`: what was fixed before the run\n" if PREREGISTRATION in files else ""
    certified = (
        f"- `{CERTIFICATE}`: the certificate: what the run shows of its systems, at one error for all of it; "
        "beside it a badge and\n  a line for a paper\n"
        if CERTIFICATE in files
        else ""
    )
    other = data_file(SECOND, files)
    second = f"- `{other}`: the second run that it is compared with\n" if other else ""
    return f"""# {" ".join(run.name.split())}

{_counted(reported.analysis, run)}, collected {analysed}with Candor {version("candor-eval")}.
{missing}
{data}{second}{study}{registered}{report}{certified}- `{SIGNATURE}`: what the numbers were made of and how
- `{MANIFEST}`: the options of the analysis, and the SHA-256 of each file

{workers} What workers wrote is as they wrote it otherwise: look through it before you publish it.

## To analyse it again

Install Candor {version("candor-eval")} and run

    candor data verify BUNDLE

It compares every file with its hash, analyses the data anew, compares the report and the certificate, and
says what differs. The signature is

    {reported.signature}
{before}"""


# Shorter ids are also ordinary words and numbers in people's texts, so replacing them would damage the text.
SHORTEST_IN_TEXT = 6
_TOKEN = re.compile(r"[\w@.+=-]+")
_WORD = re.compile(r"\w+")


def pseudonyms_for(runs: Iterable[Run]) -> dict[str, str]:
    """Return a name such as `w0017` for each worker of `runs`, in the order of their ids.

    The order is kept so that random draws of workers do not depend on their names.
    """
    names = sorted({name for run in runs for name in _workers(run)})
    width = len(str(len(names)))
    return {name: f"w{number:0{width}}" for number, name in enumerate(names, start=1)}


def _workers(run: Run) -> set[str]:
    return {*run.assignments["worker"].cat.categories, *(out.worker for out in run.left_out)}


def pseudonymous(run: Run, names: Mapping[str, str]) -> Run:
    """Return the file data of `run` with workers renamed by `names`, in ids and in texts."""
    ids, texts = _Replacing(names), _Replacing({k: v for k, v in names.items() if len(k) >= SHORTEST_IN_TEXT})
    assignments = run.assignments.assign(
        assignment=run.assignments["assignment"].map(ids),
        hit=run.assignments["hit"].map(ids),
        worker=run.assignments["worker"].cat.rename_categories(dict(names)),
        # Without any feedback, `map` would return numbers.
        feedback=run.assignments["feedback"].map(texts, na_action="ignore").astype("str"),
    )
    conversations = run.conversations.assign(
        conversation=run.conversations["conversation"].map(ids),
        assignment=run.conversations["assignment"].cat.rename_categories(ids),
        worker=run.conversations["worker"].cat.rename_categories(dict(names)),
    )
    return replace(
        run,
        assignments=assignments,
        conversations=conversations,
        words=None if run.words is None else _said(run.words, texts),
        unrated=None,
        background=None,
        facts=None
        if run.facts is None
        else run.facts.map(lambda fact: texts(fact) if isinstance(fact, str) else fact),
        answers=None if run.answers is None else _answered(run.answers, ids, texts),
        left_out=tuple(
            LeftOut(ids(out.assignment), names[out.worker], texts(out.reason)) for out in run.left_out
        ),
        notes=tuple(map(texts, run.notes)),
    )


def _answered(answers: Answers, ids: "_Replacing", texts: "_Replacing") -> Answers:
    given = answers.given
    renamed = {
        name: given[name].map(replacing, na_action="ignore").astype(given[name].dtype)
        for name, replacing in (("assignment", ids), ("conversation", ids), ("text", texts))
    }
    return replace(answers, given=given.assign(**renamed))


def _said(words: Words, texts: "_Replacing") -> Words:
    def mapped(column: pd.Series) -> pd.Series:
        return column.map(texts, na_action="ignore").astype(column.dtype)

    exchanges, topics = words.exchanges, words.topics
    return replace(
        words,
        exchanges=exchanges.assign(input=mapped(exchanges["input"]), reply=mapped(exchanges["reply"])),
        topics=topics.assign(topic=mapped(topics["topic"])),
    )


class _Replacing:
    """Replace ids that are separate words of a text; the time is linear in the text."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        unlike_words = sorted((name for name in names if not _TOKEN.fullmatch(name)), key=len, reverse=True)
        self._others = re.compile("|".join(map(re.escape, unlike_words))) if unlike_words else None

    def __call__(self, text: str) -> str:
        if self._others is not None:
            text = self._others.sub(lambda found: self._names[found[0]], text)
        return _TOKEN.sub(self._token, text)

    def _token(self, found: re.Match[str]) -> str:
        token = found[0]
        if token in self._names:
            return self._names[token]
        core = token.strip(".+=-@")
        if core in self._names:
            return token.replace(core, self._names[core])
        return _WORD.sub(lambda word: self._names.get(word[0], word[0]), token)
