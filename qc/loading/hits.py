"""Read a `hits_data.json`: the normative format of Ji et al. (ACL 2022), one file for one run.

`metadata` declares the criteria and the systems, `data` holds one object per assignment. The texts
(`dialogue`, `topic`, `change of topic`) may be missing, and so may `persona` and `feedback`. An empty reply
counts as no reply: the server writes it if the reply never came.
"""

from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field, ValidationError
from pydantic_core import from_json

from qc.errors import DataError, Problem
from qc.formats.published import ACTIONS, NO_FEEDBACK, FactValue, Round, StrictModel, systems_named
from qc.loading.frames import Speech
from qc.loading.raw_run import (
    ASSIGNMENT_COLUMNS,
    CONVERSATION_COLUMNS,
    CRITERION_COLUMNS,
    RawRun,
    build_run,
    report_order,
    run_name,
)
from qc.loading.validation import repeated_keys, validated
from qc.options import LoadOptions
from qc.run import SIMULATED_NOTE, LeftOut, Run, ceiling_notes, words_removed_note

Text = Annotated[str, Field(min_length=1)]


class _Criterion(StrictModel):
    positive: bool
    qc: bool
    max: Annotated[float, Field(gt=0)] = 100.0


class _Metadata(StrictModel):
    score: Annotated[dict[Text, _Criterion], Field(min_length=1)]
    model: Annotated[list[Text], Field(min_length=1)]
    qc_model: Text = Field(alias="qc-model")
    sorted_scores: list[Text] | None = None
    simulated: bool = False
    words_removed: int = 0
    people: list[Text] = Field(default_factory=list)  # only in the server's export, not in the published form


class _Conversation(StrictModel):
    model: Text
    score: dict[Text, float]
    persona: list[str] | None = None
    facts: dict[str, FactValue] = Field(default_factory=dict)  # only in the server's export


class _Exchange(StrictModel):
    round: Round
    user: str
    bot: str | None = None
    output: str | None = None  # the model's full output, if less was shown; not used
    changes: list[str] = Field(default_factory=list)
    provenance: dict[str, str | float] = Field(default_factory=dict)  # not used; reports read the database


class _Topic(StrictModel):
    round: Round
    topic: str
    attitude: str | None = None


class _Change(StrictModel):
    round: Round
    action: str
    attitude: str | None = None


class _Spoken(_Conversation):
    dialogue: list[_Exchange] = Field(default_factory=list)
    topic: list[_Topic] = Field(default_factory=list)
    changes: list[_Change] = Field(default_factory=list, alias="change of topic")


class _Assignment(StrictModel):
    hit: Text
    assignment: Text
    worker: Text
    seconds: float = Field(alias="duration in seconds")
    result: list[_Conversation]
    feedback: str | None = None


class _SpokenAssignment(_Assignment):
    result: list[_Spoken]  # type: ignore[assignment]  # each is a _Conversation


class _File(StrictModel):
    metadata: _Metadata
    data: list[_Assignment]


class _SpokenFile(_File):
    data: list[_SpokenAssignment]  # type: ignore[assignment]  # each is an _Assignment


_SHAPE = "Give it as in the published hits_data.json."
_CHANGES = {sentence: how for how, sentence in ACTIONS.items()}


def read(path: Path, content: bytes, options: LoadOptions) -> Run:
    """Return the run in `content`, the bytes of the file at `path`; unwanted texts are not parsed.

    Raises:
        DataError: it is not JSON, a key is repeated, a field is missing or of the wrong type, a rating is
            out of range, a system or criterion is not declared, an assignment is given twice.
        EmptyRunError: it holds no conversation.
    """
    problems: list[Problem] = []
    try:
        whole = (_SpokenFile if options.words else _File).model_validate_json(content)
    except ValidationError:
        declared, held = _one_by_one(str(path), content, options.words, problems)
    else:
        declared, held = whole.metadata, list(enumerate(whole.data))
    problems += repeated_keys(content, "")
    located = [(f"data[{index}]", assignment) for index, assignment in held]
    return build_run(_raw_run(path, declared, located, problems), problems, options.criteria)


def _one_by_one(
    source: str, content: bytes, words: bool, problems: list[Problem]
) -> tuple[_Metadata, list[tuple[int, _Assignment]]]:
    """Return the valid parts of the file, and add every error to `problems`.

    This takes much longer than validating the whole file at once, but gives clear messages.
    """
    metadata, data = _parts(source, content)
    declared = validated(_Metadata, metadata, "metadata", _SHAPE, problems)
    model = _SpokenAssignment if words else _Assignment
    held = [validated(model, given, f"data[{index}]", _SHAPE, problems) for index, given in enumerate(data)]
    if declared is None:
        raise DataError(source, problems)
    return declared, [(index, one) for index, one in enumerate(held) if one is not None]


def _parts(source: str, content: bytes) -> tuple[object, list[object]]:
    try:
        match from_json(content):
            case {"metadata": metadata, "data": [*data]}:
                return metadata, list(data)
    except ValueError as error:
        fault = Problem("the file", f"is not JSON ({error}).", "Save it again as UTF-8 JSON.")
        raise DataError(source, [fault]) from None
    raise DataError(
        source, [Problem("the file", "is not an object with 'metadata' and a list 'data'.", _SHAPE)]
    )


def _raw_run(
    path: Path, metadata: _Metadata, given: list[tuple[str, _Assignment]], problems: list[Problem]
) -> RawRun:
    answered = [(where, assignment) for where, assignment in given if assignment.result]
    held = [
        (f"{where}.result[{index}]", assignment.assignment, index + 1, conversation)
        for where, assignment in answered
        for index, conversation in enumerate(assignment.result)
    ]
    speech = Speech(problems)
    for row, (where, *_, conversation) in enumerate(held):
        if isinstance(conversation, _Spoken):
            _add(speech, row, where, conversation)
    return RawRun(
        name=run_name(path),
        source=str(path),
        criteria=_criteria(metadata, problems),
        systems=_systems(metadata),
        assignments=pd.DataFrame(
            [
                (where, one.assignment, one.hit, one.worker, one.seconds, np.nan, _feedback(one))
                for where, one in answered
            ],
            columns=ASSIGNMENT_COLUMNS,
        ),
        conversations=pd.DataFrame(
            [
                (where, f"{name}/{position}", name, position, one.model, _persona(one))
                for where, name, position, one in held
            ],
            columns=CONVERSATION_COLUMNS,
        ),
        ratings=_ratings([one for *_, one in held]),
        words=speech.words(),
        facts=pd.DataFrame([one.facts for *_, one in held]),
        left_out=tuple(
            LeftOut(one.assignment, one.worker, "no answers") for _, one in given if not one.result
        ),
        people=frozenset(metadata.people),
        notes=_notes(metadata),
    )


def _notes(metadata: _Metadata) -> tuple[str, ...]:
    simulated = (SIMULATED_NOTE,) if metadata.simulated else ()
    removed = (words_removed_note(metadata.words_removed),) if metadata.words_removed else ()
    return (*simulated, *removed, *ceiling_notes(frozenset(metadata.people)))


def _ratings(held: list[_Conversation]) -> pd.DataFrame:
    """Return one row per conversation and one column per rated criterion; NaN for a missing rating."""
    labels = list(dict.fromkeys(chain.from_iterable(one.score for one in held)))
    return pd.DataFrame({label: [one.score.get(label, np.nan) for one in held] for label in labels})


def _feedback(assignment: _Assignment) -> str | None:
    return None if assignment.feedback == NO_FEEDBACK else assignment.feedback


def _persona(conversation: _Conversation) -> str | None:
    return "\n".join(conversation.persona) if conversation.persona else None


def _add(speech: Speech, row: int, where: str, given: _Spoken) -> None:
    speech.add(
        row,
        where,
        [(said.round, said.user, said.bot or None) for said in given.dialogue],
        [(mark.round, mark.topic, mark.attitude) for mark in given.topic],
        [(mark.round, _CHANGES.get(mark.action, mark.action), mark.attitude) for mark in given.changes],
    )


def _criteria(metadata: _Metadata, problems: list[Problem]) -> pd.DataFrame:
    criteria = pd.DataFrame(
        [(label, not given.positive, given.qc, given.max) for label, given in metadata.score.items()],
        columns=CRITERION_COLUMNS,
    )
    if metadata.sorted_scores is None:
        return report_order(criteria)
    if sorted(metadata.sorted_scores) != sorted(metadata.score):
        why = "does not name each criterion of metadata.score once."
        problems.append(Problem("metadata.sorted_scores", why, "Name each once, or leave it out."))
        return report_order(criteria)
    return criteria.set_index("label").loc[metadata.sorted_scores].reset_index()


def _systems(metadata: _Metadata) -> pd.DataFrame:
    names = pd.Series([*metadata.model, metadata.qc_model], dtype=str)
    return systems_named(names, np.arange(len(names)) == len(metadata.model))
