"""Every part of a run is in the export, or is said to be lost: none can be forgotten."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from qc.analysis import AnalysisOptions, analyse
from qc.errors import OutputError
from qc.loading import load
from qc.loading.asked import typed_answers
from qc.run import OPINION, Answers, Run, RunState, Unrated, Words
from qc.saving import losses, save
from qc.sections.systems.ranking import ranking
from tests.qc.support.analyses import SYSTEMS, awkward_run

# What the export does not hold, and how it says so.
TOLD = {
    "unrated": "conversations left unrated on purpose: 2",
    "ended": "times at which assignments were handed in: 31",
    "state": "how the run stood, and what it was to be: 1",
    "background": "what a file says of workers' background: 32",
}
ELSEWHERE = frozenset({"source"})  # says where a run was read
ITEMS = frozenset({"items"})  # `save` refuses runs of transcripts


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


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_what_does_not_come_back_is_told(form: str, tmp_path: Path) -> None:
    run = full_run()
    told = {str(loss) for loss in save(run, tmp_path / f"run.{form}", form)}
    again = load(tmp_path / f"run.{form}")
    assert told == set(TOLD.values())
    for field in fields(Run):
        given = plain(getattr(run, field.name))
        if field.name in ITEMS | ELSEWHERE:
            continue
        assert given not in (None, (), frozenset(), False), f"the full run has no {field.name}"
        if field.name not in TOLD:
            assert plain(getattr(again, field.name)) == given, field.name


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_people_are_no_ranked_systems_after_a_conversion(form: str, tmp_path: Path) -> None:
    run = replace(rated_run(), people=frozenset({SYSTEMS[0]}))
    save(run, tmp_path / f"run.{form}", form)
    options = AnalysisOptions(bootstrap=100, sections=frozenset())
    before, after = (analyse(each, options) for each in (run, load(tmp_path / f"run.{form}")))
    assert SYSTEMS[0] not in set(after.scores.z["system"])
    pd.testing.assert_frame_equal(ranking(before).frame, ranking(after).frame)


def test_a_file_that_does_not_say_has_no_people(tmp_path: Path) -> None:
    save(rated_run(), tmp_path / "run.jsonl", "jsonl")
    text = (tmp_path / "run.jsonl").read_text(encoding="utf-8")
    (tmp_path / "run.jsonl").write_text(text.replace(',"people":[]', "", 1), encoding="utf-8")
    assert load(tmp_path / "run.jsonl").people == frozenset()
    assert '"people"' not in (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize("form", ["hits", "mturk"])
def test_no_published_form_makes_chatbots_of_people(form: str, tmp_path: Path) -> None:
    run = replace(rated_run(), people=frozenset({SYSTEMS[0]}))
    (lost,) = (loss for loss in losses(run, form) if "people" in loss.what)
    assert (lost.count, lost.fatal) == (1, True)
    with pytest.raises(OutputError, match="systems that are people, who would become chatbots"):
        save(run, tmp_path / "run", form)
