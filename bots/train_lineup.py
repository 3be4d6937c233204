"""The command that trains the paper's line-up (`train_lineup`)."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from bots.corpus import CorpusError, load_corpus
from bots.parlai.training import LINEUP, Trained, TrainedOtherwiseError, Training, study, training_data
from candor.common.terminal import console, fail, stderr

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def train_lineup(
    corpus: Annotated[str, typer.Option(help='"builtin:smalltalk" or a path.')] = "builtin:smalltalk",
    out: Annotated[Path, typer.Option(help="Folder for the models and the study file.")] = Path("models"),
    epochs: Annotated[
        float | None,
        typer.Option(min=0.01, help="Epochs for every model; default: enough for some minutes."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the weights and the order of examples.")] = 1,
    host: Annotated[
        str, typer.Option(help="The bot host's future address, for the study file.")
    ] = "http://127.0.0.1:8601",
) -> None:
    """Train the paper's five architectures on a corpus, and write a study of them with and without persona.

    Takes minutes on a CPU with the shipped corpus. You can stop it at any time: the same command continues
    where it stopped, and does not train finished models again.
    """
    try:
        trained = _train(corpus, out, epochs, seed)
        file = out / "lineup.yaml"
        named = corpus if corpus.startswith("builtin:") else str(Path(corpus).resolve())
        file.write_text(study(named, host), encoding="utf-8")
    except (CorpusError, TrainedOtherwiseError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"--out {out}: {error.strerror}")
    except KeyboardInterrupt:
        stderr.print("Stopped. Run the same command to continue from here.")
        raise typer.Exit(130) from None
    console.print(_table(trained))
    console.print(
        f"The study is {escape(str(file))}. Host the models and open it: make run-lineup", soft_wrap=True
    )


def _train(corpus: str, out: Path, epochs: float | None, seed: int) -> dict[str, Trained]:
    data = training_data(load_corpus(corpus))
    dialogues = data.write_dialogues(out / "corpus").resolve()
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    trained: dict[str, Trained] = {}
    with Progress(*columns, console=stderr) as progress:
        for architecture in LINEUP:
            total = epochs or architecture.epochs(data.replies())
            bar = progress.add_task(architecture.title, total=total)
            training = Training(architecture, data, dialogues, out / architecture.name, total, seed)
            trained[architecture.title] = training.run(
                lambda done, bar=bar: progress.update(bar, completed=done)  # type: ignore[misc]
            )
            progress.update(bar, completed=total)
            progress.stop_task(bar)
    return trained


def _table(trained: dict[str, Trained]) -> Table:
    table = Table("model", "held-out replies", "hits@1 of 20", "perplexity", "trained in")
    for title, each in trained.items():
        ranks = each.measure == "hits@1"
        hits, perplexity = (f"{each.score:.1%}", "") if ranks else ("", f"{each.score:.1f}")
        table.add_row(title, str(each.examples), hits, perplexity, f"{each.seconds:.0f} s")
    return table


if __name__ == "__main__":
    app()
