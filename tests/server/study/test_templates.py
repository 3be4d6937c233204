"""The templates: each is a study in each of its languages, once what it leaves empty is filled in."""

import pytest

from server.study import TEMPLATES, TemplateName, parse_study, study_notes, template_text
from server.study import template as template_of
from tests.server.support.templates import completed

ALL = [(name, language) for name in TEMPLATES for language in template_of(name).languages]


@pytest.mark.parametrize(("name", "language"), ALL)
def test_a_template_lacks_only_what_the_researcher_fills_in(name: TemplateName, language: str) -> None:
    study = parse_study(completed(template_text(name, "mine", language)))
    assert (study.name, study.language) == ("mine", language)
    assert not any("but these texts are" in note or "corpus" in note for note in study_notes(study))


def test_every_template_but_the_demo_exists_in_all_languages() -> None:
    assert {name for name, language in ALL if language == "zh"} == set(TEMPLATES) - {"demo"}
