"""A server of our own for pictures: fresh data, its own port, studies for every state of the pages."""

import json
import shutil
import socket
import sqlite3
import threading
from base64 import b64encode
from contextlib import closing
from functools import cache
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from itsdangerous import TimestampSigner, URLSafeTimedSerializer

from bots import Bot, BotError, Chat, Reply, load_corpus, open_bot
from server.access.auth import load_auth, make_secrets
from server.app import create_app
from server.bots.earlier_replies import EarlierReplies
from server.bots.lineup import open_lineup
from server.bots.opened_bots import OpenedBots
from server.clock import utc_now
from server.config import Settings
from server.db.engine import migrate, open_engine
from server.db.runs.runs import all_runs, open_run
from server.items import items_of
from server.process.readiness import Lifecycle
from server.process.server import Server
from server.study import parse_study
from server.study.texts import LANGUAGES
from tests.server.support.questions import ASKED, SCALES
from tests.server.support.sona import STUDY
from tests.support.local_process import free_port
from tests.support.waiting import PATIENCE, wait_until

STUDIES = Path(__file__).parents[2] / "server" / "studies"
DEMO = STUDIES / "demo.yaml"
_QUICK = {"median": 0.05, "spread": 0.0, "longest": 1.0}
_SLOW = {"median": 30.0, "spread": 0.0, "longest": 30.0}
_LOGO = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20"/></svg>'
# What each run changes in the demo study.
RUNS: dict[str, dict[str, Any]] = {
    "calm": {"reply_time": _SLOW},
    "patient": {"minimum_inputs": 1, "reply_time": _SLOW},
    "icebreaker": {"topic_mode": "icebreaker"},
    "brief": {"assignments": 1, "timeouts": {"idle": 1.5}},
    "single": {"assignments": 1},
    "filling": {"assignments": 1},
    "short": {"systems_per_assignment": 2, "minimum_inputs": 2, "reply_time": _QUICK},
    "full": {"minimum_inputs": 1, "maximum_inputs": 2, "reply_time": _QUICK},
    # Where no delay hides anything there is time for three tries, or more.
    "failing": {"reply_time": {"median": 0, "spread": 0, "longest": 0}, "timeouts": {"bot_total": 2}},
    "faltering": {
        "systems_per_assignment": 2,
        "minimum_inputs": 2,
        "reply_time": _QUICK,
        "timeouts": {"bot_total": 0.5},
    },
    "asking": {
        "systems_per_assignment": 1,
        "qc_per_assignment": 0,
        "minimum_inputs": 1,
        "reply_time": _QUICK,
        "questionnaires": ASKED,
        "turn_ratings": "thumbs",
        "scenarios": [{"label": "lamp", "text": "Your lamp is broken.", "topic": "A lamp"}],
        "criteria": SCALES,
    },
    "rich": {"minimum_inputs": 1, "reply_time": _QUICK, "display": {"markdown": True}},
    "closed": {},
    "demo": {"reply_time": _QUICK},
    "platform": {
        "systems_per_assignment": 1,
        "qc_per_assignment": 0,
        "minimum_inputs": 1,
        "reply_time": _QUICK,
        "completion_url": "https://platform.example/back",
        "embedded_in": ["http://localhost:*"],
        "transcript_while_rating": True,
    },
    "board": {
        "systems_per_assignment": 1,
        "qc_per_assignment": 0,
        "minimum_inputs": 1,
        "reply_time": _QUICK,
        "minutes": 12,
        "completion_url": "https://platform.example/back",
        "texts": {
            "consent": {
                "version": "1.2",
                "board": "REC-2026-017",
                "text": "We store what you write.\n\nWe delete it after ten years.",
                "boxes": [
                    {"label": "data", "text": "You may store what I write."},
                    {"label": "age", "text": "I am at least 18 years old."},
                    {"label": "publish", "text": "You may publish what I write.", "required": False},
                ],
            },
            "debriefing": "standard",
            "contact": "study@example.org",
            "lab": {"name": "Lab of Light", "logo": "data:image/svg+xml;base64," + b64encode(_LOGO).decode()},
            "words": {"instructions.agree": "I consent"},
        },
    },
}
# A study that asks for marks in a text, and in what the chatbot said.
RUNS["marking"] = RUNS["platform"] | {
    "questionnaires": {
        "before": [
            {
                "label": "odd",
                "kind": "span",
                "question": "Mark the odd words.",
                "text": "The 😀 cat sit.",
            }
        ],
        "conversation": [
            {
                "label": "errors",
                "kind": "span",
                "text": "output",
                "question": "Mark every error.",
                "categories": ["Form", "Sense"],
            }
        ],
    },
}
# A study that asks which persona was the chatbot's.
RUNS["knowing"] = RUNS["icebreaker"] | {
    "systems": [
        {"name": "keeper", "family": "keeper", "bot": "builtin:reflect", "persona": "random"},
    ],
    "simulate": {"quality": {"keeper": 0.5}},
    "systems_per_assignment": 1,
    "qc_per_assignment": 0,
    "minimum_inputs": 1,
    "topic_mode": "free",
    "reply_time": _QUICK,
    "personas": [
        ["I keep bees.", "I have never seen the sea."],
        ["I drive a night bus through the city.", "My sister sings in a choir."],
        ["I repair old radios and clocks in a small workshop behind the station.", "I am afraid of cats."],
        ["I grow roses on a balcony.", "I get up at five."],
    ],
    "quiz": {"choices": 4, "about": "personas"},
}
# A German study that asks for numbers.
RUNS["numbers"] = RUNS["asking"] | {
    "language": "de",
    "questionnaires": {
        "before": [
            {"label": "age", "kind": "number", "question": "Wie alt sind Sie?", "least": 18, "most": 120},
            {"label": "hours", "kind": "number", "question": "Wie viele Stunden?", "required": False},
        ]
    },
}
# A study that gives workers their data back, in two languages.
RUNS |= {
    f"own_data_{language}": {
        "systems_per_assignment": 1,
        "qc_per_assignment": 0,
        "minimum_inputs": 1,
        "reply_time": _QUICK,
        "language": language,
        "withdrawal_days": 7,
    }
    for language in ("en", "ja")
}
# Runs that record how workers write.
RUNS |= {
    f"writing_{language}": {
        "systems_per_assignment": 1,
        "qc_per_assignment": 0,
        "minimum_inputs": 1,
        "reply_time": _QUICK,
        "language": language,
        "records_writing": True,
    }
    for language in ("en", "ja")
}
# Runs whose only system is another worker: who comes is waited for, or hardly.
_MATES: dict[str, Any] = {
    "systems": [{"name": "mate", "family": "mate", "bot": "human:partner"}],
    "simulate": {"quality": {"mate": 0.9}},
    "systems_per_assignment": 1,
    "qc_per_assignment": 0,
    "minimum_inputs": 2,
    "reply_time": _QUICK,
    "criteria": [{"label": label} for label in ("interesting", "fluent", "topic")],
    "texts": {
        "consent": {
            "version": "1",
            "text": "Some of your partners may be people who take part as you do. They read what you write.",
        }
    },
}
RUNS |= {
    slug: _MATES
    | {"people": {"take_over": "builtin:interviewer", "wait": wait, "reply": 600.0, "consent_says_so": True}}
    for slug, wait in {"mates": 600.0, "alone": 0.3}.items()
}
RUNS["wizards"] = _MATES | {
    "systems": [
        {
            "name": "mate",
            "family": "mate",
            "bot": "human:wizard",
            "persona": ["I keep bees.", "I have never seen the sea."],
        }
    ],
    "people": {"take_over": "builtin:interviewer", "reply": 600.0, "consent_says_so": True},
}
# One run in each language that ships, and one in a study's own.
RUNS |= {
    f"in_{language}": {
        "language": language,
        "systems_per_assignment": 1,
        "qc_per_assignment": 0,
        "minimum_inputs": 1,
        "reply_time": _QUICK,
        "criteria": [{"label": label} for label in ("interesting", "fluent", "topic")],
    }
    for language in LANGUAGES
}
_TEN = {"minimum_inputs": 10, "embedded_in": ["http://127.0.0.1:*"]}  # some browsers are measured in a frame
RUNS |= {f"ten_{language}": RUNS[f"in_{language}"] | _TEN for language in ("en", "de")}
RUNS["in_ar"] = RUNS["in_en"] | {
    "language": "ar",
    "title": "تحدث مع روبوت دردشة",
    "payment": "هذا عرض تجريبي، ولا يُدفع لأحد.",
    "criteria": [{"label": "interesting", "statement": "كانت المحادثة مع روبوت الدردشة ممتعة."}],
    "texts": {"words": yaml.safe_load((Path(__file__).parent / "arabic.yaml").read_text(encoding="utf-8"))},
}


def demo_study(**changes: Any) -> dict[str, Any]:
    """Return the demo study with `changes`, its systems played by bots that learn nothing from a corpus.

    The demo's own bots take the host two seconds of computing to load, and as long again in each language.
    """
    study = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    for system, bot in zip(study["systems"], cycle(("builtin:reflect", "builtin:interviewer")), strict=False):
        system["bot"] = bot
    # Who comes first waits for the bots to be loaded: on a busy machine that takes a minute.
    return study | {"timeouts": {"bot_try": PATIENCE, "bot_total": PATIENCE}} | changes


_CRITERIA = [
    {"label": "clear", "statement": "It was clear."},
    {"label": "pleasant", "statement": "It was pleasant to read."},
    {"label": "dull", "statement": "It was dull.", "negative": True},
]
CONNECT: dict[str, Any] = {
    "kind": "connect",
    "completion_url": "https://connect.example/complete",
    "partial_url": "https://connect.example/partial",
}
_READING: dict[str, Any] = {
    "title": "Read and rate",
    "payment": "Nobody is paid.",
    "task": "transcripts",
    "criteria": _CRITERIA,
}
# Runs whose workers compare two chatbots side by side: after each turn, or at the end.
SIDES: dict[str, dict[str, Any]] = {
    "turns": {"comparison": {"choose": "turn", "pairs": 1}, "criteria": []},
    "ends": {
        "comparison": {"choose": "end", "pairs": 1, "ties": False},
        "criteria": [{"label": "fun", "statement": "It was fun."}],
    },
}
_ALONE = ("systems_per_assignment", "topic_mode", "criteria", "simulate", "assignments")
TUTORIAL: dict[str, Any] = {
    "questions": [
        {
            "text": "The boat sailed sailed home.",
            "question": "What is wrong with it?",
            "answers": ["Nothing", "A word is there twice"],
            "right": 2,
            "why": "It says “sailed” twice.",
        }
    ]
}
# Runs whose workers rate what others have said or written, each with its items.
READING: dict[str, dict[str, Any]] = {
    "reading": {"name": "reading", "items": {"file": "conversations.jsonl"}, "assignments": 50},
    "improving": {
        "name": "improving",
        "items": {"file": "texts.jsonl"},
        "composition": {"ordinary": 2},
        "post_edit": {"criterion": "clear", "top": 90},
        "tutorial": TUTORIAL,
    },
    "judging": {
        "name": "judging",
        "items": {"file": "answers.jsonl"},
        "composition": {"ordinary": 1},
        "criteria": [],
        "correctness": True,
    },
}

# The demo's answers, rated below the passages that they are about.
READING["passages"] = yaml.safe_load((STUDIES / "demo_answers.yaml").read_text(encoding="utf-8"))


SCREENED: dict[str, dict[str, Any]] = {
    slug: {
        "items": {"file": "texts.jsonl"},
        "tutorial": TUTORIAL | {"mistakes": 1},
        "recruiter": recruiter,
        "name": slug,
        "composition": {"ordinary": 2},
    }
    for slug, recruiter in {"screening_connect": CONNECT, "screening_sona": STUDY}.items()
}


def _write_items(folder: Path) -> None:
    """Write what is read: twelve conversations of two systems, four texts with their sources, one answer."""
    weather = "It rained all day long over the grey hills and the narrow streets of the town"
    conversations = [
        {
            "item": f"c{number}",
            "system": "tern" if number % 2 else "plover",
            "turns": [
                {"author": "worker", "text": f"Good morning number {number}, how was your weekend?"},
                {"author": "bot", "text": f"{weather} number {number} so I stayed inside and baked bread."},
                {"author": "worker", "text": "That sounds cosy. What kind of bread was it?"},
                {"author": "bot", "text": "A dark one with seeds, it was rather flat but tasted very good."},
            ]
            * 3,
        }
        for number in range(12)
    ]
    texts = [
        {
            "item": f"t{number}",
            "system": "tern",
            "context": "The ferry to the island leaves at nine, and comes back at six in the evening.",
            "text": f"The ferry number {number} leave at nine and it come back in the evening.",
        }
        for number in range(4)
    ]
    answer = {
        "item": "q1",
        "system": "tern",
        "context": "How long does the crossing take?",
        "text": "It takes forty minutes.",
        "paragraphs": [
            "The ferry leaves at nine in the morning.",
            "The crossing takes forty minutes when the sea is calm.",
        ],
    }
    for name, lines in (("conversations", conversations), ("texts", texts), ("answers", [answer])):
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    for name in ("demo_answers", "demo_correctness"):
        shutil.copy(STUDIES / f"{name}.jsonl", folder)


@cache
def _made_once() -> TemporaryDirectory[str]:
    """Return the data of a server with every run; each server of a process copies them.

    To make them takes a second of computing, as long as a short test.
    """
    made = TemporaryDirectory(prefix="candor-stage-")
    folder = Path(made.name)
    url = f"sqlite:///{folder / 'candor.db'}"
    migrate(url)
    engine = open_engine(url, begin="BEGIN IMMEDIATE")
    with engine.begin() as connection:
        _write_items(folder)
        for slug, settings in (READING | SCREENED).items():
            study = yaml.safe_dump(_READING | settings, sort_keys=False)
            items = items_of(parse_study(study), connection, folder)
            open_run(connection, study, slug, utc_now(), items)
        sides = {name: value for name, value in demo_study().items() if name not in _ALONE}
        sides |= {"task": "side_by_side", "qc_per_assignment": 0, "minimum_inputs": 1, "reply_time": _QUICK}
        for slug, settings in SIDES.items():
            open_run(connection, yaml.safe_dump(sides | settings, sort_keys=False), slug, utc_now())
        for slug, changes in RUNS.items():
            open_run(connection, yaml.safe_dump(demo_study(**changes), sort_keys=False), slug, utc_now())
    engine.dispose()
    with closing(sqlite3.connect(folder / "candor.db")) as database, database:
        database.execute("UPDATE run SET status = 'closed' WHERE slug = 'closed'")
    return made


# After how many answers the bots of a run fail.
_ANSWERS = {"failing": 0, "faltering": 2, "rich": 50}


class _Failing:
    """A bot that answers so many times, in Markdown, and then no more."""

    def __init__(self, answers: int) -> None:
        self._answers = answers

    async def reply(self, chat: Chat) -> Reply:
        if len(chat.turns) > 2 * self._answers:
            raise BotError(f"no model behind {chat.conversation_id}")
        return Reply("I like **that**. Tell me more about it!")


@cache
def _builtin(spec: str, corpus: str, language: str) -> Bot:
    return open_bot(spec, load_corpus(corpus, language))


class _InThisProcess(OpenedBots):
    """Builtin bots that answer without a bot host, whose start takes as long as a short test."""

    def built_in(
        self, spec: str, corpus: str, earlier: EarlierReplies | None = None, language: str = "en"
    ) -> Bot:
        if earlier is not None:
            return super().built_in(spec, corpus, earlier, language)
        return _builtin(spec, corpus, language)


class Stage:
    """The server. Can be stopped and started again on the same data."""

    def __init__(self, folder: Path, **of_test: str) -> None:
        self._settings = Settings(
            data=folder,
            port=free_port(),
            drain_seconds=0.0,
            running_analysis=False,
            joins_per_address="1000/minute",
            attempts_per_address="1000/minute",
            messages_per_session="1000/10second",
            sign_ins="1000/minute",
            **of_test,
        )
        make_secrets(folder)
        self._auth = load_auth(folder, token_days=7)
        shutil.copytree(_made_once().name, folder, dirs_exist_ok=True)
        engine = open_engine(self._settings.resolved_database_url)
        with engine.connect() as connection:
            self._entries = all_runs(connection)
        engine.dispose()

    @property
    def url(self) -> str:
        return self._settings.resolved_public_url

    @property
    def own_url(self) -> str:
        """Where it listens itself, behind a proxy too."""
        return self._settings.own_url

    @property
    def database(self) -> Path:
        return self._settings.data / "candor.db"

    def rows(self, query: str, *values: str) -> list[Any]:
        with closing(sqlite3.connect(self.database)) as database:
            return database.execute(query, values).fetchall()

    def assignments(self, run: str) -> int:
        """Return how many places of a run are taken, or were."""
        query = "SELECT count(*) FROM assignment JOIN run ON run.id = run_id WHERE slug = ?"
        return int(self.rows(query, run)[0][0])

    def stored(self, text: str) -> int:
        """Return how many turns have this text."""
        return int(self.rows("SELECT count(*) FROM turn WHERE text = ?", text)[0][0])

    def pseudonym(self, worker: str) -> str:
        """Return the name under which the desk shows a worker who came by a link."""
        return self._auth.pseudonym("link", worker)

    @property
    def token(self) -> str:
        return self._auth.researcher_token

    def old_token(self, token: str) -> str:
        """Return `token` as it would be if it had been given out 30 days ago."""

        class Old(TimestampSigner):
            def get_timestamp(self) -> int:
                return super().get_timestamp() - 30 * 86_400

        secret, salt = self._auth.secret, "worker-session"
        content = URLSafeTimedSerializer(secret, salt=salt).loads(token)
        return str(URLSafeTimedSerializer(secret, salt=salt, signer=Old).dumps(content))

    def start(self) -> None:
        # What held the bots has ended with the server, as in a restart.
        opened_bots = _InThisProcess(refuse_private=False)
        runs = {
            entry.id: open_lineup(entry, opened_bots) for entry in self._entries if entry.slug != "closed"
        }
        for run in runs.values():
            if run.slug in _ANSWERS:
                run.bots.update(dict.fromkeys(run.bots, _Failing(_ANSWERS[run.slug])))
        lifecycle = Lifecycle(self._settings.drain_seconds)
        app = create_app(self._settings, self._auth, runs, opened_bots, lifecycle=lifecycle)
        self._server = Server(app, lifecycle, self._settings)
        listener = socket.create_server(("127.0.0.1", self._settings.port))
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="stage")
        self._thread.start()
        wait_until(lambda: self._server.started, "the server")

    def stop(self) -> None:
        """Stop; nothing happens where it is stopped already."""
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the server does not stop"
