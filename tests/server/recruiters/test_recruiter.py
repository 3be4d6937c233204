"""Tests of recruiters: the worker ids that they pass, and the links to which they send workers at the end."""

import pytest
from pydantic import TypeAdapter, ValidationError

from server.recruiters.arrival import Arrival, is_placeholder
from server.recruiters.recruiter import Completion, Recruiter, ending

READ: TypeAdapter[Recruiter] = TypeAdapter(Recruiter)
PROLIFIC = {"kind": "prolific", "completion_code": "C1AB2CD3"}
CONNECT = {"kind": "connect", "completion_url": "https://connect.example/back"}
SONA = {"kind": "sona", "school": "Tide.sona-systems.com", "experiment_id": 12, "credit_token": "9a8b"}
OWN = "7KQ2-MX4D"


@pytest.mark.parametrize(
    ("recruiter", "given", "arrival"),
    [
        (
            PROLIFIC,
            {"PROLIFIC_PID": "5f3a", "STUDY_ID": "s1", "SESSION_ID": "v1"},
            Arrival("prolific", "5f3a", "v1"),
        ),
        (PROLIFIC, {"PROLIFIC_PID": " 5f3a "}, Arrival("prolific", "5f3a", None)),
        (
            CONNECT,
            {"participantId": "P9", "assignmentId": "A1", "projectId": "X"},
            Arrival("connect", "P9", "A1"),
        ),
        (SONA, {"survey_code": "4711"}, Arrival("sona", "4711", None)),
        (PROLIFIC, {"prolific_pid": "5f3a", "Session_Id": "s"}, Arrival("prolific", "5f3a", "s")),
    ],
)
def test_who_arrives(recruiter: dict[str, object], given: dict[str, str], arrival: Arrival) -> None:
    assert READ.validate_python(recruiter).arrival(given) == arrival


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"PROLIFIC_PID": ""},
        {"PROLIFIC_PID": "  "},
        {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"},  # the address as it was entered there, opened by hand
        {"PROLIFIC_PID": "a\nb"},
        {"PROLIFIC_PID": "x" * 201},
        {"prolific_pid": "5f3a", "PROLIFIC_PID": "5f3b"},
        {"worker": "5f3a"},
    ],
)
def test_who_cannot_be_told_from_anybody(given: dict[str, str]) -> None:
    assert READ.validate_python(PROLIFIC).arrival(given) is None


@pytest.mark.parametrize(
    ("recruiter", "came", "end"),
    [
        (None, Arrival("link", "ann"), Completion(OWN, "https://lab.example/thanks")),
        (
            PROLIFIC,
            Arrival("prolific", "5f3a"),
            Completion("C1AB2CD3", "https://app.prolific.com/submissions/complete?cc=C1AB2CD3"),
        ),
        (CONNECT, Arrival("connect", "P9"), Completion(OWN, "https://connect.example/back")),
        (
            CONNECT | {"completion_url": None, "completion_code": "Q7"},
            Arrival("connect", "P9"),
            Completion("Q7", None),
        ),
        (
            SONA,
            Arrival("sona", "47 11"),
            Completion(
                OWN,
                "https://tide.sona-systems.com/webstudy_credit.aspx"
                "?experiment_id=12&credit_token=9a8b&survey_code=47+11",
            ),
        ),
        (SONA | {"credit": "server"}, Arrival("sona", "4711"), Completion(OWN, None)),
        # A tester by a link, a simulated worker: nothing of the platform's is theirs.
        (PROLIFIC, Arrival("link", "ann"), Completion(OWN, None)),
        (SONA, Arrival("simulated", "s1"), Completion(OWN, None)),
    ],
)
def test_where_they_go_in_the_end(
    recruiter: dict[str, object] | None, came: Arrival, end: Completion
) -> None:
    read = READ.validate_python(recruiter) if recruiter is not None else None
    url = "https://lab.example/thanks" if recruiter is None else None
    assert ending(read, url, came, OWN) == end


@pytest.mark.parametrize(
    ("recruiter", "reason"),
    [
        ({"kind": "mturk"}, "does not match any of the expected tags"),
        ({"kind": "prolific"}, "Field required"),
        ({"kind": "prolific", "completion_code": "a&b"}, "should match pattern"),
        ({"kind": "connect"}, "nobody can be paid"),
        (CONNECT | {"partial_url": CONNECT["completion_url"]}, "counts as complete"),
        (CONNECT | {"completion_url": "javascript:alert(1)"}, "begins with https"),
        (SONA | {"school": "evil.example"}, "should match pattern"),
        (SONA | {"school": "evil.example/tide.sona-systems.com"}, "should match pattern"),
    ],
)
def test_what_makes_no_sense_is_refused(recruiter: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        READ.validate_python(recruiter)


@pytest.mark.parametrize(
    "unfilled",
    [
        "${e://Field/ResponseID}",  # Qualtrics
        "${session.id}",
        "{{%PROLIFIC_PID%}}",
        "{{participant.code}}",
        "[[id]]",
        "[ID_value]",  # SurveyMonkey's custom variables
        "%%worker%%",
        "%SURVEY_CODE%",
        "{SAVEDID}",  # LimeSurvey
        "{PROLIFIC_PID}",
        "<id>",
        "<%= id %>",
        "#{id}",
        "[object Object]",
        "undefined",
        "null",
        "None",
        "NaN",
        "PROLIFIC_PID",
        "participantId",
        "ASSIGNMENT_ID_NOT_AVAILABLE",  # MTurk's preview
        "R_1-${e://Field/ResponseID}",
    ],
)
def test_what_was_never_filled_in_is_known_by_its_shape(unfilled: str) -> None:
    assert is_placeholder(unfilled)


@pytest.mark.parametrize(
    "name",
    [
        "A1",
        "5f3a9c",
        "R_2cKd81x",
        "ann@example.org",
        "nullmann",
        "Nanette",
        "100%",
        "a<b",
        "(A1)",
        "x{1",
        "Ünal $7",
    ],
)
def test_an_id_is_no_placeholder(name: str) -> None:
    assert not is_placeholder(name)
