"""Invitations: links that expire and can be revoked, and that a real mail server delivers."""

import re
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from server.config import Settings
from server.desk.people import mail
from server.study.texts import LANGUAGES, instrument_of
from tests.server.support.commands import Candor
from tests.server.support.database import make_run
from tests.server.support.server import House
from tests.server.support.study import study_text
from tests.support.mail_server import MailServer, Security, mail_server

pytestmark = pytest.mark.databases("sqlite")
SENDER = "Candor <candor@lab.example>"


@pytest.fixture(params=["none", "starttls", "tls"])
def server(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MailServer]:
    security: Security = request.param
    with mail_server(tmp_path, security) as server:
        context = ssl.create_default_context(cafile=server.certificate)
        monkeypatch.setattr(mail, "trusted", lambda: context)
        yield server


def served(url: str, serve: Callable[..., House], **settings: Any) -> House:
    return serve(url, make_run(url), public_url="https://lab.example/candor", **settings)


def open_link(house: House, link: str) -> int:
    """Return the status with which the server answers somebody who follows a link."""
    secret = link.partition("#link=")[2]
    return house.http("POST", "/api/account/link", json={"link": secret}).status_code


def test_a_link_is_shown_with_its_expiry_and_can_be_revoked(url: str, serve: Callable[..., House]) -> None:
    house = served(url, serve)
    made = house.desk("/people", method="POST", json={"name": "ann", "role": "viewer"}).json()
    until = datetime.fromisoformat(made["link_expires_at"]).replace(tzinfo=UTC) - datetime.now(UTC)
    assert timedelta(days=6) < until <= timedelta(days=7)
    assert (made["mailed"], made["mail_failure"]) == (False, None)
    (row,) = house.desk("/people").json()["people"]
    assert row["link_expires_at"] == made["link_expires_at"]
    assert open_link(house, made["link"]) == 200
    assert house.desk("/people/ann/link", method="DELETE").status_code == 204
    (row,) = house.desk("/people").json()["people"]
    assert row["link_expires_at"] is None
    assert open_link(house, made["link"]) == 403


def test_a_link_to_one_study_can_be_revoked_there(url: str, serve: Callable[..., House]) -> None:
    house = served(url, serve)
    at = "/studies/lighthouse/people"
    made = house.desk(at, method="POST", json={"name": "ann", "role": "viewer"}).json()
    (row,) = house.desk(at).json()["people"]
    assert row["link_expires_at"] == made["link_expires_at"] is not None
    assert house.desk(f"{at}/ann/link", method="DELETE").status_code == 204
    assert open_link(house, made["link"]) == 403


def test_an_invitation_is_mailed_and_opens_the_desk(
    url: str, serve: Callable[..., House], server: MailServer
) -> None:
    house = served(url, serve, smtp_url=server.url, mail_from=SENDER)
    assert house.desk("/invitation-mail").json() == {"available": True}
    body = {"name": "Ann@example.org", "role": "analyst", "study": "lighthouse", "by_mail": True}
    made = house.desk("/people", method="POST", json=body).json()
    assert (made["mailed"], made["mail_failure"]) == (True, None)
    (letter,) = server.sent
    assert (letter["From"], letter["To"], letter["Subject"]) == (
        SENDER,
        "ann@example.org",
        "Invitation to Candor",
    )
    text = letter.get_content()
    assert "the study “lighthouse” in Candor: https://lab.example/candor/desk\n" in text
    link = re.search(r"^https://lab\.example/candor/desk#link=\S+$", text, re.MULTILINE)
    assert link is not None
    assert link[0] == made["link"]
    assert open_link(house, link[0]) == 200
    again = house.desk("/people/ann@example.org/link", method="POST", json={"by_mail": True}).json()
    assert again["mailed"]
    assert (server.sent[1]["Subject"], again["has_password"]) == ("Invitation to Candor", False)
    assert open_link(house, link[0]) == 403
    chosen = {"link": again["link"].partition("#link=")[2], "password": "a quiet lake in May"}
    origin = {"Origin": "https://lab.example"}
    assert house.http("PUT", "/api/account/link", json=chosen, headers=origin).status_code == 200
    house.desk("/people/ann@example.org/link", method="POST", json={"by_mail": True})
    assert server.sent[2]["Subject"] == "New password for Candor"
    assert "sends you a link for choosing a new password" in server.sent[2].get_content()


def test_an_invitation_is_in_the_language_of_its_study(
    url: str, serve: Callable[..., House], server: MailServer
) -> None:
    house = served(url, serve, smtp_url=server.url, mail_from=SENDER, language="ja")
    assert set(LANGUAGES) == set(get_args(Settings.model_fields["language"].annotation))
    for study, language in (("german", "de"), ("arabic", "ar")):
        text = study_text(name=study, language=language)
        house.desk("/studies", method="POST", json={"name": study, "yaml": text})
    for n, study in enumerate(("german", "arabic", None)):
        body = {"name": f"ann{n}@example.org", "role": "viewer", "study": study, "by_mail": True}
        made = house.desk("/people", method="POST", json=body).json()
        assert made["mailed"]
        text = server.sent[-1].get_content()
        assert made["link"] in text
    subjects = [letter["Subject"] for letter in server.sent]
    # Arabic is not shipped: that invitation, and the one to all studies, are in the server's language.
    assert subjects == ["Einladung zu Candor", "Candor への招待", "Candor への招待"]
    assert "an der Studie „german“ mitzuarbeiten" in server.sent[0].get_content()


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_invitation_is_whole_in_every_language(language: str) -> None:
    instrument = instrument_of(language)
    assert instrument is not None
    until = datetime(2026, 12, 5, 18, 30, tzinfo=UTC)
    for study, has_password in ((None, False), ("lake", False), (None, True)):
        text = instrument.invitation.body(
            "ann",
            "https://lab.example/desk",
            study,
            "https://lab.example/#1",
            until,
            has_password=has_password,
        )
        wanted = ["ann", "https://lab.example/desk\n\n", "\nhttps://lab.example/#1\n", "2026", "18:30", "UTC"]
        assert [word for word in [*wanted, study or ""] if word not in text] == []
        assert "{" not in text


def test_a_failed_mail_leaves_the_link_to_be_copied(
    url: str, serve: Callable[..., House], server: MailServer
) -> None:
    house = served(url, serve, smtp_url=server.url, mail_from=SENDER)
    server.refuses = True
    body = {"name": "ann@example.org", "role": "viewer", "by_mail": True}
    made = house.desk("/studies/lighthouse/people", method="POST", json=body).json()
    assert (made["mailed"], made["mail_failure"]) == (False, "the mail server does not accept the address")
    assert open_link(house, made["link"]) == 200


def test_a_wrong_password_is_told_without_being_shown(
    url: str, serve: Callable[..., House], server: MailServer
) -> None:
    house = served(url, serve, smtp_url=server.url.replace("pass", "wrong"), mail_from=SENDER)
    body = {"name": "ann@example.org", "role": "viewer", "by_mail": True}
    failure = house.desk("/people", method="POST", json=body).json()["mail_failure"]
    assert "does not accept the name and password" in failure
    assert "wrong" not in failure
    assert server.sent == []


def test_nothing_is_mailed_without_a_mail_server_or_an_address(url: str, serve: Callable[..., House]) -> None:
    house = served(url, serve)
    assert house.desk("/invitation-mail").json() == {"available": False}
    body = {"name": "ann@example.org", "role": "viewer", "by_mail": True}
    assert house.desk("/people", method="POST", json=body).json()["error"]["code"] == "no_mail"
    assert house.desk("/people").json()["people"] == []
    unreached = served(url, serve, smtp_url="smtp://127.0.0.1:9", mail_from=SENDER)
    refused = unreached.desk("/people", method="POST", json=body | {"name": "ann"})
    assert refused.json()["error"]["code"] == "invalid_field"
    made = unreached.desk("/people", method="POST", json=body).json()
    assert made["mail_failure"] == "the mail server cannot be reached"


@pytest.mark.parametrize(
    "settings",
    [
        {"smtp_url": "smtp://mail.example"},
        {"mail_from": SENDER},
        {"smtp_url": "mail.example", "mail_from": SENDER},
    ],
)
def test_half_of_the_settings_is_refused(settings: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Settings(**settings)


def test_a_command_mails_its_link(
    candor: Candor, url: str, serve: Callable[..., House], server: MailServer
) -> None:
    house = served(url, serve)
    given = {"CANDOR_PUBLIC_URL": "https://lab.example/candor", "CANDOR_DATABASE_URL": url}
    where = ("--data", house.folder)
    add = ("people", "add", "ann@example.org", "--mail", *where)
    none = candor(*add, **given)
    assert (none.exit_code, "This server sends no e-mails" in none.stderr) == (2, True)
    given |= {"CANDOR_SMTP_URL": server.url, "CANDOR_MAIL_FROM": SENDER}
    added = candor(*add, **given)  # nothing was added before
    assert added.exit_code == 0, added.stderr
    assert added.stdout.strip() in server.sent[0].get_content()
    assert open_link(house, added.stdout.strip()) == 200
    server.refuses = True
    failed = candor("people", "link", "ann@example.org", "--mail", *where, **given)
    assert failed.exit_code == 2
    assert failed.stdout.startswith("https://lab.example/candor/desk#link=")
    assert "the mail server does not accept the address" in failed.stderr
    nameless = candor("people", "add", "bea", "--mail", *where, **given)
    assert (nameless.exit_code, "is not an e-mail address" in nameless.stderr) == (2, True)
