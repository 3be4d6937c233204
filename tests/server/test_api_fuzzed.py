"""Every endpoint is called with what its schema allows and what it does not: no 5xx, and no traceback.

Requests are drawn by schemathesis from the API's own OpenAPI schema; where a path names something, it is
often something that is there. `make soak` draws more; docs/explanation/reliability.md has the figures.
"""

import os
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from structlog.testing import capture_logs

from tests.server.support.database import make_run
from tests.server.support.endpoints import known_schema
from tests.server.support.server import House
from tests.server.support.study import RUN

SOAK = int(os.environ.get("CANDOR_SOAK", "0"))
EXAMPLES = 20 * SOAK or 2  # of each way of drawing, for each operation
SCHEMA = schemathesis.openapi.from_dict(deepcopy(known_schema()))
OPERATIONS = {
    f"{each.ok().method.upper()} {each.ok().path}": each.ok() for each in SCHEMA.get_all_operations()
}
MODES = {"valid": GenerationMode.POSITIVE, "invalid": GenerationMode.NEGATIVE}
answered: Counter[int] = Counter()


@pytest.fixture(scope="module")
def house(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server with a run of a study."""
    folder = tmp_path_factory.mktemp("fuzzed")
    database = folder / "candor.db"
    database.write_bytes(migrated.read_bytes())
    url = f"sqlite:///{database}"
    started = House(url, [make_run(url)], folder, {"exempt_addresses": ["127.0.0.1"]})
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def there(house: House) -> dict[str, str]:
    """What a path may name, by the name of its parameter."""
    with house.page("ann") as page:
        page.whole()
    joined = house.join("bob").json()
    with house.open(joined["token"]) as page:
        page.agree()
    return {
        "run": RUN, "assignment": joined["assignment"], "study": "lighthouse", "version": "1", "name": "bot",
    }  # fmt: skip


def send(case: Case, house: House, *, signed_in: bool) -> tuple[int, str]:
    """Send a request; return the answer's status and text, a stream's without waiting for it."""
    bearer = {"Authorization": f"Bearer {house.auth.researcher_token}"} if signed_in else {}
    wanted: dict[str, Any] = case.as_transport_kwargs(
        base_url=f"http://127.0.0.1:{house.port}", headers=bearer
    )
    with requests.Session() as session, session.request(**wanted, stream=True, timeout=60) as answer:
        if answer.headers.get("Content-Type", "").startswith("text/event-stream"):
            return answer.status_code, ""
        return answer.status_code, answer.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_request_is_too_much(name: str, mode: str, house: House, there: dict[str, str]) -> None:
    drawn = OPERATIONS[name].as_strategy(generation_mode=MODES[mode])

    @settings(
        max_examples=EXAMPLES,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(drawn, st.booleans(), st.sampled_from([True, True, True, False]))
    def sent(case: Case, names_what_is_there: bool, signed_in: bool) -> None:
        if names_what_is_there and case.path_parameters:
            case.path_parameters = {key: there.get(key, value) for key, value in case.path_parameters.items()}
        status, text = send(case, house, signed_in=signed_in)
        answered[status] += 1
        assert status < 500, (status, text)
        assert "Traceback" not in text

    with capture_logs() as lines:
        sent()
    assert [line for line in lines if "exc_info" in line] == []


@pytest.mark.parametrize(
    "path",
    [
        "/studies/lighthouse/versions/{0}",
        "/studies/lighthouse/versions/{0}/changes?since=1",
        "/studies/lighthouse/versions/1/changes?since={0}",
        "/audit?before={0}",
        "/audit.csv?before={0}",
    ],
)
def test_a_number_that_no_row_can_have_is_refused(path: str, house: House) -> None:
    """Each was a 500, found by the long form of the test above."""
    for number in (2**31, 2**70, -1):
        assert house.desk(path.format(number)).status_code == 422


def test_the_server_serves_on(house: House) -> None:
    """Whatever became of the run that was there: the server answers, and says that it is well."""
    assert house.http("GET", "/readyz").status_code == 200
    if SOAK:
        print(f"\n{sum(answered.values())} requests: {dict(sorted(answered.items()))}")  # noqa: T201
