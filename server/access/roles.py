"""Roles and their permissions. Pure functions.

A role applies to one study or to all of them; if somebody has both, the higher one counts. Things that do not
belong to a study, such as registered bots, need a role for all studies.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from server.errors import NotAllowed, OutOfScope

Role = Literal["viewer", "analyst", "researcher", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)  # each includes the permissions of those before it
ALL_STUDIES = ""  # in place of a study's name

Permission = Literal[
    "see_runs",
    "see_studies",
    "read_api",
    "have_account",
    "read_transcripts",
    "analyse",
    "export",
    "see_worker_ids",
    "change_runs",
    "change_studies",
    "act_on_workers",
    "rehearse",
    "simulate",
    "see_bots",
    "see_metrics",
    "create_studies",
    "change_bots",
    "manage_study_people",
    "manage_people",
    "manage_tokens",
    "read_audit_log",
    "forget_workers",
]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)


@dataclass(frozen=True, slots=True)
class AccessRule:
    """The minimum role of a permission, and what it allows, in words.

    `of_all`: the role must be for all studies.
    """

    role: Role
    doing: str
    of_all: bool = False


RULES: dict[Permission, AccessRule] = {
    "see_runs": AccessRule("viewer", "see runs"),
    "see_studies": AccessRule("viewer", "see studies"),
    "read_api": AccessRule("viewer", "read the description of the API"),
    "have_account": AccessRule("viewer", "use an account"),
    "read_transcripts": AccessRule("analyst", "read transcripts"),
    "analyse": AccessRule("analyst", "see scores and reports"),
    "export": AccessRule("analyst", "export what workers said and rated"),
    "see_worker_ids": AccessRule("researcher", "see the ids of workers"),
    "change_runs": AccessRule("researcher", "open, pause or close runs"),
    "change_studies": AccessRule("researcher", "change studies"),
    "act_on_workers": AccessRule("researcher", "act on workers"),
    "rehearse": AccessRule("researcher", "rehearse a study"),
    "simulate": AccessRule("researcher", "admit simulated workers"),
    "see_bots": AccessRule("researcher", "see registered bots"),
    "see_metrics": AccessRule("viewer", "read the server's metrics", of_all=True),
    "create_studies": AccessRule("researcher", "make studies", of_all=True),
    "change_bots": AccessRule("researcher", "register, check or change bots", of_all=True),
    "manage_study_people": AccessRule("owner", "manage who may use a study"),
    "manage_people": AccessRule("owner", "manage who may use the desk", of_all=True),
    "manage_tokens": AccessRule("owner", "create or revoke tokens", of_all=True),
    "read_audit_log": AccessRule("owner", "read the audit log", of_all=True),
    "forget_workers": AccessRule("owner", "forget workers", of_all=True),
}


@dataclass(frozen=True, slots=True)
class Actor:
    """The caller: a person, a token, or the installation's own token, which may do everything.

    `roles`: by study name, with `ALL_STUDIES` for all studies; a bot host has none.
    """

    kind: Literal["person", "token", "installation"]
    name: str
    roles: Mapping[str, Role]

    def may(self, permission: Permission, study: str | None = None) -> bool:
        """Return whether the actor has the permission in `study`; without one, in any study."""
        rule = RULES[permission]
        if self._holds(ALL_STUDIES, rule.role):
            return True
        if rule.of_all:
            return False
        studies = self.roles if study is None else (study,)
        return any(self._holds(name, rule.role) for name in studies)

    def may_in_all(self, permission: Permission) -> bool:
        """Return whether the actor has the permission in all studies, including future ones."""
        return self._holds(ALL_STUDIES, RULES[permission].role)

    def require(self, permission: Permission, study: str | None = None) -> None:
        """Check that the actor has the permission in `study`; without one, in any study.

        Raises:
            OutOfScope: it is a bot host.
            NotAllowed: it has no sufficient role.
        """
        if self.kind == "token" and not self.roles:
            raise OutOfScope("This token is only for bot hosts that connect to the server")
        if not self.may(permission, study):
            rule = RULES[permission]
            where = " for all studies" if rule.of_all else " in this study" if study is not None else ""
            raise NotAllowed(f"{self.name} lacks the role {rule.role}{where}, needed to {rule.doing}")

    @property
    def standing(self) -> str:
        """A hash of this actor's roles, as 16 characters, which changes when they change."""
        rights = json.dumps(sorted(self.roles.items()))
        return hashlib.sha256(rights.encode()).hexdigest()[:16]

    def _holds(self, study: str, role: Role) -> bool:
        held = self.roles.get(study)
        return held is not None and ROLES.index(held) >= ROLES.index(role)
