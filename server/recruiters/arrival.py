"""Identity of an arriving worker, from a link or a platform."""

import re
import secrets
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from pydantic import StringConstraints

LINK, SIMULATED = "link", "simulated"  # used in place of a platform's name
# Control characters cannot be stored by every database.
WorkerId = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$"),
]
# Placeholders of survey tools and platforms: `${e://Field/ResponseID}`,
# `{{%PROLIFIC_PID%}}`, `[[id]]`, `%%id%%`, `%SURVEY_CODE%`, `<id>`, `{id}`, `[ID_value]`.
_PLACEHOLDER = re.compile(
    r"[$#]\{|\{\{|\[\[|\{%|%%|<%|<<|\[object |^(<.*>|\{.*\}|\[.*\]|%.*%)$|^(undefined|null|none|nan|"
    r"(prolific_?pid|session_?id|participant_?id|assignment_?id|worker_?id|response_?id|user_?id|survey_?code)|"
    r"assignment_id_not_available|your_?id)$",
    re.IGNORECASE,
)


def is_placeholder(external_id: str) -> bool:
    """Return whether an id is an unfilled placeholder, which all visitors would share."""
    return _PLACEHOLDER.search(external_id) is not None


@dataclass(frozen=True, slots=True)
class Arrival:
    """An arriving worker, identified by `platform` and `external_id`.

    In the database, and in arrivals for queries of it, `external_id` is encrypted: see `Auth.kept`. `visit`:
    the platform's id of this visit (at Prolific, the submission), which differs at every visit.
    """

    platform: str
    external_id: str
    visit: str | None = None

    def is_of(self, other: "Arrival") -> bool:
        """Return whether both are the same person."""
        return (self.platform, self.external_id) == (other.platform, other.external_id)


def stranger(*, simulated: bool) -> Arrival:
    """Return an arrival with a random id."""
    return by_link(f"anonymous-{secrets.token_hex(8)}", simulated=simulated)


def by_link(worker: str, *, simulated: bool) -> Arrival:
    """Return the arrival of a worker who comes by a link with this id."""
    return Arrival(SIMULATED if simulated else LINK, worker)


def personal_link(public_url: str, run: str, worker: str, signature: str) -> str:
    """Return one worker's own link to a run, signed.

    Args:
        public_url: the start of the server's links, without a slash at the end.
        run: the run's name.
        worker: the worker's id, of any characters.
        signature: the signature of the link.
    """
    return f"{public_url}/w/{run}?{urlencode({'worker': worker, 'signature': signature})}"
