"""Numbers that the API takes: `true` is none of them, though Python counts it as 1."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from server.bots.api import NewCheck
from server.desk.studies import NewVersion
from server.jobs.rehearsals import RehearsalOptions
from server.jobs.reports import ReportOptions
from server.recruiting.api import NewBonuses, PayDecision, Places
from server.recruiting.drafts import Plan
from server.run_rules import Budget, RunRules, Target

NUMBERS = {"integer", "number"}
# Each with how many of its fields are numbers.
BODIES: dict[type[BaseModel], int] = {
    Places: 1,
    Plan: 5,
    PayDecision: 1,
    NewVersion: 1,
    NewCheck: 1,
    ReportOptions: 2,
    RehearsalOptions: 7,
    Budget: 3,
    Target: 3,
    RunRules: 1,
}


def number_fields(model: type[BaseModel]) -> list[str]:
    """Return the fields of a model that are numbers, or nothing."""
    properties: dict[str, dict[str, Any]] = model.model_json_schema()["properties"]
    kinds = {
        name: {one.get("type") for one in [found, *found.get("anyOf", [])]}
        for name, found in properties.items()
    }
    return [name for name, types in kinds.items() if types & NUMBERS]


@pytest.mark.parametrize("model", BODIES)
def test_true_is_no_number(model: type[BaseModel]) -> None:
    fields = number_fields(model)
    assert len(fields) == BODIES[model]
    with pytest.raises(ValidationError) as raised:
        model.model_validate(dict.fromkeys(fields, True))
    refused = {error["loc"][0] for error in raised.value.errors() if error["type"] != "missing"}
    assert refused == set(fields)


@pytest.mark.parametrize(
    ("model", "field", "content"),
    [
        (NewBonuses, "cents", {"purpose": "thanks", "cents": {"s1": True}}),
        (NewBonuses, "cents", {"purpose": "thanks", "cents": {"s1": "150"}}),
        (Plan, "reward", {"places": 5, "reward": "450"}),
        (PayDecision, "instead_of", {"submissions": ["s1"], "decision": "approve", "instead_of": [True]}),
    ],
)
def test_neither_are_texts_nor_what_stands_within_others(
    model: type[BaseModel], field: str, content: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError) as raised:
        model.model_validate(content)
    assert {error["loc"][0] for error in raised.value.errors()} == {field}
