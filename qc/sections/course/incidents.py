"""The models that answered for each system, and their incidents: failures, late or offensive replies."""

from collections.abc import Iterator
from typing import Any

from qc.method.incidents import Incidents, Served, describe_incidents, describe_served
from qc.sections import schema
from qc.sections.analysis import Analysis
from qc.sections.section import Part, Section, TitledTable
from qc.table import COUNT, ONE, SHARE, SYSTEM_COLUMN, TWO, Column, Table, whole


def served(found: Served) -> Table:
    """Return the models that answered for the systems. A reader sees fewer columns than the file has."""
    shown = found.table.assign(model=[_served_as(row) for row in found.table.itertuples()])
    columns = (
        SYSTEM_COLUMN,
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

SERVED_SECTION = Section(
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


_FAILURE_WORDS = {
    "timed_out": "timed out",
    "busy": "busy",
    "gone": "gone",
    "refused": "refused",
    "declined": "declined",
    "budget_spent": "no money left",
    "broken_off": "broken off",
    "empty": "empty",
    "thoughts_only": "thoughts only",
    "too_long": "too long",
    "other_errors": "other",
}


def incidents(found: Incidents) -> Table:
    """Return the incidents of each system; a reader sees in words how tries failed, if any did."""
    how = [
        ", ".join(f"{whole(row[kind])} {words}" for kind, words in _FAILURE_WORDS.items() if row[kind])
        for row in found.table.to_dict("records")
    ]
    columns = (
        SYSTEM_COLUMN,
        Column("conversations", "Conversations begun", COUNT),
        Column("failed", "Failed", COUNT),
        Column("failed_share", "of them", SHARE),
        Column("replies", "Replies", COUNT),
        Column("errors", "Failed tries", COUNT),
        *((Column("how", "How they failed"),) if any(how) else ()),
        Column("overran", "Late", COUNT),
        Column("overran_share", "of them", SHARE),
        Column("gave_away", "Gave itself away", COUNT),
    )
    return Table(found.table, columns, found.table.assign(how=how))


def offensive(found: Incidents) -> Table:
    """Count the replies of each system, and the inputs to it, with words of the list of offensive words."""
    columns = (
        SYSTEM_COLUMN,
        Column("replies", "Replies", COUNT),
        Column("offensive", "with offensive words", COUNT),
        Column("offensive_share", "of them", SHARE),
        Column("inputs", "Workers’ inputs", COUNT),
        Column("offensive_inputs", "with offensive words", COUNT),
        Column("offensive_inputs_share", "of them", SHARE),
        *((Column("reported", "Reported", COUNT),) if found.table["reported"].any() else ()),
    )
    return Table(found.table[[column.key for column in columns]], columns)


def flagged(found: Incidents) -> Table | None:
    """Count the lines that the moderation service has judged and flagged; None if there are none."""
    if not found.table[["judged", "judged_inputs"]].to_numpy().any():
        return None
    columns = (
        SYSTEM_COLUMN,
        Column("judged", "Replies judged", COUNT),
        Column("flagged", "Flagged", COUNT),
        Column("flagged_share", "of them", SHARE),
        Column("judged_inputs", "Workers’ inputs judged", COUNT),
        Column("flagged_inputs", "Flagged", COUNT),
        Column("flagged_inputs_share", "of them", SHARE),
    )
    return Table(found.table[[column.key for column in columns]], columns)


_INCIDENTS_SCHEMA = schema.rows(
    (
        "What went wrong with each system, in all conversations that were begun; absent if "
        "the source does not say."
    ),
    system=schema.text("The system, or the qc bot."),
    conversations=schema.integer("Conversations begun."),
    failed=schema.integer("Conversations that it could not carry on."),
    failed_share=schema.number("Their share of the conversations begun.", null=True),
    replies=schema.integer("Replies given."),
    errors=schema.integer("Tries for a reply that came to nothing and were repeated."),
    overran=schema.number(
        "Replies that came later than the time drawn for them; null with simulated workers.", null=True
    ),
    overran_share=schema.number("Their share of the replies.", null=True),
    gave_away=schema.integer("Replies by which it gave itself away as a machine or by name."),
    offensive=schema.integer("Replies with words of the server's list of offensive ones."),
    offensive_share=schema.number("Their share of the replies; null without any reply.", null=True),
    inputs=schema.integer("Inputs of workers to it."),
    offensive_inputs=schema.integer("Those of them with words of that list."),
    offensive_inputs_share=schema.number("Their share of the inputs; null without any input.", null=True),
    judged=schema.integer("Replies that the server's moderation service has judged."),
    flagged=schema.integer("Those of them that it flags."),
    flagged_share=schema.number("Their share of the replies judged; null without any.", null=True),
    judged_inputs=schema.integer("Inputs of workers to it that the service has judged."),
    flagged_inputs=schema.integer("Those of them that it flags."),
    flagged_inputs_share=schema.number("Their share of the inputs judged; null without any.", null=True),
    reported=schema.integer("Messages that workers have reported, and not taken back."),
    timed_out=schema.integer(
        "Failed tries to which nothing came in time. The last try of a conversation that "
        "failed counts here, and in the kinds below."
    ),
    busy=schema.integer("Failed tries because the bot was busy, loading or shutting down."),
    gone=schema.integer("Failed tries because the bot was disabled."),
    refused=schema.integer("Failed tries because the bot does not take such a chat."),
    declined=schema.integer(
        "Failed tries because the model declined to answer, or a filter kept the answer back."
    ),
    budget_spent=schema.integer("Failed tries because what the bot may cost was spent."),
    broken_off=schema.integer("Failed tries whose answer ended before the model had finished it."),
    empty=schema.integer("Failed tries whose reply held nothing that can be seen."),
    thoughts_only=schema.integer("Failed tries in which the model thought and said nothing."),
    too_long=schema.integer("Failed tries whose reply was longer than what workers are shown."),
    other_errors=schema.integer("Failed tries of any other kind."),
)

_OF_INCIDENTS = ("system", "conversations", "failed", "replies", "errors", "overran", "gave_away")


def _summary(analysis: Analysis) -> Iterator[TitledTable]:
    if (found := analysis.incidents) is not None and found.any:
        title = "Incidents, in all conversations that were begun"
        yield TitledTable(title, incidents(found).only(*_OF_INCIDENTS))


INCIDENTS = Part(
    kind=Incidents,
    make=lambda a: describe_incidents(a.run),
    key="incidents",
    content=lambda found: found.table,
    notes=lambda found: found.notes,
    notes_place="first",
    schema=_INCIDENTS_SCHEMA,
)

INCIDENTS_SECTION = Section(
    id="incidents",
    title="What went wrong",
    parts=(INCIDENTS,),
    tables=(
        INCIDENTS.file(
            "incidents.csv",
            "for each system, also of what is not analysed: failed conversations, late replies, replies by "
            "which it gave itself away, messages that workers reported, offensive words; only from a "
            "database of the server or what was converted from it",
            incidents,
        ),
        INCIDENTS.file(
            "offensive.csv",
            "replies of each system and inputs to it that have offensive words, of the same conversations",
            offensive,
        ),
        INCIDENTS.file(
            "flagged.csv",
            "replies of each system and inputs to it that the server’s moderation service flags, of the same "
            "conversations; only where it was asked",
            flagged,
        ),
    ),
    summary=_summary,
    is_shown=lambda a: a.chatted,
    page="""\
{% if found %}
{% call table("incidents.csv", "Incidents of each system.") %}
Of all conversations that were begun, whether they are analysed or not: a conversation fails when the \
system cannot carry it on, which takes it out of the scores. A failed try is a reply that came to nothing \
and was asked for again; the words on how they failed count the last try of a failed conversation, too. A \
reply is late if it came after the time that was drawn for it, by which all systems are to look equally \
fast{% if found.table["overran"].isna().all() %}; simulated workers wait less than people, so it is \
not known here{% endif %}. A system gives itself away when it says that it is a machine, or calls itself \
by its name; the reply was shown as it was.
{% endcall %}
{% call table("offensive.csv", "Lines with offensive words.") %}
Replies and inputs of the same conversations with words of the server’s list of offensive ones. A list \
knows words and not what is meant: it takes some that are harmless where they stand, and passes polite \
threats. Nothing was held back for it, and no score is another. Messages that workers reported, and did \
not take back, are counted beside them.
{% endcall %}
{% if found.table[["judged", "judged_inputs"]].to_numpy().any() %}
{% call table("flagged.csv", "What the moderation service flags.") %}
The service judged these lines some seconds after they were said; those that were not judged are in \
neither number. It judges meaning, and errs as people do. Nothing was held back for it either.
{% endcall %}
{% endif %}
{% else %}
<p>This source does not say which systems failed, came late or gave themselves away. The database of the \
server does, and so does its export.</p>
{% endif %}
""",
)
