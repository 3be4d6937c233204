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
    stderr_console,
)
from qc.errors import OptionError
from qc.loading import LoadOptions, item_texts, open_source, read_criteria, read_run
from qc.method.sample import Sample, take_sample
from qc.metrics.against_people import hold_against_people
from qc.metrics.cache import Cache, default_path, open_cache
from qc.metrics.findings import metrics_findings
from qc.metrics.judge import JudgeOptions, planned_calls, statements
from qc.metrics.metric_table import MetricScores, read_metric_table, require_distinct
from qc.metrics.model_metrics import read_follow_ups
from qc.metrics.overlap.words import read_synonyms
from qc.metrics.references import read_references
from qc.metrics.scoring import (
    Asked,
    JudgedConversations,
    ModelInputs,
    OnPart,
    References,
    from_judge,
    from_models,
    from_references,
    from_replies,
)
from qc.metrics.texts.findings import text_findings
from qc.metrics.texts.lines import holds_texts
from qc.metrics.texts.outputs import TextSet, texts_of_file, texts_of_run, with_human, with_lines
from qc.metrics.texts.scoring import score_texts
from qc.metrics.transcripts import Transcript, transcripts
from qc.options import require_draws
from qc.render.findings import Formats, Out, tell, wanted_formats, write_all
from qc.run import Run
from qc.signature import signature
from qc.transcripts.judgments import take_judgments

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


@dataclass(frozen=True)
class Scored:
    """The computed metrics, a judge's ratings, additions to the signature, and notes on the files."""

    metrics: list[MetricScores]
    judged: JudgedConversations | None
    signatures: list[str]
    notes: list[str]


@app.command(
    epilog="Without an option: variety, length and repetition of the replies. --references adds BLEU, chrF, "
    "TER, NIST, ROUGE, METEOR, GLEU and edit distance, and for questions Answerability and Q-BLEU; --model "
    "embeddings, BERTScore, likelihoods or the score of a model such as BLEURT; --judge a language model "
    "that rates what the workers rated. A run whose workers rated texts brings its references along."
)
def metrics(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A run, as in candor report: chats, pairs that were also rated, or items (texts, "
            "conversations). Or a CSV or JSONL of texts with system, text and, if known, item, reference, "
            "passage, question, answer, fact, people.",
        ),
    ],
    run: RunName = None,
    references: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV or JSON Lines with conversation, reference and, for a single reply, turn (from 1). For "
            "texts: item, system (if not for all), reference, passage, question, answer, fact.",
        ),
    ] = None,
    human: Annotated[
        str | None,
        typer.Option(
            metavar="SYSTEM", help="Its texts are by people: they are references of the others' texts."
        ),
    ] = None,
    synonyms: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Text file with a group of synonyms in each line, for METEOR.",
            show_default="English, of WordNet",
        ),
    ] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Folder of a Hugging Face model on this machine: a causal or a masked one. May be repeated.",
        ),
    ] = None,
    follow_ups: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSON or TOML with the lists positive and negative of each criterion: what people might say "
            "next, for FED by a causal model.",
            show_default="our own words",
        ),
    ] = None,
    scores: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="CSV of metrics computed elsewhere; its first column is system, conversation or output. "
            "Start a heading with - if lower is better. May be repeated.",
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
    """Score conversations or texts, and their systems, with metrics, and compare the metrics with people.

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
            follow_ups,
            synonyms,
            human,
        )
        kept_in = cache or default_path()
        if holds_texts(source):
            if run is not None:
                raise OptionError("--run chooses a run of a database, but the source is a file of texts.")
            _finish_texts(texts_of_file(Path(source)), asked, kept_in, f"texts={source}", out, wanted, stderr)
            return
        criteria = read_criteria(criteria_file) if criteria_file else None
        with open_source(source) as opened:
            given = read_run(opened, LoadOptions(run, include_partial, criteria=criteria))
            items = None if given.items is None else item_texts(opened, given)
        if given.items is not None:
            texts = texts_of_run(take_judgments(given, alpha), items, needed=asked.needs_texts)
            signed = signature(given, alpha=alpha)
            _finish_texts(texts, asked, kept_in, signed, out, wanted, stderr)
            return
        sample = take_sample(given, alpha)
        with open_cache(kept_in) as kept:
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
        compared, signatures = from_references(
            references, sample.systems, len(run.systems), sample.kept, read_synonyms(asked.synonyms)
        )
        found += compared
    inputs = ModelInputs(spoken, references, read_follow_ups(asked.follow_ups))
    found += from_models(asked.models, inputs, cache, on_part, signatures, notes)
    judged = None
    if asked.judge:
        asks = _statements(run, asked.statements)
        judged = from_judge(sample, spoken, asks, asked.judge, cache, on_part)
        found += judged.metrics
        signatures.append(f"judge={asked.judge.model}:2x{asked.judge.repeats}")
    for path in asked.scores:
        found += read_metric_table(path, run, notes)
    require_distinct(found)
    rated = len(run.conversations)
    return Scored([metric.split(rated) for metric in found], judged, signatures, notes)


def _finish_texts(
    texts: TextSet,
    asked: Asked,
    cache: Path,
    signed: str,
    out: Path | None,
    wanted: frozenset[str],
    stderr: Console,
) -> None:
    """Score texts with all requested metrics, and write and show the findings."""
    if asked.judge:
        raise OptionError(
            "--judge rates conversations that workers held, and these are texts. Let a judge rate them "
            "elsewhere, and give its ratings by --scores."
        )
    if asked.references:
        texts = with_lines(texts, asked.references)
    if asked.human:
        texts = with_human(texts, asked.human)
    with open_cache(cache) as kept, _bar(stderr) as on_part:
        metrics, signatures, notes = score_texts(texts, asked, kept, on_part)
    names = ",".join(metric.name for metric in metrics)
    found = text_findings(texts, metrics, notes, "|".join([signed, f"metrics={names}", *signatures]))
    tell(found, out, write_all(found, out, wanted, stderr))


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
