"""Credits that the server asks SONA for: granted only where SONA says so in as many words."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from server.recruiters.recruiter import Sona
from server.recruiters.sona import CreditAnswer, SonaClient, read_answer
from server.recruiters.stand_in.serving import serving
from tests.server.support.sona import STUDY, SonaStandIn, error, granted

READ = Sona.model_validate(STUDY | {"credit": "server"})


@pytest.fixture
def sona() -> SonaStandIn:
    return SonaStandIn(students={"4711", "a b+c"})


@pytest.fixture
def url(sona: SonaStandIn) -> Iterator[str]:
    with serving(sona.app) as address:
        yield address


@pytest.mark.parametrize("student", ["4711", "a b+c"])
async def test_a_credit_is_granted(sona: SonaStandIn, url: str, student: str) -> None:
    assert await SonaClient(url).grant(READ, student) == CreditAnswer("granted")
    assert sona.credited == [student]


async def test_what_sona_refuses_is_told_without_naming_the_student(sona: SonaStandIn, url: str) -> None:
    client = SonaClient(url)
    unknown = await client.grant(READ, "98 76")
    assert unknown == CreditAnswer("refused", "SONA says: Invalid survey_code ….")
    other = await client.grant(READ.model_copy(update={"credit_token": "wrong"}), "4711")
    assert other == CreditAnswer("refused", "SONA says: Invalid experiment_id or credit_token.")
    assert sona.credited == []


async def test_a_sona_that_is_away(sona: SonaStandIn) -> None:
    with serving(sona.app) as gone:
        pass
    answer = await SonaClient(gone).grant(READ, "4711")
    assert answer.status == "unreachable"
    assert "tide.sona-systems.com cannot be reached" in answer.reason


async def test_nobody_is_named_in_a_log(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)  # the level of libraries in the server's log
    await SonaClient(url).grant(READ, "4711")
    assert "4711" not in caplog.text


@pytest.mark.parametrize(
    ("code", "text", "status", "reason"),
    [
        (200, granted("G"), "granted", ""),
        (200, granted("g"), "refused", "is g, not G"),
        (200, granted("A"), "refused", "is A, not G"),
        (200, granted(""), "refused", "is missing, not G"),
        (201, granted("G"), "refused", "SONA answered 201"),
        (200, granted("G</a:credit_status><a:credit_status>N"), "refused", "is G, N, not G"),
        (200, error("No credit given."), "refused", "SONA says: No credit given."),
        (200, error("x" * 1_000), "refused", "SONA says: " + "x" * 300),
        (200, "", "refused", "not its XML"),
        (200, "<html><p>Please sign in</html>", "refused", "not its XML"),
        (200, "<html>credit_status G</html>", "refused", "is missing, not G"),
        (200, '<!DOCTYPE a [<!ENTITY g "G">]><a><credit_status>&g;</credit_status></a>', "refused", "XML"),
        (200, f"{granted('G')}{' ' * 100_000}", "refused", "not its XML"),
        (302, "", "refused", "SONA answered 302"),
        (404, "", "refused", "SONA answered 404"),
        (429, "", "unreachable", "SONA answered 429"),
        (500, granted("G"), "unreachable", "SONA answered 500"),
    ],
)
def test_what_an_answer_means(code: int, text: str, status: str, reason: str) -> None:
    answer = read_answer(code, text)
    assert (answer.status, reason in answer.reason) == (status, True), answer


@pytest.mark.parametrize("changes", [{"credit": "mail"}, {"credit": None}])
def test_a_way_of_giving_credit_that_there_is_not(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="browser"):
        Sona.model_validate(STUDY | changes)
