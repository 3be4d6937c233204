"""`candor recruit credits`: whose credit SONA has granted, and having it asked again."""

from collections.abc import Callable

import pytest

from tests.server.support.commands import Candor, assert_refused
from tests.server.support.credits import make_course
from tests.server.support.database import make_run, query
from tests.server.support.study import RUN, study_text


@pytest.fixture
def printed(candor: Candor, url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return a function that runs `candor recruit credits` over a run of SONA's; it returns the output."""
    make_course(url)
    monkeypatch.setenv("CANDOR_DATABASE_URL", url)

    def call(*arguments: str) -> str:
        done = candor("recruit", "credits", RUN, *arguments)
        assert done.exit_code == 0, done.output
        return " ".join(done.output.replace("│", " ").split())

    return call


def test_it_says_who_has_the_credit_and_why_others_have_not(printed: Callable[..., str], url: str) -> None:
    told = printed()
    assert "W-granted granted 2026-01-01 12:00" in told
    assert "W-late due" in told
    assert "W-refused refused SONA says: [no]" in told
    assert told.endswith("1 due, 1 granted, 1 refused")
    assert query(url, "SELECT count(*) FROM audit_entry WHERE action = 'run.credits_again'") == [(0,)]


def test_refused_ones_are_asked_for_again_and_the_log_says_who_wanted_it(
    printed: Callable[..., str], url: str
) -> None:
    assert "requests 1 credits again within half a minute" in printed("--again")
    assert query(url, "SELECT status FROM credit") == [("granted",)]
    written = query(url, "SELECT kind, action, subject, detail FROM audit_entry ORDER BY id DESC LIMIT 1")
    assert written == [("command", "run.credits_again", RUN, "1 refused credits")]


def test_a_run_whose_credits_the_server_does_not_ask_for(
    candor: Candor, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(url, study_text())
    monkeypatch.setenv("CANDOR_DATABASE_URL", url)
    assert_refused(
        candor("recruit", "credits", RUN), f"does not request credits for the run “{RUN}”", "credit: server"
    )
