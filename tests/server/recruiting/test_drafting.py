"""Drafting a run's study: once, whatever happens in between."""

import asyncio

import pytest

from server.errors import RecruitmentExists
from server.recruiters.pay_platform import StudyPlan
from server.recruiters.stand_in.serving import Fault
from server.recruiting.studies import PlatformStudies
from tests.server.support.database import execute
from tests.server.support.recruiting import PLAN, Person, Recruiting
from tests.server.support.server import stored
from tests.support.waiting import wait_until

DRAFT = "/api/v1/studies/"


async def create(recruiting: Recruiting, name: str) -> str | None:
    """Create it in a process of one's own; return why that is refused, or None."""
    with recruiting.another_process() as (store, platform):
        studies = PlatformStudies(store, platform, "https://lab.example")
        try:
            await studies.create(recruiting.run, StudyPlan(**PLAN), Person(name))
        except RecruitmentExists as error:
            return error.message
    return None


def drafts(recruiting: Recruiting) -> list[str]:
    """Return the ids of this run's studies there."""
    platform = recruiting.prolific.platform
    return [one.id for one in platform.studies.values() if one.given["internal_name"] == recruiting.run]


@pytest.fixture(autouse=True)
def _nothing_there(recruiting: Recruiting) -> None:
    # Those of earlier tests stay, as their submissions do, and are of another run.
    for study in drafts(recruiting):
        recruiting.prolific.platform.study(study).given["internal_name"] = "earlier"


@pytest.mark.databases("sqlite", "postgresql")
def test_of_two_who_create_it_at_once_one_drafts_it(recruiting: Recruiting) -> None:
    async def both() -> list[str | None]:
        return list(await asyncio.gather(*(create(recruiting, name) for name in ("ann", "bob"))))

    told = asyncio.run(both())
    assert drafts(recruiting) == [recruiting.shown()["study"]]
    assert len([one for one in told if one is None]) == 1


def test_where_no_answer_comes_that_is_shown_and_what_is_there_is_found(recruiting: Recruiting) -> None:
    recruiting.ask(**PLAN)
    there = recruiting.prolific.platform
    other = there.draft(dict(there.study(recruiting.shown()["study"]).given) | {"completion_codes": []})
    recruiting.ask(method="DELETE")
    recruiting.prolific.faults.due.append(Fault("broken after", DRAFT))
    assert recruiting.refused(**PLAN) == "platform_unsure"
    assert len(drafts(recruiting)) == 2
    shown = recruiting.shown()
    assert (shown["status"], shown["study"], shown["created_by"]) == (
        "DRAFTING",
        "",
        "the installation's token",
    )
    assert shown["fault"] is not None
    assert recruiting.refused(**PLAN) == "recruitment_exists"
    for path in ("/publish", "/refresh", "/close"):
        assert recruiting.refused(path) == "study_not_drafted"
    recruiting.ask(method="DELETE")
    assert drafts(recruiting) == [other.id]  # of this name too, and not ours
    recruiting.publish()


def test_where_nothing_was_drafted_nothing_is_left(recruiting: Recruiting) -> None:
    recruiting.prolific.faults.due.append(Fault("busy", DRAFT, "100"))
    assert recruiting.refused(**PLAN) == "platform_failed"
    assert recruiting.shown() is None
    recruiting.publish()


def test_the_log_says_what_came_of_drafting(recruiting: Recruiting) -> None:
    recruiting.prolific.faults.due.append(Fault("busy", DRAFT, "100"))
    assert recruiting.refused(**PLAN) == "platform_failed"
    recruiting.ask(**PLAN)
    study = recruiting.shown()["study"]
    logged = stored(
        recruiting.house,
        "SELECT action, detail FROM audit_entry WHERE action LIKE 'recruitment.%' ORDER BY id",
    )
    (asked, refused, again, drafted) = logged
    assert asked == again == ("recruitment.create", "5 places")
    assert refused[0] == "recruitment.refused"
    assert "asked too often" in refused[1]
    assert drafted == ("recruitment.drafted", f"study {study}")


def test_a_process_that_dies_in_between_is_found(recruiting: Recruiting) -> None:
    recruiting.prolific.faults.due.append(Fault("hangs after", DRAFT))

    async def die() -> None:
        creating = asyncio.get_running_loop().create_task(create(recruiting, "ann"))
        await asyncio.to_thread(wait_until, lambda: drafts(recruiting), "a draft")
        creating.cancel()
        await asyncio.gather(creating, return_exceptions=True)

    asyncio.run(die())
    assert (recruiting.shown()["status"], recruiting.shown()["created_by"]) == ("DRAFTING", "ann")
    # It may still be under way, for all that another process knows.
    assert recruiting.refused(method="DELETE") == "study_not_drafted"
    execute(recruiting.house.url, "UPDATE recruitment SET created_at = '2026-01-01 00:00:00.000000'")
    recruiting.ask(method="DELETE")
    assert drafts(recruiting) == []
    recruiting.publish()


@pytest.mark.parametrize(
    ("currency", "refused"), [("EUR", True), ("GBP", False), ("gbp", False), ("", False)]
)
def test_a_budget_in_another_currency_is_refused(
    recruiting: Recruiting, currency: str, refused: bool
) -> None:
    budget = {"total": "45.00", "pay": "4.50", "currency": currency}
    rules = recruiting.house.desk(f"/runs/{recruiting.run}/rules", method="PUT", json={"budget": budget})
    assert rules.is_success, rules.text
    if refused:
        assert recruiting.refused(**PLAN) == "other_currency"
        assert (recruiting.shown(), drafts(recruiting)) == (None, [])
    else:
        recruiting.publish()


def test_a_budget_that_gets_another_currency_later_is_refused_before_it_costs(recruiting: Recruiting) -> None:
    recruiting.ask(**PLAN)
    budget = {"total": "45.00", "pay": "4.50", "currency": "EUR"}
    rules = f"/runs/{recruiting.run}/rules"
    answer = recruiting.house.desk(rules, method="PUT", json={"budget": budget})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "other_currency")
    # While the currency is not known, it cannot be compared; it is before anything costs.
    execute(recruiting.house.url, "UPDATE recruitment SET currency = NULL")
    assert recruiting.house.desk(rules, method="PUT", json={"budget": budget}).is_success
    assert recruiting.refused("/publish") == "other_currency"
    assert recruiting.shown()["status"] == "UNPUBLISHED"
    (difference,) = recruiting.shown()["differences"]
    assert (difference["kind"], difference["remedy"]) == ("other_currency", "change_budget")
    assert recruiting.house.desk(
        rules, method="PUT", json={"budget": budget | {"currency": "gbp"}}
    ).is_success
    assert recruiting.ask("/publish")["recruitment"]["differences"] == []
