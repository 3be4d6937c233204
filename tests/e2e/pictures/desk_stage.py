"""A server for pictures of the desk: a run of which eighty people have rated, analysed as they came."""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx2
import yaml

from server.clock import utc_now
from server.db.engine import open_engine
from server.db.runs.analyses import store_analysis
from server.recruiters.stand_in.platform import StandInPlatform
from server.recruiters.stand_in.serving import Faults, Signer, serving, stand_in
from tests.crowd.test_crowd import DEMO
from tests.server.support.database import execute, query, recount
from tests.server.support.recruiting import PLAN
from tests.support.server_process import Server
from tests.support.waiting import PATIENCE

RUN = "pilot"
DRAFTED, RECRUITED = "spring", "autumn"  # recruit on Prolific: one has no study there yet, the other has
BUSY, WIZARDS = "summer", "winter"  # in one a worker is in progress; in the other a researcher is the chatbot
_TOKEN = "a researcher's token"
WORKERS = 80
_LOOKS = 8  # at how many numbers of workers the run is analysed
_QUALITY = {"translation": 0.75, "ngram": 0.3, "interviewer": 0.62, "reflect": 0.45}
_RULES = {
    "target": {"widest_interval": 0.25},
    "budget": {"total": 600, "pay": 3.5, "fee_share": 0.25, "currency": "EUR"},
    "most_at_once": 40,
}


_QUESTIONS = {
    "before": [
        {
            "label": "often",
            "kind": "choice",
            "question": "How often do you talk to a chatbot?",
            "choices": ["Never", "Weekly", "Daily"],
        }
    ],
    "after": [
        {
            "label": "strain",
            "kind": "slider",
            "question": "How tiring was it?",
            "ends": ["not at all", "very"],
        }
    ],
}

_WIZARDS = {
    "name": "grove",
    "systems": [{"name": "mate", "family": "mate", "bot": "human:wizard"}],
    "systems_per_assignment": 1,
    "qc_per_assignment": 0,
    "simulate": None,
    "people": {"take_over": "builtin:interviewer", "reply": 600.0, "consent_says_so": True},
    "texts": {"consent": {"version": "1", "text": "Some replies are written by people."}},
}


def study_text(**changes: object) -> str:
    """Return the demo study with four systems, short chats and a few questions of its own, and `changes`."""
    study = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    systems = [system for system in study["systems"] if system["name"] in _QUALITY]
    study |= {
        "name": "orchard",
        "title": "Chat with an assistant",
        "systems": systems,
        "systems_per_assignment": 3,
        "minimum_inputs": 2,
        "reply_time": {"median": 0, "spread": 0, "longest": 0},
        "turn_ratings": "thumbs",
        "simulate": {"quality": _QUALITY},
        "scenarios": [{"label": "ferry", "text": "You have missed the last ferry, and look for a bed."}],
        "questionnaires": _QUESTIONS,
        **changes,
    }
    return yaml.safe_dump(study, sort_keys=False, allow_unicode=True)


class DeskStage:
    """A server process with a run that has been under way for a while, and one that nobody has come to."""

    def __init__(self, folder: Path) -> None:
        self._platform = StandInPlatform()
        self._served = ExitStack()
        app = stand_in(self._platform, _TOKEN, Faults(), Signer("pictures"))
        address = self._served.enter_context(serving(app))
        self.server = Server(
            folder, environment={"CANDOR_PROLIFIC_TOKEN": _TOKEN, "CANDOR_PROLIFIC_API": address}
        )
        rules = folder / "rules.yaml"
        rules.write_text(yaml.safe_dump(_RULES), encoding="utf-8")
        study = folder / "orchard.yaml"
        study.write_text(study_text(), encoding="utf-8")
        self.server.open_run(study, "quiet")
        self.server.open_run(study, RUN, "--rules", str(rules))
        self.server.open_run(study, BUSY)
        wizards = folder / "wizards.yaml"
        wizards.write_text(study_text(**_WIZARDS), encoding="utf-8")
        self.server.open_run(wizards, WIZARDS)
        recruited = folder / "recruited.yaml"
        recruiter = {"recruiter": {"kind": "prolific", "completion_code": "C1AB2CD3"}}
        recruited.write_text(study_text(**recruiter), encoding="utf-8")
        for run in (DRAFTED, RECRUITED):
            self.server.open_run(recruited, run)
        self.server.start()
        crowd = self.server.crowd(RUN, "--workers", str(WORKERS), "--mix", "honest=0.8,random=0.15,flat=0.05")
        said, _ = crowd.communicate()
        assert crowd.returncode == 0, said
        self.server.stop()
        self._be_analysed()
        recount(self.server.database)

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def token(self) -> str:
        return self.server.token

    def start(self) -> None:
        """Start the server, and publish a study to which some have come."""
        self.server.start()
        self._recruit()

    def stop(self) -> None:
        """Stop the server."""
        self.server.stop()
        self._served.close()

    def _recruit(self) -> None:
        """Publish a study; of who comes one hands in, one hands in as somebody else, and one gives back."""
        self._ask("", PLAN)
        self._ask("/publish")
        (study,) = self._platform.studies
        first, second, third = (self._platform.reserve(study, f"PID-{n}").id for n in range(3))
        for submission in (first, second):
            self._platform.complete(submission, "C1AB2CD3")
        self._platform.give_back(third)
        self._ask("/refresh")
        self._ask("/decisions", {"submissions": [first], "decision": "approve"})
        self._ask("/bonuses", {"purpose": "thanks", "cents": {first: 150}})

    def _ask(self, path: str, body: object = None) -> None:
        address = f"{self.url}/api/desk/runs/{RECRUITED}/recruitment{path}"
        bearer = {"Authorization": f"Bearer {self.token}"}
        answer = httpx2.post(address, headers=bearer, json=body, timeout=PATIENCE)
        assert answer.is_success, answer.text

    def _be_analysed(self) -> None:
        """Let the simulated workers count as people, some more at each look."""
        url = self.server.database
        workers = [name for (name,) in query(url, "SELECT id FROM assignment ORDER BY created_at")]
        engine = open_engine(url, begin="BEGIN IMMEDIATE")
        for look in range(1, _LOOKS + 1):
            known = workers[: len(workers) * look // _LOOKS]
            for name in known:
                execute(url, "UPDATE assignment SET simulated = 0 WHERE id = ?", name)
            command = [
                sys.executable,
                "-m",
                "qc.precision.watch",
                str(self.server.data / "candor.db"),
                "--run",
                RUN,
            ]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            content = json.dumps(json.loads(said.splitlines()[-1]))
            with engine.begin() as connection:
                run_id = connection.exec_driver_sql("SELECT id FROM run WHERE slug = ?", (RUN,)).scalar_one()
                store_analysis(connection, run_id, utc_now(), f"look={look}", content)
        engine.dispose()
