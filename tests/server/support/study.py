"""A small study, and sessions of it.

Names in the study are words that occur nowhere else, so that a test of blinding can look for them.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import yaml

from bots.serving import Corpus
from server.bots.lineup import session_rules
from server.session.plan import QC, plan_conversation
from server.session.state import AssignmentContext, SessionRules, State, fold
from server.study import parse_study

AT = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


RUN = "harbour"


PERSONAS = [
    ["I breed narwhals in Wichita.", "I own two left shoes."],
    ["I whittle ukuleles at dawn.", "My aunt is a cartographer."],
]


# Four families, of which an assignment meets three; `wombat` and `dugong` have one variant only.
SYSTEMS = {
    "quokka_plain": "quokka",
    "quokka_warm": "quokka",
    "marmot_plain": "marmot",
    "marmot_warm": "marmot",
    "wombat_plain": "wombat",
    "dugong_plain": "dugong",
}


CRITERIA = ("robotic", "fun", "fluent")


RATINGS = {"robotic": 10, "fun": 0, "fluent": 100}


NOBODY = Corpus("none", (), ())


def study_text(**changes: Any) -> str:
    """Return a study file: three systems and a qc bot per assignment, two inputs each, no waiting."""
    study: dict[str, Any] = {
        "name": "lighthouse",
        "title": "A few chats",
        "payment": "Nothing is paid.",
        "systems_per_assignment": 3,
        "qc_per_assignment": 1,
        "minimum_inputs": 2,
        "criteria": [
            {"label": "robotic", "statement": "It was a machine.", "negative": True, "qc": False},
            {"label": "fun", "statement": "It was fun."},
            {"label": "fluent", "statement": "It was fluent."},
        ],
        "personas": PERSONAS,
        "systems": [
            {
                "name": name,
                "family": family,
                "bot": f"{family}://spec",
                "persona": "random" if name.endswith("_warm") else "none",
            }
            for name, family in SYSTEMS.items()
        ],
        "reply_time": {"median": 0, "spread": 0, "longest": 0},
        "simulate": {"quality": dict.fromkeys(SYSTEMS, 0.5)},
    }
    return yaml.safe_dump(study | changes, sort_keys=False, allow_unicode=True)


def pairs_text(comparison: dict[str, Any] | None = None, **changes: Any) -> str:
    """Return the small study comparing side by side: two pairs of systems and one with the qc bot."""
    study = yaml.safe_load(study_text())
    del study["systems_per_assignment"], study["criteria"]
    study |= {"task": "side_by_side", "comparison": {"pairs": 2, **(comparison or {})}}
    return yaml.safe_dump(study | changes, sort_keys=False, allow_unicode=True)


def rules(**changes: Any) -> SessionRules:
    """Return the rules of the small study."""
    return session_rules(parse_study(study_text(**changes)), NOBODY)


def new_state(
    plan: tuple[str, ...] = ("quokka_plain", QC, "marmot_warm", "wombat_plain"),
    *,
    pace: float = 1.0,
    **changes: Any,
) -> State:
    """Return the state of an assignment that has just been given out."""
    prescribed = rules(**changes)
    context = AssignmentContext("a1", seed=7, reply_pace=pace, code="CODE-1234", return_to=None)
    planned = [
        plan_conversation(prescribed.lineup, context.assignment, context.seed, position, 1, system)
        for position, system in enumerate(plan, start=1)
    ]
    return fold(State(prescribed, context), planned)


def seconds(n: float) -> timedelta:
    return timedelta(seconds=n)
