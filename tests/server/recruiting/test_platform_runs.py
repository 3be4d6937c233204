"""A run without a platform leads to one that recruits, and its cost is known before it is published."""

import re

import pytest
import yaml

from server.recruiters.recruiter import Prolific
from server.study import parse_study
from tests.server.support.recruiting import PLAN, Recruiting
from tests.server.support.server import stored

pytestmark = pytest.mark.databases("sqlite")


def test_a_run_is_opened_like_another_with_a_platform_and_a_new_code(recruiting: Recruiting) -> None:
    rules = {"target": {"assignments": 3}, "excluded_workers": ["PID-ann"]}
    assert recruiting.house.desk(f"/runs/{recruiting.run}/rules", method="PUT", json=rules).is_success
    assert recruiting.ask("/run", platform="prolific", run="second") == {"run": "second"}
    texts = dict(stored(recruiting.house, "SELECT slug, yaml FROM run JOIN study ON study.id = study_id"))
    study, first = parse_study(texts["second"]), parse_study(texts[recruiting.run])
    assert isinstance(study.recruiter, Prolific)
    assert isinstance(first.recruiter, Prolific)
    assert re.fullmatch("C[0-9A-F]{8}", study.recruiter.completion_code)
    assert study.recruiter.completion_code != first.recruiter.completion_code
    changed = yaml.safe_load(texts["second"]) | {
        "recruiter": yaml.safe_load(texts[recruiting.run])["recruiter"]
    }
    assert changed == yaml.safe_load(texts[recruiting.run])
    kept = recruiting.house.desk("/runs/second/rules").json()
    assert (kept["target"]["assignments"], kept["excluded_workers"]) == (3, ["PID-ann"])
    shown = recruiting.house.desk("/runs/second/recruitment").json()
    assert (shown["possible"], shown["platform"], shown["recruitment"]) == (True, "Prolific", None)


def test_a_platform_has_to_be_known_and_the_name_of_the_run_new(recruiting: Recruiting) -> None:
    assert recruiting.refused("/run", platform="market", run="second") == "not_recruiting"
    assert recruiting.refused("/run", platform="prolific", run=recruiting.run) == "run_exists"


def test_the_cost_is_known_before_and_after_it_is_spent(recruiting: Recruiting) -> None:
    """Rewards of 4.50, screen-outs of 0.50; the stand-in's fee is a third, and the tax a fifth of the fee."""
    assert recruiting.refused("/cost", "GET") == "not_recruiting"
    recruiting.ask(**PLAN)
    nothing = {"rewards": 0, "bonuses": 0, "fees": 0, "total": 0}
    # 5 · 450 + 3 · 50 = 2400; a fee of 800 and a tax of 160.
    all_places = {"rewards": 2_400, "bonuses": 0, "fees": 960, "total": 3_360}
    assert recruiting.ask("/cost", "GET") == {"currency": "GBP", "spent": nothing, "projected": all_places}
    recruiting.ask("/publish")
    ann = recruiting.finish("PID-ann")
    recruiting.refreshed()
    recruiting.ask("/decisions", submissions=[ann], decision="approve")
    spent = {"rewards": 450, "bonuses": 0, "fees": 180, "total": 630}
    assert recruiting.ask("/cost", "GET") == {"currency": "GBP", "spent": spent, "projected": all_places}
    recruiting.ask("/close")
    assert recruiting.ask("/cost", "GET") == {"currency": "GBP", "spent": spent, "projected": spent}
