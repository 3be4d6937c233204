"""Send invitations to the desk by e-mail, over the SMTP server of the settings, in the study's language."""

import asyncio
import smtplib
from datetime import datetime
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import structlog
from sqlalchemy import Connection

from candor.common.network import trusted
from server.access.roles import ALL_STUDIES
from server.config import ON_THIS_MACHINE, Settings
from server.db.runs.studies import find_study
from server.errors import InvalidField, NoMail, StudyNotFound
from server.study import Unreadable, read_document
from server.study.texts import ENGLISH, InvitationTexts, instrument_of

_SECONDS = 20.0  # time-out of each step
_TLS_PORT, _STARTTLS_PORT = 465, 587
log = structlog.get_logger()


class Sent(NamedTuple):
    """What became of a link: fields of the answer that has it. `mail_failure`: why it could not be sent."""

    mailed: bool = False
    mail_failure: str | None = None


class InvitationMail:
    """Sends invitations, if the server has the settings `smtp_url` and `mail_from`."""

    def __init__(self, settings: Settings) -> None:
        self._url = settings.smtp_url
        self._sender = settings.mail_from
        self._desk = f"{settings.resolved_public_url}/desk"
        self._language = settings.language

    @property
    def available(self) -> bool:
        """Whether the server can send e-mails."""
        return self._url is not None

    def require(self, name: str) -> None:
        """Check that an e-mail can be sent to a person of this name. Raises NoMail, InvalidField."""
        if not self.available:
            raise NoMail("This server sends no e-mails")
        if "@" not in name:
            raise InvalidField(f"“{name}” is not an e-mail address", "Copy the link and send it yourself.")

    def texts_for(self, study: str, connection: Connection) -> InvitationTexts:
        """Return the texts of an invitation: in the language of the study, else in that of the server."""
        spoken = _language_of(study, connection) or self._language
        return (instrument_of(spoken) or instrument_of(self._language) or ENGLISH).invitation

    async def send_any(
        self,
        texts: InvitationTexts,
        person: str,
        by: str | None,
        study: str,
        link: str | None,
        expires_at: datetime | None,
        *,
        has_password: bool,
    ) -> Sent:
        """Send a link, if there is one, and return what became of it. The arguments are those of `send`."""
        if link is None or expires_at is None:
            return Sent()
        failure = await self.send(texts, person, by, study, link, expires_at, has_password=has_password)
        return Sent(mailed=failure is None, mail_failure=failure)

    async def send(
        self,
        texts: InvitationTexts,
        person: str,
        by: str | None,
        study: str,
        link: str,
        expires_at: datetime,
        *,
        has_password: bool,
    ) -> str | None:
        """Send a link for choosing a password. Return why that failed; None if the server took the e-mail.

        Args:
            texts: those of `texts_for`.
            person: the e-mail address that is the person's name.
            by: the name of the inviting account; None: the administrator.
            study: the study, or `ALL_STUDIES`.
            link: the link.
            expires_at: when the link expires.
            has_password: whether the person has a password, which the link replaces.
        """
        letter = EmailMessage()
        letter["Subject"] = texts.new_password_subject if has_password else texts.subject
        letter["From"], letter["To"] = self._sender or "", person
        letter["Date"], letter["Message-ID"] = formatdate(), make_msgid()
        letter.set_content(
            texts.body(
                by,
                self._desk,
                None if study == ALL_STUDIES else study,
                link,
                expires_at,
                has_password=has_password,
            )
        )
        try:
            await asyncio.to_thread(self._send, letter)
        except (OSError, smtplib.SMTPException) as error:
            reason = _reason(error)
            log.warning("invitation was not sent", reason=reason, error=type(error).__name__)
            return reason
        return None

    def _send(self, letter: EmailMessage) -> None:
        parts = urlsplit(self._url or "")
        host, is_tls = parts.hostname or "", parts.scheme == "smtps"
        connection = (
            smtplib.SMTP_SSL(host, parts.port or _TLS_PORT, timeout=_SECONDS, context=trusted())
            if is_tls
            else smtplib.SMTP(host, parts.port or _STARTTLS_PORT, timeout=_SECONDS)
        )
        with connection:
            connection.ehlo()
            if not is_tls and (host not in ON_THIS_MACHINE or connection.has_extn("starttls")):
                connection.starttls(context=trusted())
            if parts.username is not None:
                connection.login(unquote(parts.username), unquote(parts.password or ""))
            connection.send_message(letter)


def _language_of(study: str, connection: Connection) -> str | None:
    """Return the language of a study; None if there is no such study or it cannot be read."""
    try:
        content = read_document(find_study(connection, study).newest.yaml).content
    except (StudyNotFound, Unreadable):
        return None
    return str(content.get("language", "en")) if isinstance(content, dict) else None


def _reason(error: OSError | smtplib.SMTPException) -> str:
    """Return why an e-mail was not sent, without what the settings have."""
    match error:
        case smtplib.SMTPAuthenticationError():
            return "the mail server does not accept the name and password of CANDOR_SMTP_URL"
        case smtplib.SMTPRecipientsRefused():
            return "the mail server does not accept the address"
        case smtplib.SMTPNotSupportedError():
            return "the mail server does not support what CANDOR_SMTP_URL needs (STARTTLS or a password)"
        case smtplib.SMTPResponseException():
            return f"the mail server answered {error.smtp_code}"
        case _:
            return "the mail server cannot be reached"
