"""No answer of the API shows workers' ids to an account without the right to see them."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from server.access import tokens
from server.access.roles import Role
from server.db.engine import open_engine
from server.recruiters.arrival import Arrival
from tests.server.support.database import execute, make_run
from tests.server.support.endpoints import OPEN, TABLE, endpoints
from tests.server.support.server import House
from tests.server.support.study import AT, RUN
from tests.support.waiting import PATIENCE

ID, VISIT, OUTCAST = "PID-4711-of-ann", "VISIT-0815", "PID-of-an-outcast"


@pytest.fixture(scope="module")
def house(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server where somebody with an id took part, and somebody else may not."""
    folder = tmp_path_factory.mktemp("pseudonyms")
    (folder / "candor.db").write_bytes(migrated.read_bytes())
    url = f"sqlite:///{folder / 'candor.db'}"
    house = House(url, [make_run(url)], folder)
    house.start()
    with house.page(ID) as page:
        page.whole()
    execute(url, "INSERT INTO visit SELECT id, ?, created_at FROM assignment", VISIT)
    rules = {"excluded_workers": [OUTCAST]}
    assert house.desk(f"/runs/{RUN}/rules", method="PUT", json=rules).status_code == 200
    yield house
    house.stop()


def token(house: House, role: Role) -> str:
    engine = open_engine(house.url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        made = tokens.new(connection, f"{role}-who-reads", role, AT)
    engine.dispose()
    return made


def answers(house: House, role: Role) -> dict[str, str]:
    """Return what is answered to everything that can be read, by its path, where it is answered at all.

    Of a stream it is what comes first: all that there is.
    """
    assignment = house.join(ID).json()["assignment"]
    named = {"run": RUN, "study": "lighthouse", "assignment": assignment, "place": "runs", "version": "1"}
    bearer = {"Authorization": f"Bearer {token(house, role)}"}
    found: dict[str, str] = {}
    with httpx2.Client(base_url=f"http://127.0.0.1:{house.port}", timeout=PATIENCE) as client:
        for endpoint in endpoints():
            method, path = endpoint.split(" ")
            if method != "GET":
                continue
            filled = path.replace(":path}", "}").format_map(_Named(named))
            with client.stream("GET", filled, headers=bearer) as answer:
                if answer.status_code == 200:
                    is_endless = answer.headers["content-type"].startswith("text/event-stream")
                    chunks = answer.iter_text()
                    found[path] = next(chunks) if is_endless else "".join(chunks)
    return found


class _Named(dict[str, str]):
    def __missing__(self, _key: str) -> str:
        return "0"


@pytest.mark.parametrize("role", ["viewer", "analyst"])
def test_no_answer_has_an_id(house: House, role: Role) -> None:
    found = answers(house, role)
    pseudonym = house.auth.pseudonym("link", ID)
    assert any(pseudonym in text for text in found.values())
    kept = house.auth.kept(Arrival("link", ID)).external_id
    for path, text in found.items():
        for secret in (ID, VISIT, OUTCAST, kept):
            assert secret not in text, path
    readable = {e.split(" ")[1] for e, least in TABLE.items() if e.startswith("GET ") and least == "viewer"}
    assert len(readable & found.keys()) > len(readable) / 2
    assert all(f"GET {path}" in {*TABLE, *OPEN} for path in found)


def test_who_may_see_ids_finds_them(house: House) -> None:
    found = answers(house, "researcher")
    with_id = {path for path, text in found.items() if ID in text}
    assert with_id == {"/api/desk/runs/{run}/worker-ids", "/api/desk/runs/{run}/worker-ids.csv"}
    assert OUTCAST in found["/api/desk/runs/{run}/rules"]
