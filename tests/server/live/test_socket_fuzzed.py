"""Anything at all on the worker's WebSocket: each frame has its answer, and every session can be finished.

Frames are drawn with a fixed seed: messages as a page sends them, with fields that are odd, missing, too many
or of another message; torn JSON; bytes. `make soak` sends 100,000;
docs/explanation/reliability.md has the figures.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any, get_args

import pytest
from structlog.testing import capture_logs

from server.bots.lineup import OpenRun
from server.session import protocol
from tests.server.support.page import OF_A_CONVERSATION, Page
from tests.server.support.server import House, stored
from tests.server.support.study import RATINGS

Serve = Callable[..., House]
FRAMES = 20_000 * int(os.environ.get("CANDOR_SOAK", "0")) or 1_500
TOGETHER = 40  # on one connection; after 50 that are refused the server hangs up
OVER = {"done", "returned"}
WORKERS = 10

TEMPLATES: dict[str, dict[str, Any]] = {
    "hello": {"token": "t", "protocol": protocol.PROTOCOL_VERSION},
    "agree": {"consent": None, "ticked": []},
    "questionnaire": {"part": "before", "answers": {"age": 31.0}},
    "answer": {"question": 1, "answer": 2},
    "topic": {"text": "the sea", "opinion": "like"},
    "say": {"turn": 0, "text": "Well."},
    "topic_change": {
        "how": "bot change",
        "topic": "ships",
        "opinion": "dislike",
        "bot_opinion": "like",
    },
    "end_conversation": {},
    "choose": {"turn": 1, "preference": "tie"},
    "rate": {"ratings": RATINGS, "answers": {}, "edit": None, "side": None},
    "rate_turn": {"turn": 1, "value": 2},
    "report": {"turn": 1, "reason": "other", "note": "Odd."},
    "take_back_report": {"turn": 1},
    "answer_quiz": {"choice": 1},
    "feedback": {"text": "Thank you."},
    "leave": {},
}
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2, 2**31, 2**63, 2**70, 10**300, 0.5, -0.0, 1e308, float("nan"), float("inf"),
    "", " ", "\n", "\x00", "\u202e", "\u200b", "\ud800", "\U0001f4a5" * 100, "x" * 600, "x" * 5_000, "1",
    "like", "__proto__", "' OR 1=1 --", "<script>alert(1)</script>", "{{7*7}}", "%s%n", "../../etc/passwd",
    [], {}, [[[[]]]], {"a": {"a": {}}}, ["like"], {"fun": 50}, {"fun": "50"}, [None] * 60,
    {str(number): number for number in range(60)},
)  # fmt: skip
TORN = (
    "", " ", "null", "[]", "{}", "7", '"say"', "[" * 3_000, '{"type":' * 300, '{"type": "say", "id": "x',
    '{"type": "agree", "type": "leave", "id": "x"}', '{"type": "agree", "id": "x"}{}', "\ufeff{}", "NaN",
    '{"type": "agree", "id": "x"} ', "x" * 60_000, "x" * 65_000,
)  # fmt: skip


def test_every_kind_of_message_is_a_template() -> None:
    kinds = get_args(get_args(protocol.ClientMessage)[0])
    assert TEMPLATES.keys() == {get_args(kind.model_fields["type"].annotation)[0] for kind in kinds}


class Frames:
    """Frames for whoever is in a conversation, drawn with a seed."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._number = 0

    def next(self, page: Page) -> str | bytes:
        if self._rng.random() < 0.1:
            return self._rng.choice(TORN)
        frame = json.dumps(self._message(page))
        match self._rng.randrange(40):
            case 0:
                return frame[: self._rng.randrange(len(frame))]
            case 1:
                return frame.encode()
            case 2:
                return self._rng.randbytes(self._rng.randrange(200))
        return frame

    def _message(self, page: Page) -> dict[str, Any]:
        rng = self._rng
        self._number += 1
        kind = rng.choice([name for name in TEMPLATES if name != "leave" or rng.random() < 0.02])
        message = {"type": kind, "id": f"f{self._number}", **TEMPLATES[kind]}
        if kind in OF_A_CONVERSATION | {"choose", "rate_turn"}:
            message |= {"conversation": page.conversation, "attempt": page.attempt}
        if kind == "say":
            message["turn"] = page.turn
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
            match rng.randrange(4):
                case 0 if message:
                    del message[rng.choice(list(message))]
                case 1:
                    message[rng.choice(("extra", "text", "conversation", "ratings"))] = rng.choice(ODD)
                case _ if message:
                    message[rng.choice(list(message))] = rng.choice(ODD)
        return message


def send_some(page: Page, frames: Frames, answers: Counter[str]) -> None:
    """Send frames together, then one whose answer shows that all of them had theirs."""
    for _ in range(TOGETHER):
        page.raw(frames.next(page))
    page.raw('{"type": "hello", "id": "the-last", "token": "t"}')
    while (message := page.receive()).get("id") != "the-last":
        kind = message["type"]
        answers[message["code"] if kind == "error" else kind] += 1
        assert message.get("code") != "internal", message
    assert message["code"] == "wrong_phase"


def finish(house: House, token: str) -> None:
    """Go to the end as an honest worker who loads the page again after each step."""
    for _ in range(60):
        with house.open(token) as page:
            phase, held = page.snapshot["phase"], page.snapshot["conversation"]
            match phase:
                case "instructions":
                    answer = page.ask("agree")
                case "topic":
                    answer = page.ask("topic", text="the sea", opinion="like")
                case "chat" if held["typing"]:
                    answer = page.until("said")
                case "chat" if held["inputs"] < 2:
                    answer = page.ask("say", text="Still here.")
                case "chat":
                    answer = page.ask("end_conversation")
                case "rating":
                    answer = page.ask("rate", ratings=RATINGS)
                case "feedback":
                    answer = page.ask("feedback", text="")
                case _:
                    assert phase in OVER
                    return
            assert answer["type"] != "error", (phase, answer)
    raise AssertionError("the session does not come to its end")


def test_whatever_is_sent_has_an_answer_and_no_session_is_stuck(
    url: str, run: OpenRun, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: Counter[str] = Counter()
    with capture_logs() as lines:
        house = serve(url, run, exempt_addresses=["127.0.0.1"])
        frames, sent, workers = Frames(11), 0, 0
        while sent < FRAMES:
            workers += 1
            token = house.token(f"w{workers}")
            share = max(FRAMES // WORKERS, TOGETHER)
            while share > 0 and sent < FRAMES:
                with house.open(token) as page:
                    if page.snapshot["phase"] in OVER:
                        break
                    send_some(page, frames, answers)
                share -= TOGETHER
                sent += TOGETHER
            finish(house, token)
        house.stop()
    assert [line for line in lines if "exc_info" in line or line["log_level"] == "error"] == []
    assert answers["accepted"] > 0
    assert {"malformed_json", "unknown_message", "invalid_field", "too_long", "wrong_phase"} < answers.keys()
    ended = stored(house, "SELECT status, count(*) FROM assignment GROUP BY status")
    assert {status for status, _ in ended} <= {"completed", "returned"}
    with capsys.disabled():
        if os.environ.get("CANDOR_SOAK"):
            print(f"\n{sent} frames, {workers} workers, {dict(ended)}\n{dict(answers.most_common())}")  # noqa: T201
