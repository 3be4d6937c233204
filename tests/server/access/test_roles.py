"""Roles: what an actor may do, in one study and in all."""

import pytest

from server.access.roles import ALL_STUDIES, PERMISSIONS, ROLES, RULES, Actor, Permission, Role
from server.errors import NotAllowed, OutOfScope


def actor(**roles: Role) -> Actor:
    """Return a person with a role in each study that is named; `everywhere` stands for all."""
    return Actor("person", "ann", {ALL_STUDIES if k == "everywhere" else k: v for k, v in roles.items()})


@pytest.mark.parametrize("permission", PERMISSIONS)
def test_a_role_may_do_what_the_roles_below_it_may(permission: Permission) -> None:
    reached = [actor(everywhere=role).may(permission) for role in ROLES]
    assert reached == sorted(reached)
    assert reached[-1]


def test_a_role_in_one_study_is_none_in_another() -> None:
    ann = actor(tides="researcher")
    assert ann.may("change_runs", "tides")
    assert not ann.may("see_runs", "ferns")
    assert ann.may("change_runs")  # in some study
    assert not ann.may_in_all("see_runs")


@pytest.mark.parametrize("permission", [name for name in PERMISSIONS if RULES[name].of_all])
def test_what_belongs_to_no_study_takes_a_role_for_all(permission: Permission) -> None:
    assert not actor(tides="owner").may(permission, "tides")
    assert actor(everywhere="owner").may(permission)


def test_of_two_roles_the_higher_one_counts() -> None:
    assert actor(everywhere="viewer", tides="analyst").may("read_transcripts", "tides")
    assert actor(everywhere="researcher", tides="viewer").may("change_runs", "tides")


def test_what_is_refused_says_what_it_takes() -> None:
    with pytest.raises(NotAllowed, match="ann lacks the role researcher in this study, needed to"):
        actor(tides="viewer").require("change_runs", "tides")
    with pytest.raises(NotAllowed, match="lacks the role owner for all studies"):
        actor(tides="owner").require("manage_people")


def test_a_host_may_only_dial_in() -> None:
    with pytest.raises(OutOfScope):
        Actor("token", "gpu", {}).require("see_runs")
