"""The lists of studies, people and bots as they are pushed to whoever watches."""

from typing import Any

from tests.server.support.server import House
from tests.server.support.stream import watching

NOWHERE = {"kind": "http", "urls": ["http://127.0.0.1:1"]}


def named(rows: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    return next((row for row in rows if row["name"] == name), None)


def test_studies_are_pushed(shared: House, someone: str) -> None:
    study = someone.replace("-", "_")
    with watching(shared, "/studies") as stream:
        before = stream.next()["studies"]
        assert before == shared.desk("/studies").json()["studies"]
        shared.desk("/studies", method="POST", json={"name": study, "begin_with": "blank"})
        made = stream.until(lambda change: named(change["studies"], study))
        assert len(made["studies"]) == len(before) + 1  # the whole list
        shared.desk(f"/studies/{study}", method="PATCH", json={"archived": True})
        stream.until(lambda change: (named(change["studies"], study) or {})["archived"])
        shared.desk(f"/studies/{study}", method="DELETE")
        stream.until(lambda change: named(change["studies"], study) is None)


def test_people_and_tokens_are_pushed_those_alone_that_have_changed(shared: House, someone: str) -> None:
    with watching(shared, "/people") as stream:
        whole = stream.next()
        assert whole["people"] == shared.desk("/people").json()["people"]
        assert whole["tokens"] == shared.desk("/tokens").json()["tokens"]
        shared.desk("/people", method="POST", json={"name": someone, "role": "viewer"})
        invited = stream.until(lambda change: named(change.get("people", []), someone))
        assert "tokens" not in invited
        shared.desk("/tokens", method="POST", json={"name": someone, "scope": "host"})
        made = stream.until(lambda change: "tokens" in change)
        assert "people" not in made
        assert made["tokens"][0]["name"] == someone  # the newest first


def test_the_people_of_a_study_are_pushed(shared: House, someone: str) -> None:
    study = someone.replace("-", "_")
    shared.desk("/studies", method="POST", json={"name": study, "begin_with": "blank"})
    with watching(shared, f"/studies/{study}/people") as stream:
        stream.next()
        body = {"name": someone, "role": "viewer"}
        made = shared.desk(f"/studies/{study}/people", method="POST", json=body).json()
        added = stream.until(lambda change: named(change["people"], someone))
        assert named(added["people"], someone) == {
            "name": someone,
            "role": "viewer",
            "of_all": None,
            "has_password": False,
            "link_expires_at": made["link_expires_at"],
            "may_have_link": True,
        }


def test_a_bots_check_is_pushed_until_it_is_over(shared: House, someone: str) -> None:
    with watching(shared, "/bots") as stream:
        stream.next()
        shared.desk("/bots", method="POST", json={"name": someone, "endpoint": NOWHERE})
        assert named(stream.until(lambda c: named(c["bots"], someone))["bots"], someone) == {
            "name": someone,
            "check": None,
        }
        shared.desk(f"/bots/{someone}/check", method="POST")
        over = stream.until(lambda c: ((named(c["bots"], someone) or {})["check"] or {}).get("report"))
        assert (named(over["bots"], someone) or {})["check"]["report"]["verdict"] == "fail"
        shared.desk(f"/bots/{someone}", method="DELETE")
        stream.until(lambda c: named(c["bots"], someone) is None)
