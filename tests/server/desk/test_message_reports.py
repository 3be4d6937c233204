"""Reported messages on the desk: what needs attention, the line with its report, and who has seen it."""

from typing import Any

from tests.server.support.answers import error
from tests.server.support.page import Page
from tests.server.support.server import House, stored
from tests.server.support.study import RUN


def report(page: Page, **fields: Any) -> None:
    page.agree()
    page.open_topic()
    page.say("Hello.")
    answer = page.ask("report", turn=1, reason="sexual", note="I want none of it.", **fields)
    assert answer["type"] == "accepted"


def attention(house: House) -> list[dict[str, Any]]:
    found = house.desk(f"/runs/{RUN}").json()["attention"]
    return [item for item in found if item["workers"] == "reported"]


def reports(house: House, assignment: str) -> list[dict[str, Any]]:
    told = house.desk(f"/assignments/{assignment}").json()
    return [one for conversation in told["conversations"] for one in conversation["reports"]]


def seen(assignment: str, number: int = 1) -> str:
    return f"/assignments/{assignment}/message-reports/{number}/seen"


def test_a_report_needs_attention_until_somebody_marks_it_as_seen(house: House) -> None:
    assert attention(house) == []
    with house.page("ann") as ann, house.page("bob") as bob:
        report(ann)
        report(bob)
        (assignments,) = [item["assignments"] for item in attention(house)]
        (found,) = attention(house)
        assert found["urgent"]
        assert found["text"].startswith("2 reported messages that nobody has seen")
        of_ann = assignments[0]
        (one,) = reports(house, of_ann)
        assert (one["turn_index"], one["reason"], one["note"]) == (1, "sexual", "I want none of it.")
        assert (one["leaves"], one["taken_back_at"], one["seen_at"]) == (False, None, None)
        assert house.desk(seen(of_ann, one["id"]), method="POST").status_code == 204
        (found,) = attention(house)
        assert found["assignments"] == [assignments[1]]
        (one,) = reports(house, of_ann)
        assert one["seen_at"] is not None
        bob.ask("take_back_report", turn=1)
        assert attention(house) == []  # taken back: it needs nobody, and is there still
        (back,) = reports(house, assignments[1])
        assert back["taken_back_at"] is not None


def test_who_has_seen_it_first_stays_and_stands_in_the_log_once(house: House) -> None:
    with house.page("ann") as page:
        report(page, leave=True)
        ((assignment,),) = stored(house, "SELECT id FROM assignment")
        for _ in range(2):
            assert house.desk(seen(assignment), method="POST").status_code == 204
    logged = "SELECT subject, detail FROM audit_entry WHERE action = 'message_report.seen'"
    assert stored(house, logged) == [(assignment, "report 1")]
    (one,) = reports(house, assignment)
    assert one["leaves"]
    (entry,) = stored(house, "SELECT actor FROM audit_entry WHERE action = 'message_report.seen'")
    assert (one["seen_by"],) == entry


def test_that_many_leave_with_a_report_is_pointed_out(house: House) -> None:
    def pointed_out() -> list[str]:
        found = house.desk(f"/runs/{RUN}").json()["attention"]
        return [item["text"] for item in found if "instead of finishing" in item["text"]]

    for number in range(4):
        with house.page(f"leaver-{number}") as page:
            report(page, leave=True)
    with house.page("stays") as page:
        report(page)
    assert pointed_out() == []
    with house.page("leaver-5") as page:
        report(page, leave=True)
    (text,) = pointed_out()
    assert text.startswith("5 of 5 workers who are paid in full have left with a report")
    assert "from None" not in text


def test_who_has_left_with_a_report_has_their_code_on_the_desk_and_is_paid_of_the_budget(
    house: House,
) -> None:
    rules = {"budget": {"total": "20.00", "pay": "2.00", "currency": "GBP"}}
    answer = house.desk(f"/runs/{RUN}/rules", method="PUT", json=rules)
    assert answer.is_success, answer.text
    with house.page("ann") as page, house.page("bob") as other:
        page.agree()
        page.open_topic()
        page.say("Hello.")
        page.send("report", turn=1, reason="harm", leave=True)
        code = page.until("ended")["code"]
        other.agree()
        other.send("leave")
        other.until("ended")
    told = house.desk(f"/runs/{RUN}").json()
    assert {row["completion_code"] for row in told["workers"]} == {code, None}
    assert told["limits"]["spent"] == 2.0
    assert told["places"] == 9  # of ten that are paid for, one has left
    known = house.desk(f"/runs/{RUN}/worker-ids").json()["workers"]
    assert {row["external_id"]: row["completion_code"] for row in known} == {"ann": code, "bob": None}


def test_a_report_that_is_not_there(house: House) -> None:
    with house.page("ann") as page:
        report(page)
    ((assignment,),) = stored(house, "SELECT id FROM assignment")
    error(house.desk(seen(assignment, 2), method="POST"), 404, "report_not_found")
    error(house.desk(seen("nobody"), method="POST"), 404, "report_not_found")
