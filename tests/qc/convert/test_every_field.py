"""Every part of a run is in the export, or is said to be lost: none can be forgotten."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.convert import losses, save
from qc.errors import OutputError
from qc.loading import load
from qc.loading.frames import typed_answers
from qc.run import OPINION, Answers, Run, RunState, Unrated, Words
from tests.qc.support.analyses import SYSTEMS, awkward_run

# What hits_data.json does not hold, and how it says so.
TOLD = {
    "unrated": "conversations left unrated on purpose",
    "ended": "times at which assignments were submitted",
    "state": "how the run stood, and what it was to be",
    "background": "what a file says of workers' background",
    "partial": "the mark that assignments that were not completed take part",
    "people": "systems that are people, who would become chatbots and be ranked",
    "left_out": "left-out assignments",
    "incidents": "counts of what went wrong with a system",
    "served": "models that answered for the systems",
    "notes": "notes",
    "systems": "families of systems, or whether they have a persona",
    "conversations": "names of conversations",
    "answers": "answers to the study's own questions",
    "turn_ratings": "ratings of single replies",
    "quizzes": "quizzes after conversations",
    "writing": "conversations of which it is known how they were written",
    "waits": "conversations of which it is known how long workers waited for replies",
    "scenarios": "scenarios of conversations",
}
ELSEWHERE = frozenset({"source", "name"})  # say where a run was read
ITEMS = frozenset({"items", "reference_words"})  # `save` refuses runs of transcripts


def rated_run() -> Run:
    """Return a run that can be written, of systems of which some can be people."""
    run = awkward_run()
    return replace(
        run,
        assignments=run.assignments.assign(feedback=pd.array(["fine"] * len(run.assignments), "str")),
        conversations=run.conversations.assign(persona=pd.array(["I cook."] * len(run.conversations), "str")),
    )


def full_run() -> Run:
    """Return a run that has something of everything but items."""
    run = rated_run()
    assert run.words is not None
    assert run.answers is not None
    rows = run.conversations[["conversation", "assignment", "worker", "system"]].iloc[:2]
    ended = pd.Series(pd.date_range("2026-03-01", periods=len(run.assignments), freq="h"))
    topics = run.words.topics.astype({"conversation": np.int32, "round": np.int32, "opinion": OPINION})
    return replace(
        run,
        partial=True,
        words=replace(run.words, topics=topics),
        answers=typed_answers(
            run.answers, run.assignments, run.conversations, np.arange(len(run.conversations))
        ),
        unrated=Unrated(rows.reset_index(drop=True), None),
        ended=ended.where(ended.index > 0),
        state=RunState("0", "closed", "target", "enough", {"assignments": 32.0}),
        people=frozenset({SYSTEMS[1], SYSTEMS[0]}),
        facts=pd.DataFrame(
            {"device": pd.array(["phone"] + [None] * (len(run.conversations) - 1), "str"), "zoom": 1.5},
            run.conversations.index,
        ),
    )


def plain(value: Any) -> Any:
    """Return `value` as something that can be compared by `==`, whatever types its columns have."""
    match value:
        case pd.DataFrame():
            return {name: plain(column) for name, column in value.items()}
        case pd.Series():
            return value.astype(object).where(value.notna(), None).to_list()
        case Words():
            return [plain(value.exchanges), plain(value.topics), plain(value.changes)]
        case Answers():
            return [plain(value.questions), plain(value.given)]
        case _:
            return value


def test_what_does_not_come_back_is_told(tmp_path: Path) -> None:
    told = {loss.what for loss in losses(full_run(), "hits")}
    assert set(TOLD.values()) <= told
    run = replace(full_run(), people=frozenset())  # with whom nothing would be written
    save(run, tmp_path / "run.json", "hits")
    again = load(tmp_path / "run.json")
    for field in fields(Run):
        given = plain(getattr(full_run(), field.name))
        if field.name in ITEMS | ELSEWHERE:
            continue
        assert given not in (None, (), frozenset(), False), f"the full run has no {field.name}"
        if field.name not in TOLD:
            assert plain(getattr(again, field.name)) == given, field.name


@pytest.mark.parametrize("form", ["hits", "mturk"])
def test_no_published_form_makes_chatbots_of_people(form: str, tmp_path: Path) -> None:
    run = replace(rated_run(), people=frozenset({SYSTEMS[0]}))
    (lost,) = (loss for loss in losses(run, form) if "people" in loss.what)
    assert (lost.count, lost.fatal) == (1, True)
    with pytest.raises(OutputError, match="systems that are people, who would become chatbots"):
        save(run, tmp_path / "run", form)
