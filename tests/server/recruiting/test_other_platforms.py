"""A second recruiter with pay: pages and answers name the study's own one, and need its token only."""

from typing import Any, ClassVar

import pytest

from server.config import RecruiterAccess
from server.db.engine import open_engine
from server.db.runs.runs import find_run
from server.recruiters import recruiter
from server.recruiters.recruiter import Prolific
from server.recruiting.platform import Platform
from server.recruiting.responses import RecruitmentView, recruitment_view
from tests.server.support.database import make_run
from tests.server.support.recruiting import CODE
from tests.server.support.study import RUN, study_text

pytestmark = pytest.mark.databases("sqlite")


class Marketplace(Prolific):
    title: ClassVar[str] = "Marketplace"


@pytest.fixture(autouse=True)
def _two_recruiters(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("server.recruiters.recruiter", "server.recruiting.responses"):
        monkeypatch.setattr(f"{module}.PAYING", {**recruiter.PAYING, "marketplace": Marketplace})


def view(url: str, *tokens: str, **study: Any) -> RecruitmentView:
    make_run(url, study_text(**study))
    engine = open_engine(url)
    with engine.connect() as connection:
        access = Platform(dict.fromkeys(tokens, RecruiterAccess("https://platform.example", "a token")))
        shown = recruitment_view(connection, find_run(connection, RUN), access)
    engine.dispose()
    return shown


@pytest.mark.parametrize(
    ("tokens", "connected"), [((), False), (("marketplace",), False), (("marketplace", "prolific"), True)]
)
def test_a_run_is_connected_by_the_token_of_its_own_platform(
    url: str, tokens: tuple[str, ...], connected: bool
) -> None:
    shown = view(url, *tokens, recruiter={"kind": "prolific", "completion_code": CODE})
    assert shown.connected is connected
    assert (shown.platform, shown.token_variable) == ("Prolific", "CANDOR_PROLIFIC_TOKEN")


def test_a_run_without_a_platform_names_those_that_it_could_have(url: str) -> None:
    shown = view(url, "prolific")
    assert (shown.possible, shown.platform, shown.connected) == (False, None, False)
    assert [(one.kind, one.title, one.connected) for one in shown.platforms] == [
        ("prolific", "Prolific", True),
        ("marketplace", "Marketplace", False),
    ]
