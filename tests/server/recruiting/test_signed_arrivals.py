"""Workers of a study whose arrivals Prolific signs: only those come in, and they come back without."""

import base64
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

from server.clock import utc_now
from server.recruiters.prolific.signed_arrival import ISSUER, PARAMETER
from server.recruiters.stand_in.serving import Signer, address_of
from tests.server.support.database import make_run
from tests.server.support.prolific import Prolific
from tests.server.support.recruiting import CODE, PLAN, Recruiting
from tests.server.support.server import House, stored
from tests.server.support.study import study_text

HERE = "https://lab.example/prefix"


@pytest.fixture
def signed(url: str, prolific: Prolific, serve: Callable[..., House]) -> Recruiting:
    """A server over a published study that takes signed arrivals."""
    run = make_run(url, study_text(recruiter={"kind": "prolific", "completion_code": CODE, "signed": True}))
    house = serve(url, run, prolific_token=prolific.token, prolific_api=prolific.url, public_url=HERE)
    recruiting = Recruiting(house, prolific)
    recruiting.publish()
    return recruiting


def arriving(signed: Recruiting, participant: str) -> dict[str, str]:
    """Have a participant take a place; return the parameters of the address that they are sent to."""
    study = signed.shown()["study"]
    answer = httpx2.get(f"{signed.prolific.url}/studies/{study}/take-part", params={"as": participant})
    address = answer.headers["location"]
    assert address.startswith(f"{HERE}/w/")
    return dict(parse_qsl(urlsplit(address).query))


def late(signed: Recruiting, participant: str) -> dict[str, str]:
    """Return parameters that were signed three minutes ago."""
    platform = signed.prolific.platform
    found = next(one for one in platform.submissions.values() if one.participant == participant)
    address = address_of(platform.study(found.study).given["external_study_url"], found)
    at = utc_now() - timedelta(minutes=3)
    return dict(parse_qsl(urlsplit(signed.prolific.signer.signed(address, found, at)).query))


def refused(answer: httpx2.Response, code: str) -> str:
    """Check that somebody is not let in; return what they are told."""
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, code)
    assert "words" in answer.json()  # those of the study's language
    return str(answer.json()["error"]["message"])


def test_who_comes_with_what_prolific_has_signed_comes_in(signed: Recruiting) -> None:
    assert signed.prolific.platform.study(signed.shown()["study"]).given["is_external_study_url_secure"]
    parameters = arriving(signed, "PID-ann")
    token = signed.house.join(parameters=parameters).json()["token"]
    with signed.house.open(token) as page:
        page.agree()
    assert stored(signed.house, "SELECT visit FROM visit") == [(parameters["SESSION_ID"],)]
    # Names that only the token has are as good, in another browser too.
    again = signed.house.join(parameters={PARAMETER: parameters[PARAMETER]})
    assert again.json()["assignment"] == signed.house.join(parameters=parameters).json()["assignment"]


def test_a_page_that_is_loaded_again_later_goes_on(signed: Recruiting) -> None:
    ticket = signed.house.join(parameters=arriving(signed, "PID-ann")).json()
    parameters = late(signed, "PID-ann")
    # Before they agreed, and after.
    again = signed.house.join(parameters=parameters, token=ticket["token"]).json()
    assert again["assignment"] == ticket["assignment"]
    with signed.house.open(again["token"]) as page:
        page.agree()
    enrolled = signed.house.join(parameters=parameters, token=again["token"]).json()
    assert enrolled["assignment"] == ticket["assignment"]
    for given in ({PARAMETER: parameters[PARAMETER]}, {}):
        once_more = signed.house.join(parameters=given, token=enrolled["token"])
        assert once_more.json()["assignment"] == ticket["assignment"]
    # Without what this browser was given nothing proves it, and what another was given does not either.
    refused(signed.house.join(parameters=parameters), "link_expired")
    other = signed.house.join(parameters=arriving(signed, "PID-bob")).json()["token"]
    for token in (other, "forged"):
        refused(signed.house.join(parameters=parameters, token=token), "link_expired")


def test_names_without_a_signature_are_refused(signed: Recruiting) -> None:
    parameters = arriving(signed, "PID-ann")
    del parameters[PARAMETER]
    refused(signed.house.join(parameters=parameters), "link_unsigned")
    refused(signed.house.join(), "link_unsigned")
    refused(signed.house.join("PID-ann"), "link_unsigned")


def claims(**changes: Any) -> dict[str, Any]:
    now = utc_now()
    said = {"PROLIFIC_PID": "PID-ann", "STUDY_ID": "st", "SESSION_ID": "s1"}
    given = {
        "iss": ISSUER,
        "aud": f"{HERE}/w/pilot",
        "sub": "s1",
        "iat": now,
        "exp": now + timedelta(minutes=2),
        "prolific": said,
    }
    return {name: value for name, value in (given | changes).items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"iss": "https://elsewhere.example"}, "has not signed it"),
        ({"aud": "https://elsewhere.example/w/pilot"}, "for another study"),
        ({"aud": f"{HERE}/w/another"}, "for another study"),
        ({"aud": None}, "has not signed it"),
        ({"sub": "s2"}, "names no worker"),
        ({"exp": None}, "has not signed it"),
        ({"prolific": None}, "does not say who comes"),
        ({"prolific": {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}}, "names no worker"),
        ({"prolific": {"PROLIFIC_PID": "PID-bob"}}, "names another worker"),
    ],
    ids=["issuer", "host", "study", "no audience", "submission", "for ever", "nobody", "unfilled", "other"],
)
def test_a_token_for_something_else_is_refused(signed: Recruiting, changes: dict[str, Any], why: str) -> None:
    token = signed.prolific.signer.token(claims(**({"aud": f"{HERE}/w/{signed.run}"} | changes)))
    answer = signed.house.join(parameters={"PROLIFIC_PID": "PID-ann", PARAMETER: token})
    assert why in refused(answer, "link_altered")


def test_a_token_of_levels_without_end_is_refused(signed: Recruiting) -> None:
    header = base64.urlsafe_b64encode(b"[" * 1_800).decode()
    answer = signed.house.join(parameters={PARAMETER: f"{header}.e30.c2ln"})
    assert "has not signed it" in refused(answer, "link_altered")


@pytest.mark.databases("sqlite", in_soak=["postgresql"])
def test_a_token_for_our_host_alone_is_for_the_run_whose_study_it_names(
    signed: Recruiting, serve: Callable[..., House]
) -> None:
    """Prolific signs for the host of the study's address: of two runs here the study tells which."""
    here, url = signed.shown()["study"], signed.house.url
    signed.house.stop()
    for slug in ("other", "made"):  # of which the one has a study there that was drafted here
        yaml = study_text(name=slug, recruiter={"kind": "prolific", "completion_code": CODE, "signed": True})
        signed.house.runs.append(make_run(url, yaml, slug=slug))
    signed.house.start()
    drafted = signed.house.desk("/runs/other/recruitment", method="POST", json=PLAN)
    there = drafted.json()["recruitment"]["study"]

    def come(run: str, **study: str) -> httpx2.Response:
        said = {"PROLIFIC_PID": "PID-ann", "SESSION_ID": "s1", **study}
        token = signed.prolific.signer.token(claims(aud="lab.example", prolific=said))
        return signed.house.join(run=run, parameters={PARAMETER: token})

    for run, study in ((signed.run, there), ("other", here), ("made", there), (signed.run, "unknown")):
        assert "for another study" in refused(come(run, STUDY_ID=study), "link_altered")
    assert "for another study" in refused(come(signed.run), "link_altered")
    for run, study in ((signed.run, here), ("other", there), ("made", "unknown")):
        for _ in range(2):  # loaded twice while it is good
            assert come(run, STUDY_ID=study).is_success


def test_a_key_that_is_not_prolifics_is_refused_whatever_it_is_called(signed: Recruiting) -> None:
    for name in ("stand-in", "unknown"):
        token = Signer(name).token(claims(aud=f"{HERE}/w/{signed.run}"))
        refused(signed.house.join(parameters={PARAMETER: token}), "link_altered")
    refused(signed.house.join(parameters={PARAMETER: "no token"}), "link_altered")
