"""Recruiting over the API, against the stand-in, with workers who really come."""

from pathlib import Path

from sqlalchemy import make_url

from server.recruiters.stand_in.serving import Fault
from tests.server.support.database import execute
from tests.server.support.prolific import TOKEN
from tests.server.support.recruiting import CODE, PLAN, RECRUITING_ROWS, Recruiting
from tests.server.support.server import stored

WHY = (
    "You were asked to write five messages in each chat, and wrote one in each. Write to us if that is wrong."
)


def test_a_study_is_drafted_published_paused_enlarged_and_closed(recruiting: Recruiting) -> None:
    made = recruiting.ask(**PLAN)["recruitment"]
    assert (made["status"], made["places"], made["reward"]) == ("UNPUBLISHED", 5, 450)
    given = recruiting.prolific.platform.study(made["study"]).given
    assert given["external_study_url"] == (
        f"https://lab.example/prefix/w/{recruiting.run}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert given["completion_codes"][0]["code"] == CODE
    assert (given["estimated_completion_time"], given["maximum_allowed_time"]) == (20, 60)
    assert recruiting.refused(**PLAN) == "recruitment_exists"
    for path, status in (("publish", "ACTIVE"), ("pause", "PAUSED"), ("resume", "ACTIVE")):
        assert recruiting.ask(f"/{path}")["recruitment"]["status"] == status
    assert recruiting.ask("/places", "PUT", places=8)["recruitment"]["places"] == 8
    assert recruiting.refused("/places", "PUT", places=7) == "platform_failed"
    assert recruiting.ask("/close")["recruitment"]["status"] == "AWAITING REVIEW"
    actions = stored(
        recruiting.house, "SELECT action, actor FROM audit_entry WHERE action LIKE 'recruitment.%'"
    )
    done = ["create", "drafted", "publish", "pause", "start", "places", "stop"]
    assert [action for action, _ in actions] == [f"recruitment.{what}" for what in done]


def test_nothing_is_published_while_screen_outs_are_not_paid(recruiting: Recruiting) -> None:
    made = recruiting.ask(**(PLAN | {"screen_out_places": 0}))["recruitment"]
    assert made["pays_screen_outs"] is False
    assert recruiting.refused("/publish") == "screen_outs_unpaid"
    assert recruiting.prolific.platform.study(made["study"]).status == "UNPUBLISHED"
    # It is drafted anew, with what was missing.
    recruiting.ask(method="DELETE")
    assert made["study"] not in recruiting.prolific.platform.studies
    recruiting.publish()
    assert recruiting.refused(method="DELETE") == "wrong_run_status"


def test_nothing_is_published_that_would_send_participants_away(recruiting: Recruiting) -> None:
    recruiting.ask(**PLAN)
    assert recruiting.house.desk(f"/runs/{recruiting.run}/pause", method="POST").is_success
    assert recruiting.refused("/publish") == "wrong_run_status"


def test_who_finished_is_approved_and_the_decision_stays(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission = recruiting.finish("PID-ann")
    (row,) = recruiting.refreshed()["submissions"]
    assert (row["submission"], row["status"], row["here"]) == (submission, "AWAITING REVIEW", "completed")
    assert (row["ending"], row["rated"], row["conversations"]) == ("complete", 4, 4)
    assert row["proposal"] == {"pay": "all", "share": None, "why": "finished here"}
    assert row["worker"] == recruiting.house.auth.pseudonym("prolific", "PID-ann")
    view = recruiting.ask("/decisions", submissions=[submission], decision="approve")["recruitment"]
    assert view["submissions"][0]["status"] == "APPROVED"
    assert view["submissions"][0]["decision"]["decided_by"] == "the installation's token"
    assert view["differences"] == []
    assert recruiting.prolific.platform.submission(submission).paid == 450


def test_a_rejection_needs_its_reason_before_anything_is_kept_or_sent(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission = recruiting.finish("PID-bob")
    recruiting.refreshed()
    rejection = {"submissions": [submission], "decision": "reject", "category": "LOW_EFFORT"}
    assert recruiting.refused("/decisions", **rejection, reason="Too short.") == "pay_refused"
    assert stored(recruiting.house, "SELECT count(*) FROM payment_decision") == [(0,)]
    recruiting.ask("/decisions", **rejection, reason=WHY)
    assert recruiting.prolific.platform.submission(submission).status == "REJECTED"


def test_who_was_stopped_by_us_is_paid_in_part(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission, _ = recruiting.begin("PID-cay")
    recruiting.prolific.platform.complete(submission, None)
    recruiting.refreshed()
    recruiting.ask(
        "/decisions", submissions=[submission], decision="partial", share=40, reason="A chatbot failed."
    )
    assert recruiting.prolific.platform.submission(submission).paid == 180  # 40 % of 450
    assert recruiting.refreshed()["differences"] == []


def test_a_decision_that_did_not_get_through_is_found_and_carried_out(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission = recruiting.finish("PID-dee")
    recruiting.refreshed()
    recruiting.prolific.faults.due.append(Fault("broken", f"{submission}/transition"))
    assert recruiting.refused("/decisions", submissions=[submission], decision="approve") == "platform_unsure"
    (found,) = recruiting.refreshed()["differences"]
    assert (found["kind"], found["remedy"]) == ("decision_not_carried_out", "repeat")
    assert recruiting.ask(f"/decisions/{submission}/repeat")["recruitment"]["differences"] == []
    assert recruiting.prolific.platform.submission(submission).paid == 450


def test_differences_are_listed_with_what_to_do(recruiting: Recruiting) -> None:
    recruiting.publish()
    left, _ = recruiting.begin("PID-eve")
    recruiting.prolific.platform.give_back(left)
    late, token = recruiting.arrive("PID-fay")
    recruiting.prolific.clock.pass_by(minutes=61)  # of 60 that the study allows
    with recruiting.house.open(token) as page:
        page.whole()
    stranger = recruiting.prolific.platform.reserve(recruiting.shown()["study"], "PID-gus")
    recruiting.prolific.platform.complete(stranger.id, CODE)
    kept = recruiting.finish("PID-hal", code="WRONG")
    forged = recruiting.house.join(parameters={"PROLIFIC_PID": "PID-ida", "SESSION_ID": "made-up"})
    with recruiting.house.open(forged.json()["token"]) as page:
        page.whole()
    found = {one["submission"]: one for one in recruiting.refreshed()["differences"]}
    assert {submission: (one["kind"], one["remedy"]) for submission, one in found.items()} == {
        left: ("left_there", "release"),
        late: ("finished_after_giving_up", "approve"),
        stranger.id: ("never_seen_here", "request_return"),
        kept: ("wrong_code", "approve"),
        None: ("not_known_there", "exclude"),
    }
    # Each remedy is one call, and takes its line away.
    house = recruiting.house
    assert house.desk(f"/assignments/{found[left]['assignment']}/release", method="POST").is_success
    reason = {"reason": "No such submission."}
    path = f"/assignments/{found[None]['assignment']}/exclusion"
    assert house.desk(path, method="PUT", json=reason).is_success
    recruiting.ask("/decisions", submissions=[late, kept], decision="approve")
    asked = {"decision": "request_return", "reason": "You did not take part."}
    recruiting.ask("/decisions", submissions=[stranger.id], **asked)
    assert recruiting.refreshed()["differences"] == []


def test_more_submissions_than_a_page_holds_are_all_read(recruiting: Recruiting) -> None:
    study = recruiting.publish(places=45)
    for number in range(45):  # a page holds 20
        recruiting.prolific.platform.reserve(study, f"PID-{number}")
    assert len(recruiting.refreshed()["submissions"]) == 45


def test_a_currency_that_cannot_be_read_keeps_no_submission_from_being_read(recruiting: Recruiting) -> None:
    study = recruiting.publish()
    recruiting.prolific.platform.reserve(study, "PID-ann")
    execute(recruiting.house.url, "UPDATE recruitment SET currency = NULL")  # as one of an earlier version
    recruiting.prolific.faults.due.append(Fault("busy", "/cost/", "100"))
    found = recruiting.refreshed()
    assert len(found["submissions"]) == 1
    assert found["fault"].startswith("the currency was not read: ")
    found = recruiting.refreshed()
    assert (found["fault"], found["currency"]) == (None, "GBP")


def test_a_platform_that_says_no_leaves_what_was_read_and_why_is_shown(recruiting: Recruiting) -> None:
    study = recruiting.publish()
    recruiting.prolific.platform.reserve(study, "PID-ann")
    before = recruiting.refreshed()
    recruiting.house.stop()
    recruiting.house.settings["prolific_token"] = "withdrawn"
    recruiting.house.start()
    assert recruiting.refused("/refresh") == "platform_failed"
    after = recruiting.shown()
    assert after["submissions"] == before["submissions"]
    assert after["fault"] == "Prolific: look at the study: Authentication failed: Invalid token."


def test_participants_are_written_to(recruiting: Recruiting) -> None:
    recruiting.publish()
    submission, _ = recruiting.begin("PID-ann")
    recruiting.refreshed()
    recruiting.ask("/messages", submissions=[submission], text="Please hand in.")
    assert recruiting.prolific.platform.sent[-1] == ("PID-ann", "Please hand in.")


def test_participants_of_other_studies_are_not_written_to(recruiting: Recruiting) -> None:
    recruiting.publish()
    platform = recruiting.prolific.platform
    elsewhere = platform.reserve(recruiting.shown()["study"], "PID-bob").id  # not read, so none of this run
    before = list(platform.sent)
    assert recruiting.refused("/messages", submissions=[elsewhere], text="Hello.") == "pay_refused"
    assert platform.sent == before


def test_the_token_and_participants_ids_are_shown_nowhere(recruiting: Recruiting) -> None:
    recruiting.publish()
    recruiting.finish("PID-secret")
    text = str(recruiting.refreshed()) + recruiting.house.desk("/audit").text
    assert "PID-secret" not in text
    assert TOKEN not in text
    tables = ("recruitment", "submission", "payment_decision", "audit_entry")
    rows = [stored(recruiting.house, f"SELECT * FROM {table}") for table in tables]  # noqa: S608
    assert TOKEN not in str(rows)
    assert "PID-secret" not in str(rows)
    database = make_url(recruiting.house.url).database
    assert database is not None
    files = [path for path in Path(database).parent.rglob("*") if path.is_file()]
    assert Path(database) in files
    assert [path.name for path in files if b"PID-secret" in path.read_bytes()] == []


def test_whatever_changes_something_writes_its_row_into_the_audit_log(recruiting: Recruiting) -> None:
    recruiting.ask(**PLAN)
    recruiting.ask(method="DELETE")
    recruiting.publish()
    submission = recruiting.finish("PID-jan")
    recruiting.refreshed()
    some = {"submissions": [submission]}
    first = recruiting.ask("/bonuses", purpose="first", cents={submission: 5})["batch"]
    second = recruiting.ask("/bonuses", purpose="second", cents={submission: 6})["batch"]
    recruiting.prolific.faults.due.append(Fault("broken after", "/pay/"))
    assert recruiting.refused(f"/bonuses/{first}/pay") == "platform_unsure"
    recruiting.ask(f"/bonuses/{first}/look")
    recruiting.ask(f"/bonuses/{second}", "DELETE")
    recruiting.ask("/decisions", **some, decision="approve")
    recruiting.ask(f"/decisions/{submission}/repeat")
    recruiting.ask("/messages", **some, text="Thank you.")
    for path in ("/pause", "/resume"):
        recruiting.ask(path)
    recruiting.ask("/places", "PUT", places=6)
    recruiting.ask("/close")
    recruiting.ask("/run", platform="prolific", run="another")
    written = stored(recruiting.house, "SELECT DISTINCT action FROM audit_entry")
    assert set(RECRUITING_ROWS.values()) <= {action for (action,) in written}
