"""Roles, and what each of them may do. Pure: rules and names, nothing that is stored or sent.

A role is held for one study, or for all of them; where somebody has both, the higher one counts. What belongs
to no study, such as registered bots, takes a role for all studies.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from server.errors import NotAllowed, OutOfScope

Role = Literal["viewer", "analyst", "researcher", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do all that those before it may
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
class Rule:
    """What a permission takes: a role at least, and what it lets its holder do, in words.

    `of_all`: the role has to be one for all studies.
    """

    role: Role
    doing: str
    of_all: bool = False


RULES: dict[Permission, Rule] = {
    "see_runs": Rule("viewer", "see runs"),
    "see_studies": Rule("viewer", "see studies"),
    "read_api": Rule("viewer", "read the description of the API"),
    "have_account": Rule("viewer", "use an account"),
    "read_transcripts": Rule("analyst", "read transcripts"),
    "analyse": Rule("analyst", "see scores and reports"),
    "export": Rule("analyst", "export what workers said and rated"),
    "see_worker_ids": Rule("researcher", "see the ids of workers"),
    "change_runs": Rule("researcher", "open, pause or close runs"),
    "change_studies": Rule("researcher", "change studies"),
    "act_on_workers": Rule("researcher", "act on workers"),
    "rehearse": Rule("researcher", "rehearse a study"),
    "simulate": Rule("researcher", "let simulated workers in"),
    "see_bots": Rule("researcher", "see registered bots"),
    "see_metrics": Rule("viewer", "read the server's metrics", of_all=True),
    "create_studies": Rule("researcher", "make studies", of_all=True),
    "change_bots": Rule("researcher", "register, check or change bots", of_all=True),
    "manage_study_people": Rule("owner", "say who may use a study"),
    "manage_people": Rule("owner", "say who may use the desk", of_all=True),
    "manage_tokens": Rule("owner", "make or revoke tokens", of_all=True),
    "read_audit_log": Rule("owner", "read the audit log", of_all=True),
    "forget_workers": Rule("owner", "forget workers", of_all=True),
}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who calls: a person, a token, or the installation's own token, which may do everything.

    `roles`: by the name of the study, `ALL_STUDIES` for all; a bot host has none.
    """

    kind: Literal["person", "token", "installation"]
    name: str
    roles: Mapping[str, Role]

    def may(self, permission: Permission, study: str | None = None) -> bool:
        """Return whether the actor may do that in `study`; without one, whether in any study at all."""
        rule = RULES[permission]
        if self._holds(ALL_STUDIES, rule.role):
            return True
        if rule.of_all:
            return False
        studies = self.roles if study is None else (study,)
        return any(self._holds(name, rule.role) for name in studies)

    def may_in_all(self, permission: Permission) -> bool:
        """Return whether the actor may do that in every study, those that are yet to be made too."""
        return self._holds(ALL_STUDIES, RULES[permission].role)

    def require(self, permission: Permission, study: str | None = None) -> None:
        """Check that the actor may do that in `study`; without one, in any study at all.

        Raises:
            OutOfScope: it is a bot host.
            NotAllowed: its role does not reach.
        """
        if self.kind == "token" and not self.roles:
            raise OutOfScope("this token may only be used by bot hosts, to dial in")
        if not self.may(permission, study):
            rule = RULES[permission]
            where = " for all studies" if rule.of_all else " in this study" if study is not None else ""
            raise NotAllowed(f"to {rule.doing} takes the role {rule.role}{where}, which {self.name} has not")

    @property
    def standing(self) -> str:
        """The rights of this actor, as 16 characters: others where the rights are others."""
        rights = json.dumps(sorted(self.roles.items()))
        return hashlib.sha256(rights.encode()).hexdigest()[:16]

    def _holds(self, study: str, role: Role) -> bool:
        held = self.roles.get(study)
        return held is not None and ROLES.index(held) >= ROLES.index(role)
