"""A study file of the other task: what it says by itself, and what does not fit together."""

from typing import Any

import pytest

from server.errors import StudyInvalid
from server.study import DEMO, Composition, load_study, parse_study
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
    study, _ = load_study(DEMO.with_name("demo_transcripts.yaml"))
    assert study.task == "transcripts"
    assert study.conversations == 20


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"items": None}, "items: Choose where the items come from: a run or a file, not both"),
        (
            {"items": {"run": "a", "file": "b"}},
            "items: Choose where the items come from: a run or a file, not both",
        ),
        ({"items": {"run": "a"}, "composition": "reading"}, "have no references"),
        (
            {"items": {"run": "a"}, "post_edit": {"criterion": "clear"}},
            "Only texts can be improved, and the items of a run are conversations: remove this",
        ),
        (
            {"composition": {"ordinary": 4, "bad": 3, "repeat": 2}},
            "Each bad twin, repeat and reference needs an ordinary item of its own: there are 5 of",
        ),
        ({"composition": "long"}, "composition"),
        (
            {"composition": {"ordinary": 4, "bad": 1, "repeat": 1, "human": "people"}},
            "composition.human: Take all items of one group, with at least one bad twin and one repeat",
        ),
        ({"judgments_per_item": 0}, "judgments_per_item: Enter a whole number from 1 to 50"),
        ({"degradation": "chapter4"}, "degradation: "),
        ({"post_edit": {"criterion": "fun"}}, "There is no criterion “fun”"),
        (
            {"post_edit": {"criterion": "dull"}},
            "Choose a criterion that is not reverse-scored, so that its top is the best",
        ),
        (
            {"minimum_inputs": 3},
            "minimum_inputs: This does not apply to studies in which workers read items: remove it",
        ),
        ({"systems": []}, "systems: This does not apply to studies in which workers read items: remove it"),
        (
            {"tutorial": {"questions": [QUESTIONS["questions"][0] | {"right": 3}]}},  # type: ignore[index]
            "tutorial.questions.0.right: Enter a number from 1 to 2, the number of answers",
        ),
        (
            {"criteria": [{"label": "clear", "statement": "It was clear.", "qc": False}]},
            "At least one criterion must count for quality control",
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
        (
            {"items": {"run": "a"}},
            "items: This does not apply to studies in which workers chat with one bot at a time:",
        ),
        (
            {"tutorial": QUESTIONS},
            "tutorial: This does not apply to studies in which workers chat with one bot at a time:",
        ),
        ({"systems": []}, "systems: Add at least one system"),
        ({"rate_share": 0}, "rate_share: Enter a number, more than 0 and at most 1"),
    ],
)
def test_what_a_chat_has_not(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(StudyInvalid) as found:
        parse_study(study_text(**changes))
    assert reason in found.value.message
