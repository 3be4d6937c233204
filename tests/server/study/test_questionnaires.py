"""Tests of `candor study check` on questions and scales that do not fit together."""

import pytest

from server.errors import StudyInvalid
from server.session.answer_kinds import NOTHING_SHOWN, AnswerForm
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
    - {label: clear, kind: likert, question: "How clear?", points: 3, ends: [Bad, Good], labels: [Bad, Good]}
"""
    with pytest.raises(StudyInvalid) as refused:
        parse_study(text, "my.yaml")
    assert refused.value.message.splitlines() == [
        "my.yaml:6: criteria: At least one criterion must count for quality control",
        "my.yaml:9: criteria.0.scale.points: This belongs to answers by one of several points: remove it, or "
        "change the kind of answer",
        "my.yaml:9: criteria.0.scale.choices: This is required",
        "my.yaml:10: criteria.0.qc: These answers are counted, not scored: remove this",
        "my.yaml:17: questionnaires.before.0.most: The largest number must be at least the smallest (99)",
        "my.yaml:18: questionnaires.before.1.label: Choose another label: “age” is in use",
        "my.yaml:21: questionnaires.before.1.choices: Give at least two answers to choose from",
        "my.yaml:23: questionnaires.conversation.0.label: Choose another label: “dull” is a criterion",
        "my.yaml:23: questionnaires.conversation.0.ends: Describe both ends, such as “not at all” and “very”",
        "my.yaml:23: questionnaires.conversation.0.points: This is required",
        "my.yaml:24: questionnaires.conversation.1.ends: The points have labels: remove these, or the labels",
        "my.yaml:24: questionnaires.conversation.1.labels: Give a label for each of the 3 points",
    ]


def test_researchers_read_a_point_with_its_label() -> None:
    form = AnswerForm(kind="likert", points=3, labels=("Hard to read", "Some mistakes", "Perfect"))
    assert form.type.in_words(form, 2.0, NOTHING_SHOWN) == "Some mistakes (2 of 3)"
    bare = AnswerForm(kind="likert", points=3)
    assert bare.type.in_words(bare, 2.0, NOTHING_SHOWN) == "2 of 3"
