"""Tests of a run's cost: the sum of all decisions equals the platform's figure and the budget's."""

import asyncio

import pytest

from server.recruiters.prolific.client import ProlificClient
from server.recruiters.prolific.connection import PlatformConnection
from tests.server.support.recruiting import Recruiting

SORRY = "A chatbot of ours failed."
TOO_FAST = "The texts were answered at random, as the instructions say that they must not be. " * 2


def cost(recruiting: Recruiting) -> tuple[int, int]:
    """Return what the platform says that rewards and bonuses have cost, in cents, without fees."""

    async def asked() -> tuple[int, int]:
        there = recruiting.prolific
        async with ProlificClient(PlatformConnection(there.token, there.url)) as client:
            total = await client.studies.cost(recruiting.shown()["study"])
        return total.rewards.rewards.amount, total.bonuses.rewards.amount

    return asyncio.run(asked())


def limits(recruiting: Recruiting) -> tuple[float, int]:
    """Return what of the run's budget is spent, and how many places are open."""
    shown = recruiting.house.desk(f"/runs/{recruiting.run}").json()["limits"]
    return shown["spent"], shown["places_open"]


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_what_the_platform_says_a_study_costs_is_the_sum_of_what_was_decided(recruiting: Recruiting) -> None:
    """Rewards are 4.50 each, as the budget says; it has no fees."""
    budget = {"total": "40.00", "pay": "4.50", "currency": "GBP"}
    rules = recruiting.house.desk(f"/runs/{recruiting.run}/rules", method="PUT", json={"budget": budget})
    assert rules.is_success, rules.text
    recruiting.publish()
    platform = recruiting.prolific.platform
    ann, bob = recruiting.finish("PID-ann"), recruiting.finish("PID-bob")
    cay, dee, eve = (recruiting.begin(f"PID-{name}")[0] for name in ("cay", "dee", "eve"))
    for submission in (cay, dee):
        platform.complete(submission, None)
    platform.give_back(eve)
    view = recruiting.refreshed()
    for row in view["submissions"]:
        if row["submission"] in (cay, dee, eve):
            release = f"/assignments/{row['assignment']}/release"
            assert recruiting.house.desk(release, method="POST").is_success
    assert limits(recruiting) == (9.0, 6)  # two of 4.50; 40.00 pays for 8
    recruiting.ask("/decisions", submissions=[ann], decision="approve")
    recruiting.ask("/decisions", submissions=[bob], decision="partial", share=90, reason=SORRY)
    recruiting.ask("/decisions", submissions=[cay], decision="partial", share=60, reason=SORRY)
    recruiting.ask(
        "/decisions", submissions=[dee], decision="reject", category="TOO_QUICKLY", reason=TOO_FAST
    )
    recruiting.ask("/decisions", submissions=[eve], decision="approve")
    batch = recruiting.ask("/bonuses", purpose="thanks", cents={ann: 150, cay: 200})["batch"]
    # With 0.6 and 1 of 4.50; what is left of 40.00 pays for 7 beside them. A prepared bonus costs nothing.
    assert limits(recruiting) == (16.2, 5)
    recruiting.ask(f"/bonuses/{batch}/pay")
    assert recruiting.refreshed()["differences"] == []
    # 450 · (1 + 0.9 + 0.6 + 1) and 150 + 200. Whoever has finished counts in full, whatever was decided.
    assert cost(recruiting) == (1_575, 350)
    assert limits(recruiting) == (19.7, 4)
    # One more bonus of 16.50 leaves 3.80, which pays for nobody.
    batch = recruiting.ask("/bonuses", purpose="prize", cents={ann: 1_650}, confirmed=True)["batch"]
    recruiting.ask(f"/bonuses/{batch}/pay")
    assert cost(recruiting) == (1_575, 2_000)
    assert limits(recruiting) == (36.2, 0)
