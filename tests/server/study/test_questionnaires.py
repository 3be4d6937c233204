"""Tests of `candor study check` on questions and scales that do not fit together."""

import pytest

from server.errors import StudyInvalid
from server.study import parse_study


def test_mistakes_in_questions_and_scales_stand_on_their_lines() -> None:
    text = """\
name: lighthouse
title: A few chats
payment: Nothing is paid.
systems_per_assignment: 2
qc_per_assignment: 1
criteria:
  - label: fun
    statement: It was fun.
    scale: {kind: choice, points: 5}
    qc: true
  - {label: dull, statement: It was dull., qc: false}
systems:
  - {name: one, family: a, bot: "builtin:retrieval"}
  - {name: two, family: b, bot: "builtin:retrieval"}
questionnaires:
  before:
    - {label: age, kind: number, question: "Your age?", least: 99, most: 18}
    - label: age
      kind: choice
      question: How often?
      choices: [Never]
  conversation:
    - {label: dull, kind: likert, question: "How dull?"}
"""
    with pytest.raises(StudyInvalid) as refused:
        parse_study(text, "my.yaml")
    assert refused.value.message.splitlines() == [
        "my.yaml:6: criteria: none counts for quality control: set `qc: true` on at least one",
        "my.yaml:9: criteria.0.scale.points: belongs to an answer of kind `likert`, and this is a `choice`: "
        "leave it out",
        "my.yaml:9: criteria.0.scale.kind: a `choice` needs `choices`: "
        "write for example `choices: [Often, Never]`",
        "my.yaml:10: criteria.0.qc: answers by `choice` are counted, and not scored: leave it out",
        "my.yaml:17: questionnaires.before.0.most: no number is from 99 to 18: exchange `least` and `most`",
        "my.yaml:18: questionnaires.before.1.label: `age` is there already: every label must be different",
        "my.yaml:21: questionnaires.before.1.choices: give at least two to choose from",
        "my.yaml:23: questionnaires.conversation.0.label: `dull` is a criterion: choose another label",
        "my.yaml:23: questionnaires.conversation.0: say what its ends mean: "
        "write for example `ends: [not at all, very]`",
        "my.yaml:23: questionnaires.conversation.0.kind: a `likert` needs `points`: "
        "write for example `points: 7`",
    ]
