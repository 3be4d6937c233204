"""Studies in which some chat partners are people: what has to be said of it."""

from typing import Any

import pytest
import yaml

from server.study import PARTNER, WIZARD, read_study
from tests.server.support.study import study_text

CONSENT = {"text": "Some of your partners may be people, who read what you write.", "version": "1"}
PEOPLE = {"take_over": "builtin:reflect", "consent_says_so": True}


def mistakes(*, consent: bool = True, people: dict[str, Any] | None = None, **system: Any) -> list[str]:
    """Return what is wrong with the small study, whose first system is a person."""
    study = yaml.safe_load(study_text())
    study["systems"][0] |= {"bot": PARTNER, "persona": "none", **system}
    study |= {"people": people} if people is not None else {}
    study |= {"texts": {"consent": CONSENT}} if consent else {}
    return [mistake.at("study") for mistake in read_study(yaml.safe_dump(study, sort_keys=False))[1]]


def test_a_study_that_says_all_is_taken() -> None:
    assert mistakes(people=PEOPLE) == []


@pytest.mark.parametrize(
    ("given", "place", "reason"),
    [
        ({}, "systems.0.bot", "Where people answer, a bot must take over if they do not: choose that bot"),
        ({"people": PEOPLE, "consent": False}, "people.consent_says_so", "must consent"),
        ({"people": {"take_over": "builtin:reflect"}}, "people.consent_says_so", "confirm it"),
        (
            {"people": PEOPLE | {"take_over": PARTNER}},
            "people.take_over",
            "Choose a bot that takes over, not a person",
        ),
        ({"people": PEOPLE, "persona": "random"}, "systems.0.persona", "for themselves"),
        ({"people": PEOPLE, "prompt": "Be kind."}, "systems.0.prompt", "for themselves"),
        (
            {"people": PEOPLE, "bot": "builtin:reflect"},
            "people",
            "No system has a person as its bot (human:partner or human:wizard): remove this",
        ),
        ({"people": PEOPLE | {"wait": 0}}, "people.wait", ""),
    ],
)
def test_what_is_missing_is_said_on_its_place(given: dict[str, Any], place: str, reason: str) -> None:
    (mistake,) = mistakes(**given)
    assert place in mistake
    assert reason in mistake


def test_a_researcher_at_the_desk_may_answer_as_a_persona() -> None:
    assert mistakes(people=PEOPLE, bot=WIZARD, persona="random") == []
    (mistake,) = mistakes(people=PEOPLE, bot=WIZARD, prompt="Be kind.")
    assert "systems.0.prompt" in mistake
    (mistake,) = mistakes(people=PEOPLE | {"wait": 60}, bot=WIZARD)
    assert "people.wait" in mistake
    (mistake,) = mistakes(bot=WIZARD)
    assert "a bot must take over" in mistake
