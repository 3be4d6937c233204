"""Short forms of JSON Schema, in which sections describe their keys of `report.json`."""

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]


def _of_type(name: str, description: str | None, null: bool, more: Schema) -> Schema:
    described = {} if description is None else {"description": description}
    return {**described, "type": [name, "null"] if null else name, **more}


def text(description: str | None = None, *, null: bool = False) -> Schema:
    """Return the schema of a text; `null`: or null."""
    return _of_type("string", description, null, {})


def boolean(description: str | None = None, *, null: bool = False) -> Schema:
    """Return the schema of true or false; `null`: or null."""
    return _of_type("boolean", description, null, {})


def integer(description: str | None = None, *, null: bool = False, **limits: float) -> Schema:
    """Return the schema of a whole number, with `minimum` and `maximum`; `null`: or null."""
    return _of_type("integer", description, null, limits)


def number(description: str | None = None, *, null: bool = False, **limits: float) -> Schema:
    """Return the schema of a number, with `minimum` and `maximum`; `null`: or null."""
    return _of_type("number", description, null, limits)


def record(description: str | None = None, /, *, null: bool = False, **properties: Schema) -> Schema:
    """Return the schema of an object that has these keys and no others; `null`: or null."""
    return _of_type("object", description, null, _keys(properties))


def _keys(properties: Mapping[str, Schema]) -> Schema:
    return {"properties": properties, "required": list(properties), "additionalProperties": False}


def array(description: str | None, items: Schema) -> Schema:
    """Return the schema of a list of `items`."""
    return _of_type("array", description, False, {"items": items})


def rows(description: str | None = None, /, **columns: Schema) -> Schema:
    """Return the schema of a table: a list of objects that have these keys."""
    return array(description, _of_type("object", None, False, _keys(columns)))


def by_name(description: str | None, values: Schema) -> Schema:
    """Return the schema of an object whose keys come from the data."""
    return _of_type("object", description, False, {"additionalProperties": values})


def shared(name: str, description: str | None = None) -> Schema:
    """Return a reference to one of SHARED."""
    return {**({} if description is None else {"description": description}), "$ref": f"#/$defs/{name}"}


def or_null(schema: Schema, description: str) -> Schema:
    """Return the schema of what `schema` describes, or null."""
    return {"description": description, "anyOf": [schema, {"type": "null"}]}


def one_of(description: str, *values: str) -> Schema:
    """Return the schema of one of these texts."""
    return {"description": description, "enum": list(values)}


# Shapes that several keys have.
SHARED: dict[str, Schema] = {
    "interval": record(
        "An interval; null if unknown.",
        low=number("Lower end.", null=True),
        high=number("Upper end.", null=True),
    ),
    "count": record(
        "How many there are and how many of them are of workers who passed.",
        total=integer("All."),
        passed=integer("Of workers who passed."),
    ),
    "spread": record(
        "Assignments per worker.",
        mean=number("Mean.", null=True),
        median=number("Median.", null=True),
        maximum=number("The most that one worker did.", null=True),
        count=integer("Number of workers."),
    ),
    "matrix": array("Rows of numbers, null where there is none.", array(None, number(null=True))),
    "by_criterion": by_name("`overall` and every criterion by its label.", number(null=True)),
    "coefficients": record(
        "Three correlations of the system scores of two runs.",
        pearson=shared("by_criterion", "Pearson's r."),
        spearman=shared("by_criterion", "Spearman's ρ."),
        kendall=shared("by_criterion", "Kendall's τ-b."),
    ),
    "criteria_correlation": record(
        "Correlations between criteria, over the systems.",
        names=array("Names of rows and columns: `overall`, then the criteria.", text()),
        pearson=shared("matrix", "Pearson's r."),
        spearman=shared("matrix", "Spearman's ρ."),
    ),
    "pairs": record(
        "Pearson's r between the overall z of two assignments that had the same systems.",
        pairs=integer("Number of pairs."),
        median_r=number("Median of r.", null=True),
        sampled=boolean("Whether `r` is of pairs drawn at random, because there are too many."),
        r=array("r of each pair, ascending.", number()),
    ),
    "opinions": record(
        "Opinions of topics.",
        n=integer("Number of topics."),
        like=number("Per cent liked.", null=True),
        ambivalent=number("Per cent ambivalent.", null=True),
        dislike=number("Per cent disliked.", null=True),
    ),
    "changes": record(
        "Changes of topic.",
        n=integer("Number of changes recorded."),
        counts=by_name("How often each kind was recorded.", integer()),
    ),
    "lengths": record(
        "A length.",
        n=integer("Number of inputs or conversations."),
        mean=number("Mean.", null=True),
        median=number("Median.", null=True),
    ),
    "effort": record(
        "How much workers wrote, without conversations with the qc bot.",
        inputs_per_conversation=shared("lengths", "Inputs in a conversation."),
        words_per_input=shared("lengths", "Words in an input."),
        words_per_conversation=shared("lengths", "Words in all inputs of a conversation."),
        characters_per_input=shared("lengths", "Characters in an input, white space not counted."),
        characters_per_conversation=shared("lengths", "The same in a conversation."),
    ),
    "persona": record(
        "A family with and without persona.",
        family=text("Name of the family."),
        with_persona=text("The system with persona."),
        without=text("The system without."),
        z_with=number("Overall z with persona.", null=True),
        z_without=number("Overall z without.", null=True),
        difference=number("`z_with` − `z_without`.", null=True),
        low=number("Lower end of the interval of the difference.", null=True),
        high=number("Upper end.", null=True),
        p=number("Two-sided p-value by worker.", null=True),
        p_rank_sum=number(
            "Two-sided p-value of the published rank-sum test over conversations; null over all families.",
            null=True,
        ),
    ),
    "self_agreement": record(
        "Agreement with themselves of a group of workers.",
        kappas=rows(
            "For 10, 5, 4 and 2 categories.",
            categories=integer("Equal parts that the scale is cut into."),
            pairs=integer("Pairs of ratings, over all criteria."),
            observed=number("Share of the pairs that fall into one category.", null=True),
            expected=number("That share by chance.", null=True),
            kappa=number("κ, how much more often than chance; null where chance always agrees.", null=True),
        ),
        r=array("Pearson’s r of each worker’s pairs, ascending.", number()),
        without_r=integer("Workers with repeats but without r."),
    ),
}
