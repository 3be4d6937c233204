"""Whole assignments over WebSocket against five models of Hugging Face and the qc bot, all processes real."""

import json
from pathlib import Path

import pytest
import yaml

from bots.host.model import HfOptions, hash_of_folder
from qc.loading import load
from qc.method.incidents import describe_served
from server.cli.installation import transaction
from server.clock import utc_now
from server.config import Settings
from server.db.runs.runs import open_run
from tests.bots.support.host_process import running
from tests.bots.support.tiny_models import save_tiny_models
from tests.lineup.stored import Conversation, assert_said_by, assert_whole, conversations
from tests.needs import need_hf
from tests.server.support.database import query
from tests.support.server_process import Server
from tests.support.waiting import ENOUGH

need_hf()
from bots.host.hf import HfModel  # noqa: E402

pytestmark = pytest.mark.hf
DEMO = Path(__file__).parents[2] / "server" / "studies" / "demo.yaml"
KINDS = ("llama", "mistral", "gpt2", "t5", "blenderbot")
TOKENS, INPUTS, WORKERS = 12, 5, 2


def study_of(url: str) -> str:
    """Return the demo study with the five models in the place of its systems, two of them with a persona."""
    with_persona = {"llama", "t5"}
    changes = {
        "name": "tiny",
        "minimum_inputs": INPUTS,
        "bots": {kind: {"kind": "http", "urls": [f"{url}/{kind}"]} for kind in KINDS},
        "systems": [
            {"name": kind, "family": kind, "bot": kind}
            | ({"persona": "random"} if kind in with_persona else {})
            for kind in KINDS
        ],
        "simulate": {"quality": dict.fromkeys(KINDS, 0.5)},
        "timeouts": {"bot_try": 600, "bot_total": 900},  # no model fails because the machine is busy
    }
    return yaml.safe_dump(yaml.safe_load(DEMO.read_text()) | changes, sort_keys=False)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_tiny_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def database(models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a server at which two workers went all the way."""
    data = tmp_path_factory.mktemp("candor")
    hosted = [f"--model={kind}=hf:{models[kind]}" for kind in KINDS]
    settings = ["--device", "cpu", "--dtype", "float64", "--max-new-tokens", str(TOKENS)]
    with running(*hosted, *settings, ready=len(KINDS)) as (_, url):
        # What they say makes no sense, and the check that comes before a run would say so, after 250 replies.
        with transaction(Settings(data=data), begins=True) as connection:
            open_run(connection, study_of(url), "tiny", utc_now())
        server = Server(data)
        server.start()
        try:
            # A model answers late on a busy machine, and a page hears nothing meanwhile.
            crowd = server.crowd("tiny", "--workers", str(WORKERS), "--patience", str(ENOUGH))
            said, _ = crowd.communicate(timeout=ENOUGH)
            assert crowd.returncode == 0, said
        finally:
            server.stop()
    return data / "candor.db"


@pytest.fixture(scope="module")
def found(database: Path) -> list[Conversation]:
    return conversations(database, "tiny")


def test_every_assignment_is_whole(found: list[Conversation]) -> None:
    criteria = {each["label"] for each in yaml.safe_load(DEMO.read_text())["criteria"]}
    assert_whole(found, assignments=WORKERS, families=set(KINDS), inputs=INPUTS, criteria=criteria)
    assert {each.family for each in found if each.persona} == {"llama", "t5"}


def test_what_workers_were_shown_is_what_the_models_say(
    found: list[Conversation], models: dict[str, Path]
) -> None:
    options = HfOptions(max_new_tokens=TOKENS, device="cpu", dtype="float64")
    assert_said_by(found, {kind: HfModel(str(models[kind]), options).replies for kind in KINDS})


def test_the_table_and_the_report_say_where_each_reply_came_from(
    database: Path, found: list[Conversation], models: dict[str, Path]
) -> None:
    facts = "model, revision, prompt_hash, sampling, replica"
    numbers = "tokens_in, tokens_out, finish_reason, queued_ms, computed_ms, tries"
    replies = query(
        f"sqlite:///{database}",
        f"SELECT system, {facts}, {numbers} FROM v1_bot_call WHERE failure IS NULL",  # noqa: S608
    )
    assert len(replies) == sum(turn.author == "bot" for each in found for turn in each.turns)
    for system, model, revision, prompt_hash, sampling, replica, *of_reply in replies:
        tokens_in, tokens_out, finish_reason, queued, computed, tries = of_reply
        assert (tries, min(queued, computed) >= 0) == (1, True)
        if system == "qc":
            assert (model, replica[:8], sampling, tokens_in) == ("qc", "builtin_", None, None)
            continue
        assert (model, replica.rpartition("/")[2]) == (f"hf:{models[system]}", system)
        assert revision == hash_of_folder(models[system])
        assert tokens_in > 0
        assert 1 <= tokens_out <= TOKENS
        assert finish_reason in ("stop", "length")
        assert (prompt_hash is None) == (system in {"t5", "blenderbot"})  # these take no instructions
        assert json.loads(sampling)["dtype"] == "float64"
    served = describe_served(load(f"sqlite:///{database}"))
    assert served is not None
    assert served.notes == ()
    of_models = served.table[served.table["system"] != "qc"]
    assert dict(zip(of_models["system"], of_models["model"], strict=True)) == {
        kind: f"hf:{models[kind]}" for kind in KINDS
    }
