"""Write a run as `hits_data.json`, the format of the published experiment.

Only completed assignments that nobody has excluded, and rated conversations, are in it, without those with a
person from whom a bot took over; everything else can be read from the views.
Ratings are as the worker gave them. Simulated workers are in it only while nobody else has completed an
assignment; `metadata.simulated` then says so, and `simulated` of each conversation by what. The format does
not have these by itself, and neither has it an assignment's `consent`, which is there where the study asks
for one, or what a bot's model wrote where its worker was shown less of it: `output`, and in what the two
differ, `changes`. `facts` of a conversation: its later columns in `v1_conversation`, as far as known.
`metadata.words_removed`: of how many assignments the words were removed. `metadata.people`: which systems are
people, where anybody has met one.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import Connection, RowMapping

from server.db.runs.runs import RunEntry
from server.db.tables import PERSONA_SEPARATOR
from server.export.completed import (
    Json,
    assignments,
    completed,
    consent_in,
    criteria,
    facts_in,
    grouped,
    provenance_in,
    rows,
    seconds,
)
from server.session.answer_kinds import answer_type
from server.session.instrument import TopicChangeKind

_Parts = Mapping[str, Mapping[str, list[RowMapping]]]

# The format's sentences for the kinds of topic changes.
_ACTIONS = {
    TopicChangeKind.BOT_CHANGE: "The chatbot changed the topic.",
    TopicChangeKind.USER_CHANGE_LAST: "The user changed the topic the last input.",
    TopicChangeKind.USER_CHANGE_NEXT: "The user will change the topic in the next input.",
    TopicChangeKind.USER_WANTS_BOT_CHANGE: "The user wants the bot to change the topic.",
    TopicChangeKind.NO_CHANGE: "No topic change.",
}

_REMOVED = "SELECT count(*) AS number FROM v1_removal WHERE run_id = :run AND extent = 'words'"
_CONVERSATIONS = """
    SELECT * FROM v1_conversation WHERE run_id = :run AND status = 'rated' AND assignment_id IN :ids
       AND conversation_id NOT IN (SELECT conversation_id FROM v1_human_conversation
                                   WHERE run_id = :run AND taken_over_by IS NOT NULL)
     ORDER BY assignment_id, position"""
# Parts of conversations: the view, and the order of its rows within a conversation.
_PARTS = {
    "ratings": ("v1_rating", "criterion"),
    "turns": ("v1_turn", "turn_index"),
    "outputs": ("v1_reply_output", "turn_index"),
    "simulated": ("v1_simulated_conversation", "simulated_as"),
    "marks": ("v1_topic_mark", "ordinal"),
}
_ANSWERS = """
    SELECT v1_answer.*, v1_question.kind AS kind FROM v1_answer
    JOIN v1_question ON v1_question.run_id = v1_answer.run_id AND v1_question.part = v1_answer.part
                    AND v1_question.label = v1_answer.label
    WHERE v1_answer.run_id = :run AND v1_answer.assignment_id IN :ids
    ORDER BY v1_answer.assignment_id, v1_answer.conversation_id, v1_answer.ordinal"""
_PEOPLE = "SELECT DISTINCT system FROM v1_human_conversation WHERE run_id = :run ORDER BY system"
_SYSTEMS = "SELECT * FROM v1_system WHERE run_id = :run"


def hits_metadata(connection: Connection, run: RunEntry) -> Json:
    """Return the `metadata` of the file: criteria, systems, and facts that a reader must know."""
    simulated = {"simulated": True} if completed(connection, run).simulated else {}
    people = [row["system"] for row in rows(connection, run, _PEOPLE)]
    (removed,) = rows(connection, run, _REMOVED)
    return (
        _declared(connection, run)
        | simulated
        | ({"people": people} if people else {})
        | ({"words_removed": int(removed["number"])} if removed["number"] else {})
    )


def hits(connection: Connection, run: RunEntry) -> Iterator[Json]:
    """Yield the assignments of `data`, in the order in which they began."""
    for some in assignments(connection, run, completed(connection, run).ids):
        ids = [row["assignment_id"] for row in some]
        conversations = rows(connection, run, _CONVERSATIONS, ids)
        held = grouped(conversations, "assignment_id")
        answers = rows(connection, run, _ANSWERS, ids)
        about_all = grouped([row for row in answers if not row["conversation_id"]], "assignment_id")
        parts = _parts(connection, run, [row["conversation_id"] for row in conversations])
        parts["answers"] = grouped([row for row in answers if row["conversation_id"]], "conversation_id")
        for row in some:
            key = row["assignment_id"]
            yield _assignment(row, held.get(key, []), parts) | _by_part(about_all.get(key, []))


def _parts(
    connection: Connection, run: RunEntry, conversations: Sequence[str]
) -> dict[str, Mapping[str, list[RowMapping]]]:
    found = {}
    for name, (view, order) in _PARTS.items():
        query = f"""
            SELECT * FROM {view} WHERE run_id = :run AND conversation_id IN :ids
             ORDER BY conversation_id, {order}"""  # noqa: S608 - both are named above
        found[name] = grouped(rows(connection, run, query, conversations), "conversation_id")
    return found


def _declared(connection: Connection, run: RunEntry) -> Json:
    rated = criteria(connection, run)
    systems = sorted(rows(connection, run, _SYSTEMS), key=lambda row: str(row["system"]))
    counts_first = sorted(rated, key=lambda each: not each["counts_for_qc"])
    return {
        "score": {
            each["label"]: {
                "positive": not each["negative"],
                "qc": each["counts_for_qc"],
                "max": each["maximum"],
            }
            for each in rated
        },
        "model": [row["system"] for row in systems if not row["is_qc"]],
        "qc-model": next(row["system"] for row in systems if row["is_qc"]),
        "ranking": None,
        "sorted_scores": [each["label"] for each in counts_first],
    }


def _assignment(row: RowMapping, conversations: Sequence[RowMapping], parts: _Parts) -> Json:
    return {
        "hit": row["assignment_id"],
        "assignment": row["assignment_id"],
        "worker": row["worker"],
        "duration in seconds": seconds(row),
        "result": [_conversation(c, parts) for c in conversations],
        "feedback": row["feedback"] or "None",
    } | consent_in(row)


def _by_part(rows: list[RowMapping]) -> Json:
    """Return the answers before and after all conversations, by part; nothing if there are none."""
    parts = {
        part: _answered([row for row in rows if row["part"] == part])["answers"]
        for part in dict.fromkeys(row["part"] for row in rows)
    }
    return {"answers": parts} if parts else {}


def _answered(rows: list[RowMapping]) -> Json:
    """Return the answers to a study's questions, by label; nothing if there are none."""
    values: dict[str, list[float | str]] = {}
    for row in rows:
        values.setdefault(row["label"], []).append(row["number"] if row["text"] is None else row["text"])
    kinds = {row["label"]: row["kind"] for row in rows}
    answers = {label: answer_type(kinds[label]).exported(given) for label, given in values.items()}
    return {"answers": answers} if answers else {}


def _conversation(row: RowMapping, parts: _Parts) -> Json:
    own = {name: rows.get(row["conversation_id"], []) for name, rows in parts.items()}
    said = [turn["text"] for turn in own["turns"]]
    outputs = {
        row["turn_index"]: {"output": row["output"], "changes": row["changes"].split(",")}
        for row in own["outputs"]
    }
    content: Json = {
        "model": row["system"],
        "score": {rating["criterion"]: rating["value"] for rating in own["ratings"]},
        "dialogue": [
            {"round": number, "user": user, "bot": bot}
            | outputs.get(2 * number - 1, {})
            | (provenance_in(own["turns"][2 * number - 1]) if 2 * number <= len(said) else {})
            for number, (user, bot) in enumerate(zip(said[::2], [*said[1::2], ""], strict=False), start=1)
        ],
        "topic": [
            {"round": mark["round"], "topic": mark["topic"], "attitude": mark["opinion"]}
            for mark in own["marks"]
        ],
        "change of topic": [
            {
                "round": mark["round"],
                "action": _ACTIONS[TopicChangeKind(mark["how"])],
                "attitude": mark["bot_opinion"],
            }
            for mark in own["marks"]
            if mark["how"] is not None
        ],
    }
    content |= _answered(own["answers"]) | facts_in(row)
    for simulated in own["simulated"]:
        content["simulated"] = simulated["simulated_as"] or True
    if row["persona"]:
        content["persona"] = row["persona"].split(PERSONA_SEPARATOR)
    return content
