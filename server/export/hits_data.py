"""Write a run in the format `hits_data`: its completed assignments, by the study's task.

It contains only completed assignments that nobody has excluded, and rated conversations. Simulated workers
are in it only while nobody else has completed an assignment. Ratings are as the worker gave them. Everything
else can be read from the views.

Chats are written as `hits_data.json`, the format of the published experiment, without those with a person
from whom a bot took over. That format does not have by itself: `metadata.simulated`, and `simulated` of each
conversation, by what; `metadata.words_removed`, of how many assignments the words were removed;
`metadata.people`, which systems are people; an assignment's `consent`, where the study asks for one; `output`
and `changes`, what a bot's model wrote where its worker was shown less of it; and `facts` of a conversation,
its later columns in `v1_conversation`.

Item ratings and side-by-side comparisons are written as JSON Lines. The first line is a header: the format
and its version, the run, its criteria and its systems, and the kind of comparison. Each further line is an
assignment. Its items are in the order shown; `twin_of` is the position of the ordinary item that a bad twin,
a repeat or a reference belongs to. Its pairs are in order, only judged ones: the left and right systems, the
turns with the provenance of replies, the preferences with their turns, and the ratings of each. The `answers`
to a study's own questions are with the assignment, the item, or the side of the pair that they are about.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from sqlalchemy import Connection, RowMapping

from server.db.runs.runs import RunEntry
from server.db.tables import PERSONA_SEPARATOR
from server.export.completed import (
    CompletedAssignment,
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
from server.study import parse_study

_Parts = Mapping[str, Mapping[str, Sequence[RowMapping]]]

# The format's sentences for the kinds of topic changes.
_ACTIONS = {
    TopicChangeKind.BOT_CHANGE: "The chatbot changed the topic.",
    TopicChangeKind.USER_CHANGE_LAST: "The user changed the topic the last input.",
    TopicChangeKind.USER_CHANGE_NEXT: "The user will change the topic in the next input.",
    TopicChangeKind.USER_WANTS_BOT_CHANGE: "The user wants the bot to change the topic.",
    TopicChangeKind.NO_CHANGE: "No topic change.",
}

_REMOVED = "SELECT count(*) AS number FROM v1_removal WHERE run_id = :run AND extent = 'words'"
_CHATS = """
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
_SYSTEMS = "SELECT * FROM v1_system WHERE run_id = :run ORDER BY system"


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
        conversations = rows(connection, run, _CHATS, ids)
        held = grouped(conversations, "assignment_id")
        parts = _parts(connection, run, [row["conversation_id"] for row in conversations])
        about_all, parts["answers"] = _answers(connection, run, ids)
        for row in some:
            key = row["assignment_id"]
            yield _assignment(row, held.get(key, []), parts) | _by_part(about_all.get(key, []))


def _answers(
    connection: Connection, run: RunEntry, ids: Sequence[str]
) -> tuple[Mapping[str, list[RowMapping]], Mapping[str, list[RowMapping]]]:
    """Return the answers about no conversation, by assignment, and the others, by conversation."""
    found = rows(connection, run, _ANSWERS, ids)
    return (
        grouped([row for row in found if not row["conversation_id"]], "assignment_id"),
        grouped([row for row in found if row["conversation_id"]], "conversation_id"),
    )


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


def _by_part(rows: Sequence[RowMapping]) -> Json:
    """Return the answers before and after all conversations, by part; nothing if there are none."""
    parts = {
        part: _answered([row for row in rows if row["part"] == part])["answers"]
        for part in dict.fromkeys(row["part"] for row in rows)
    }
    return {"answers": parts} if parts else {}


def _answered(rows: Sequence[RowMapping]) -> Json:
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


VERSION = 1  # of both formats of JSON Lines

_CONVERSATIONS = """
    SELECT * FROM v1_conversation WHERE run_id = :run AND status = 'rated' AND assignment_id IN :ids
     ORDER BY assignment_id, position"""
_CHOICES = """
    SELECT * FROM v1_choice WHERE run_id = :run AND assignment_id IN :ids
     ORDER BY left_conversation_id, turn_index"""
_RATINGS = """
    SELECT * FROM v1_rating WHERE run_id = :run AND conversation_id IN :ids
     ORDER BY conversation_id, criterion"""
_TURNS = """
    SELECT * FROM v1_turn WHERE run_id = :run AND conversation_id IN :ids
     ORDER BY conversation_id, turn_index"""


def choice_lines(connection: Connection, run: RunEntry) -> Iterator[Json]:
    """Yield the lines of the file: the header, then each completed assignment."""
    written = completed(connection, run)
    comparison = parse_study(run.yaml).comparison
    yield _header("candor-choices", run, written) | {
        "comparison": comparison.model_dump(exclude={"pairs"}) if comparison else None,
        "criteria": criteria(connection, run),
        "systems": [
            {"system": row["system"], "family": row["family"], "is_qc": bool(row["is_qc"])}
            for row in rows(connection, run, _SYSTEMS)
        ],
    }
    for some in assignments(connection, run, written.ids):
        ids = [row["assignment_id"] for row in some]
        conversations = rows(connection, run, _CONVERSATIONS, ids)
        held = grouped(conversations, "assignment_id")
        both = [row["conversation_id"] for row in conversations]
        parts: dict[str, Mapping[str, Sequence[RowMapping]]] = {
            "choices": grouped(rows(connection, run, _CHOICES, ids), "left_conversation_id"),
            "ratings": grouped(rows(connection, run, _RATINGS, both), "conversation_id"),
            "turns": grouped(rows(connection, run, _TURNS, both), "conversation_id"),
        }
        about_all, parts["answers"] = _answers(connection, run, ids)
        for row in some:
            sides = held.get(row["assignment_id"], [])
            yield {
                "assignment": row["assignment_id"],
                "worker": row["worker"],
                "duration_seconds": seconds(row),
                "feedback": row["feedback"] or None,
                "pairs": [
                    _pair(left, right, parts) for left, right in zip(sides[::2], sides[1::2], strict=True)
                ],
            } | _by_part(about_all.get(row["assignment_id"], []))


def _header(form: str, run: RunEntry, written: CompletedAssignment) -> Json:
    return {
        "format": form,
        "version": VERSION,
        "run": run.slug,
        "study": parse_study(run.yaml).name,
        "assignments": len(written.ids),
        "simulated": written.simulated,
    }


def _pair(left: RowMapping, right: RowMapping, parts: _Parts) -> Json:
    both = [left, right]
    facts = {
        side: told
        for side, row in zip(("left", "right"), both, strict=True)
        for told in facts_in(row).values()
    }
    content: Json = {
        "pair": right["position"] // 2,
        "left": left["system"],
        "right": right["system"],
        "choices": [
            {"turn": choice["turn_index"], "preference": choice["preference"]}
            for choice in parts["choices"].get(left["conversation_id"], [])
        ],
        "ratings": {
            side: {
                rating["criterion"]: rating["value"]
                for rating in parts["ratings"].get(row["conversation_id"], [])
            }
            for side, row in zip(("left", "right"), both, strict=True)
        },
        "lines": _lines(*(parts["turns"].get(row["conversation_id"], []) for row in both)),
    }
    answers = {
        side: told
        for side, row in zip(("left", "right"), both, strict=True)
        for told in _answered(parts["answers"].get(row["conversation_id"], [])).values()
    }
    return content | ({"answers": answers} if answers else {}) | ({"facts": facts} if facts else {})


def _lines(left: Sequence[RowMapping], right: Sequence[RowMapping]) -> list[Json]:
    """Return the turns of a pair. A missing reply is null.

    `provenance`: that of the two replies, by side, as far as their bots report it.
    """
    replies: dict[int, dict[str, str]] = {}
    made: dict[int, Json] = {}
    lines: dict[int, Json] = {}
    for side, turns in (("left", left), ("right", right)):
        for turn in turns:
            if turn["author"] == "worker":
                lines[turn["turn_index"]] = {"author": "worker", "text": turn["text"]}
            else:
                replies.setdefault(turn["turn_index"], {})[side] = turn["text"]
                for told in provenance_in(turn).values():
                    made.setdefault(turn["turn_index"], {})[side] = told
    for index, both in replies.items():
        lines[index] = {"author": "bot", "left": both.get("left"), "right": both.get("right")}
        if index in made:
            lines[index]["provenance"] = made[index]
    return [{"turn": index, **lines[index]} for index in sorted(lines)]


_ByPlace = dict[tuple[str, int], RowMapping]  # by assignment and position

_ITEM_RATINGS = """
    SELECT * FROM v1_item_rating WHERE run_id = :run AND assignment_id IN :ids
     ORDER BY assignment_id, position, criterion"""
_EDITS = "SELECT * FROM v1_item_edit WHERE run_id = :run AND assignment_id IN :ids"


def item_lines(connection: Connection, run: RunEntry) -> Iterator[Json]:
    """Yield the lines of the file: the header, then one per completed assignment."""
    written = completed(connection, run)
    yield _header("candor-item-ratings", run, written) | {
        "criteria": criteria(connection, run),
        "systems": [
            {"system": row["system"], "family": row["family"]} for row in rows(connection, run, _SYSTEMS)
        ],
    }
    for some in assignments(connection, run, written.ids):
        ids = [row["assignment_id"] for row in some]
        ratings = grouped(rows(connection, run, _ITEM_RATINGS, ids), "assignment_id")
        edits = _by_place(rows(connection, run, _EDITS, ids))
        conversations = _by_place(rows(connection, run, _CONVERSATIONS, ids))
        about_all, answers = _answers(connection, run, ids)
        for row in some:
            yield (
                {
                    "assignment": row["assignment_id"],
                    "worker": row["worker"],
                    "duration_seconds": seconds(row),
                    "feedback": row["feedback"] or None,
                    "items": list(
                        _items(ratings.get(row["assignment_id"], []), edits, conversations, answers)
                    ),
                }
                | _by_part(about_all.get(row["assignment_id"], []))
                | consent_in(row)
            )


def _by_place(found: Iterable[RowMapping]) -> _ByPlace:
    return {(row["assignment_id"], row["position"]): row for row in found}


def _items(
    ratings: Sequence[RowMapping],
    edits: _ByPlace,
    conversations: _ByPlace,
    answers: Mapping[str, Sequence[RowMapping]],
) -> Iterator[Json]:
    for position, given in groupby(ratings, key=itemgetter("position")):
        rated = list(given)
        first = rated[0]
        item = {
            "position": position,
            "item": first["item_id"],
            "source": first["source"],
            "source_conversation": first["source_conversation_id"],
            "system": first["system"],
            "kind": first["kind"],
            "twin_of": first["twin_of"],
            "seconds": round(first["seconds"], 3),
            "ratings": {row["criterion"]: row["value"] for row in rated},
        }
        shown = conversations[first["assignment_id"], position]
        item |= _answered(answers.get(shown["conversation_id"], [])) | facts_in(shown)
        edit = edits.get((first["assignment_id"], position))
        if edit is not None:
            item |= {"edited_text": edit["edited_text"], "edit_share": edit["edit_share"]}
        yield item
