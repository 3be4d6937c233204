"""A study file of the other task: what it says by itself, and what does not fit together."""

from typing import Any

import pytest

from server.errors import StudyInvalid
from server.study import DEMO_TRANSCRIPTS, Composition, load_study, parse_study
from tests.server.support.items import QUESTIONS, items_text
from tests.server.support.study import study_text


def test_the_compositions_of_the_thesis() -> None:
    for name, items in (("reading", 100), ("questions", 20)):
        assert parse_study(items_text(composition=name)).conversations == items
    own = parse_study(items_text(composition={"ordinary": 3, "repeat": 1}))
    assert own.per_assignment == Composition(ordinary=3, repeat=1)
    assert own.conversations == 4


def test_what_it_is_unless_it_says_so() -> None:
    study = parse_study(items_text())
    assert (study.degradation, study.judgments_per_item) == ("chapter5", 2)
    assert study.bots_of_systems == {}
    assert parse_study(study_text()).task == "chat"


def test_the_demo() -> None:
    study, _ = load_study(DEMO_TRANSCRIPTS)
    assert study.task == "transcripts"
    assert study.conversations == 20


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"items": None}, "items: say where the items come from"),
        ({"items": {"run": "a", "file": "b"}}, "items: say where the items come from"),
        ({"items": {"run": "a"}, "composition": "reading"}, "have no references"),
        ({"items": {"run": "a"}, "post_edit": {"criterion": "clear"}}, "only texts can be improved"),
        ({"composition": {"ordinary": 4, "bad": 3, "repeat": 2}}, "these are 5 for 4 ordinary ones"),
        ({"composition": "long"}, "composition"),
        ({"judgments_per_item": 1}, "judgments_per_item: expected a number from 2 to 50, got `1`"),
        ({"degradation": "chapter4"}, "degradation: "),
        ({"post_edit": {"criterion": "fun"}}, "there is no criterion `fun`"),
        ({"post_edit": {"criterion": "dull"}}, "choose a criterion that is not negative"),
        ({"minimum_inputs": 3}, "minimum_inputs: means nothing where the task is `transcripts`"),
        ({"systems": []}, "systems: means nothing where the task is `transcripts`"),
        (
            {"tutorial": {"questions": [QUESTIONS["questions"][0] | {"right": 3}]}},  # type: ignore[index]
            "tutorial.questions.0.right: there are 2 answers",
        ),
        (
            {"criteria": [{"label": "clear", "statement": "It was clear.", "qc": False}]},
            "none counts for quality control",
        ),
    ],
)
def test_what_does_not_fit_together(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(StudyInvalid) as found:
        parse_study(items_text(**changes))
    assert reason in found.value.message


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"items": {"run": "a"}}, "items: means nothing where the task is `chat`"),
        ({"tutorial": QUESTIONS}, "tutorial: means nothing where the task is `chat`"),
        ({"systems": []}, "systems: a study in which workers chat evaluates at least one system"),
        ({"rate_share": 0}, "rate_share: expected a number, more than 0 and at most 1, got `0`"),
    ],
)
def test_what_a_chat_has_not(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(StudyInvalid) as found:
        parse_study(study_text(**changes))
    assert reason in found.value.message
