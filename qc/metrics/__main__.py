"""Score a run with metrics, and compare them with people: `python -m qc.metrics SOURCE`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from candor.common.terminal import Console, agree
from qc.command import (
    ALL,
    Alpha,
    Bootstrap,
    CriteriaFile,
    IncludePartial,
    RunName,
    SourceName,
    stderr_console,
)
from qc.errors import DataError, OptionError, Problem
from qc.loading import LoadOptions, open_source, read_criteria, read_run
from qc.method.sample import Sample, take_sample
from qc.metrics.against_people import hold_against_people
from qc.metrics.cache import Cache, default_path, open_cache
from qc.metrics.findings import metrics_findings
from qc.metrics.judge import JudgeOptions, planned_calls, statements
from qc.metrics.local_model import LocalModel
from qc.metrics.metric_table import MetricScores, read_metric_table
from qc.metrics.references import read_references
from qc.metrics.scoring import (
    JudgedConversations,
    OnPart,
    References,
    from_judge,
    from_model,
    from_references,
    from_replies,
)
from qc.metrics.transcripts import Transcript, transcripts
from qc.options import require_draws
from qc.render.findings import Formats, Out, tell, wanted_formats, write_all
from qc.run import Run
from qc.signature import signature

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@dataclass(frozen=True)
class Asked:
    """The requested metrics; see the options of the command."""

    references: Path | None
    models: tuple[Path, ...]
    scores: tuple[Path, ...]
    judge: JudgeOptions | None
    statements: Path | None


@dataclass(frozen=True)
class Scored:
    """The computed metrics, a judge's ratings, additions to the signature, and notes on the files."""

    metrics: list[MetricScores]
    judged: JudgedConversations | None
    signatures: list[str]
    notes: list[str]


@app.command(
    epilog="Without an option: variety, length and repetition of the replies. --references adds BLEU, chrF, "
    "ROUGE-L, METEOR and GLEU; --model embeddings, BERTScore and likelihoods; --judge a language model that "
    "rates what the workers rated."
)
def metrics(
    source: SourceName,
    run: RunName = None,
    references: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV or JSON Lines with conversation, reference and, for a single reply, turn (from 1).",
        ),
    ] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Folder of a Hugging Face model on this machine: a causal or a masked one. May be repeated.",
        ),
    ] = None,
    scores: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="CSV of metrics computed elsewhere; its first column is system or conversation. Start a "
            "heading with - if lower is better. May be repeated.",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="An OpenAI-compatible endpoint, for example http://localhost:8000/v1."
        ),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the judge's model at the endpoint.")
    ] = None,
    judge_key: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="Environment variable that holds the endpoint's key."),
    ] = None,
    judge_repeats: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of requests for each order of the criteria.")
    ] = 2,
    judge_price: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="IN OUT", help="Dollars per million tokens of prompts, and of answers."),
    ] = None,
    judge_statements: Annotated[
        Path | None,
        typer.Option(
            "--statements",
            metavar="FILE",
            help="TOML file with the statement of each criterion, if they are not the published seven.",
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Cache of computed values.", show_default="in ~/.cache/candor"),
    ] = None,
    out: Out = None,
    formats: Formats = ALL,
    alpha: Alpha = 0.05,
    bootstrap: Bootstrap = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    criteria_file: CriteriaFile = None,
    include_partial: IncludePartial = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask for confirmation if the judge may cost money.")
    ] = False,
) -> None:
    """Score the conversations and systems of a run with metrics, and compare the metrics with people.

    If the judge may cost money, the command shows the number of calls, the endpoint and the price, and asks
    you first.
    """
    with stderr_console() as stderr:
        require_draws(bootstrap)
        wanted = wanted_formats(formats, out)
        asked = Asked(
            references,
            tuple(model or ()),
            tuple(scores or ()),
            _judge(judge, judge_model, judge_key, judge_repeats),
            judge_statements,
        )
        criteria = read_criteria(criteria_file) if criteria_file else None
        with open_source(source) as opened:
            given = read_run(opened, LoadOptions(run, include_partial, criteria=criteria))
        sample = take_sample(given, alpha)
        with open_cache(cache or default_path()) as kept:
            if asked.judge and not yes:
                _ask_first(given, asked.judge, asked.statements, kept, judge_price)
            with _bar(stderr) as on_part:
                scored = _score(sample, asked, kept, on_part)
                on_part("Against people", 0, 1)
                against = hold_against_people(sample, scored.metrics, bootstrap, seed)
                against = replace(against, notes=(*against.notes, *scored.notes))
            signed = _signature(given, alpha, seed, bootstrap, scored)
            found = metrics_findings(sample, against, scored.judged, judge_price, signed)
        files = write_all(found, out, wanted, stderr)
    tell(found, out, files)


def _score(sample: Sample, asked: Asked, cache: Cache, on_part: OnPart) -> Scored:
    """Return all requested metrics."""
    run = sample.run
    spoken = _spoken(run, asked)
    found: list[MetricScores] = from_replies(spoken) if spoken else []
    references: References | None = None
    signatures: list[str] = []
    notes: list[str] = []
    if asked.references:
        references = read_references(asked.references, run, spoken, notes)
        compared, signatures = from_references(sample, references)
        found += compared
    for path in asked.models:
        model = LocalModel(path)
        found += from_model(model, spoken, references, cache, on_part, named=len(asked.models) > 1)
        signatures.append(f"{model.name}=sha256:{model.fingerprint[:16]}")
    judged = None
    if asked.judge:
        asks = _statements(run, asked.statements)
        judged = from_judge(sample, spoken, asks, asked.judge, cache, on_part)
        found += judged.metrics
        signatures.append(f"judge={asked.judge.model}:2x{asked.judge.repeats}")
    for path in asked.scores:
        found += read_metric_table(path, run, notes)
    _require_distinct(found)
    rated = len(run.conversations)
    return Scored([metric.split(rated) for metric in found], judged, signatures, notes)


def _statements(run: Run, path: Path | None) -> dict[str, str]:
    """Return the statement of each criterion of a run."""
    return statements(run.criteria["label"].to_list(), path)


def _ask_first(
    run: Run, judge: JudgeOptions, path: Path | None, cache: Cache, price: tuple[float, float] | None
) -> None:
    """Ask for confirmation before calls to a judge that may cost money.

    Raises:
        OptionError: the answer is no, or there is no terminal.
    """
    planned = planned_calls(transcripts(run), list(_statements(run, path).values()), judge, cache)
    is_free = not any(price) if price else not judge.may_cost
    if is_free or not planned.calls:
        return
    cost = "no price is set, and the provider may charge"
    if price:
        dollars = (planned.tokens_in * price[0] + planned.tokens_out * price[1]) / 1e6
        cost = (
            f"about {dollars:,.2f} dollars, at {price[0]:g} and {price[1]:g} for a million tokens in and out"
        )
    agree(
        f"The judge may cost money: about {planned.calls:,} calls to {judge.model} at {judge.url}: {cost}.",
        yes=False,
    )


def _spoken(run: Run, asked: Asked) -> tuple[Transcript, ...]:
    """Return the transcripts; empty if the source has no texts and only a file of scores was given."""
    reads_words = asked.references or asked.models or asked.judge
    if run.words is None and asked.scores and not reads_words:
        return ()
    return transcripts(run)


def _require_distinct(found: list[MetricScores]) -> None:
    names = [metric.name for metric in found]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        problems = [
            Problem(name, "is the name of two metrics.", "Call a column of --scores otherwise.")
            for name in repeated
        ]
        raise DataError("the metrics", problems)


def _judge(url: str | None, model: str | None, variable: str | None, repeats: int) -> JudgeOptions | None:
    if url is None:
        if model is not None or variable is not None:
            raise OptionError("--judge-model and --judge-key are of no use without --judge URL.")
        return None
    if model is None:
        raise OptionError(f"--judge is {url!r}, but --judge-model is not given. Name the model to ask there.")
    if not url.startswith(("http://", "https://")):
        raise OptionError(f"--judge is {url!r}, which is no address. It begins with http:// or https://.")
    key = os.environ.get(variable, "").strip() if variable else None
    if variable and not key:
        raise OptionError(f"--judge-key names {variable}, but no environment variable of that name is set.")
    return JudgeOptions(url.rstrip("/"), model, key, repeats)


def _signature(run: Run, alpha: float, seed: int, bootstrap: int, scored: Scored) -> str:
    names = ",".join(metric.name for metric in scored.metrics)
    return "|".join(
        [signature(run, alpha=alpha, seed=seed, bootstrap=bootstrap), f"metrics={names}", *scored.signatures]
    )


@contextmanager
def _bar(stderr: Console) -> Iterator[OnPart]:
    """Show a progress bar on a terminal for the current part, and yield the function that advances it."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def on_part(what: str, done: int, count: int) -> None:
            if what not in tasks:
                for name in list(tasks):
                    bar.remove_task(tasks.pop(name))
                tasks[what] = bar.add_task(what, total=count)
            bar.update(tasks[what], completed=done, total=count, refresh=True)

        yield on_part


if __name__ == "__main__":
    app(prog_name="python -m qc.metrics")
