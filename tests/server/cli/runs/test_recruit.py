"""`candor recruit` against the stand-in, and a process that is killed while it pays."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from server.recruiters.stand_in.serving import Fault, How
from tests.server.support.commands import REPOSITORY, Candor, assert_refused
from tests.server.support.database import execute, make_run, query
from tests.server.support.prolific import Prolific, served_prolific
from tests.server.support.recruiting import CODE, RECRUIT_COMMANDS
from tests.server.support.study import RUN, study_text
from tests.support.waiting import wait_until

WHY = (
    "You were asked to write five messages in each chat. You wrote one in each. Write to us if that is wrong."
)


@pytest.fixture(scope="module")
def prolific() -> Iterator[Prolific]:
    with served_prolific() as served:
        yield served
        assert served.contract.broken == []


@pytest.fixture
def environment(prolific: Prolific, url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database with a run whose workers come from the stand-in; commands find both."""
    make_run(url, study_text(recruiter={"kind": "prolific", "completion_code": CODE}))
    monkeypatch.setenv("CANDOR_DATABASE_URL", url)
    monkeypatch.setenv("CANDOR_PROLIFIC_TOKEN", prolific.token)
    monkeypatch.setenv("CANDOR_PROLIFIC_API", prolific.url)
    return url


@pytest.fixture
def recruit(candor: Candor, environment: str) -> Callable[..., str]:
    """Return a function that runs `candor recruit`, which has to succeed, and returns what it prints."""

    def call(name: str, *arguments: str) -> str:
        done = candor("recruit", name, RUN, *arguments)
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    return call


def create(recruit: Callable[..., str]) -> None:
    amounts = ["--reward", "450", "--screen-out-reward", "50", "--screen-out-places", "2"]
    recruit("create", "--places", "5", *amounts)


def test_every_command_does_what_it_says_and_writes_its_row(
    recruit: Callable[..., str], candor: Candor, prolific: Prolific, environment: str
) -> None:
    create(recruit)
    recruit("discard")
    create(recruit)
    assert "is active, with 5 places" in recruit("publish")
    assert "is paused" in recruit("pause")
    assert "is active" in recruit("resume")
    assert "with 6 places" in recruit("places", "6")
    (study,) = prolific.platform.studies
    ann, bob, cay = (prolific.platform.reserve(study, f"PID-{name}").id for name in ("ann", "bob", "cay"))
    for submission in (ann, bob, cay):
        prolific.platform.complete(submission, CODE)
    shown = recruit("show")
    assert f"never seen here: {ann} → request return" in shown
    assert "pay nothing: submitted, but never seen here" in shown
    assert "Approved: 0." in recruit("pay")  # nobody of them was seen here
    recruit("approve", ann)
    recruit("reject", bob, "--category", "NO_DATA", "--reason", WHY)
    recruit("partial", cay, "--share", "20", "--reason", "A chatbot failed.")
    assert [prolific.platform.submission(one).paid for one in (ann, bob, cay)] == [450, 0, 90]
    recruit("repeat", ann)
    recruit("message", ann, "--text", "Thank you.")
    assert "Prepared as 1: 2.10 GBP" in recruit("bonus", ann, "--cents", "150", "--purpose", "thanks")
    prolific.faults.due.append(Fault("broken after", "/pay/"))
    with pytest.raises(AssertionError, match="Look at Prolific"):
        recruit("pay-bonus", "1")
    assert "are paid" in recruit("look-at-bonus", "1")
    asked = candor("recruit", "bonus", RUN, ann, "--cents", "1000000", "--purpose", "typo")
    told = ("more than the study's reward of 4.50 GBP", "there is no terminal to ask at", "add --yes")
    assert_refused(asked, *told)
    assert query(environment, "SELECT count(*) FROM bonus_batch") == [(1,)]
    recruit("bonus", ann, "--cents", "1000000", "--purpose", "typo", "--yes")
    recruit("discard-bonus", "2")
    recruit("close")
    listen = candor("recruit", "listen", "w")
    assert "CANDOR_PROLIFIC_HOOK_SECRET=" + prolific.platform.secrets["w"]["value"] in listen.output
    assert prolific.platform.submission(ann).bonuses == [150]
    written = {action for (action,) in query(environment, "SELECT action FROM audit_entry")}
    wanted = {row for name, row in RECRUIT_COMMANDS.items() if row is not None and name != "pay"}
    assert written == wanted | {"recruitment.drafted"}


def test_listening_twice_makes_one_subscription_of_each_kind_and_keeps_the_secret(
    candor: Candor, environment: str, prolific: Prolific, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANDOR_PUBLIC_URL", "https://lab.example/prefix")
    first = candor("recruit", "listen", "listening")
    assert first.exit_code == 0, first.output
    secret = prolific.platform.secrets["listening"]["value"]
    monkeypatch.setenv("CANDOR_PROLIFIC_HOOK_SECRET", secret)
    ours = [one for one in prolific.platform.subscriptions.values() if one.workspace == "listening"]
    ours[0].is_enabled = False  # as where the first command was ended before it had confirmed
    second = candor("recruit", "listen", "listening")
    assert second.exit_code == 0, second.output
    assert secret not in second.output
    assert prolific.platform.secrets["listening"]["value"] == secret
    ours = [one for one in prolific.platform.subscriptions.values() if one.workspace == "listening"]
    assert {one.event_type for one in ours} == {"study.status.change", "submission.status.change"}
    assert [one.is_enabled for one in ours] == [True, True]
    assert {one.target_url for one in ours} == {"https://lab.example/prefix/api/recruitment/prolific/events"}


def test_without_a_token_it_says_which_setting_is_missing(
    candor: Candor, environment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CANDOR_PROLIFIC_TOKEN")
    done = candor("recruit", "create", RUN, "--places", "5", "--reward", "450")
    assert_refused(done, "has no access to Prolific", "CANDOR_PROLIFIC_TOKEN")


@pytest.mark.parametrize(
    ("how", "seen"), [("hangs after", "paid"), ("hangs before", "too early")], ids=["paid", "not paid"]
)
def test_a_process_that_is_killed_while_it_pays_pays_once(
    recruit: Callable[..., str], prolific: Prolific, environment: str, how: How, seen: str, tmp_path: Path
) -> None:
    create(recruit)
    recruit("publish")
    study = list(prolific.platform.studies)[-1]
    ann = prolific.platform.reserve(study, "PID-ann").id
    recruit("show")
    recruit("bonus", ann, "--cents", "150", "--purpose", "thanks")
    recruit("bonus", ann, "--cents", "20", "--purpose", "more")
    prolific.faults.due.append(Fault(how, "/pay/"))
    command = [sys.executable, "-m", "server", "recruit", "pay-bonus", RUN, "1"]
    with (tmp_path / "output").open("w") as output:
        process = subprocess.Popen(command, cwd=REPOSITORY, env=os.environ, stdout=output, stderr=output)
        # The call that pays is under way, and no answer to it will ever come.
        wait_until(lambda: not prolific.faults.due, "the call that pays")
        process.kill()
        process.wait()
    assert query(environment, "SELECT state FROM bonus_batch WHERE id = 1") == [("unknown",)]
    # Whoever presses again pays nothing, and neither does another bonus before somebody has looked.
    for batch in ("1", "2"):
        with pytest.raises(AssertionError, match="Check"):
            recruit("pay-bonus", batch)
    states = {"paid": "paid, 1 of 1 seen paid", "too early": "no answer yet, 0 of 1 seen paid"}
    assert f"Bonuses 1, thanks: {states[seen]}" in recruit("show")
    if seen != "paid":
        assert f"({seen})" in recruit("look-at-bonus", "1")
        execute(environment, "UPDATE bonus_batch SET sent_at = '2026-01-01 00:00:00.000000' WHERE id = 1")
        assert "are prepared (not paid)" in recruit("look-at-bonus", "1")
        assert "are sent" in recruit("pay-bonus", "1")
        with pytest.raises(AssertionError, match="was sent and is not paid yet"):
            recruit("pay-bonus", "2")
        assert "thanks: paid" in recruit("show")
    recruit("pay-bonus", "2")
    assert prolific.platform.submission(ann).bonuses == [150, 20]
