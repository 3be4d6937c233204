"""Numbers that the API and studies take: `true`, texts such as `1e3` and numbers beyond all use are none."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel, ValidationError

from bots.endpoints import Endpoint
from server.access.auth import Auth
from server.app import create_app
from server.bots.opened_bots import OpenedBots
from server.config import Settings
from server.run_rules import RunRules
from server.study import Study

Put = Callable[[Any], Any]
HUGE = 10**400  # more than a float holds


def parts_of(annotation: Any) -> Iterator[tuple[type, Put]]:
    """Yield each plain type that may stand in an annotation, with what puts a value in its place."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Annotated, Union, UnionType):
        for each in arguments[:1] if origin is Annotated else arguments:
            yield from parts_of(each)
    elif origin in (list, tuple):
        for kind, put in parts_of(arguments[0]):
            yield kind, lambda value, put=put: [put(value)]
    elif origin is dict:
        for kind, put in parts_of(arguments[1]):
            yield kind, lambda value, put=put: {"x": put(value)}
    elif isinstance(annotation, type):
        yield annotation, lambda value: value


def models_in(annotation: Any) -> dict[type[BaseModel], None]:
    """Return every model that may stand in an annotation, with all that stand in them."""
    found: dict[type[BaseModel], None] = {}
    ahead = [annotation]
    while ahead:
        for kind, _ in parts_of(ahead.pop()):
            if issubclass(kind, BaseModel) and kind not in found:
                found[kind] = None
                ahead += [field.annotation for field in kind.model_fields.values()]
    return found


def bodies() -> Iterator[Any]:
    """Yield what the endpoints take as their bodies."""
    settings = Settings.model_construct(database_url="sqlite://")
    app = create_app(settings, Auth("", "", 0), {}, OpenedBots(refuse_private=False))
    for route in iter_route_contexts(app.routes):
        yield from (
            each.field_info.annotation
            for each in getattr(getattr(route, "dependant", None), "body_params", ())
        )


def number_fields() -> Iterator[tuple[type[BaseModel], str, type, Put]]:
    """Yield every field that may hold a number, with the type of the number."""
    taken = [*bodies(), Study, Endpoint, RunRules]
    for model in dict.fromkeys(model for each in taken for model in models_in(each)):
        for name, field in model.model_fields.items():
            for kind, put in parts_of(field.annotation):
                if issubclass(kind, int | float | Decimal) and not issubclass(kind, bool):
                    yield model, name, kind, put


FIELDS = [pytest.param(*each, id=f"{each[0].__name__}.{each[1]}") for each in number_fields()]


def refuses(model: type[BaseModel], name: str, value: object) -> bool:
    """Return whether a model says that this value is wrong."""
    try:
        model.model_validate({name: value})
    except ValidationError as error:
        return any(each["loc"][:1] == (name,) and each["type"] != "missing" for each in error.errors())
    return False


def test_the_fields_of_every_kind_of_body_are_found() -> None:
    found = {str(each.id) for each in FIELDS}
    assert {
        "NewBonuses.cents", "PayDecision.share", "StudyPlan.reward", "JoinRequest.reply_pace", "Price.input",
        "OpenAiEndpoint.spending_cap", "Budget.total", "Target.assignments", "Study.minutes",
        "ReplyTime.median", "FittedRaterModel.random_share", "ReportOptions.alpha", "RehearsalToBegin.pay",
    } <= found  # fmt: skip


@pytest.mark.parametrize(("model", "name", "kind", "put"), FIELDS)
def test_a_number_is_a_number_within_bounds(model: type[BaseModel], name: str, kind: type, put: Put) -> None:
    wrong: list[Any] = [True, HUGE, -HUGE]
    # Rules of a run come as the text of their file too, and are read from it exactly.
    if model not in models_in(RunRules):
        kinds = [other for other, _ in parts_of(model.model_fields[name].annotation)]
        wrong += [] if str in kinds else ["3", "1e3"]
        wrong += [3.0] if kind is int else []
    if kind is not int:
        wrong += [1e300, float("nan"), float("inf")]
    assert [value for value in wrong if not refuses(model, name, put(value))] == []
