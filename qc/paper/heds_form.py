"""The datasheet as a file that the online form of HEDS 3.0 uploads, for the author to complete there."""

import json
import re
from typing import Any

from candor.common.terminal import visible
from qc.paper.datasheet import Field, sections_of
from qc.sections.analysis import Analysis

_DESIGN = "sample_evaluators_design"
_CRITERION = "criteria-criterion"
_ELICITED = f"{_CRITERION}-response_elicitation"
# Ids of the form's elements, spelled as they are there, by number of the question: those that data answer.
_ELEMENTS = {
    "1.1.2": "paper_and_resources-paper-experiment_identification",
    "2.1": "system-input_types",
    "2.2": "system-output_types",
    "2.3": "system-tasks",
    "3.1.1": f"{_DESIGN}-sample-number_of_system_outputs",
    "3.1.2": f"{_DESIGN}-sample-system_output_selection",
    "3.2.1": f"{_DESIGN}-evaluators-number_of_evaluators",
    "3.2.2.2": f"{_DESIGN}-evaluators-evaluators-payment",
    "3.3.1": f"{_DESIGN}-experimental_design-preregistered",
    "3.3.2": f"{_DESIGN}-experimental_design-collection_method",
    "3.3.3.1": f"{_DESIGN}-experimental_design-quality_assurance-method",
    "3.3.3.2": f"{_DESIGN}-experimental_design-quality_assurance-description",
    "3.3.6": f"{_DESIGN}-experimental_design-evaluators_can_ask_questions",
    "3.3.7": f"{_DESIGN}-experimental_design-experimental_conditions",
    "3.3.8": f"{_DESIGN}-experimental_design-evaluators_place_of_choosing",
    "4.2.1": f"{_CRITERION}-evaluation_mode-objective_or_subjective",
    "4.2.2": f"{_CRITERION}-evaluation_mode-absolute_or_relative",
    "4.2.3": f"{_CRITERION}-evaluation_mode-intrinsic_or_extrinsic",
    "4.3.1.1": f"{_ELICITED}-qc_name-participant_criterion_name",
    "4.3.2": f"{_ELICITED}-participant_criterion_definiiton",
    "4.3.3": f"{_ELICITED}-size_of_scale",
    "4.3.4": f"{_ELICITED}-list_or_range",
    "4.3.5": f"{_ELICITED}-scale_presented_as",
    "4.3.6": f"{_ELICITED}-task_description",
    "4.3.8": f"{_ELICITED}-form_of_response",
    "4.3.9": f"{_ELICITED}-response_aggregation",
    "4.3.10": f"{_ELICITED}-effect_size_method",
    "4.3.11.1": f"{_ELICITED}-inter_annotator-agreement",
    "4.3.11.2": f"{_ELICITED}-inter_annotator-agreement_score",
    "4.3.12.1": f"{_ELICITED}-intra_annotator-intra_annotator_agreement",
    "4.3.12.2": f"{_ELICITED}-intra_annotator-intra_annotator_agreement_score",
}
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]<>#|!])")  # as `plain` of `datasheet` escapes
_MARKUP = str.maketrans(dict.fromkeys("<>&\"'", " "))  # the form shows names of criteria as HTML

Json = dict[str, Any]


def heds_form(analysis: Analysis) -> str:
    """Return the answers that the data give; questions for the author stay empty in the form."""
    criteria = [_named(str(label)) for label in analysis.run.criteria["label"]]
    form: Json = {
        f"heds-{_CRITERION}": {
            "data": {},
            "control": {name: number == 0 for number, name in enumerate(criteria)},
            "text": {},
            "number": "",
        }
    }
    ranges = {
        name: f"0 to {maximum:g}"
        for name, maximum in zip(criteria, analysis.run.criteria["maximum"], strict=True)
    }
    for _, fields in sections_of(analysis):
        for field in fields:
            if field.answer is None or field.number not in _ELEMENTS:
                continue
            text = _ESCAPED.sub(r"\1", field.entered or field.answer)
            if field.number == "4.3.4":
                form |= _entered(field, ranges)
            elif field.number.startswith("4."):
                form |= _entered(field, dict.fromkeys(criteria, text))
            else:
                form |= _entered(field, {"": text})
    return json.dumps(form, ensure_ascii=False, indent=4) + "\n"


def _named(label: str) -> str:
    return " ".join(visible(label).translate(_MARKUP).split()) or "criterion"


def _entered(field: Field, texts: dict[str, str]) -> Json:
    """Return the elements of a question: its options and their explanation, or its text, by criterion."""
    element = f"heds-{_ELEMENTS[field.number]}"
    about = {"control": {}, "number": field.number}
    if not field.options:
        return {element: {"data": texts, **about}}
    chosen = {
        f"{element}-{option}": {"data": dict.fromkeys(texts, True), "text": {}, **about}
        for option in field.options
    }
    return {**chosen, f"{element}-other_text": {"data": texts, **about}}
