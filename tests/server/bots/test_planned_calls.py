"""Tests of estimates of paid calls (for a check, rehearsal, crowd or run), and of confirming them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import Connection

from bots.conformance.script import calls
from bots.serving import Moderation, PlannedCalls
from server.bots.fitness import fitness_check
from server.bots.planned_calls import Confirmation, of_assignments, of_check, of_own_checks, of_run
from server.db.engine import open_engine
from server.errors import NeedsConfirmation
from server.run_rules import RunRules
from server.study import Study, parse_study
from tests.server.support.answers import error
from tests.server.support.commands import Candor, assert_refused
from tests.server.support.database import make_run, query
from tests.server.support.provider import Provider, providing
from tests.server.support.registered import Serve, bots, good
from tests.server.support.server import House
from tests.server.support.study import RUN, study_text
from tests.server.support.talker import endpoint
from tests.support.waiting import wait_until

PAID: dict[str, Any] = {
    "kind": "openai",
    "urls": ["http://127.0.0.1:1/v1"],
    "model": "m",
    "price": {"input": 0.5, "output": 2},
}
MODERATED = Moderation("https://api.example.org/v1/moderations", "k3y")
NO_RULES = RunRules()


def study(own: dict[str, Any] | None = None, **changes: Any) -> Study:
    """A study of four systems, of which a worker meets two, three of them `far`, with 10 inputs each."""
    systems = [
        {"name": name, "family": name, "bot": bot}
        for name, bot in (("a", "far"), ("b", "far"), ("c", "far"), ("d", "builtin:reflect"))
    ]
    given = {"systems": systems, "systems_per_assignment": 2, "minimum_inputs": 10, "simulate": None}
    given |= {"personas": "corpus", "bots": {"far": own or PAID}}
    return parse_study(study_text(**(given | changes)))


@pytest.fixture
def connection(url: str) -> Any:
    engine = open_engine(url)
    with engine.begin() as opened:
        yield opened
    engine.dispose()


def counted(planned: list[PlannedCalls]) -> list[tuple[str, str, int]]:
    return [(each.occasion, each.to, each.estimate.calls) for each in planned]


def test_systems_share_the_conversations_and_builtin_bots_cost_nothing(connection: Connection) -> None:
    # 40 workers × 2 conversations × 3 of 4 systems × 10 inputs; the qc bot is a builtin one.
    assert counted(of_assignments(connection, study(), 40)) == [("", "“far”", 600)]
    # And in the qc bot's place 40 × 1 × 10 more.
    as_qc = study(qc={"bot": "far"})
    assert counted(of_assignments(connection, as_qc, 40)) == [("", "“far”", 1000)]
    free = study({"kind": "http", "urls": ["http://127.0.0.1:1"]})
    assert of_assignments(connection, free, 40) == []


def test_side_by_side_two_systems_answer_each_line(connection: Connection) -> None:
    systems = [{"name": name, "family": name, "bot": "far"} for name in ("a", "b")]
    content = yaml.safe_load(study_text(task="side_by_side", systems=systems, bots={"far": PAID}))
    content |= {"criteria": [], "comparison": {"pairs": 3}, "minimum_inputs": 10, "simulate": None}
    del content["systems_per_assignment"]
    compared = parse_study(yaml.safe_dump(content))
    # 3 pairs of two systems, and one beside the qc bot: 7 × 10 lines, all to `far`.
    assert counted(of_assignments(connection, compared, 1)) == [("", "“far”", 70)]


def test_a_bot_that_takes_over_from_people_is_asked_in_their_place(connection: Connection) -> None:
    people = {"take_over": "far", "consent_says_so": True}
    systems = [{"name": "a", "family": "a", "bot": "human:wizard"}]
    consent = {"consent": {"version": "1", "text": "Some partners may be people, who read what you write."}}
    human = study(
        texts=consent, people=people, systems=systems, systems_per_assignment=1, qc_per_assignment=0
    )
    assert counted(of_assignments(connection, human, 5)) == [("", "“far”", 50)]


def test_a_run_is_planned_for_its_places_or_for_each_assignment(connection: Connection) -> None:
    def of(given: Study, **rules: Any) -> list[tuple[str, str, int]]:
        return counted(of_run(connection, given, RunRules.model_validate(rules), None, checked=False))

    # An assignment: 2 conversations × 3 of 4 systems × 10 inputs.
    assert of(study()) == [("each assignment: ", "“far”", 15)]
    assert of(study(assignments=40)) == [("all 40 assignments: ", "“far”", 600)]
    assert of(study(assignments=40), target={"assignments": 10}) == [("all 10 assignments: ", "“far”", 150)]
    budget = {"total": "10", "pay": "2", "fee_share": "0.25"}  # which pays for 4
    assert of(study(), budget=budget) == [("all 4 assignments: ", "“far”", 60)]


def test_before_a_run_its_own_bots_are_checked_and_a_classifier_judges_both_sides(
    connection: Connection,
) -> None:
    judged = study(assignments=4, moderation="classifier")
    assert counted(of_run(connection, judged, NO_RULES, MODERATED, checked=True)) == [
        ("the check before: ", "“far”", calls(4)),
        ("the check before: ", "the moderation service", 1),
        ("all 4 assignments: ", "“far”", 60),
        # 4 assignments × 3 conversations, the qc bot's too, × 10 inputs and 10 replies.
        ("all 4 assignments: ", "the moderation service", 240),
    ]
    by_words = study(assignments=4)
    assert counted(of_run(connection, by_words, NO_RULES, MODERATED, checked=False)) == [
        ("all 4 assignments: ", "“far”", 60)
    ]


def test_a_check_asks_as_often_as_its_script(connection: Connection) -> None:
    far = endpoint(PAID)
    check = fitness_check("far", far, study(), 20)
    assert counted(of_check("far", far, check, MODERATED)) == [
        ("", "“far”", calls(20, 10)),
        ("", "the moderation service", 1),
    ]
    nowhere = fitness_check("far", endpoint({"kind": "dial-in"}), None)
    assert of_check("far", endpoint({"kind": "dial-in"}), nowhere, None) == []


def test_hosts_are_named_to_those_who_may_know_them() -> None:
    planned = of_own_checks(study(), None)
    for sees_hosts in (True, False):
        with pytest.raises(NeedsConfirmation) as asked:
            Confirmation(given=False, sees_hosts=sees_hosts).require("The check", planned)
        assert ("at 127.0.0.1" in asked.value.message) is sees_hosts
    Confirmation(given=True).require("The check", planned)
    Confirmation(given=False).require("The check", [])


# ---- over the API ----------------------------------------------------------------------------


@pytest.fixture
def provider() -> Any:
    with providing() as opened:
        yield opened


def priced(provider: Provider) -> dict[str, Any]:
    return {**provider.endpoint(), "price": PAID["price"]}


def test_a_check_is_confirmed_first(house: House, provider: Provider) -> None:
    good(bots(house, "POST", json={"name": "far", "endpoint": priced(provider)}), 201)
    asked = error(bots(house, "POST", "/far/check", json={"at_once": 2}), 409, "needs_confirmation")
    assert asked["message"].startswith("The check of “far” may cost money:\n- about ")
    assert f"about {calls(2)} calls to “far” at 127.0.0.1: " in asked["message"]
    error(bots(house, path="/far/check"), 404, "not_checked")
    error(bots(house, "POST", "/far/check", json={"confirmed": "yes"}), 422, "invalid_request")
    assert provider.asked == 0
    good(bots(house, "POST", "/far/check", json={"at_once": 2, "confirmed": True}), 202)
    wait_until(lambda: good(bots(house, path="/far/check"))["state"] != "running", "the check")
    assert provider.asked >= calls(2)


def test_a_run_is_confirmed_first_and_so_is_its_replication(house: House, provider: Provider) -> None:
    systems = [{"name": "a", "family": "a", "bot": "far"}]
    text = yaml.safe_dump(
        yaml.safe_load(study_text())
        | {
            "name": "paid",
            "systems": systems,
            "systems_per_assignment": 1,
            "qc_per_assignment": 0,
            "personas": "corpus",
        }
        | {"simulate": {"quality": {"a": 0.5}}, "bots": {"far": priced(provider)}}
    )
    body = {"run": "paid", "yaml": text, "despite_failing_bots": True}

    def do(path: str, body: dict[str, Any]) -> Any:
        return house.desk(f"/runs{path}", method="POST", json=body)

    asked = error(do("", body | {"despite_failing_bots": False}), 409, "needs_confirmation")
    assert "- the check before: about " in asked["message"]
    asked = error(do("", body), 409, "needs_confirmation")
    # An assignment: 1 conversation of 2 inputs.
    assert asked["message"].splitlines()[0] == "The run “paid” may cost money:"
    assert "- each assignment: about 2 calls to “far” at 127.0.0.1" in asked["message"]
    assert provider.asked == 0
    assert query(house.url, "SELECT count(*) FROM run WHERE slug = 'paid'") == [(0,)]
    assert do("", body | {"confirmed": True}).status_code == 201
    asked = error(do("/paid/replicate", {}), 409, "needs_confirmation")
    assert "A replication of the run “paid” may cost money" in asked["message"]
    assert do("/paid/replicate", {"confirmed": True}).status_code == 201

    def question(run: str, token: str | None = None) -> str | None:
        answer = house.desk(f"/runs/{run}/crowd-question?workers=7", token)
        assert answer.status_code == 200, answer.text
        asked: str | None = answer.json()["question"]
        return asked

    asked = question("paid")
    assert asked is not None
    assert asked.startswith(
        "A crowd of 7 in the run “paid” may cost money:\n- about 14 calls to “far” at 127"
    )
    own = house.token_in("paid", "researcher")
    hidden = question("paid", own)
    assert hidden is not None
    assert "14 calls to “far”: less than 0.01" in hidden
    assert "127.0.0.1" not in hidden
    assert question(RUN) is None


def test_bots_that_cost_nothing_are_asked_without_a_question(url: str, serve: Serve) -> None:
    builtin = [{"name": "a", "family": "a", "bot": "builtin:retrieval"}]
    text = study_text(
        systems=builtin, systems_per_assignment=1, qc_per_assignment=0, personas="corpus", simulate=None
    )
    house = serve(url, make_run(url, text))
    assert house.desk(f"/runs/{RUN}/replicate", method="POST", json={}).status_code == 201


# ---- on the command line ---------------------------------------------------------------------


def test_without_a_terminal_a_study_is_opened_checked_and_replicated_with_yes_alone(
    candor: Candor, provider: Provider, tmp_path: Path
) -> None:
    data = ("--data", tmp_path / "data")
    file = tmp_path / "study.yaml"
    systems = [{"name": "a", "family": "a", "bot": "far"}]
    given = {
        "systems": systems,
        "systems_per_assignment": 1,
        "qc_per_assignment": 0,
        "personas": "corpus",
        "simulate": None,
    }
    file.write_text(study_text(bots={"far": priced(provider)}, **given))
    opening = ("run", "open", file, "--run", "paid", *data, "--despite-failing-bots")
    assert_refused(candor(*opening), "The run “paid” may cost money", "there is no terminal", "--yes")
    checking = ("study", "check", file, "--bots", *data)
    assert_refused(candor(*checking), "The check of the bots of", "calls to “far” at 127.0.0.1", "--yes")
    assert provider.asked == 0
    assert "is fine" in candor("study", "check", file, *data).stdout  # which asks no bot
    assert candor(*opening, "--yes").exit_code == 0
    asked = provider.asked
    assert asked > 0
    candor(*checking, "--yes")
    assert provider.asked > asked
    replicating = ("run", "replicate", "paid", *data)
    assert_refused(candor(*replicating), "A replication of the run “paid” may cost money", "--yes")
    assert candor(*replicating, "--yes").exit_code == 0
    again = candor("run", "open", file, "--run", "paid", *data)  # is open already
    assert again.exit_code == 0, again.output
