"""The launch check: a study whose bots failed does not start, unless it is told to."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bots.conformance.report import AtOnce, Finding, Latency, Scope
from bots.serving import ConformanceReport, Verdict
from server.bots import fitness, stored_bots
from server.bots.lineup import open_lineup
from server.bots.opened_bots import OpenedBots
from server.db.engine import migrate, open_engine
from server.db.runs.runs import RunEntry
from server.errors import BotsUnfit, StudyInvalid
from server.study import DEMO, parse_study
from tests.server.support.bots import report
from tests.server.support.commands import Candor, assert_refused
from tests.server.support.database import query
from tests.server.support.study import AT, study_text
from tests.server.support.talker import Talker, endpoint, talking


@pytest.fixture
def parrot() -> Iterator[Talker]:
    """A bot that says the same whatever it is asked: it is not fit for workers."""
    with talking("Polly speaks.") as talker:
        yield talker


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a study whose one system beside the builtin one is `far`."""

    def make(own: dict[str, Any] | None = None) -> Path:
        systems = [
            {"name": "near", "family": "near", "bot": "builtin:reflect"},
            {"name": "away", "family": "away", "bot": "far"},
        ]
        text = study_text(
            systems=systems,
            systems_per_assignment=2,
            simulate=None,
            **({"bots": {"far": own}} if own else {}),
        )
        path = tmp_path / "study.yaml"
        path.write_text(text)
        return path

    return make


def slugs(data: Path) -> list[str]:
    return [slug for (slug,) in query(f"sqlite:///{data / 'candor.db'}", "SELECT slug FROM run")]


def register(data: Path, talker: Talker, *, verdict: Verdict | None = None, enabled: bool = True) -> None:
    """Write a bot into the database, with a check that ended in `verdict`."""
    url = f"sqlite:///{data / 'candor.db'}"
    migrate(url)
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        row = stored_bots.add(connection, "far", endpoint(talker.endpoint), AT)
        if not enabled:
            stored_bots.enable(connection, "far", False)
        if verdict is not None:
            stored_bots.store_check(connection, row, report(verdict), AT)
    engine.dispose()


def store(data: Path, made: ConformanceReport) -> None:
    """Write another check of the bot `far` into the database."""
    engine = open_engine(f"sqlite:///{data / 'candor.db'}", begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        stored_bots.store_check(connection, stored_bots.find(connection, "far"), made, AT)
    engine.dispose()


def test_a_study_whose_own_bot_fails_is_not_opened(
    candor: Candor,
    write: Callable[..., Path],
    parrot: Talker,
    tmp_path: Path,
) -> None:
    study = write(parrot.endpoint)
    refused = candor("study", "open", study, "--run", "x", "--data", tmp_path)
    assert_refused(refused, "Not fit for workers: far", "--despite-failing-bots")
    assert "fail" in refused.stdout
    assert slugs(tmp_path) == []


def test_it_can_be_opened_all_the_same_and_is_not_asked_again(
    candor: Candor,
    write: Callable[..., Path],
    parrot: Talker,
    tmp_path: Path,
) -> None:
    study = write(parrot.endpoint)
    forced = candor("study", "open", study, "--run", "x", "--data", tmp_path, "--despite-failing-bots")
    assert forced.exit_code == 0, forced.stderr
    assert "Opened anyway: Not fit for workers: far" in forced.stderr
    assert slugs(tmp_path) == ["x"]
    asked = parrot.asked
    again = candor("study", "open", study, "--run", "x", "--data", tmp_path)
    assert again.exit_code == 0, again.stderr
    assert parrot.asked == asked > 0


def test_a_run_name_that_is_taken_is_told_before_any_bot_is_asked(
    candor: Candor,
    write: Callable[..., Path],
    parrot: Talker,
    tmp_path: Path,
) -> None:
    candor(
        "study", "open", write(parrot.endpoint), "--run", "x", "--data", tmp_path, "--despite-failing-bots"
    )
    asked = parrot.asked
    changed = write(parrot.endpoint | {"urls": [f"{parrot.url}/other"]})
    assert_refused(
        candor("study", "open", changed, "--run", "x", "--data", tmp_path), "another version of the study"
    )
    assert parrot.asked == asked


def test_a_study_is_checked_with_its_bots_and_nothing_is_stored(
    candor: Candor,
    write: Callable[..., Path],
    parrot: Talker,
    tmp_path: Path,
) -> None:
    study, data = write(parrot.endpoint), tmp_path / "data"
    assert candor("study", "check", study, "--data", data).exit_code == 0
    assert parrot.asked == 0
    assert_refused(candor("study", "check", study, "--bots", "--data", data), "Not fit for workers: far")
    assert parrot.asked > 0
    assert not data.exists()


def test_the_moderation_service_of_the_settings_is_asked(
    candor: Candor,
    write: Callable[..., Path],
    parrot: Talker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CANDOR_MODERATION_URL", parrot.url)  # which is none, and says so in its way
    told = candor("study", "check", write(parrot.endpoint), "--bots", "--data", tmp_path / "data").stdout
    assert "What does the moderation" in told
    assert "gave an answer of" in " ".join(told.split())


def test_a_bot_that_is_not_there_fails(candor: Candor, write: Callable[..., Path], tmp_path: Path) -> None:
    study = write({"kind": "http", "urls": ["http://127.0.0.1:1"]})
    refused = candor("study", "open", study, "--run", "x", "--data", tmp_path)
    assert_refused(refused, "Not fit for workers: far")
    assert "no connection" in refused.stdout


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ({}, "run “candor bots check far”"),
        ({"verdict": "fail"}, "Feathers."),
        ({"verdict": "pass", "enabled": False}, "it is disabled"),
    ],
)
def test_a_registered_bot_needs_a_check_that_did_not_fail(
    candor: Candor,
    write: Callable[..., Path],
    parrot: Talker,
    tmp_path: Path,
    stored: dict[str, Any],
    reason: str,
) -> None:
    register(tmp_path, parrot, **stored)
    study = write()
    for command in (("study", "open", study, "--run", "x"), ("study", "check", study, "--bots")):
        refused = candor(*command, "--data", tmp_path)
        assert_refused(refused, "Not fit for workers: far")
        assert reason in refused.stdout
    assert slugs(tmp_path) == []
    assert candor("study", "check", study, "--data", tmp_path).exit_code == 0
    forced = candor("study", "open", study, "--run", "x", "--data", tmp_path, "--despite-failing-bots")
    assert forced.exit_code == 0, forced.stderr
    assert slugs(tmp_path) == ["x"]
    assert parrot.asked == 0


@pytest.mark.parametrize("verdict", ["pass", "warn"])
def test_a_registered_bot_that_did_not_fail_is_let_in(
    candor: Candor,
    write: Callable[..., Path],
    parrot: Talker,
    tmp_path: Path,
    verdict: Verdict,
) -> None:
    register(tmp_path, parrot, verdict=verdict)
    opened = candor("study", "open", write(), "--run", "x", "--data", tmp_path)
    assert opened.exit_code == 0, opened.stderr
    assert ("Feathers." in opened.stdout) == (verdict == "warn")
    assert slugs(tmp_path) == ["x"]
    spec = f'far {{"kind": "http", "urls": ["{parrot.url}"]}}'
    assert (spec,) in query(f"sqlite:///{tmp_path / 'candor.db'}", "SELECT spec FROM bot")


def test_a_registered_bot_is_let_in_by_the_check_that_its_study_needs(
    candor: Candor, write: Callable[..., Path], parrot: Talker, tmp_path: Path
) -> None:
    register(tmp_path, parrot)
    content = yaml.safe_load(write().read_text())
    content["systems"][1]["persona"] = "random"
    path = tmp_path / "german.yaml"
    path.write_text(yaml.safe_dump(content | {"language": "de", "assignments": 30, "qc_per_assignment": 0}))
    in_english = report("pass").model_copy(
        update={
            "scope": Scope(language="en-GB", persona=None),
            "latency": Latency(at_once=AtOnce(n=8, p50=1, p95=1, conversations=8)),
        }
    )
    store(tmp_path, in_english)
    refused = candor("study", "check", path, "--bots", "--data", tmp_path)
    assert_refused(refused, "Not fit for workers: far")
    told = " ".join(refused.stdout.split())
    for reason in ("study is in de", "as a bot with a persona", "the study has 30 slots"):
        assert reason in told
    store(tmp_path, in_english.model_copy(update={"scope": Scope(language="de", persona=True)}))
    let_in = candor("study", "check", path, "--bots", "--data", tmp_path)
    assert let_in.exit_code == 0, let_in.stderr
    assert "the study has 30 slots" in " ".join(let_in.stdout.split())


def test_a_bot_with_another_replica_has_to_be_checked_again(
    candor: Candor, write: Callable[..., Path], parrot: Talker, tmp_path: Path
) -> None:
    register(tmp_path, parrot, verdict="pass")
    engine = open_engine(f"sqlite:///{tmp_path / 'candor.db'}", begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        stored_bots.add_replica(connection, "far", "http://127.0.0.1:1")
    engine.dispose()
    refused = candor("study", "open", write(), "--run", "x", "--data", tmp_path)
    assert_refused(refused, "Not fit for workers: far")
    assert "never: run “candor bots check far”" in refused.stdout


def test_of_a_study_of_builtin_bots_the_qc_bot_alone_is_examined(candor: Candor, tmp_path: Path) -> None:
    opened = candor("study", "open", DEMO, "--run", "x", "--data", tmp_path)
    begun = f"A new installation was begun: {tmp_path / 'candor.db'}\n"
    assert (opened.exit_code, opened.stderr) == (0, begun)
    checked = candor("study", "check", DEMO, "--bots", "--data", tmp_path)
    assert checked.exit_code == 0
    for told in (opened.stdout, checked.stdout):
        assert "lines stand in the corpus as they are" in " ".join(told.split())
        assert "builtin" not in told


def test_an_unknown_bot_is_told_with_every_name_that_there_is(
    candor: Candor,
    write: Callable[..., Path],
    parrot: Talker,
    tmp_path: Path,
) -> None:
    register(tmp_path, parrot)
    study = write({"kind": "http", "urls": ["http://127.0.0.1:1"]})
    study.write_text(study.read_text().replace("bot: far", "bot: fra").replace("  far:", "  mine:"))
    told = (
        "There is no bot “fra”; did you mean “far”?",
        "builtin:reflect",
        "in this study: mine",
        "registered with the server: far",
    )
    assert_refused(candor("study", "check", study, "--data", tmp_path), *told, "by itself")
    assert_refused(candor("study", "open", study, "--run", "x", "--data", tmp_path), *told)


def test_every_unknown_bot_is_told_at_once_with_its_line(candor: Candor, tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    text = DEMO.read_text().replace("builtin:retrieval", "builtin:retreival").replace("bot: qc", "bot: cq")
    study.write_text(text)
    numbers = [n for n, line in enumerate(text.splitlines(), 1) if "retreival" in line or "bot: cq" in line]
    assert len(numbers) == 3  # two systems and the qc bot
    refused = candor("study", "check", study, "--data", tmp_path)
    for number in numbers:
        assert f":{number}: " in refused.stderr
    assert refused.stderr.count("There is no bot “builtin:retreival”; did you mean “builtin:retrieval”?") == 2
    assert "qc.bot: There is no bot “cq”" in refused.stderr
    assert str(study) in refused.stderr


def test_a_run_whose_bot_is_not_registered_is_not_served_and_says_what_to_do(
    candor: Candor,
    write: Callable[..., Path],
    parrot: Talker,
    tmp_path: Path,
) -> None:
    register(tmp_path, parrot, verdict="pass")
    candor("study", "open", write(), "--run", "x", "--data", tmp_path)
    query(f"sqlite:///{tmp_path / 'candor.db'}", "DELETE FROM registration")
    refused = candor("serve", "--data", tmp_path)
    assert_refused(refused, "Run x is not served", "“far”", "by itself", "No run can be served")


def test_a_key_that_is_missing_at_the_start_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'candor.db'}"
    migrate(url)
    monkeypatch.setenv("PARROT_API_KEY", "hush-hush")
    keyed = endpoint({"kind": "http", "urls": ["http://127.0.0.1:1"], "key": "PARROT_API_KEY"})
    engine = open_engine(url)
    with engine.begin() as connection:
        stored_bots.add(connection, "far", keyed, AT)
        monkeypatch.delenv("PARROT_API_KEY")
        opened_bots = OpenedBots(refuse_private=False)
        opened_bots.load(connection)
    engine.dispose()
    text = yaml.safe_load(study_text())
    text["systems"] = [spec | {"bot": "far"} for spec in text["systems"]]
    with pytest.raises(StudyInvalid, match="PARROT_API_KEY, which should hold its key, is not set"):
        open_lineup(RunEntry(1, "x", 1, "open", AT, yaml.safe_dump(text)), opened_bots)
    assert opened_bots.names() == ("far",)


def test_a_bot_is_held_against_the_reply_times_of_its_study() -> None:
    study = parse_study(study_text(reply_time={"median": 2.0, "spread": 0.5, "longest": 3.0}))
    delays = fitness.fitness_check("far", endpoint({"kind": "dial-in"}), study).keywords["delays"]
    assert list(delays) == sorted(delays)
    assert delays[-1] == 3.0
    middle = len(delays) // 2
    assert delays[middle - 1] < 2.0 < delays[middle]
    # P(delay = longest) = P(z > ln(1.5) / 0.5 = 0.811) = 0.209
    assert sum(delay == 3.0 for delay in delays) / len(delays) == pytest.approx(0.209, abs=0.01)


def test_a_bot_is_examined_on_its_study() -> None:
    study = parse_study(study_text(timeouts={"bot_try": 3.0}, reply_time={"median": 1, "spread": 0}))
    model = {"kind": "openai", "urls": ["http://127.0.0.1:1"], "model": "bird-7b"}
    check = fitness.fitness_check("far", endpoint(model), study, at_once=3).keywords
    assert (check["names"], check["at_once"], check["patience"]) == (("far", "bird-7b"), 3, 3.0)
    assert set(check["delays"]) == {1.0}
    plain = fitness.fitness_check("far", endpoint({"kind": "dial-in"}), None).keywords
    assert (plain["names"], plain["patience"]) == (("far",), 20.0)


def test_a_bot_is_asked_as_workers_of_its_study_will() -> None:
    systems = [
        {"name": "plain", "family": "a", "bot": "far"},
        {"name": "warm", "family": "b", "bot": "far", "persona": "random"},
        {"name": "cold", "family": "c", "bot": "near"},
    ]
    study = parse_study(study_text(systems=systems, simulate=None, language="de", minimum_inputs=12))
    dialled_in = endpoint({"kind": "dial-in"})
    far = fitness.fitness_check("far", dialled_in, study).keywords
    assert (far["language"], far["lines"], far["persona"]) == ("de", 12, True)
    assert fitness.fitness_check("near", dialled_in, study).keywords["persona"] is False
    nobodys = fitness.fitness_check("far", dialled_in, None).keywords
    assert nobodys["persona"] is None
    assert not nobodys.keys() & {"language", "lines"}


async def test_builtin_bots_and_the_qc_bot_are_examined_by_the_language_of_the_study() -> None:
    systems = [{"name": "near", "family": "near", "bot": "builtin:reflect"}]
    alone = {"systems_per_assignment": 1, "qc_per_assignment": 0, "simulate": None}
    text = study_text(systems=systems, language="de", **alone)
    opened_bots = OpenedBots(refuse_private=False)
    told = await fitness.own_fitness(
        open_lineup(RunEntry(1, "x", 1, "open", AT, text), opened_bots), (), unseen, None
    )
    assert [(each.bot, each.verdict) for each in told] == [("builtin:reflect", "warn")]
    two = [*systems, systems[0] | {"name": "far", "family": "far"}]
    english = study_text(systems=two, systems_per_assignment=2, simulate=None)
    told = await fitness.own_fitness(
        open_lineup(RunEntry(1, "x", 1, "open", AT, english), opened_bots), (), unseen, None
    )
    assert [(each.bot, each.verdict) for each in told] == [("qc", "pass")]
    questions = {finding.question for finding in told[0].findings}
    assert "Are its lines distorted?" in questions
    assert "Is it hidden from simple heuristics?" not in questions  # nobody has said anything yet


def test_the_qc_bot_is_held_against_what_registered_bots_said_in_their_checks() -> None:
    study = parse_study(study_text(simulate=None))
    said = ("i like it, too", "no idea honestly", "we went to the lake") * 10
    (examined,) = fitness.qc_fitness(study, [fitness.Fitness("far", "pass", (), said)])
    looks = {finding.question: finding for finding in examined.findings}[
        "Is it hidden from simple heuristics?"
    ]
    assert looks.verdict == "warn"  # theirs are small letters without a mark at the end, the corpus' are not
    assert "let the QC bot draw from the systems" in looks.reason


def unseen(bot: str, done: int, total: int) -> None:
    """Progress that nobody looks at."""


def test_whoever_opens_over_the_api_reads_why_each_bot_is_unfit() -> None:
    found = (
        Finding(question="Does it read?", verdict="fail", reason="The same to every line."),
        Finding(question="In time?", verdict="pass", reason="0.1 s."),
    )
    bots = [fitness.Fitness("far", "fail", found), fitness.Fitness("near", "pass", found[1:])]
    with pytest.raises(BotsUnfit) as refused:
        fitness.require_fit(bots)
    assert refused.value.message == "Not fit for workers: far (Does it read? The same to every line.)"
