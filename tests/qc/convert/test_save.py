"""Tests of writing runs: each format can be read again, and loses only what it announces."""

import csv
import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from qc.convert import losses, save
from qc.errors import OutputError
from qc.formats.published import INSTRUMENT
from qc.loading import load
from qc.loading.raw_run import DAY, MOST, doubts
from qc.names import case_note, clean
from qc.run import CHANGE, CHANGES, OPINION, OPINIONS, RESERVED_LABELS, SIMULATED_NOTE, LeftOut, Run, Words
from tests.qc.support.analyses import awkward_run
from tests.qc.support.same import same_frame, same_run

KINDS = (str, bool, bool, float)  # of the columns of `Run.criteria`

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=4).map(clean).filter(bool)
rewards = st.none() | st.floats(0, MOST)
times = st.none() | st.floats(1, DAY)  # of which nothing is noted
opinions = st.none() | st.sampled_from(OPINIONS)
rounds = st.integers(0, 3)


def frame(rows: list[Any], **types: Any) -> pd.DataFrame:
    """Return `rows` as a frame with the given columns, in this order and of these types."""
    return pd.DataFrame(rows, columns=list(types)).astype(types)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return a run of any content, made as the docstring of `Run` says."""
    allowed = names.filter(lambda label: label not in RESERVED_LABELS)
    labels = draw(st.lists(allowed, min_size=1, max_size=3, unique=True))
    criteria = [
        (label, draw(st.booleans()), draw(st.booleans()), draw(st.floats(1, 1e6))) for label in labels
    ]
    systems = draw(
        st.lists(st.tuples(st.booleans(), names), min_size=1, max_size=3, unique_by=lambda s: s[1])
    )
    systems = [(name, draw(texts), draw(st.booleans()), is_qc) for is_qc, name in sorted(systems)]
    assignments = [
        (name, draw(texts), draw(names), draw(times), draw(rewards), draw(st.none() | texts))
        for name in sorted(draw(st.sets(names, min_size=1, max_size=4)))
    ]
    conversations = [
        (draw(texts), row, position, draw(st.integers(0, len(systems) - 1)), draw(st.none() | texts))
        for row in range(len(assignments))
        for position in sorted(draw(st.sets(st.integers(1, 9), min_size=1, max_size=3)))
    ]
    ratings = [[draw(st.floats(0, maximum)) for *_, maximum in criteria] for _ in conversations]
    workers = pd.CategoricalDtype(sorted({worker for _, _, worker, *_ in assignments}))
    made = frame(
        assignments, assignment=str, hit=str, worker=workers, seconds=float, reward=float, feedback=str
    )
    owners = [row for _, row, *_ in conversations]
    met = [row for _, _, _, row, _ in conversations]
    order = pd.CategoricalDtype([name for name, *_ in systems])
    notes = draw(st.lists(texts | st.just(SIMULATED_NOTE), max_size=2))
    return Run(
        name=draw(texts),
        source="drawn",
        partial=draw(st.booleans()),
        criteria=frame(criteria, label=str, negative=bool, counts_for_qc=bool, maximum=float),
        systems=frame(systems, system=str, family=str, has_persona=bool, is_qc=bool),
        assignments=made,
        conversations=pd.DataFrame(
            {
                "conversation": pd.array([name for name, *_ in conversations], dtype="str"),
                "assignment": pd.Categorical.from_codes(owners, made["assignment"]),
                "worker": made["worker"].array.take(owners),
                "position": np.array([position for _, _, position, *_ in conversations], np.int64),
                "system": pd.Categorical.from_codes(met, dtype=order),
                "is_qc": np.array([systems[row][3] for row in met]),
                "persona": pd.array([persona for *_, persona in conversations], dtype="str"),
            }
        ),
        ratings=pd.DataFrame(ratings, columns=labels, dtype=float),
        words=draw(st.none() | words(len(conversations))),
        people=frozenset(draw(st.sets(st.sampled_from([name for name, *_ in systems])))),
        left_out=tuple(LeftOut(*draw(st.tuples(texts, texts, texts))) for _ in range(draw(rounds))),
        notes=tuple(notes),
    )


@st.composite
def words(draw: st.DrawFn, conversations: int) -> Words:
    """Return any words of so many conversations."""

    def rows(*fields: st.SearchStrategy[Any]) -> list[Any]:
        owners = st.integers(0, conversations - 1)
        return sorted(draw(st.lists(st.tuples(owners, rounds, *fields), max_size=5)), key=lambda row: row[:2])

    keys: dict[str, Any] = {"conversation": np.int32, "round": np.int32}
    return Words(
        exchanges=frame(rows(texts, st.none() | texts), **keys, input=str, reply=str),
        topics=frame(rows(texts, opinions), **keys, topic=str, opinion=OPINION),
        changes=frame(rows(st.sampled_from(CHANGES), opinions), **keys, how=CHANGE, bot_opinion=OPINION),
    )


def doubted(run: Run) -> Run:
    """Return `run` with the notes that whoever loads it adds; who loads it twice has them once."""
    alike = (
        *case_note("systems", run.conversations["system"].unique()),
        *case_note("workers", run.assignments["worker"].unique()),
    )
    return replace(run, notes=(*run.notes, *alike, *doubts(run)))


@st.composite
def published_instrument(draw: st.DrawFn) -> Run:
    """Return any run of systems and criteria as the published formats have them, at times otherwise too."""
    run = draw(runs())
    # A zero byte near its beginning is how a file that is no text is told.
    assume("\0" not in "".join(run.assignments[["assignment", "hit", "worker"]].astype(str).to_numpy().flat))
    if draw(st.booleans()):
        run = tidied(run, draw(st.booleans()))
    bots = [("a", "a", False, False), ("a_p", "a", True, False), ("qc", "qc", False, True)]
    order = pd.CategoricalDtype([name for name, *_ in bots])
    met = [draw(st.integers(0, 2)) for _ in range(len(run.conversations))]
    criteria = sorted(INSTRUMENT, key=lambda criterion: not criterion[2])
    labels = [label for label, *_ in criteria]
    ratings = [[draw(st.floats(0, 100)) for _ in labels] for _ in met]
    return replace(
        run,
        criteria=frame([(*one, 100.0) for one in criteria], **dict(zip(run.criteria, KINDS, strict=True))),
        systems=frame(bots, system=str, family=str, has_persona=bool, is_qc=bool),
        assignments=run.assignments.assign(seconds=run.assignments["seconds"].fillna(1.0)),
        conversations=run.conversations.assign(
            system=pd.Categorical.from_codes(met, dtype=order), is_qc=np.array([row == 2 for row in met])
        ),
        ratings=pd.DataFrame(ratings, columns=labels),
    )


def tidied(run: Run, personas: bool) -> Run:
    """Return `run` without what the published formats lose or do not tell from nothing."""
    owners = run.conversations["assignment"]
    turns = run.conversations.groupby(owners, observed=True).cumcount() + 1
    said = run.words is not None and len(run.words.exchanges) + len(run.words.topics) > 0
    return replace(
        run,
        partial=False,
        people=frozenset(),
        left_out=(),
        notes=(),
        words=run.words if said else None,
        assignments=run.assignments.assign(
            reward=np.nan, hit="task", feedback=run.assignments["feedback"].mask(lambda given: given == "")
        ),
        conversations=run.conversations.assign(
            position=turns,
            conversation=owners.astype(str) + "/" + turns.astype(str),
            persona=run.conversations["persona"].where(pd.Series(personas, owners.index)),
        ),
    )


@pytest.mark.parametrize("form", ["hits", "mturk"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(run=published_instrument())
def test_what_a_published_format_holds_is_read_again(form: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / f"run.{form}"
    if any(loss.fatal for loss in losses(run, form)):
        with pytest.raises(OutputError):
            save(run, path, form)
        return
    save(run, path, form)
    again = load(str(path))
    same_frame(again.ratings, run.ratings)
    for name in ("assignment", "hit", "worker", "seconds"):
        same_frame(again.assignments[[name]], run.assignments[[name]])
    if form == "mturk":
        same_frame(again.assignments[["reward"]], run.assignments[["reward"]])
    if not losses(run, form):
        event("held to the last bit")
        same_run(doubted(run), again, apart_from=("name",))


@pytest.mark.parametrize("form", ["hits", "mturk"])
def test_feedback_that_would_be_read_as_none_is_told(form: str) -> None:
    run = awkward_run()
    conversations = run.conversations.assign(persona=None)
    thanked = run.assignments.assign(feedback=pd.array(["None"] * len(run.assignments), "str"))
    lost = losses(replace(run, assignments=thanked, conversations=conversations), form)
    assert [loss.count for loss in lost if loss.what == "feedback that reads 'None'"] == [len(thanked)]


@pytest.mark.published
@pytest.mark.parametrize("name", ["free_run1", "free_run2"])
def test_the_published_hits_data_is_written_as_it_is(name: str, published: Path, tmp_path: Path) -> None:
    source = published / "published" / name / "hits_data.json"
    save(load(str(source)), tmp_path / "hits_data.json", "hits")
    assert json.loads((tmp_path / "hits_data.json").read_bytes()) == json.loads(source.read_bytes())


@pytest.mark.published
@pytest.mark.parametrize("name", ["free_run1", "free_run2"])
def test_a_published_run_passes_through_both_formats(name: str, published: Path, tmp_path: Path) -> None:
    # The MTurk form comes last: it holds no personas. The source has no rewards, which hits_data.json lacks.
    first = load(str(published / "published" / name / "hits_data.json"))
    run = first
    save(run, tmp_path / "a.json", "hits")
    run = load(str(tmp_path / "a.json"))
    same_run(first, run, apart_from=("name",))
    save(run, tmp_path / "f.csv", "mturk")
    same_run(first, load(str(tmp_path / "f.csv")), apart_from=("name", "persona"))
    assert [str(loss) for loss in losses(run, "mturk")] == [
        f"personas: {run.conversations['persona'].count()}"
    ]


@pytest.mark.published
@pytest.mark.parametrize("name", ["free_run1", "free_run2"])
def test_a_published_batch_is_held_by_its_own_format(name: str, published: Path, tmp_path: Path) -> None:
    first = load(str(published / "published" / name / "mturk_batch.csv"))
    save(first, tmp_path / "mturk", "mturk")
    same_run(first, load(str(tmp_path / "mturk")), apart_from=("name", "left_out"))
    # 1 assignment of run 1 and 2 of run 2 came back without answers.
    count = {"free_run1": 1, "free_run2": 2}[name]
    assert [str(loss) for loss in losses(first, "mturk")] == [f"left-out assignments: {count}"]
    assert f"left-out assignments: {count}" in map(str, losses(first, "hits"))


@contextmanager
def small_files() -> Iterator[None]:
    """Let the system refuse to write more than 100 bytes into a file, as a full disk would.

    It holds for the whole process, so for pytest's own log too: within a test only, never around it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_failure_leaves_what_was_there(
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    tmp_path: Path,
) -> None:
    run, target = load(hits_file(small_hits)), tmp_path / "run"
    target.write_text("precious")
    with small_files(), pytest.raises(OutputError, match="File too large"):
        save(run, target, "hits")
    assert target.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hits_data.json", "run"]


def test_texts_that_a_batch_cannot_hold_are_counted_and_left_out(
    batch: list[dict[str, str]], batch_file: Callable[[list[dict[str, str]]], Path], tmp_path: Path
) -> None:
    run = load(str(batch_file(batch)))
    spoken = Words(
        frame(
            [(0, 1, "a ### b", "no###u: "), (0, 3, "ends with #", None), (1, 1, "fine", None)],
            conversation=np.int32,
            round=np.int32,
            input=str,
            reply=str,
        ),
        frame(
            [(0, 0, "see #7@home", "like"), (0, 1, "fine #", None), (1, 0, "#1", "like")],
            conversation=np.int32,
            round=np.int32,
            topic=str,
            opinion=OPINION,
        ),
        frame(
            [(0, 1, "no change", None)],
            conversation=np.int32,
            round=np.int32,
            how=CHANGE,
            bot_opinion=OPINION,
        ),
    )
    lost = {loss.what: loss.count for loss in losses(replace(run, words=spoken), "mturk")}
    assert lost == {
        "left-out assignments": 1,
        "dialogues that hold a separator of the form, '###' (left out)": 1,
        "rounds of inputs not counted one by one": 1,
        "topics without an opinion, or that hold a separator of the form (left out)": 2,
        "changes of topic without an opinion (left out)": 1,
    }
    save(replace(run, words=spoken), tmp_path / "out.csv", "mturk")
    again = load(str(tmp_path / "out.csv")).words
    assert again is not None
    assert again.exchanges[["conversation", "round", "input"]].to_numpy().tolist() == [[1, 1, "fine"]]
    assert again.topics[["conversation", "round", "topic"]].to_numpy().tolist() == [[1, 0, "#1"]]
    assert again.changes.empty


@pytest.mark.parametrize(
    ("value", "written"), [(100.0, "100"), (-0.0, "-0.0"), (0.1, "0.1"), (1e300, "1e+300"), (0.0, "0")]
)
def test_a_whole_number_is_written_without_a_point(
    value: float,
    written: str,
    small_hits: dict[str, Any],
    hits_file: Callable[[object], Path],
    tmp_path: Path,
) -> None:
    run = load(hits_file(small_hits))
    save(replace(run, assignments=run.assignments.assign(seconds=value)), tmp_path / "run.json", "hits")
    assert f'"duration in seconds":{written},' in (tmp_path / "run.json").read_text()


def test_names_in_a_batch_are_no_formulas_and_come_back(
    batch: list[dict[str, str]], batch_file: Callable[[list[dict[str, str]]], Path], tmp_path: Path
) -> None:
    """People open this table, too: a worker's name must compute nothing there."""
    batch[0]["WorkerId"] = "=1+1"
    save(load(str(batch_file(batch))), tmp_path / "out.csv", "mturk")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert "'=1+1" in {row["WorkerId"] for row in csv.DictReader(file)}
    assert "=1+1" in set(load(str(tmp_path / "out.csv")).assignments["worker"])


def test_a_batch_is_written_in_the_published_columns(
    batch: list[dict[str, str]], batch_file: Callable[[list[dict[str, str]]], Path], tmp_path: Path
) -> None:
    save(load(str(batch_file(batch))), tmp_path / "out.csv", "mturk")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        first, *_ = csv.DictReader(file)
    answer = json.loads(first.pop("Answer.taskAnswers"))[0]
    assert first == {
        "HITId": "H1",
        "AssignmentId": "A1",
        "WorkerId": "W1",
        "AssignmentStatus": "Submitted",
        "Reward": "",
        "WorkTimeInSeconds": "600",
        "Input.u0": "kv",
        "Input.u1": "qc",
    }
    written = {key: answer[key] for key in ("task0", "seed0", "score0", "task1", "score1", "feedback")}
    assert written == {
        "task0": "kv",
        "seed0": "500",
        "score0": "90#60#70#80#85#40#75#",
        "task1": "qc",
        "score1": "95#1#2#3#4#5#6#",
        "feedback": "fine",
    }
