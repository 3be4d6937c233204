"""All settings of a server, read from the environment (`CANDOR_…`) or given on the command line."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from limits import parse
from pydantic import AfterValidator, Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


def _limit(text: str) -> str:
    parse(text)  # raises with the reason if it is invalid
    return text


Limit = Annotated[str, AfterValidator(_limit)]
PROLIFIC_API = "https://api.prolific.com"
PROLIFIC_SITE = "https://app.prolific.com"


def _over_tls(address: str) -> str:
    found = urlsplit(address)
    if found.scheme != "https" and (found.scheme, found.hostname in ON_THIS_MACHINE) != ("http", True):
        raise ValueError(f"`{address}` is no address of an OpenID provider: write one with https://")
    return address


ON_THIS_MACHINE = {"127.0.0.1", "::1", "localhost"}
Issuer = Annotated[str, AfterValidator(_over_tls)]


def _mail_server(address: str) -> str:
    found = urlsplit(address)
    if found.scheme not in {"smtp", "smtps"} or not found.hostname:
        raise ValueError("write an address such as smtps://USER:PASSWORD@mail.example.org")
    return address


MailServer = Annotated[str, AfterValidator(_mail_server)]


def without_password(url: str) -> str:
    """Return a URL, also an invalid one, with everything that could be a password replaced by stars."""
    starred = re.sub(r"//([^:@/]*):.*@", r"//\1:***@", url)
    return re.sub(r"(?i)(password|pass|token|secret)=[^&]*", r"\1=***", starred)


@dataclass(frozen=True, slots=True)
class RecruiterAccess:
    """How this server reaches a recruiter with pay, and is reached by it.

    `api`: the base address of its API. `token`: a token of the researcher's workspace; None: no access.
    `hook_secret`: the secret that signs its events; None: events are refused. `workspace`: where the server
    itself subscribes to events.
    """

    api: str
    token: str | None = None
    hook_secret: str | None = None
    workspace: str | None = None


class Settings(BaseSettings):
    """Settings of one installation. A field's environment variable is `CANDOR_` and its name in capitals."""

    model_config = SettingsConfigDict(env_prefix="CANDOR_", extra="ignore")

    host: str = Field(
        "127.0.0.1", description="address to listen on; 0.0.0.0 is all of IPv4, and :: all of IPv4 and IPv6"
    )
    port: int = Field(8000, ge=1, le=65535, description="port to listen on")
    public_url: str | None = Field(None, description="public address of this server, for links to it")
    data: Path = Field(Path("candor-data"), description="folder of the database and the secrets")
    database_url: str | None = Field(
        None,
        description="database: postgresql://USER:PASSWORD@HOST/NAME or sqlite:///PATH; "
        "default: candor.db in the data folder",
    )
    database_connections: int = Field(
        5, ge=1, description="PostgreSQL connections of a process for reading; writing takes one more"
    )
    database_seconds: float = Field(30, gt=0, description="time limit of a PostgreSQL statement, in seconds")
    redis_url: str | None = Field(
        None,
        description="Redis over which several processes exchange news: "
        "redis://[:PASSWORD@]HOST[:PORT][/NUMBER]",
    )
    processes: int = Field(1, ge=1, le=64, description="web processes; several need PostgreSQL and Redis")
    drain_seconds: float = Field(
        15.0, ge=0, description="how many seconds an ending process waits for bots that are answering"
    )
    trusted_proxies: list[str] = Field(
        ["127.0.0.1", "::1"],
        description="addresses or networks of proxies whose X-Forwarded-For gives the client's address; the "
        "workers behind any other proxy count as one address",
    )
    exempt_addresses: list[str] = Field(
        [], description="addresses without limits per address, such as that of simulated workers"
    )
    signed_links: bool = Field(
        False, description="admit only workers with a personal link (`candor recruit links`)"
    )
    joins_per_address: Limit = Field("120/minute", description="limit on slots taken from one address")
    attempts_per_address: Limit = Field(
        "300/minute", description="limit on pages opened from one address, whether they lead to a slot or not"
    )
    connections_per_address: Limit = Field("240/minute", description="limit on new sockets of one address")
    open_sockets_per_address: int = Field(
        1000, ge=1, description="limit on sockets open at once from one address, for each process"
    )
    requests_per_address: Limit = Field(
        "500/5second", description="limit on requests of any kind from one address; more wait, or are refused"
    )
    sign_ins: Limit = Field(
        "10/minute",
        description="limit on tries to sign in from one address; 20 times as many for one account",
    )
    oidc_issuer: Issuer | None = Field(
        None, description="address of the OpenID provider for signing in, besides passwords"
    )
    oidc_client_id: str | None = Field(None, description="this installation's client id at that provider")
    oidc_client_secret: str | None = Field(
        None,
        repr=False,
        description="this installation's client secret at that provider; a public client has none",
    )
    oidc_name: str | None = Field(None, description="the provider's name for people; default: its host")
    smtp_url: MailServer | None = Field(
        None,
        repr=False,
        description="mail server for invitations: smtps://USER:PASSWORD@HOST[:PORT] with TLS, or smtp://… "
        "with STARTTLS",
    )
    mail_from: str | None = Field(
        None, description="sender of invitations, such as Candor <candor@lab.example>"
    )
    language: Literal["de", "en", "es", "fr", "ja", "zh"] = Field(
        "en", description="language of invitations to all studies; those to one study are in its language"
    )
    messages_per_session: Limit = Field("40/10second", description="limit on messages of one worker")
    refuse_private_bots: bool = Field(
        False,
        description="ask bots at public addresses only; for servers where strangers can register bots",
    )
    bot_hosts: int = Field(1, ge=1, le=64, description="number of processes that run the builtin bots")
    bot_keys: dict[str, list[str]] = Field(
        {},
        description="environment variables that may hold keys of bots from the desk or the API, each with "
        'the hosts that may get it: {"OPENAI_API_KEY": ["api.openai.com"]}',
    )
    moderation_url: str | None = Field(
        None,
        description="a moderation service with OpenAI's API; it judges bots' replies in checks and "
        "the lines of studies with `moderation: classifier`",
    )
    moderation_key: str | None = Field(None, repr=False, description="the key of that service, if it has one")
    prolific_token: str | None = Field(
        None, repr=False, description="token of your workspace at Prolific, for recruiting from the desk"
    )
    prolific_hook_secret: str | None = Field(
        None, repr=False, description="secret of Prolific's events, as `candor recruit listen` prints it"
    )
    prolific_workspace: str | None = Field(
        None, description="workspace there; with it the server itself subscribes to Prolific's events"
    )
    prolific_api: str = Field(PROLIFIC_API, description="base address of Prolific's API, without /api")
    prolific_site: str = Field(PROLIFIC_SITE, description="base address of Prolific's pages for participants")
    sona_url: str | None = Field(None, description="address of a stand-in for SONA, for tests of credits")
    running_analysis: bool = Field(True, description="update scores and the worker filter as ratings come in")
    worker_id_key: str | None = Field(
        None,
        repr=False,
        description="key that encrypts workers' ids; default: in a file of the data folder",
    )
    job_megabytes: int = Field(4096, ge=256, description="memory limit of a report, rehearsal or analysis")
    job_minutes: int = Field(30, ge=1, description="time limit of one of these, in minutes")
    kept_reports: int = Field(20, ge=1, description="number of reports kept per run; older ones are removed")
    token_days: int = Field(7, ge=1, description="for how many days a worker can resume with their link")

    @model_validator(mode="after")
    def _whole_provider(self) -> "Settings":
        if (self.oidc_issuer is None) != (self.oidc_client_id is None):
            raise ValueError("CANDOR_OIDC_ISSUER and CANDOR_OIDC_CLIENT_ID belong together")
        return self

    @model_validator(mode="after")
    def _whole_mail(self) -> "Settings":
        if (self.smtp_url is None) != (self.mail_from is None):
            raise ValueError("CANDOR_SMTP_URL and CANDOR_MAIL_FROM belong together")
        return self

    @property
    def resolved_database_url(self) -> str:
        """The URL of the database in use, with our driver for it."""
        if self.database_url is None:
            return f"sqlite:///{self.data.resolve() / 'candor.db'}"
        return re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", self.database_url)

    @property
    def recruiter_access(self) -> dict[str, RecruiterAccess]:
        """The access to each recruiter with pay, by its kind."""
        return {
            "prolific": RecruiterAccess(
                self.prolific_api, self.prolific_token, self.prolific_hook_secret, self.prolific_workspace
            )
        }

    @property
    def address(self) -> str:
        """The address on which this server listens, in the form for a URL."""
        return self._address(self.host)

    def _address(self, host: str) -> str:
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @property
    def own_url(self) -> str:
        """The URL of this server for processes on the same machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104
        return f"http://{self._address(host)}"

    @property
    def resolved_public_url(self) -> str:
        """The beginning of every link to this server, without a slash at the end.

        A command that knows neither the URL nor a port uses those of the server that last served this data.
        """
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::"} else self.host  # noqa: S104
        url = self.public_url or self._last_served or f"http://{self._address(host)}"
        return url.rstrip("/")

    @property
    def _last_served(self) -> str | None:
        if self.model_fields_set & {"host", "port"} or not self._served_file.is_file():
            return None
        return self._served_file.read_text(encoding="utf-8").strip() or None

    @property
    def _served_file(self) -> Path:
        return self.data / "served-at"

    def remember_served(self) -> None:
        """Store this server's public URL, for commands that print links to it."""
        self._served_file.write_text(self.resolved_public_url + "\n", encoding="utf-8")
