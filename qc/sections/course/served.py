"""The models that answered for each system."""

from typing import Any

from qc.method.incidents import Served, describe_served
from qc.sections import schema
from qc.sections.section import Part, Section
from qc.table import COUNT, ONE, TWO, Column, Table


def served(found: Served) -> Table:
    """Return the models that answered for the systems. A reader sees fewer columns than the file has."""
    shown = found.table.assign(model=[_served_as(row) for row in found.table.itertuples()])
    columns = (
        Column("system", "System"),
        Column("model", "Model as served"),
        Column("sampling", "Settings"),
        Column("calls", "Calls", COUNT),
        Column("failed", "of them no reply", COUNT),
        Column("tokens_in", "Tokens in", ONE),
        Column("tokens_out", "Tokens out", ONE),
        Column("cost", "Cost", TWO),
    )
    return Table(found.table, columns, shown)


def _served_as(row: Any) -> str:
    """Return a model with its revision and the first characters of its prompt's hash, if known."""
    known = {"revision": row.revision, "prompt": row.prompt_hash[:8]}
    told = ", ".join(f"{name} {value}" for name, value in known.items() if value)
    return f"{row.model} ({told})".strip() if told else str(row.model)


_SERVED_SCHEMA = schema.rows(
    "What was evaluated: the models that answered for each system; absent if nobody told.",
    system=schema.text("Name of the system."),
    model=schema.text("The model, as its server names it; empty where nobody told."),
    revision=schema.text("What tells versions of it apart: a fingerprint, a commit."),
    prompt_hash=schema.text("Hash of the instructions, without the persona."),
    sampling=schema.text("JSON of the settings by which it was asked."),
    calls=schema.integer("Calls that were answered."),
    failed=schema.integer("Those whose answer was no reply."),
    replicas=schema.integer("How many servers or hosts answered."),
    tokens_in=schema.number("Mean tokens that were sent; null if not known.", null=True),
    tokens_out=schema.number("Mean tokens that were written.", null=True),
    cost=schema.number("Cost of all calls, in the money of the bots' prices.", null=True),
    queued_ms=schema.number("Median wait for the model, in milliseconds.", null=True),
    computed_ms=schema.number("Median time that it took, in milliseconds.", null=True),
    first=schema.text("When the first of the calls was answered, UTC."),
    last=schema.text("When the last was."),
)

SERVED = Part(
    kind=Served,
    make=lambda a: describe_served(a.run),
    key="served",
    content=lambda found: found.table,
    notes=lambda found: found.notes,
    notes_place="first",
    schema=_SERVED_SCHEMA,
)

SECTION = Section(
    id="served",
    title="What was evaluated",
    parts=(SERVED,),
    tables=(
        SERVED.file(
            "served.csv",
            "what was evaluated: the models that answered for each system, as their bots told",
            served,
        ),
    ),
    page="""\
{% call table("served.csv", "The models that answered for each system, as they were served.") %}
Of all conversations that were begun. A row for each model, revision, prompt and settings that answered \
for a system; of a prompt only a hash is told, its persona left out. Tokens are means of a call, cost is \
the sum, in the money of the bots’ prices. What a bot did not tell is empty. The file has the servers, the \
times and how long calls took as well.
{% endcall %}
""",
)
