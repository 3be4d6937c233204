"""Each kind of answer, from the study file to the report: a kind that is missing somewhere fails here."""

import json
import random
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from bots.crowd import view as crowd
from qc import answers as report
from qc.loading import load
from server.bots.lineup import study_card
from server.db.engine import open_engine
from server.db.runs.runs import find_run
from server.errors import AnswersUnfit
from server.export.hits_data import hits
from server.session.answer_kinds import (
    KINDS,
    NOTHING_SHOWN,
    AnswerKind,
    AnswerValue,
    answer_type,
    single_answers,
)
from server.session.instrument import checked_answers
from server.study import Study, parse_study, read_document, study_schema
from tests.server.support.questions import answered_run
from tests.server.support.study import study_text

PAGES = Path(__file__).parent.parent / "frontend" / "src"


def question(kind: AnswerKind) -> dict[str, Any]:
    """Return a question of this kind, with the settings that it needs."""
    needed = read_document(answer_type(kind).example or "{}").content
    ends = {"ends": ["not at all", "very"]} if answer_type(kind).is_scored else {}
    return {"label": kind, "kind": kind, "question": f"By {kind}?", **needed, **ends}


def asking(*kinds: AnswerKind) -> str:
    """Return a study that asks a question of each of `kinds` at the end."""
    return study_text(questionnaires={"after": [question(kind) for kind in kinds]})


def drawn(study: Study, seed: int) -> dict[str, AnswerValue]:
    """Return answers of a simulated worker to the questions at the end, as the worker's page gets these."""
    sent = study_card(study).model_dump(mode="json")["questionnaires"]["after"]
    given: dict[str, AnswerValue] = dict(crowd.draw_answers(sent, random.Random(seed)))
    return given


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_of_a_study_has_the_kind_with_its_name(kind: AnswerKind) -> None:
    for form in ("AnswerForm", "AskedQuestion"):
        chosen = study_schema()["$defs"][form]["properties"]["kind"]
        assert kind in chosen["enum"]
        assert chosen["x-words"][kind] == answer_type(kind).words != ""


def test_the_crowd_and_the_report_know_the_kinds_of_the_server() -> None:
    assert get_args(crowd.AnswerKind) == KINDS
    assert get_args(report.AnswerKind) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_of_workers_knows_the_kind(kind: AnswerKind) -> None:
    schema = json.loads((PAGES / "worker" / "session" / "protocol.schema.json").read_text())
    assert kind in schema["$defs"]["AskedQuestion"]["properties"]["kind"]["enum"]
    drawing = (PAGES / "worker" / "answer_kinds.tsx").read_text().partition("ANSWER_TYPES")[2]
    assert re.search(rf"^  {kind}: \{{", drawing, re.MULTILINE)


@pytest.mark.parametrize("kind", KINDS)
def test_the_crowd_gives_answers_that_fit(kind: AnswerKind) -> None:
    study = parse_study(asking(kind))
    for seed in range(30):
        given = drawn(study, seed)
        values = [value for _, value in checked_answers(study.asked.after, given)]
        assert values == single_answers(given[kind])
        assert len(values) >= 1


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_fit_is_refused(kind: AnswerKind) -> None:
    asked = parse_study(asking(kind)).asked.after
    # Too long for a text, no number, and no choice of any question.
    with pytest.raises(AnswersUnfit, match=f"“{kind}”: "):
        checked_answers(asked, {kind: "x" * 7_001})
    with pytest.raises(AnswersUnfit, match=f"“{kind}” has no answer"):
        checked_answers(asked, {kind: " "})


def test_an_answer_of_each_kind_reaches_the_export_and_the_report(tmp_path: Path) -> None:
    text = asking(*KINDS)
    study = parse_study(text)
    answered = drawn(study, 1)
    stored = [
        ("a1", None, "after", label, *((value, None) if isinstance(value, str) else (None, value)))
        for label, value in checked_answers(study.asked.after, answered)
    ]
    url, name = answered_run(tmp_path, text, stored)
    engine = open_engine(url)
    with engine.connect() as connection:
        exported = {each["assignment"]: each for each in hits(connection, find_run(connection, name))}
    engine.dispose()
    # The export has what the worker has sent.
    assert exported["a1"]["answers"] == {"after": answered}

    found = report.count_answers(load(url, name))
    assert found is not None
    for kind in KINDS:
        rows = [*_rows(found.counts, kind), *_rows(found.numbers, kind), *_rows(found.texts, kind)]
        rows += _rows(found.spans, kind)
        # Of two assignments one has answered; several choices are several answers.
        assert sum(row["n"] for row in rows) == len(single_answers(answered[kind])), kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_value_reads_as_a_researcher_expects(kind: AnswerKind) -> None:
    study = parse_study(asking(kind))
    (asked,) = study.asked.after
    for value in single_answers(drawn(study, 3)[kind]):
        shown = value if isinstance(value, str) else f"{value:g}"
        if kind == "span":
            place = json.loads(str(value))
            shown = f"“{str(asked.text)[place['start'] : place['end']]}”"
        assert asked.type.in_words(asked, value, NOTHING_SHOWN).startswith(shown)


def _rows(frame: Any, label: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = frame[frame["label"] == label].to_dict("records")
    return found
