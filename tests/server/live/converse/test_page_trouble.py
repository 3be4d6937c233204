"""Tests of problems that workers' pages report over HTTP, to the operator's log and the researcher."""

import pytest
from structlog.testing import capture_logs

from tests.server.support.answers import error
from tests.server.support.database import query
from tests.server.support.server import House
from tests.server.support.study import RUN

pytestmark = pytest.mark.databases("sqlite", in_soak=["postgresql"])


def test_a_websocket_that_does_not_come_about_is_one_line_in_the_log(house: House) -> None:
    token = house.token("id-of-ann")
    with capture_logs() as logs:
        for _ in range(3):
            told = house.http("POST", "/api/page-trouble", json={"token": token, "trouble": "no_socket"})
            assert told.status_code == 204
    (line,) = [line for line in logs if line["log_level"] == "warning"]
    assert "WebSocket" in line["event"]
    assert "Upgrade" in line["hint"]
    assert "id-of-ann" not in str(line)


@pytest.mark.parametrize(
    ("trouble", "text", "kind"),
    [("not_drawn", "reply: RangeError", "page_not_drawn"), ("translated", "", "page_translated")],
)
@pytest.mark.databases("sqlite", "postgresql")
def test_what_a_researcher_should_know_is_an_incident_once(
    house: House, trouble: str, text: str, kind: str
) -> None:
    token = house.enrolled("ann")
    told = {"token": token, "trouble": trouble, "text": text}
    assert house.http("POST", "/api/page-trouble", json=told).status_code == 204
    assert query(house.url, "SELECT count(*) FROM note") == [(0,)]  # nothing was begun yet
    with house.open(token) as page:
        page.open_topic()
        for _ in range(2):
            assert house.http("POST", "/api/page-trouble", json=told).status_code == 204
    (incident,) = house.desk(f"/runs/{RUN}").json()["incidents"]
    assert (incident["kind"], incident["text"]) == (kind, text)


def test_nobody_without_a_session_tells_anything(house: House) -> None:
    told = house.http("POST", "/api/page-trouble", json={"token": "x", "trouble": "not_drawn"})
    error(told, 401, "token_invalid")
