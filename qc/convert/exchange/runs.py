"""Transcripts of a run whose workers chatted, and votes of one whose workers compared two systems."""

from collections.abc import Iterable, Iterator

import numpy as np

from qc.convert.exchange.content import ChatMessage, Content, SharedTranscript, Vote, Winner
from qc.convert.hits import Json, Loss, asked_losses, assignments, incidents
from qc.errors import OutputError
from qc.loading import LoadOptions, Source, read_run
from qc.loading.choices import Choices, read_choices
from qc.run import SIMULATED_NOTE, Run, Words

_WINNERS: dict[str, Winner] = {"left": "first", "right": "second", "tie": "tie"}


def content_of(source: Source, options: LoadOptions) -> Content:
    """Return the transcripts of a run, or the votes of a run of comparisons; without those of QC bots.

    Raises:
        QcError: as `read_run` and `read_choices`.
        OutputError: the run rates transcripts.
    """
    compared = read_choices(source, options, texts=True)
    return of_run(read_run(source, options)) if compared is None else _of_choices(compared)


def _of_choices(compared: Choices) -> Content:
    rows = compared.choices
    with_qc = rows["left"].isin(compared.qc) | rows["right"].isin(compared.qc)
    votes = []
    for row in rows[~with_qc].to_dict("records"):
        name, worker = f"{row['assignment']}/{row['pair']}/{row['turn']}", row["worker"]
        first, second = (
            SharedTranscript(name, row[side], _messages(row[f"{side}_said"]), worker)
            for side in ("left", "right")
        )
        time = None if np.isnan(row["time"]) else float(row["time"])
        votes.append(Vote(name, first, second, _WINNERS[row["preference"]], worker, time))
    lost = (
        Loss("votes between a system and the QC bot", int(with_qc.sum())),
        Loss("ratings beside the votes", int(compared.rated)),
    )
    return Content(compared.name, votes=tuple(votes), lost=lost, simulated=SIMULATED_NOTE in compared.notes)


def of_run(run: Run) -> Content:
    """Return the transcripts of a run, without those of its QC bots.

    Raises:
        OutputError: the run rates transcripts, or its texts were not read or removed.
    """
    if run.items is not None or run.words is None:
        why = "rates transcripts, whose texts it does not hold" if run.items is not None else "holds no texts"
        raise OutputError(f"{run.source}: the run {run.name!r} {why}. Convert the run or file that has them.")
    qc = set(run.systems.loc[run.systems["is_qc"], "system"])
    held = [
        SharedTranscript(
            name=one["conversation"],
            system=one["system"],
            messages=tuple(_exchanged(one["exchanges"])),
            worker=assignment["worker"],
            ratings=one["ratings"],
        )
        for assignment in assignments(run)
        for one in assignment["conversations"]
    ]
    competing = tuple(one for one in held if one.system not in qc)
    return Content(
        name=run.name,
        transcripts=competing,
        lost=tuple(_lost(run, run.words, len(held) - len(competing))),
        simulated=SIMULATED_NOTE in run.notes,
    )


def _messages(said: Iterable[tuple[str, str]]) -> tuple[ChatMessage, ...]:
    return tuple(ChatMessage("worker" if author == "worker" else "bot", text) for author, text in said)


def _exchanged(exchanges: Iterable[Json]) -> Iterator[ChatMessage]:
    for said in exchanges:
        yield ChatMessage("worker", said["input"])
        if said["reply"]:
            yield ChatMessage("bot", said["reply"])


def _lost(run: Run, words: Words, with_qc: int) -> list[Loss]:
    """Return what no exchange format holds of a run."""
    given = run.assignments
    return [
        Loss("conversations with the QC bot", with_qc),
        Loss("left-out assignments", len(run.left_out)),
        Loss(
            "working times, rewards and feedback",
            int(given[["seconds", "reward", "feedback"]].notna().sum().sum()),
        ),
        Loss("topics, and changes of topic", len(words.topics) + len(words.changes)),
        Loss("personas", int(run.conversations["persona"].notna().sum())),
        Loss("facts of conversations", 0 if run.facts is None else int(run.facts.notna().sum().sum())),
        Loss("counts of what went wrong with a system", incidents(run)),
        Loss("models that answered for the systems", 0 if run.served is None else len(run.served)),
        *asked_losses(run),
    ]
