"""Scenarios: balanced over systems, bound to their place, told to whom they are for."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from bots import Turn
from server.bots.lineup import study_card
from server.db.engine import migrate, open_engine
from server.db.sessions import read as stored_records
from server.db.sessions import write as rows
from server.live.arrive.draws import draw_scenarios
from server.live.arrive.enrolment import ArrivingWorker, enrol
from server.recruiters.arrival import Arrival
from server.session.plan import QC, plan_conversation
from server.session.records import Closed, ConversationPlanned
from server.session.state import fold
from server.session.steps.worker_view import snapshot
from server.study import parse_study
from tests.server.support.database import make_run, query
from tests.server.support.study import AT, new_state, study_text
from tests.server.support.walk import Walk, told

SCENARIOS = [
    {"label": "refund", "text": "You want your money back.", "topic": "A broken lamp", "tell_bot": True},
    {"label": "tickets", "text": "You need two tickets.", "prompt": "Be of few words, zeppelin."},
    {"label": "chat", "text": "Just talk."},
]
LABELS = ["refund", "tickets", "chat"]


def session(label: str) -> Walk:
    """Return a session whose one conversation has a scenario."""
    state = new_state((), scenarios=SCENARIOS)
    lineup, context = state.rules.lineup, state.context
    planned = plan_conversation(lineup, context.assignment, 7, 1, 1, "quokka_plain", label)
    return Walk(fold(state, [planned]))


def test_each_system_has_each_scenario_equally_often() -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for place in range(50):
        systems = ("a", "b", "qc", "c")
        drawn = draw_scenarios(systems, LABELS, counts, seed=place)
        assert set(drawn) <= set(LABELS)
        counts.update(zip(systems, drawn, strict=True))
        for system in systems:
            numbers = [counts[system, label] for label in LABELS]
            assert max(numbers) - min(numbers) <= 1


def test_a_worker_meets_different_ones_where_there_is_a_choice() -> None:
    assert all(len(set(draw_scenarios(("a", "b", "c"), LABELS, {}, seed))) == 3 for seed in range(20))


def test_a_place_comes_back_with_its_scenarios(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'candor.db'}"
    migrate(url)
    run = make_run(url, study_text(scenarios=SCENARIOS))
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    shown = []
    for name in ("ann", "bob"):
        with engine.begin() as connection:
            worker = ArrivingWorker(Arrival("link", name), name, False, 1.0)
            assignment = enrol(connection, run, worker, AT).assignment
            records = stored_records.read(connection, stored_records.assignment_row(connection, assignment))
            shown.append([r.scenario for r in records if isinstance(r, ConversationPlanned)])
            rows.write(connection, [(assignment, Closed("returned", AT))])
    engine.dispose()
    assert len(shown[0]) == 4
    assert shown[0] == shown[1]
    assert query(url, "SELECT DISTINCT scenario FROM v1_scenario ORDER BY scenario") == [
        ("chat",),
        ("refund",),
        ("tickets",),
    ]


def test_the_worker_reads_the_text_and_never_the_prompt() -> None:
    card_of_study = study_card(parse_study(study_text(scenarios=SCENARIOS)))
    for label, topic in (("refund", "A broken lamp"), ("tickets", None)):
        one = session(label)
        due = told(one.send("agree"))[0]
        text = next(s["text"] for s in SCENARIOS if s["label"] == label)
        assert (due.icebreaker, due.scenario) == (topic, text)
        opened = one.send("topic", text=None if topic else "the sea", opinion="like")
        assert told(opened)[0].scenario == text
        card = snapshot(one.state, card_of_study, AT).conversation
        assert card is not None
        assert card.scenario == text
        assert "zeppelin" not in card.model_dump_json()


@pytest.mark.parametrize(
    ("system", "scenario", "prompt"),
    [
        ("quokka_plain", "refund", "You want your money back."),
        ("quokka_plain", "tickets", "Be of few words, zeppelin."),
        ("quokka_plain", "chat", ""),
        ("wombat_plain", "refund", "Speak like a wombat.\n\nYou want your money back."),
        (QC, "chat", ""),
    ],
)
def test_what_a_bot_is_told(tmp_path: Path, system: str, scenario: str, prompt: str) -> None:
    url = f"sqlite:///{tmp_path / 'candor.db'}"
    migrate(url)
    study = yaml.safe_load(study_text(scenarios=SCENARIOS))
    next(spec for spec in study["systems"] if spec["name"] == "wombat_plain")["prompt"] = (
        "Speak like a wombat."
    )
    run = make_run(url, yaml.safe_dump(study))
    plan = ConversationPlanned("a-1.1", 1, 1, system, 7, (), None, scenario=scenario)
    assert run.chat(plan, (Turn("worker", "Hi."),)).prompt == prompt
