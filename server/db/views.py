"""The versioned SQL views that readers of the database use instead of the tables.

`qc` and all other analyses read these views; the tables may change underneath. A change that a reader would
notice makes a new version beside the old one: `V2` has the newer forms of the views that have changed. A new
view or a new last column is no such change: `V1_ITEMS`, `V1_RUN`, `V1_RUN_OF_A_KIND` and `V1_ASSIGNMENT` came
after `V1`. None of these definitions ever changes, because migrations have created views from them.

A new column of `v1_conversation` or `v1_turn` is an `ExportedFact` in `FACTS`: all exports and `qc` carry it.

`overran`: the bot took longer than the delay drawn for the reply, so the reply was shown as soon as it came.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

VERSION = 1

Kind = Literal["text", "integer", "number", "flag", "time"]
FactView = Literal["v1_conversation", "v1_turn"]


@dataclass(frozen=True, slots=True)
class ExportedFact:
    """A later column of a view, with its place in every export.

    Files of the views have it as a column. The published form has it under `facts` of a conversation or
    under `provenance` of a reply, unless it is null.

    Attributes:
        column: its name.
        kind: the type of its values that are not null.
        sql: computes it from the tables of the view.
    """

    column: str
    kind: Kind
    sql: str


def with_facts(view: str, facts: Iterable[ExportedFact]) -> str:
    """Return the query of a view with further columns at its end."""
    return view.replace("\n        FROM", f",\n               {_selected(facts)}\n        FROM", 1)


def _selected(facts: Iterable[ExportedFact]) -> str:
    return ",\n               ".join(f"{fact.sql} AS {fact.column}" for fact in facts)


V1: dict[str, str] = {
    "v1_version": "SELECT 1 AS version",
    "v1_run": """
        SELECT run.id AS run_id, run.slug AS run, study.name AS study, study.hash AS study_hash,
               run.status AS status, run.created_at AS created_at
        FROM run JOIN study ON study.id = run.study_id""",
    "v1_criterion": """
        SELECT run.id AS run_id, criterion.position AS position, criterion.label AS label,
               criterion.statement AS statement, criterion.negative AS negative,
               criterion.counts_for_qc AS counts_for_qc
        FROM run JOIN criterion ON criterion.study_id = run.study_id""",
    "v1_system": """
        SELECT run.id AS run_id, system.name AS system, system.family AS family, system.is_qc AS is_qc
        FROM run JOIN system ON system.study_id = run.study_id""",
    "v1_assignment": """
        SELECT assignment.run_id AS run_id, assignment.id AS assignment_id, worker.pseudonym AS worker,
               assignment.simulated AS simulated, assignment.status AS status,
               assignment.created_at AS created_at, assignment.agreed_at AS agreed_at,
               assignment.active_at AS active_at, assignment.ended_at AS ended_at,
               assignment.feedback AS feedback
        FROM assignment JOIN worker ON worker.id = assignment.worker_id""",
    "v1_conversation": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               conversation.id AS conversation_id, conversation.position AS position,
               conversation.attempt AS attempt, system.name AS system, system.family AS family,
               system.is_qc AS is_qc, conversation.persona <> '' AS has_persona,
               conversation.persona AS persona, conversation.status AS status,
               conversation.started_at AS started_at, conversation.ended_at AS ended_at,
               conversation.rated_at AS rated_at
        FROM conversation
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN system ON system.id = conversation.system_id""",
    "v1_rating": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               rating.conversation_id AS conversation_id, rating.criterion AS criterion,
               rating.value AS value
        FROM rating
        JOIN conversation ON conversation.id = rating.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id""",
    "v1_turn": """
        SELECT assignment.run_id AS run_id, turn.conversation_id AS conversation_id,
               turn.turn_index AS turn_index, turn.author AS author, turn.text AS text,
               turn.latency_ms AS latency_ms, turn.created_at AS created_at,
               turn.show_at AS show_at, turn.author = 'bot' AND turn.show_at = turn.created_at AS overran
        FROM turn
        JOIN conversation ON conversation.id = turn.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id""",
    "v1_topic_mark": """
        SELECT assignment.run_id AS run_id, topic_mark.conversation_id AS conversation_id,
               topic_mark.ordinal AS ordinal, topic_mark.round AS round, topic_mark.topic AS topic,
               topic_mark.how AS how, topic_mark.opinion AS opinion, topic_mark.bot_opinion AS bot_opinion
        FROM topic_mark
        JOIN conversation ON conversation.id = topic_mark.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id""",
    "v1_note": """
        SELECT assignment.run_id AS run_id, note.conversation_id AS conversation_id,
               note.kind AS kind, note.text AS text, note.created_at AS created_at
        FROM note
        JOIN conversation ON conversation.id = note.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id""",
}

V2: dict[str, str] = {
    "v2_note": """
        SELECT assignment.run_id AS run_id, note.conversation_id AS conversation_id,
               note.kind AS kind, note.failure AS failure, note.text AS text, note.created_at AS created_at
        FROM note
        JOIN conversation ON conversation.id = note.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id""",
}

# `task`: `chat`, or `transcripts` if workers rate items.
V1_RUN = """
        SELECT run.id AS run_id, run.slug AS run, study.name AS study, study.hash AS study_hash,
               run.status AS status, run.created_at AS created_at, study.task AS task
        FROM run JOIN study ON study.id = run.study_id"""

# `kind`: `study`, or `rehearsal`, in which all workers are simulated; its data must not be mixed with others.
V1_RUN_OF_A_KIND = """
        SELECT run.id AS run_id, run.slug AS run, study.name AS study, study.hash AS study_hash,
               run.status AS status, run.created_at AS created_at, study.task AS task, run.kind AS kind
        FROM run JOIN study ON study.id = run.study_id"""

# Assignments that the researchers exclude from every analysis, with the reason.
V1_EXCLUSIONS: dict[str, str] = {
    "v1_exclusion": """
        SELECT assignment.run_id AS run_id, exclusion.assignment_id AS assignment_id,
               exclusion.reason AS reason, exclusion.excluded_at AS excluded_at
        FROM exclusion JOIN assignment ON assignment.id = exclusion.assignment_id""",
}

# Assignments whose texts, or all data, were removed: at the worker's request, by withdrawal, or after its
# time.
V1_REMOVAL: dict[str, str] = {
    "v1_removal": """
        SELECT assignment.run_id AS run_id, removal.assignment_id AS assignment_id,
               removal.extent AS extent, removal.cause AS cause, removal.at AS removed_at
        FROM removal JOIN assignment ON assignment.id = removal.assignment_id""",
}

SECONDS = {
    "sqlite": "(julianday(conversation.rated_at) - julianday(conversation.started_at)) * 86400.0",
    "postgresql": "CAST(EXTRACT(EPOCH FROM conversation.rated_at - conversation.started_at) AS float)",
}

# For runs whose workers rate items. `value` is as the worker gave it, as in `v1_rating`. `twin_of` is the
# position in the assignment of the ordinary item that a bad twin, a repeat or a reference belongs to.
# `seconds` is the time from showing the item to its rating, computed as in `SECONDS` for each kind of
# database.
V1_ITEMS: dict[str, str] = {
    "v1_item_rating": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               worker.pseudonym AS worker_id, conversation.position AS position, item.name AS item_id,
               item.source AS source, item.source_conversation_id AS source_conversation_id,
               system.name AS system, system.family AS family, shown_item.kind AS kind,
               shown_item.twin_of AS twin_of, rating.criterion AS criterion, rating.value AS value,
               conversation.started_at AS started_at, conversation.rated_at AS rated_at,
               {seconds} AS seconds
        FROM shown_item
        JOIN item ON item.id = shown_item.item_id
        JOIN system ON system.id = item.system_id
        JOIN conversation ON conversation.id = shown_item.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN worker ON worker.id = assignment.worker_id
        JOIN rating ON rating.conversation_id = conversation.id""",
    "v1_item_edit": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               worker.pseudonym AS worker_id, conversation.position AS position, item.name AS item_id,
               item.source AS source, item.source_conversation_id AS source_conversation_id,
               system.name AS system, system.family AS family, shown_item.kind AS kind,
               shown_item.twin_of AS twin_of, item_edit.text AS edited_text, item_edit.share AS edit_share
        FROM shown_item
        JOIN item ON item.id = shown_item.item_id
        JOIN system ON system.id = item.system_id
        JOIN conversation ON conversation.id = shown_item.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN worker ON worker.id = assignment.worker_id
        JOIN item_edit ON item_edit.conversation_id = conversation.id""",
    "v1_tutorial_answer": """
        SELECT assignment.run_id AS run_id, tutorial_answer.assignment_id AS assignment_id,
               tutorial_answer.id AS ordinal, tutorial_answer.question AS question,
               tutorial_answer.answer AS answer, tutorial_answer.is_right AS is_right,
               tutorial_answer.created_at AS created_at
        FROM tutorial_answer JOIN assignment ON assignment.id = tutorial_answer.assignment_id""",
}

# The items of a run in their forms: `ordinary`, `bad` (the bad twin) and `reference`. `item_group`: the
# passage, document or prompt that they are about. `content` is JSON with `context`, `text`, and the `lines`
# of a conversation.
V1_ITEM: dict[str, str] = {
    "v1_item": """
        SELECT item.run_id AS run_id, item.name AS item_id, item.form AS form, item.item_group AS item_group,
               system.name AS system, item.source AS source,
               item.source_conversation_id AS source_conversation_id, item.content AS content
        FROM item JOIN system ON system.id = item.system_id""",
}

# For runs whose workers compare two systems side by side. For pair `pair` of an assignment, the left
# conversation has position 2 · pair − 1 in `v1_conversation`, the right one 2 · pair. `preference` (`left`,
# `tie` or `right`) was given after line `turn_index` of both; if workers choose at the end, there is one row
# for the whole.
V1_CHOICE: dict[str, str] = {
    "v1_choice": """
        SELECT assignment.run_id AS run_id, left_one.assignment_id AS assignment_id,
               worker.pseudonym AS worker, right_one.position / 2 AS pair, left_one.attempt AS attempt,
               left_one.id AS left_conversation_id, right_one.id AS right_conversation_id,
               left_system.name AS left_system, right_system.name AS right_system,
               left_system.is_qc AS left_is_qc, right_system.is_qc AS right_is_qc,
               choice.turn_index AS turn_index, choice.preference AS preference,
               choice.created_at AS chosen_at
        FROM choice
        JOIN conversation AS left_one ON left_one.id = choice.conversation_id
        JOIN conversation AS right_one
          ON right_one.assignment_id = left_one.assignment_id AND right_one.side = 'right'
         AND right_one.position = left_one.position + 1 AND right_one.attempt = left_one.attempt
        JOIN system AS left_system ON left_system.id = left_one.system_id
        JOIN system AS right_system ON right_system.id = right_one.system_id
        JOIN assignment ON assignment.id = left_one.assignment_id
        JOIN worker ON worker.id = assignment.worker_id""",
}

# `v1_assignment` with the worker's consent: the version of the study's consent, and the labels of the ticked
# boxes, separated by commas. NULL if the study has no consent form.
V1_ASSIGNMENT = V1["v1_assignment"].replace(
    "assignment.feedback AS feedback",
    "assignment.feedback AS feedback, assignment.consent_version AS consent_version,\n"
    "               assignment.consent_ticked AS consent_ticked",
)
# For studies with questions of their own. `choices` of a question has one choice a line. An answer is a text
# or a number; each of several choices is a row. `conversation_id` and `system` are null before and after all
# conversations.
V1_ANSWERS: dict[str, str] = {
    "v1_question": """
        SELECT run.id AS run_id, question.part AS part, question.position AS position,
               question.label AS label, question.kind AS kind, question.question AS question,
               question.choices AS choices, question.points AS points
        FROM run JOIN question ON question.study_id = run.study_id""",
    "v1_answer": """
        SELECT assignment.run_id AS run_id, answer.assignment_id AS assignment_id,
               worker.pseudonym AS worker, answer.conversation_id AS conversation_id,
               system.name AS system, answer.part AS part, answer.label AS label, answer.id AS ordinal,
               answer.text AS text, answer.number AS number, answer.created_at AS created_at
        FROM answer
        JOIN assignment ON assignment.id = answer.assignment_id
        JOIN worker ON worker.id = assignment.worker_id
        LEFT JOIN conversation ON conversation.id = answer.conversation_id
        LEFT JOIN system ON system.id = conversation.system_id""",
}

# The scenarios of conversations, if a study has any.
V1_SCENARIO: dict[str, str] = {
    "v1_scenario": """
        SELECT assignment.run_id AS run_id, conversation.id AS conversation_id, system.name AS system,
               conversation.scenario AS scenario
        FROM conversation
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN system ON system.id = conversation.system_id
        WHERE conversation.scenario IS NOT NULL""",
}

# Workers' ratings of single replies, from 0 to 100: the last rating of each.
V1_TURN_RATING: dict[str, str] = {
    "v1_turn_rating": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               worker.pseudonym AS worker, conversation.id AS conversation_id, system.name AS system,
               turn_rating.turn_index AS turn_index, turn_rating.value AS value,
               turn_rating.created_at AS created_at
        FROM turn_rating
        JOIN conversation ON conversation.id = turn_rating.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN worker ON worker.id = assignment.worker_id
        JOIN system ON system.id = conversation.system_id
        WHERE NOT EXISTS (
            SELECT 1 FROM turn_rating AS later
            WHERE later.conversation_id = turn_rating.conversation_id
              AND later.turn_index = turn_rating.turn_index AND later.id > turn_rating.id)""",
}

# The conversations of simulated workers. `simulated_as` describes the simulation, as far as it is known.
V1_SIMULATED: dict[str, str] = {
    "v1_simulated_conversation": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               conversation.id AS conversation_id, assignment.simulated_as AS simulated_as
        FROM conversation JOIN assignment ON assignment.id = conversation.assignment_id
        WHERE assignment.simulated""",
}

# Conversations whose chat partner was another worker. Two paired workers have each other's conversation as
# `partner_conversation_id`, which is null if nobody came. From line `taken_over_from` on, the bot
# `taken_over_by` has answered, because `nobody_came`, or the person was `silent` or had `left`: these are no
# conversations with a person, and must not count in any score of that system.
V1_HUMAN: dict[str, str] = {
    "v1_human_conversation": """
        SELECT human_conversation.run_id AS run_id, conversation.assignment_id AS assignment_id,
               human_conversation.conversation_id AS conversation_id, system.name AS system,
               human_conversation.partner_id AS partner_conversation_id,
               human_conversation.waiting_since AS waiting_since, human_conversation.met_at AS met_at,
               human_conversation.taken_over_by AS taken_over_by,
               human_conversation.taken_over_from AS taken_over_from,
               human_conversation.taken_over_because AS taken_over_because
        FROM human_conversation
        JOIN conversation ON conversation.id = human_conversation.conversation_id
        JOIN system ON system.id = conversation.system_id""",
}

# Lines for which a researcher was asked to answer in a chatbot's place, and who did, under a pseudonym.
V1_WIZARD: dict[str, str] = {
    "v1_wizard_line": """
        SELECT assignment.run_id AS run_id, wizard_line.conversation_id AS conversation_id,
               system.name AS system, wizard_line.turn_index AS turn_index,
               wizard_line.asked_at AS asked_at, wizard_line.answered_at AS answered_at,
               wizard_line.answered_by AS answered_by
        FROM wizard_line
        JOIN conversation ON conversation.id = wizard_line.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN system ON system.id = conversation.system_id""",
}

# How messages were written, as counted by workers' pages, without content. Only for studies that record it.
V1_WRITING: dict[str, str] = {
    "v1_writing": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               writing.conversation_id AS conversation_id, system.name AS system,
               writing.turn_index AS turn_index, writing.typed AS typed, writing.composed AS composed,
               writing.pasted AS pasted, writing.pastes AS pastes, writing.writing_ms AS writing_ms,
               writing.longest_pause_ms AS longest_pause_ms, writing.away AS away,
               writing.away_ms AS away_ms
        FROM writing
        JOIN conversation ON conversation.id = writing.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN system ON system.id = conversation.system_id""",
}

# Messages that workers have reported: the reason, also in their own words; whether they left the study with
# the report; when they took it back; and when a researcher marked it as seen. `line` is the text; null for an
# item.
V1_MESSAGE_REPORT: dict[str, str] = {
    "v1_message_report": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               worker.pseudonym AS worker, message_report.conversation_id AS conversation_id,
               system.name AS system, message_report.turn_index AS turn_index,
               message_report.id AS ordinal, turn.text AS line, message_report.reason AS reason,
               message_report.note AS note, message_report.leaves AS left_with_it,
               message_report.created_at AS reported_at, message_report.taken_back_at AS taken_back_at,
               message_report.seen_at AS seen_at
        FROM message_report
        JOIN conversation ON conversation.id = message_report.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN worker ON worker.id = assignment.worker_id
        JOIN system ON system.id = conversation.system_id
        LEFT JOIN turn ON turn.conversation_id = message_report.conversation_id
                      AND turn.turn_index = message_report.turn_index""",
}

# The moderation service's results for lines, in studies that use it. `flagged` is null for a line that the
# service would not judge. Lines that were not sent to it have no row.
V1_MODERATED_LINE: dict[str, str] = {
    "v1_moderated_line": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               moderated_line.conversation_id AS conversation_id, system.name AS system,
               moderated_line.turn_index AS turn_index, turn.author AS author,
               moderated_line.flagged AS flagged, moderated_line.categories AS categories,
               moderated_line.score AS score, moderated_line.model AS model,
               moderated_line.judged_at AS judged_at
        FROM moderated_line
        JOIN turn ON turn.conversation_id = moderated_line.conversation_id
                 AND turn.turn_index = moderated_line.turn_index
        JOIN conversation ON conversation.id = moderated_line.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN system ON system.id = conversation.system_id""",
}

# The outputs of bots' models, if they differ from the replies shown: never sent to a worker.
V1_REPLY_OUTPUT: dict[str, str] = {
    "v1_reply_output": """
        SELECT assignment.run_id AS run_id, reply_output.conversation_id AS conversation_id,
               system.name AS system, reply_output.turn_index AS turn_index, turn.text AS text,
               reply_output.output AS output, reply_output.changes AS changes
        FROM reply_output
        JOIN turn ON turn.conversation_id = reply_output.conversation_id
                 AND turn.turn_index = reply_output.turn_index
        JOIN conversation ON conversation.id = reply_output.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN system ON system.id = conversation.system_id""",
}

# The calls that bots have answered, also failed ones, with the model's output if it was no valid reply.
_CALL = (
    ExportedFact("tries", "integer", "bot_call.tries"),
    ExportedFact("model", "text", "bot_call.model"),
    ExportedFact("revision", "text", "bot_call.revision"),
    ExportedFact("prompt_hash", "text", "bot_call.prompt_hash"),
    ExportedFact("sampling", "text", "bot_call.sampling"),
    ExportedFact("tokens_in", "integer", "bot_call.tokens_in"),
    ExportedFact("tokens_out", "integer", "bot_call.tokens_out"),
    ExportedFact("cost", "number", "bot_call.cost"),
    ExportedFact("finish_reason", "text", "bot_call.finish_reason"),
    ExportedFact("replica", "text", "bot_call.replica"),
    ExportedFact("queued_ms", "integer", "bot_call.queued_ms"),
    ExportedFact("computed_ms", "integer", "bot_call.computed_ms"),
)
V1_BOT_CALL: dict[str, str] = {
    "v1_bot_call": f"""
        SELECT assignment.run_id AS run_id, bot_call.conversation_id AS conversation_id,
               system.name AS system, bot_call.turn_index AS turn_index, bot_call.failure AS failure,
               {_selected(_CALL)}, bot_call.output AS output, bot_call.created_at AS created_at
        FROM bot_call
        JOIN conversation ON conversation.id = bot_call.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN system ON system.id = conversation.system_id""",  # noqa: S608
}
# `v1_turn` with the origin of a bot's line; these columns are null if its bot told nothing.
V1_TURN: dict[str, str] = {
    "v1_turn": with_facts(V1["v1_turn"], _CALL).replace(
        "JOIN conversation ON",
        """LEFT JOIN bot_call ON bot_call.conversation_id = turn.conversation_id
                          AND bot_call.turn_index = turn.turn_index AND bot_call.failure IS NULL
        JOIN conversation ON""",
        1,
    ),
}
# The probability with which the item of a conversation was drawn to be rated; null if all items were to be,
# and for conversations that workers hold themselves.
_DRAWN_ITEM = (
    ExportedFact(
        "rating_probability",
        "number",
        "(SELECT item.rating_probability FROM shown_item JOIN item ON item.id = shown_item.item_id\n"
        "                WHERE shown_item.conversation_id = conversation.id)",
    ),
)
V1_CONVERSATION: dict[str, str] = {"v1_conversation": with_facts(V1["v1_conversation"], _DRAWN_ITEM)}
# The facts of the views in use, in the order of their columns.
FACTS: dict[FactView, tuple[ExportedFact, ...]] = {"v1_conversation": _DRAWN_ITEM, "v1_turn": _CALL}

# The same with the number of points of the scale, 2 for thumbs: `value` is the point's place between 0 and
# 100.
V1_TURN_RATING_WITH_POINTS: dict[str, str] = {
    name: view.replace(
        "turn_rating.created_at AS created_at",
        "turn_rating.created_at AS created_at, study.turn_points AS points",
    ).replace(
        "JOIN worker ON",
        "JOIN run ON run.id = assignment.run_id\n        JOIN study ON study.id = run.study_id\n"
        "        JOIN worker ON",
    )
    for name, view in V1_TURN_RATING.items()
}

# The quiz after a conversation. `choices`: the number of lines shown; 0 if there was no quiz, and `why_not`
# says why. `choice` and `is_right` are null until it is answered, and if it never was. The partner's line is
# the one with `is_right` in `v1_quiz_line`; it is line `turn_index` of `said_in_conversation_id`, which is
# then the conversation itself.
V1_QUIZ: dict[str, str] = {
    "v1_quiz": """
        SELECT assignment.run_id AS run_id, conversation.assignment_id AS assignment_id,
               worker.pseudonym AS worker, conversation.id AS conversation_id, system.name AS system,
               (SELECT count(*) FROM quiz_line WHERE quiz_line.conversation_id = quiz.conversation_id)
                   AS choices,
               quiz.why_not AS why_not, quiz.choice AS choice, quiz.is_right AS is_right,
               quiz.asked_at AS asked_at, quiz.answered_at AS answered_at
        FROM quiz
        JOIN conversation ON conversation.id = quiz.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id
        JOIN worker ON worker.id = assignment.worker_id
        JOIN system ON system.id = conversation.system_id""",
    "v1_quiz_line": """
        SELECT assignment.run_id AS run_id, quiz_line.conversation_id AS conversation_id,
               quiz_line.choice AS choice, quiz_line.text AS text,
               quiz_line.said_in_id = quiz_line.conversation_id AS is_right,
               quiz_line.said_in_id AS said_in_conversation_id, quiz_line.turn_index AS turn_index
        FROM quiz_line
        JOIN conversation ON conversation.id = quiz_line.conversation_id
        JOIN assignment ON assignment.id = conversation.assignment_id""",
}
# The same with what a quiz is about: `lines`, or `personas`, of which only the partner's has a conversation,
# and none a turn.
V1_QUIZ_WITH_PERSONAS = {
    "v1_quiz": V1_QUIZ["v1_quiz"].replace("AS answered_at", "AS answered_at, quiz.about AS about"),
    "v1_quiz_line": V1_QUIZ["v1_quiz_line"].replace(
        "quiz_line.said_in_id = quiz_line.conversation_id AS",
        "COALESCE(quiz_line.said_in_id = quiz_line.conversation_id, FALSE) AS",
    ),
}

# Pay for every submission of a run on a platform, in cents of `currency`: the decision that counts, the
# platform's payment of the reward, bonuses sent and not yet seen as paid, and bonuses seen as paid. `ordinal`
# numbers the submissions. `assignment_id` and `worker` are null for submissions whose workers never came
# here. `decided_cents` and `paid_cents` are null if the amount is unknown, as for a paid screen-out.
V1_SUBMISSION_PAY: dict[str, str] = {
    "v1_submission_pay": """
        SELECT pay.run_id AS run_id, pay.ordinal AS ordinal, assignment.id AS assignment_id,
               worker.pseudonym AS worker, pay.platform_status AS platform_status, pay.currency AS currency,
               pay.reward AS reward_cents, payment_decision.decision AS decision,
               payment_decision.decided_at AS decided_at,
               CASE WHEN payment_decision.decision = 'approve' THEN pay.reward
                    WHEN payment_decision.decision = 'partial'
                    THEN (pay.reward * payment_decision.share + 50) / 100
                    WHEN payment_decision.decision IN ('reject', 'request_return') THEN 0
               END AS decided_cents,
               CASE WHEN pay.platform_status IN ('APPROVED', 'PARTIALLY APPROVED')
                    THEN (pay.reward * pay.paid_share + 50) / 100
                    WHEN pay.platform_status NOT IN ('SCREENED OUT', 'UNKNOWN') THEN 0
               END AS paid_cents,
               COALESCE(pay.bonus_sent, 0) AS bonus_sent_cents,
               COALESCE(pay.bonus_paid, 0) AS bonus_paid_cents
        FROM (
            SELECT recruitment.run_id AS run_id, recruitment.currency AS currency,
                   recruitment.reward AS reward, submission.status AS platform_status,
                   ROW_NUMBER() OVER (PARTITION BY recruitment.id ORDER BY submission.id) AS ordinal,
                   (SELECT MAX(visit.assignment_id) FROM visit
                    JOIN assignment ON assignment.id = visit.assignment_id
                    WHERE visit.visit = submission.id AND assignment.run_id = recruitment.run_id
                   ) AS assignment_id,
                   (SELECT MAX(payment_decision.id) FROM payment_decision
                    WHERE payment_decision.submission_id = submission.id) AS decision_id,
                   CASE WHEN submission.status = 'APPROVED' THEN COALESCE(submission.paid_share, 100)
                        ELSE COALESCE(
                            submission.paid_share,
                            (SELECT MAX(payment_decision.share) FROM payment_decision
                             WHERE payment_decision.submission_id = submission.id
                             HAVING COUNT(DISTINCT payment_decision.share) = 1))
                   END AS paid_share,
                   (SELECT SUM(bonus.cents) FROM bonus JOIN bonus_batch ON bonus_batch.id = bonus.batch_id
                    WHERE bonus.submission_id = submission.id AND bonus_batch.state IN ('unknown', 'sent')
                          AND bonus.seen_at IS NULL) AS bonus_sent,
                   (SELECT SUM(bonus.cents) FROM bonus JOIN bonus_batch ON bonus_batch.id = bonus.batch_id
                    WHERE bonus.submission_id = submission.id
                          AND (bonus.seen_at IS NOT NULL OR bonus_batch.state = 'paid')) AS bonus_paid
            FROM submission JOIN recruitment ON recruitment.id = submission.recruitment_id
        ) AS pay
        LEFT JOIN assignment ON assignment.id = pay.assignment_id
        LEFT JOIN worker ON worker.id = assignment.worker_id
        LEFT JOIN payment_decision ON payment_decision.id = pay.decision_id""",
}

# A setting in a run's rules, which are JSON, for each kind of database; NULL if the run does not have it.
RULE = {
    "sqlite": "CAST(json_extract(run.rules, '$.target.{name}') AS {kind})",
    "postgresql": "CAST(CAST(run.rules AS json) #>> '{{target,{name}}}' AS {kind})",
}

# The state of each run and its reason. `cause` is `researcher` if somebody paused, resumed or closed it (or
# only opened it), `target` or `budget` if it has stopped by itself. `reason` is a sentence. The target is the
# current one: one of the three columns, or none.
V1_RUN_STATE: dict[str, str] = {
    "v1_run_state": """
        SELECT run.id AS run_id, run.slug AS run, run.status AS status, run.cause AS cause,
               run.reason AS reason, {assignments} AS target_assignments,
               {conversations_per_system} AS target_conversations_per_system,
               {widest_interval} AS target_widest_interval
        FROM run""",
}


def target_columns(dialect: str) -> dict[str, str]:
    """Return the columns to insert in `V1_RUN_STATE` for a kind of database."""
    kinds = {
        "assignments": "integer",
        "conversations_per_system": "integer",
        "widest_interval": "float",
    }
    return {name: RULE[dialect].format(name=name, kind=kind) for name, kind in kinds.items()}
