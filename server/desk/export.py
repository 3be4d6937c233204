"""A run as a `hits_data.json`, the format of the published experiment, for `qc` and everybody else.

Only completed assignments that nobody has excluded, and rated conversations, are in it, without those with a
person from whom a bot took over; everything else can be read from the views.
Ratings are as the worker gave them. Simulated workers are in it only while nobody else has completed an
assignment; `metadata.simulated` then says so, and `simulated` of each conversation by what. The format does
not have these by itself, and neither has it an assignment's `consent`, which is there where the study asks
for one, or what a bot's model wrote where its worker was shown less of it: `output`, and in what the two
differ, `changes`. `metadata.words_removed`: of how many assignments the words were removed.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from server.db.rows import PERSONA_SEPARATOR
from server.db.runs import RunEntry
from server.session.instrument import TopicChangeKind

Json = dict[str, Any]

# The sentences by which the format names the kinds of change.
_ACTIONS = {
    TopicChangeKind.BOT_CHANGE: "The chatbot changed the topic.",
    TopicChangeKind.USER_CHANGE_LAST: "The user changed the topic the last input.",
    TopicChangeKind.USER_CHANGE_NEXT: "The user will change the topic in the next input.",
    TopicChangeKind.USER_WANTS_BOT_CHANGE: "The user wants the bot to change the topic.",
    TopicChangeKind.NO_CHANGE: "No topic change.",
}

_ASSIGNMENTS = """
    SELECT * FROM v1_assignment WHERE run_id = :run AND status = 'completed'
       AND assignment_id NOT IN (SELECT assignment_id FROM v1_exclusion) ORDER BY created_at"""
_REMOVED = "SELECT count(*) FROM v1_removal WHERE run_id = :run AND extent = 'words'"
_CONVERSATIONS = """
    SELECT * FROM v1_conversation WHERE run_id = :run AND status = 'rated'
       AND conversation_id NOT IN (SELECT conversation_id FROM v1_human_conversation
                                   WHERE taken_over_by IS NOT NULL)
     ORDER BY assignment_id, position"""
_RATINGS = "SELECT * FROM v1_rating WHERE run_id = :run ORDER BY conversation_id"
_TURNS = "SELECT * FROM v1_turn WHERE run_id = :run ORDER BY conversation_id, turn_index"
_OUTPUTS = "SELECT * FROM v1_reply_output WHERE run_id = :run ORDER BY conversation_id, turn_index"
_SIMULATED = "SELECT * FROM v1_simulated_conversation WHERE run_id = :run ORDER BY conversation_id"
_MARKS = "SELECT * FROM v1_topic_mark WHERE run_id = :run ORDER BY conversation_id, ordinal"
_ANSWERS = """
    SELECT v1_answer.*, v1_question.kind AS kind FROM v1_answer
    JOIN v1_question ON v1_question.run_id = v1_answer.run_id AND v1_question.part = v1_answer.part
                    AND v1_question.label = v1_answer.label
    WHERE v1_answer.run_id = :run
    ORDER BY v1_answer.assignment_id, v1_answer.conversation_id, v1_answer.ordinal"""
_PROVENANCE = (
    "tries",
    "model",
    "revision",
    "prompt_hash",
    "sampling",
    "tokens_in",
    "tokens_out",
    "cost",
    "finish_reason",
    "replica",
    "queued_ms",
    "computed_ms",
)
_CRITERIA = "SELECT * FROM v1_criterion WHERE run_id = :run ORDER BY position"
_SYSTEMS = "SELECT * FROM v1_system WHERE run_id = :run"


def export_run(connection: Connection, run: RunEntry) -> Json:
    """Return the run as the content of a `hits_data.json`."""
    conversations = _grouped(_rows(connection, run, _CONVERSATIONS), "assignment_id")
    parts = {
        "ratings": _grouped(_rows(connection, run, _RATINGS), "conversation_id"),
        "turns": _grouped(_rows(connection, run, _TURNS), "conversation_id"),
        "outputs": _grouped(_rows(connection, run, _OUTPUTS), "conversation_id"),
        "marks": _grouped(_rows(connection, run, _MARKS), "conversation_id"),
        "simulated": _grouped(_rows(connection, run, _SIMULATED), "conversation_id"),
    }
    answers = _rows(connection, run, _ANSWERS)
    parts["answers"] = _grouped((row for row in answers if row["conversation_id"]), "conversation_id")
    about_all = _grouped((row for row in answers if not row["conversation_id"]), "assignment_id")
    completed = _rows(connection, run, _ASSIGNMENTS)
    by_people = [row for row in completed if not row["simulated"]]
    simulated = {"simulated": True} if completed and not by_people else {}
    assignments = by_people or completed
    return {
        "metadata": _metadata(connection, run) | simulated | _removed(connection, run),
        "data": [
            _assignment(row, conversations.get(row["assignment_id"], []), parts)
            | _by_part(about_all.get(row["assignment_id"], []))
            for row in assignments
        ],
    }


def _rows(connection: Connection, run: RunEntry, query: str) -> list[RowMapping]:
    return list(connection.execute(text(query), {"run": run.id}).mappings())


def _removed(connection: Connection, run: RunEntry) -> Json:
    """Return of how many assignments the words were removed, under `words_removed`; nothing where of none."""
    number = connection.execute(text(_REMOVED), {"run": run.id}).scalar_one()
    return {"words_removed": int(number)} if number else {}


def _grouped(rows: Iterable[RowMapping], key: str) -> dict[str, list[RowMapping]]:
    return {name: list(group) for name, group in groupby(rows, key=itemgetter(key))}


def _metadata(connection: Connection, run: RunEntry) -> Json:
    criteria = _rows(connection, run, _CRITERIA)
    systems = sorted(_rows(connection, run, _SYSTEMS), key=itemgetter("system"))
    counts_first = sorted(criteria, key=lambda row: not row["counts_for_qc"])
    return {
        "score": {
            row["label"]: {
                "positive": not row["negative"],
                "qc": bool(row["counts_for_qc"]),
                "max": 100,
            }
            for row in criteria
        },
        "model": [row["system"] for row in systems if not row["is_qc"]],
        "qc-model": next(row["system"] for row in systems if row["is_qc"]),
        "ranking": None,
        "sorted_scores": [row["label"] for row in counts_first],
    }


def _assignment(row: RowMapping, conversations: list[RowMapping], parts: dict[str, Any]) -> Json:
    return {
        "hit": row["assignment_id"],
        "assignment": row["assignment_id"],
        "worker": row["worker"],
        "duration in seconds": _seconds(row),
        "result": [_conversation(c, parts) for c in conversations],
        "feedback": row["feedback"] or "None",
    } | consent_in(row)


def consent_in(row: RowMapping) -> Json:
    """Return what an assignment's worker consented to, under `consent`; nothing where nothing was asked."""
    if row["consent_version"] is None:
        return {}
    ticked = row["consent_ticked"].split(",") if row["consent_ticked"] else []
    return {"consent": {"version": row["consent_version"], "ticked": ticked}}


def provenance_in(turn: RowMapping) -> Json:
    """Return where a bot's line came from, under `provenance`; nothing where its bot told nothing."""
    if turn["tries"] is None:
        return {}
    return {"provenance": {name: turn[name] for name in _PROVENANCE if turn[name] is not None}}


def _by_part(rows: list[RowMapping]) -> Json:
    """Return the answers before and after all conversations, by their part; nothing where there are none."""
    parts = {
        part: _answered([row for row in rows if row["part"] == part])["answers"]
        for part in dict.fromkeys(row["part"] for row in rows)
    }
    return {"answers": parts} if parts else {}


def _answered(rows: list[RowMapping]) -> Json:
    """Return the answers to a study's own questions, by their labels; nothing where there are none.

    A question of which several choices were picked has a list.
    """
    answers: Json = {}
    for row in rows:
        value = row["number"] if row["text"] is None else row["text"]
        if row["kind"] == "choices":
            answers.setdefault(row["label"], []).append(value)
        else:
            answers[row["label"]] = value
    return {"answers": answers} if answers else {}


def _seconds(row: RowMapping) -> float:
    agreed, ended = (_time(row[name]) for name in ("agreed_at", "ended_at"))
    return (ended - agreed).total_seconds()


def _time(value: str | datetime) -> datetime:
    # A view has no column types: SQLite hands times over as the text it keeps.
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _conversation(row: RowMapping, parts: dict[str, Any]) -> Json:
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
    content |= _answered(own["answers"])
    for simulated in own["simulated"]:
        content["simulated"] = simulated["simulated_as"] or True
    if row["persona"]:
        content["persona"] = row["persona"].split(PERSONA_SEPARATOR)
    return content
